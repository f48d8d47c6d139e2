package html

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"abacus/harness/analysis"
	"abacus/harness/preflight"
	"abacus/harness/record"
	"abacus/harness/stats"
)

func ptr[T any](v T) *T { return &v }

// spreadOf is mean, sd, extremes and t interval of a few values.
func spreadOf(v []float64) *stats.Spread {
	if len(v) == 0 {
		return nil
	}
	s := &stats.Spread{N: len(v), Min: v[0], Max: v[0]}
	for _, x := range v {
		s.Mean += x / float64(len(v))
		s.Min, s.Max = math.Min(s.Min, x), math.Max(s.Max, x)
	}
	if len(v) < 2 {
		return s
	}
	sum := 0.0
	for _, x := range v {
		sum += (x - s.Mean) * (x - s.Mean)
	}
	s.SD = ptr(math.Sqrt(sum / float64(len(v)-1)))
	// Student's t, 97.5 %, for 1 to 9 degrees of freedom.
	t := []float64{0, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262}[min(len(v)-1, 9)]
	half := t * *s.SD / math.Sqrt(float64(len(v)))
	s.CI95 = &[2]float64{s.Mean - half, s.Mean + half}
	return s
}

// sample builds an analysis like the default campaign's: a ladder with a
// level apart, a comparison of caches, one of engines; six rounds.
type sample struct {
	rng *rand.Rand
	a   *analysis.Analysis
	seq int
}

func (s *sample) jitter(share float64) float64 { return 1 + share*(s.rng.Float64()*2-1) }

// cell adds one load level with runs near the given figures.
func (s *sample) cell(scenario, variant, engine, label string, step record.Step, perS, p50 float64, baseline bool) int {
	const runs = 6
	c := analysis.Cell{Scenario: scenario, Variant: variant, Engine: engine, Lab: "demo", URL: "/" + scenario + ".html", Baseline: baseline, Step: step, Label: label,
		Runs: runs, PlannedRuns: runs, FailedBy: map[string]int64{}, DocumentBytes: ptr(int64(37519))}
	var through, mean, q50, q95, q99 []float64
	for r := 1; r <= runs; r++ {
		s.seq++
		t := perS * s.jitter(0.04)
		m := p50 * s.jitter(0.03)
		pt := analysis.Point{Seq: s.seq, Round: r, Throughput: ptr(t), MeanNS: ptr(m * 1.1), P50NS: ptr(m), P95NS: ptr(m * 1.9 * s.jitter(0.05)), P99NS: ptr(m * 2.8 * s.jitter(0.1)), Complete: ptr(int64(10000)), Failed: ptr(int64(0))}
		c.Points = append(c.Points, pt)
		through, mean, q50 = append(through, t), append(mean, *pt.MeanNS), append(q50, m)
		q95, q99 = append(q95, *pt.P95NS), append(q99, *pt.P99NS)
	}
	c.Complete, c.Bytes = runs*10000, ptr(int64(runs*10000*37519))
	c.Throughput = spreadOf(through)
	figure := func(v []float64) analysis.Figure {
		sp := spreadOf(v)
		return analysis.Figure{Value: ptr(sp.Mean), Runs: sp}
	}
	c.Latency = analysis.Latency{Mean: figure(mean), P50: figure(q50), P75: figure(q50), P90: figure(q95), P95: figure(q95), P99: figure(q99), P999: figure(q99), Max: figure(q99)}
	within := func(share float64) *analysis.Within {
		m := p50 * 1.1 * share
		return &analysis.Within{Count: c.Complete, Mean: m, SD: ptr(m * 0.4), Min: int64(m * 0.2), Median: int64(m * 0.9), Max: int64(m * 6)}
	}
	c.WithinRun = analysis.WithinRun{Connect: within(0.01), Waiting: within(0.97), Processing: within(0.99), Total: within(1)}
	c.ClientCPUShare, c.IdleWorkersMin, c.StatusSamples, c.WorkersLimit = ptr(0.34), ptr(int64(150-step.Concurrency/2)), ptr(31), ptr(int64(150))
	for _, q := range []float64{0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.93, 0.95, 0.97, 0.98, 0.99, 0.993, 0.995, 0.998, 0.999, 0.9993, 0.9995, 0.9998, 0.9999, 0.99995, 1} {
		ns := p50 * (0.5 + 0.72*math.Pow(-math.Log(1-math.Min(q, 0.999999)), 0.9))
		c.Percentiles = append(c.Percentiles, analysis.Percentile{Q: q, NS: int64(ns), Beyond: int64(math.Round((1 - q) * float64(c.Complete)))})
	}
	s.a.Cells = append(s.a.Cells, c)
	return len(s.a.Cells) - 1
}

