package analysis

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"abacus/harness/load"
	"abacus/harness/observe"
	"abacus/harness/record"
)

func keepAlive(c int) record.Step {
	return record.Step{Concurrency: c, Requests: 1000, KeepAlive: true}
}

func single(rounds int, perS func(round int) float64) *campaign {
	return newCampaign(rounds, []record.Cell{cellOf("page", "static", keepAlive(10), true)}, func(_, round int) float64 { return perS(round) })
}

// Throughputs 1,000 to 1,500 in steps of 100: mean 1,250, squared deviations
// 2·(250² + 150² + 50²) = 175,000, sd = √35,000 = 187.0829;
// half = 2.570582·187.0829/√6 = 196.3314.
func TestCellByHand(t *testing.T) {
	c := single(6, func(r int) float64 { return 1000 + 100*float64(r) }).analyse(t).Cells[0]
	s := c.Throughput
	if c.Runs != 6 || s.N != 6 || c.PlannedRuns != 6 || c.Label != "10 connections, keep-alive" {
		t.Fatalf("%+v", c)
	}
	// Elapsed times are whole nanoseconds, so throughputs are right to 1e-6.
	near(t, "mean", s.Mean, 1250, 1e-5)
	near(t, "sd", *s.SD, 187.0829, 1e-4)
	near(t, "lo", s.CI95[0], 1250-196.3314, 1e-3)
	near(t, "hi", s.CI95[1], 1250+196.3314, 1e-3)
	near(t, "min", s.Min, 1000, 1e-5)
	near(t, "max", s.Max, 1500, 1e-5)
	if c.Complete != 6000 || c.Failed != 0 || *c.Bytes != 6000*(37519+200) || *c.DocumentBytes != 37519 {
		t.Errorf("counts %+v", c)
	}
	if want := map[string]int64{"connect": 0, "receive": 0, "length": 0, "timeout": 0, "exception": 0}; len(c.FailedBy) != len(want) {
		t.Errorf("failed_by %v", c.FailedBy)
	}
	// 40 µs of CPU for each request; of two cores for 1,000 ÷ throughput seconds:
	// 0.24 s over 2 · Σ 1000/throughput.
	near(t, "client CPU", *c.ClientCPUNSPerRequest, 40_000, 1e-6)
	sum := 0.0
	for r := range 6 {
		sum += 1000 / (1000 + 100*float64(r))
	}
	near(t, "client share", *c.ClientCPUShare, 0.24/(2*sum), 1e-7)
	if c.ServerCPUNSPerRequest != nil || c.StatusSamples != nil || c.BusyWorkersPeak != nil || c.IdleWorkersMin != nil || c.WithinRun.Connect != nil {
		t.Error("a figure that nobody took is not absent")
	}
}