// comparison adds the pair of two cells of one step.
func (s *sample) comparison(aCell, bCell int, metric string, primary bool) {
	ca, cb := s.a.Cells[aCell], s.a.Cells[bCell]
	var logs, ratios []float64
	for i := range ca.Points {
		of := throughputOf
		if metric != "throughput_per_s" {
			of = p95Of
		}
		x, _ := of(ca.Points[i])
		y, _ := of(cb.Points[i])
		logs, ratios = append(logs, math.Log(x/y)), append(ratios, x/y)
	}
	sp := spreadOf(logs)
	c := analysis.Comparison{Scenario: ca.Scenario, Step: ca.Step, Metric: metric, A: ca.Variant, B: cb.Variant, Baseline: cb.Variant, Primary: primary, N: len(logs),
		Ratio: ptr(math.Exp(sp.Mean)), CI95: &[2]float64{math.Exp(sp.CI95[0]), math.Exp(sp.CI95[1])}, PValue: ptr(0.00002), PHolm: ptr(0.00004), PMWU: ptr(0.002), Margin: 0.02,
		Verdict: "faster", BlockRatios: ratios}
	c.Sentence = fmt.Sprintf("%s was %.2f times %s at %s.", c.A, *c.Ratio, c.B, ca.Label)
	s.a.Comparisons = append(s.a.Comparisons, c)
}

// newSample is the default campaign, complete.
func newSample() *analysis.Analysis {
	started := time.Date(2026, 11, 30, 18, 15, 49, 0, time.UTC)
	s := &sample{rng: rand.New(rand.NewPCG(7, 11)), a: &analysis.Analysis{
		Schema: 1, Campaign: "quickstart", Title: "A static page, two cache layers, two engines", Question: "How far does a static page scale, and is a cache inside the process worth it?",
		Caveats: []string{"One machine: client and server share it."}, Record: "quickstart/2026-11-30T18-15-49Z", Complete: true, State: record.StateComplete,
		PlannedRuns: 60, FinishedRuns: 60, Rounds: 6, LastRound: 6, Seed: 207, StartedAt: started, EndedAt: ptr(started.Add(98 * time.Second)), TimeZone: "CET", UTCOffsetS: 3600, AbacusVersion: "0.1.0",
	}}
	a := s.a
	ladder := analysis.Scenario{Name: "static-ladder", Title: "One static page from 1 to 200 connections", Primary: "throughput_per_s", Margin: 0.02, Kind: "ladder", Baseline: "static",
		Finding: "From 50 connections on, more load bought waiting and no throughput"}
	curve := analysis.Curve{Scenario: "static-ladder", Variant: "static", Engine: "native"}
	for _, l := range []struct {
		n    int
		perS float64
		p50  float64
	}{{1, 4100, 0.21e6}, {10, 12200, 0.74e6}, {50, 14300, 3.1e6}, {100, 14250, 6.4e6}, {200, 13800, 13.1e6}} {
		i := s.cell("static-ladder", "static", "native", plural(l.n, "connection", "connections"), record.Step{Concurrency: l.n, Requests: 12000, KeepAlive: true}, l.perS, l.p50, false)
		ladder.CellIndexes, curve.CellIndexes = append(ladder.CellIndexes, i), append(curve.CellIndexes, i)
	}
	i := s.cell("static-ladder", "static", "native", "10 connections, no keep-alive", record.Step{Concurrency: 10, Requests: 5000}, 5200, 1.8e6, false)
	ladder.CellIndexes, curve.Apart = append(ladder.CellIndexes, i), []int{i}
	a.Curves = []analysis.Curve{curve}

	cacheStep := record.Step{Concurrency: 50, Requests: 10000}
	apcu := s.cell("cache-comparison", "apcu", "native", "50 connections, no keep-alive", cacheStep, 6600, 7.2e6, false)
	mem := s.cell("cache-comparison", "memcached", "native", "50 connections, no keep-alive", cacheStep, 3500, 13.9e6, true)
	s.comparison(apcu, mem, "throughput_per_s", true)
	s.comparison(apcu, mem, "p95", false)
	cache := analysis.Scenario{Name: "cache-comparison", Title: "APCu or Memcached", Baseline: "memcached", Primary: "throughput_per_s", Margin: 0.02, Kind: "comparison",
		Finding: "apcu served 1.89 times the requests of memcached in every round", CellIndexes: []int{apcu, mem}, Caveats: []string{"Reads of one small object; no writes."}}

	engineStep := record.Step{Concurrency: 50, Requests: 12000, KeepAlive: true}
	native := s.cell("engine-check", "static/native", "native", "50 connections", engineStep, 14100, 3.2e6, true)
	hey := s.cell("engine-check", "static/hey", "hey", "50 connections", engineStep, 9300, 4.9e6, false)
	a.Cells[hey].WithinRun = analysis.WithinRun{Total: a.Cells[hey].WithinRun.Total}
	s.comparison(hey, native, "throughput_per_s", true)
	engines := analysis.Scenario{Name: "engine-check", Title: "The same page by two engines", Baseline: "static/native", Primary: "throughput_per_s", Margin: 0.02, Kind: "comparison",
		Finding: "hey reached 0.66 times the throughput of native", CellIndexes: []int{native, hey}}
	a.Scenarios = []analysis.Scenario{ladder, cache, engines}

	s.frame(apcu)
	for _, sc := range a.Scenarios {
		a.Timelines = append(a.Timelines, s.timeline(sc))
	}
	return a
}