// Two runs of two requests: 10 and 20 ms, then 30 and 60 ms. Merged: mean 30,
// deviations −20, −10, 0, 30: squares 1,400, sd √(1400/3) = 21.6025 ms. The runs'
// own means are 15 and 45.
func TestMergedAndPerRunFigures(t *testing.T) {
	c := single(2, func(int) float64 { return 1000 })
	for i, ms := range [][]int64{{10, 20}, {30, 60}} {
		r := c.runs[i].Result
		r.Total = load.NewDistribution()
		for _, v := range ms {
			r.Total.Record(v * 1e6)
		}
		r.Waiting, r.Processing, r.Connect = load.NewDistribution(), load.NewDistribution(), load.NewDistribution()
		r.Waiting.Record(4e6)
		r.Processing.Record(7e6)
	}
	k := c.analyse(t).Cells[0]
	w := k.WithinRun.Total
	if w.Count != 4 || w.Mean != 30e6 || w.Min != 10e6 || w.Max != 60e6 {
		t.Errorf("%+v", w)
	}
	near(t, "sd", *w.SD, math.Sqrt(1400.0/3)*1e6, 1e-3)
	if k.WithinRun.Waiting.Mean != 4e6 || k.WithinRun.Processing.Median > 7e6 || k.WithinRun.Processing.Count != 2 || k.WithinRun.Connect != nil {
		t.Errorf("phases %+v", k.WithinRun)
	}
	if *k.Latency.Mean.Value != 30e6 || k.Latency.Mean.Runs.Mean != 30e6 || k.Latency.Mean.Runs.Min != 15e6 || k.Latency.Mean.Runs.Max != 45e6 {
		t.Errorf("mean %+v", k.Latency.Mean)
	}
	// The greatest of all is 60; the runs' own are 20 and 60.
	if *k.Latency.Max.Value != 60e6 || k.Latency.Max.Runs.Mean != 40e6 {
		t.Errorf("max %v %+v", *k.Latency.Max.Value, k.Latency.Max.Runs)
	}
	// The median of 10, 20, 30, 60 as the smallest that half do not exceed: 20.
	near(t, "p50", *k.Latency.P50.Value, 20e6, 20e3)
	if *k.Points[1].P95NS < 59e6 || *k.Points[0].MeanNS != 15e6 {
		t.Errorf("points %+v", k.Points)
	}
	last := k.Percentiles[len(k.Percentiles)-1]
	if last.Q != 1 || last.NS != 60e6 || last.Beyond != 0 || k.Percentiles[0].Q != 0 || k.Percentiles[0].NS != 10e6 {
		t.Errorf("curve %+v", k.Percentiles)
	}
}

func TestPercentileCurve(t *testing.T) {
	d := load.NewDistribution()
	for i := int64(1); i <= 1000; i++ {
		d.Record(i * 1000)
	}
	curve := percentileCurve(d)
	beyond := map[float64]int64{}
	for i, p := range curve {
		beyond[math.Round(p.Q*1e6)/1e6] = p.Beyond
		if i > 0 && (p.Q <= curve[i-1].Q || p.NS < curve[i-1].NS || p.Beyond > curve[i-1].Beyond) {
			t.Errorf("not rising at %v after %v", p, curve[i-1])
		}
	}
	for q, want := range map[float64]int64{0.5: 500, 0.9: 100, 0.95: 50, 0.99: 10, 0.999: 1, 1: 0} {
		if got, ok := beyond[q]; !ok || got != want {
			t.Errorf("beyond %v: %d (%v), want %d", q, got, ok, want)
		}
	}
	if percentileCurve(nil) != nil || percentileCurve(load.NewDistribution()) != nil {
		t.Error("nothing has no curve")
	}
}

func TestBadRunsStandBeside(t *testing.T) {
	c := single(6, func(int) float64 { return 1000 })
	c.runs[0].Void = "the client was the limit"
	c.runs[1].Error, c.runs[1].Result = "worker died", nil
	c.runs[2].Result.Counts = load.Counts{Failed: 1000, Connect: 1000}
	c.runs[3].Result.Interrupted = true
	k := c.analyse(t).Cells[0]
	if k.Runs != 2 || k.VoidRuns != 1 || k.FailedRuns != 2 || k.Throughput.N != 2 || len(k.Points) != 6 {
		t.Errorf("runs %d, void %d, failed %d, n %d, points %d", k.Runs, k.VoidRuns, k.FailedRuns, k.Throughput.N, len(k.Points))
	}
	var bads []string
	for _, p := range k.Points {
		bads = append(bads, p.Bad)
	}
	want := []string{"the client was the limit", "worker died", "no answer was whole", "interrupted", "", ""}
	if k.Points[0].State != "void" || k.Points[1].State != "failed" || k.Points[3].State != "interrupted" || k.Points[4].State != "" {
		t.Errorf("states %+v", k.Points)
	}
	if !slices.Equal(bads, want) {
		t.Errorf("got %q, want %q", bads, want)
	}
	// Counts are over all runs with a result: four of 1,000 whole, one of 1,000 failed.
	if k.Complete != 4000 || k.Failed != 1000 || k.FailedBy["connect"] != 1000 {
		t.Errorf("complete %d, failed %d %v", k.Complete, k.Failed, k.FailedBy)
	}
	if k.Points[2].Throughput != nil {
		t.Error("a run without a whole answer has a throughput")
	}
}

func processes(run *record.Run, samples ...[3]int64) { // at ms, server CPU ms, memcached CPU ms
	s := observe.Series{Source: "processes", IntervalNS: 200e6, Polls: len(samples)}
	for _, x := range samples {
		s.Samples = append(s.Samples, observe.Sample{AtNS: x[0] * 1e6, Reading: observe.Reading{Processes: []observe.Process{
			{Role: "server", Count: 1, CPUUserNS: x[1] * 1e6}, {Role: "memcached", Count: 1, CPUSystemNS: x[2] * 1e6}, {Role: "client", Count: 1, CPUUserNS: 1e9}}}})
	}
	run.Series = append(run.Series, s)
}

func TestServerCPU(t *testing.T) {
	for _, c := range []struct {
		name    string
		samples [][3]int64
		want    float64 // ns per request over 1,000 requests in 1 s; 0 is absent
	}{
		// Readings around the load: (700 − 100) + (60 − 10) ms.
		{"around", [][3]int64{{-400, 50, 5}, {-200, 100, 10}, {500, 400, 40}, {1100, 700, 60}, {1300, 900, 90}}, 650_000},
		// 0.1 to 0.95 s cover 85 %: 340 ms / 0.85 = 400 ms.
		{"within", [][3]int64{{100, 100, 0}, {950, 440, 0}}, 400_000},
		{"too little", [][3]int64{{300, 100, 0}, {950, 440, 0}}, 0},
		{"restarted", [][3]int64{{-100, 500, 0}, {500, 20, 0}, {1100, 300, 0}}, 0},
		{"one", [][3]int64{{0, 500, 0}}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := single(1, func(int) float64 { return 1000 })
			processes(&k.runs[0], c.samples...)
			got := k.analyse(t).Cells[0].ServerCPUNSPerRequest
			switch {
			case c.want == 0 && got != nil:
				t.Errorf("got %v, want absent", *got)
			case c.want > 0 && got == nil:
				t.Error("absent")
			case c.want > 0:
				near(t, "per request", *got, c.want, 0.01)
			}
		})
	}
}

func TestServerCPUFromStatus(t *testing.T) {
	c := single(1, func(int) float64 { return 1000 })
	s := observe.Series{Source: "status", IntervalNS: 200e6}
	for i, cpu := range []float64{1.5, 1.7, 2.0} {
		s.Samples = append(s.Samples, observe.Sample{AtNS: int64(i) * 500e6, Reading: observe.Reading{Status: &observe.Status{CPUSeconds: &cpu}}})
	}
	c.runs[0].Series = append(c.runs[0].Series, s)
	near(t, "per request", *c.analyse(t).Cells[0].ServerCPUNSPerRequest, 500_000, 0.01)
}

func TestWorkersOfACell(t *testing.T) {
	c := single(2, func(int) float64 { return 1000 })
	withStatus(&c.runs[0], 100, 90, 40, 70)
	withStatus(&c.runs[1], 100, 80, 60)
	k := c.analyse(t).Cells[0]
	if *k.StatusSamples != 5 || *k.BusyWorkersPeak != 60 || *k.IdleWorkersMin != 40 || *k.WorkersLimit != 100 {
		t.Errorf("samples %d, busy %d, idle %d, limit %d", *k.StatusSamples, *k.BusyWorkersPeak, *k.IdleWorkersMin, *k.WorkersLimit)
	}
}

// The page's own figures may be missing: then the scoreboard's letters count.
func TestWorkersFromScoreboard(t *testing.T) {
	busy, idle := workers(&observe.Status{Scoreboard: "__RWK.SG."})
	if *busy != 4 || *idle != 2 {
		t.Errorf("busy %d, idle %d, want 4 and 2", *busy, *idle)
	}
	if busy, idle := workers(&observe.Status{}); busy != nil || idle != nil {
		t.Error("nothing known is not absent")
	}
}