// frame fills everything around the figures.
func (s *sample) frame(apcu int) {
	a := s.a
	a.Verdict = []string{a.Comparisons[0].Sentence, "The static page was flat from 50 connections on."}
	r := a.Comparisons[0]
	a.Headline = []analysis.Headline{
		{Label: "apcu ÷ memcached", Value: *r.Ratio, Unit: "×", CI95: r.CI95, Points: r.BlockRatios},
		{Label: "apcu, throughput at 50 connections", Value: a.Cells[apcu].Throughput.Mean, Unit: "/s", CI95: a.Cells[apcu].Throughput.CI95},
		{Label: "static page, p99 at 200 connections", Value: a.Cells[4].Latency.P99.Runs.Mean, Unit: "ns", CI95: a.Cells[4].Latency.P99.Runs.CI95},
		{Label: "failed requests", Value: 0, Note: "of 600,000"},
	}
	for _, p := range a.Cells[apcu].Points {
		a.Headline[1].Points = append(a.Headline[1].Points, *p.Throughput)
	}
	for _, p := range a.Cells[4].Points {
		a.Headline[2].Points = append(a.Headline[2].Points, *p.P99NS)
	}
	a.Findings = []analysis.Finding{
		{ID: "idle_workers_low", Severity: preflight.Warning, Title: "Idle workers fell to 50 at 200 connections", Evidence: "150 slots; the least seen in round 3.", Advice: "Cap connections near 50.",
			Scope: analysis.Scope{Scenario: "static-ladder"}, AtNS: ptr(int64(5e9)), Confidence: "high"},
		{ID: "shared_machine", Severity: preflight.Info, Title: "Client and server shared the machine", Evidence: "2 cores; the client used 34 % of them.", Scope: analysis.Scope{Scenario: "cache-comparison"}, Confidence: "medium"},
		{ID: "few_samples", Severity: preflight.Info, Title: "Few status samples in the short runs", Evidence: "7 samples in 1.4 s: a peak may be missed.", Advice: "Set observe.interval to 50ms.", Confidence: "high"},
	}
	a.Environment = preflight.Environment{Schema: 1, AbacusVersion: "0.1.0", GoVersion: "go1.26.8", OS: "linux", Platform: "debian 12", Kernel: "6.18", Arch: "amd64", CPUModel: "AMD EPYC", CPUs: 2,
		MemBytes: 4 << 30, SwapBytes: ptr(uint64(1 << 30)), OpenFiles: ptr(uint64(1048576)), PortRange: "32768-60999", Somaxconn: ptr(int64(4096)), SameMachine: ptr(true), Versions: map[string]string{"memcached": "1.6.18"}}
	a.LabNotes = []string{"memcached pages are served from the memcached found on the PATH."}
	a.StatusURLs = map[string]string{"demo": "http://127.0.0.1:8080/server-status?auto"}
	a.Checks = []preflight.Check{{ID: "status", Question: "Is there a status page?", Severity: preflight.OK, Finding: "The status page answers, with 150 slots.", Evidence: []string{"200 in 0.4 ms"}, Target: "demo"},
		{ID: "stable", Question: "Is the body stable?", Severity: preflight.Info, Finding: "HTTP/2 is not offered.", Advice: "Nothing to do for HTTP/1.1."}}
	a.Idle = &preflight.Idle{DurationNS: 5e9, CPUBusyShare: ptr(0.02), Load1: ptr(0.31), SwapMoved: ptr(uint64(0)), IdleWorkers: ptr(int64(149)), ForeignRequests: ptr(int64(0)), MemAvailable: ptr(uint64(3 << 30)), MayStart: true, Reason: "Quiet: ready."}
	for k := int64(0); k < 20; k++ {
		a.Idle.Singles = append(a.Idle.Singles, preflight.Phases{ConnectNS: ptr(50000 + k), FirstByteNS: ptr(int64(610000)), TotalNS: 660000 + k, Status: 200})
	}
	a.Pages = []preflight.Page{{Scenario: "static-ladder", Variant: "static", URL: "/static.html", Status: 200, Bytes: ptr(int64(37519)), SHA256: "6f1c0a90e6f1c0a90e6f1c0a90e", Fetches: 20, Stable: true, Headers: map[string]string{"Server": "Apache/2.4 (demo)", "Vary": "Accept-Encoding"}, Protocol: "HTTP/1.1"}}
	a.Warmups = []record.Warmup{{Cell: record.Cell{Scenario: "static-ladder", Variant: "static"}, TookNS: 1.2e9, Requests: 9000, Steady: true, Reason: "three windows within 5 %"}}
	a.CampaignYAML = "campaign: quickstart\ntitle: A static page, two cache layers, two engines\nseed: 207\nscenarios:\n  - scenario: static-ladder\n    steps:\n      - {concurrency: 1, requests: 12000}\n"
}