func TestLadder(t *testing.T) {
	levels := []record.Step{keepAlive(100), keepAlive(1), keepAlive(10), {Concurrency: 10, Requests: 500}, keepAlive(50)}
	var cells []record.Cell
	for _, s := range levels {
		cells = append(cells, cellOf("ladder", "static", s, true))
	}
	perS := []float64{3010, 1100, 2700, 800, 3030}
	a := newCampaign(6, cells, func(cell, round int) float64 { return perS[cell] + float64(10*(round%2)) }).analyse(t)
	s := a.Scenarios[0]
	if s.Kind != KindLadder || !slices.Equal(s.CellIndexes, []int{1, 2, 4, 0, 3}) {
		t.Errorf("kind %s, order %v", s.Kind, s.CellIndexes)
	}
	if len(a.Curves) != 1 || !slices.Equal(a.Curves[0].CellIndexes, []int{1, 2, 4, 0}) || !slices.Equal(a.Curves[0].Apart, []int{3}) {
		t.Errorf("curves %+v", a.Curves)
	}
	// 3,035 ± 5.75 (sd 5.477, half 2.5706·5.477/√6 = 5.748) against 3,015 ± 5.75: apart.
	want := "Throughput was highest at 50 connections: 3,035/s (95\u202f% interval 3,029 to 3,041)."
	if s.Finding != want || a.Verdict[0] != want {
		t.Errorf("got  %s\nwant %s", s.Finding, want)
	}
	if len(a.Comparisons) != 0 {
		t.Errorf("one variant was compared: %+v", a.Comparisons)
	}
	if h := a.Headline; len(h) != 3 || h[0].Label != "Highest throughput" || len(h[0].Points) != 6 || h[2].Value != 0 {
		t.Errorf("headline %+v", h)
	}
}

func TestLadderLevelsThatCannotBeToldApart(t *testing.T) {
	cells := []record.Cell{cellOf("ladder", "static", keepAlive(50), true), cellOf("ladder", "static", keepAlive(100), true)}
	a := newCampaign(6, cells, func(cell, round int) float64 { return 3000 + 5*float64(cell) + 20*float64(round%2) }).analyse(t)
	if !strings.HasSuffix(a.Verdict[0], "; 50 connections cannot be told apart from it.") {
		t.Errorf("%s", a.Verdict[0])
	}
}

func TestComparisonOrder(t *testing.T) {
	cells := append(caches(), cellOf("cache", "broken", step50, false))
	c := newCampaign(2, cells, func(cell, _ int) float64 { return []float64{1000, 2000, 500}[cell] })
	for i := range c.runs {
		if c.runs[i].CellIndex == 2 {
			c.runs[i].Error, c.runs[i].Result = "no server", nil
		}
	}
	a := c.analyse(t)
	if !slices.Equal(a.Scenarios[0].CellIndexes, []int{1, 0, 2}) {
		t.Errorf("order %v", a.Scenarios[0].CellIndexes)
	}
	if k := a.Cells[2]; k.Throughput != nil || len(k.FailedBy) != 0 || k.FailedRuns != 2 {
		t.Errorf("%+v", k)
	}
}

// A run without a result has no counts, which is not the same as none failed.
func TestPointOfARunWithoutResultHasNoCounts(t *testing.T) {
	var c cellState
	c.add(record.Run{Seq: 1, Error: "the worker died"}, defaults{})
	if p := c.points[0]; p.Complete != nil || p.Failed != nil {
		t.Errorf("point %+v", p)
	}
	data, err := json.Marshal(c.points[0])
	if err != nil || strings.Contains(string(data), `"failed":`) || strings.Contains(string(data), "complete") {
		t.Errorf("JSON %s, %v", data, err)
	}
}