// timeline is one round of a scenario, sampled every 200 ms.
func (s *sample) timeline(sc analysis.Scenario) analysis.Timeline {
	t := analysis.Timeline{Scenario: sc.Name, Round: 3, Title: "Workers follow the load; nothing swapped"}
	var busy, server, client, mem, swap, p99, through analysis.Line
	server.Name, client.Name = "server", "client"
	h := &analysis.Heat{Letters: []string{"W", "R", "K", "_", "."}, Slots: 150, Meaning: map[string]string{"W": "sending a reply", "R": "reading the request", "K": "keep-alive", "_": "ready", ".": "no process"}}
	h.Counts = make([][]int, 5)
	now := 0.0
	for _, i := range sc.CellIndexes {
		c := s.a.Cells[i]
		start := now + 0.8
		end := start + 1.6 + s.rng.Float64()
		t.Segments = append(t.Segments, analysis.Segment{Label: plural(c.Step.Concurrency, "connection", "connections"), StartS: start, EndS: end})
		var lat, thr [][2]float64
		var b, sv, cl, me, sw [][2]float64
		for ; now < end; now += 0.2 {
			load := 0.0
			if now >= start {
				load = 1
				lat = append(lat, [2]float64{now, *c.Points[2].P99NS / 1e6 * s.jitter(0.2)})
				thr = append(thr, [2]float64{now, *c.Points[2].Throughput * s.jitter(0.1)})
			}
			n := int(load * float64(c.Step.Concurrency) * 0.7)
			b = append(b, [2]float64{now, float64(1 + n)})
			sv = append(sv, [2]float64{now, 2 + load*90*s.jitter(0.05)})
			cl = append(cl, [2]float64{now, 1 + load*60*s.jitter(0.05)})
			me = append(me, [2]float64{now, 22 + now/4})
			sw = append(sw, [2]float64{now, 0})
			h.AtS = append(h.AtS, now)
			for k, v := range []int{n, n / 10, 0, 75 - n/3, 75 - n + n/3} {
				h.Counts[k] = append(h.Counts[k], max(0, v))
			}
		}
		busy.Parts, server.Parts, client.Parts = append(busy.Parts, b), append(server.Parts, sv), append(client.Parts, cl)
		mem.Parts, swap.Parts, p99.Parts, through.Parts = append(mem.Parts, me), append(swap.Parts, sw), append(p99.Parts, lat), append(through.Parts, thr)
	}
	t.Panels = []analysis.Panel{
		{ID: "throughput", Title: "Throughput", Unit: "requests/s", Lines: []analysis.Line{through}},
		{ID: "latency", Title: "p99 latency", Unit: "ms", Lines: []analysis.Line{p99}},
		{ID: "workers", Title: "Busy workers", Unit: "of 150", Lines: []analysis.Line{busy}, Max: 150},
		{ID: "cpu", Title: "CPU", Unit: "% of a core", Lines: []analysis.Line{server, client}, Max: 100},
		{ID: "memory", Title: "Server memory", Unit: "MiB", Lines: []analysis.Line{mem}},
		{ID: "swap", Title: "Swap in + out", Unit: "pages/s", AllZero: true, Lines: []analysis.Line{swap}},
	}
	t.Scoreboard = h
	return t
}
