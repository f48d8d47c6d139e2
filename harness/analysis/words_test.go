package analysis

import (
	"slices"
	"strings"
	"testing"

	"abacus/harness/observe"
	"abacus/harness/preflight"
	"abacus/harness/record"
)

// Two runs of 1,000/s and 3,000/s: the interval of the mean reaches from
// −10,706 to 14,706; what cannot be negative begins at 0, and the sd of 1,414
// keeps its first digit.
func TestIntervalsBeginAtZero(t *testing.T) {
	c := single(2, func(r int) float64 { return 1000 + 2000*float64(r) })
	c.manifest.Goals = []string{"throughput > 5000"}
	a := c.analyse(t)
	s := a.Cells[0].Throughput
	if s.CI95[0] != 0 {
		t.Errorf("%v", *s.CI95)
	}
	near(t, "upper bound", s.CI95[1], 2000+12.7062*1414.2136/1.41421356, 1)
	if got := LastDigit(s, 1); got != 3 {
		t.Errorf("last digit 10^%d", got)
	}
	for _, f := range []Figure{a.Cells[0].Latency.P95, a.Cells[0].Latency.Mean} {
		if f.Runs.CI95[0] != 0 {
			t.Errorf("%v", *f.Runs.CI95)
		}
	}
	if got := a.Goals[0].Evidence; got != "2,000/s (95\u202f% interval 0 to 15,000), 2 runs." {
		t.Error(got)
	}
	// Narrow ones are left as they are.
	if ci := single(6, func(r int) float64 { return 1000 + float64(r) }).analyse(t).Cells[0].Throughput.CI95; !(ci[0] > 990) {
		t.Errorf("%v", *ci)
	}
}

// A quick look at one variant names the highest level, without an interval.
func TestQuickLookAtOneVariant(t *testing.T) {
	cells := []record.Cell{cellOf("page", "static", keepAlive(1), true), cellOf("page", "static", keepAlive(10), true)}
	c := newCampaign(1, cells, func(i, _ int) float64 { return []float64{1000, 2500}[i] })
	c.manifest.Quick = true
	want := []string{"Quick look: one short round, no verdict.", "Throughput was highest at 10 connections: 2,500/s in the one run there."}
	if a := c.analyse(t); !slices.Equal(a.Verdict, want) {
		t.Errorf("got %q, want %q", a.Verdict, want)
	}
}

// With one scenario and one variant there is no other to tell a level from.
func TestTilesOfOneScenario(t *testing.T) {
	a := single(6, func(r int) float64 { return 1000 + float64(r) }).analyse(t)
	for _, h := range a.Headline {
		if strings.Contains(h.Note, "page") {
			t.Errorf("%s: %q", h.Label, h.Note)
		}
	}
	if h := a.Headline[0]; h.Note != "10 connections" || h.SD == nil {
		t.Errorf("%+v", h)
	}
}

// The tile of p95 is what the tables show: the mean of the runs' own.
func TestOneP95(t *testing.T) {
	a := single(2, func(r int) float64 { return []float64{1000, 250}[r] }).analyse(t)
	// 10 connections at 1,000/s take 10 ms, at 250/s 40 ms.
	near(t, "p95 tile", a.Headline[1].Value, 25e6, 2e5)
	if a.Headline[1].Label != "p95 there, mean over runs" || a.Headline[1].SD == nil {
		t.Errorf("%+v", a.Headline[1])
	}
	if v := *a.Cells[0].Latency.P95.Value; v < 39e6 {
		t.Errorf("the merged histogram's p95 is %v", v)
	}
}

func TestAnswersThatAreNot2xxInTheTile(t *testing.T) {
	redirect := func(expected int) Headline {
		c := single(6, func(int) float64 { return 1000 })
		for i := range c.runs {
			c.runs[i].Result.StatusCodes = map[int]int64{302: 1000}
			c.runs[i].Result.Counts.Non2xx = 1000
			c.runs[i].Job.Expect.Status = expected
		}
		h := c.analyse(t).Headline
		return h[len(h)-1]
	}
	if h := redirect(0); !h.Warn || h.Value != 0 || h.Note != "beside 6,000 whole answers, 6,000 of them not 2xx" {
		t.Errorf("%+v", h)
	}
	if h := redirect(302); h.Warn || h.Note != "beside 6,000 whole answers" {
		t.Errorf("%+v", h)
	}
}

// --resume is offered only where it would finish the record.
func TestResumable(t *testing.T) {
	for _, c := range []struct {
		state string
		runs  int
		want  bool
	}{
		{record.StateInterrupted, 0, true}, {record.StateInterrupted, 2, true}, {record.StateRunning, 2, true}, {record.StateRunning, 0, false},
		{record.StateFailed, 0, false}, {record.StateFailed, 2, false}, {record.StateComplete, 6, false},
	} {
		k := single(6, func(int) float64 { return 1000 })
		k.runs = k.runs[:c.runs]
		k.manifest.State, k.manifest.Reason = c.state, "preflight: target a refused;\n  target b refused"
		a := k.analyse(t)
		if a.Resumable() != c.want {
			t.Errorf("%s after %d runs: %v", c.state, c.runs, a.Resumable())
		}
		if a.Reason != "preflight: target a refused; target b refused" {
			t.Errorf("%q", a.Reason)
		}
		for _, f := range findingsOf(a, "record_incomplete") {
			if strings.Contains(f.Advice, "--resume") != c.want {
				t.Errorf("%s after %d runs: %s", c.state, c.runs, f.Advice)
			}
		}
	}
}

// Notes of engines say which of an engine's levels they are of.
func TestEngineNotesNameTheirLevels(t *testing.T) {
	cells := []record.Cell{cellOf("page", "static", keepAlive(1), true), cellOf("page", "static", keepAlive(10), true)}
	c := newCampaign(2, cells, func(int, int) float64 { return 1000 })
	c.runs[1].Result.Notes = []string{"The expected content was not checked."}
	got := findingsOf(c.analyse(t), "engine_notes")
	if len(got) != 1 || got[0].Evidence != "At 10 connections: the expected content was not checked." {
		t.Errorf("%+v", got)
	}
	for i := range c.runs {
		c.runs[i].Result.Notes = []string{"The expected content was not checked."}
	}
	got = findingsOf(c.analyse(t), "engine_notes")
	if len(got) != 1 || got[0].Evidence != "At all its levels: the expected content was not checked." {
		t.Errorf("%+v", got)
	}
}

// The evidence of a check stands in sentences.
func TestEvidenceInSentences(t *testing.T) {
	c := single(6, func(int) float64 { return 1000 })
	c.pre.Checks = []preflight.Check{{ID: "x", Severity: preflight.Warning, Finding: "the CPU was 40 % busy", Evidence: []string{"over 5s, all cores", "waiting for disks 0 %", "http://x/y"}, Target: "page/static"}}
	got := findingsOf(c.analyse(t), "check:x")
	if len(got) != 1 || got[0].Evidence != "Over 5s, all cores. Waiting for disks 0 %. http://x/y. For page/static." {
		t.Errorf("%+v", got)
	}
}

// After the client has ended its role has no process: a gap, not 0.
func TestProcessThatIsGone(t *testing.T) {
	c := single(1, func(int) float64 { return 1000 })
	s := observe.Series{Source: "processes", IntervalNS: 200e6}
	for i := range 6 {
		p := observe.Process{Role: "client", Count: 1, RSSBytes: 8 << 20, Threads: 4, CPUUserNS: int64(i) * 100e6}
		if i == 5 {
			p = observe.Process{Role: "client", CPUUserNS: 400e6}
		}
		s.Samples = append(s.Samples, observe.Sample{AtNS: int64(i) * 200e6, Reading: observe.Reading{Processes: []observe.Process{p}}})
	}
	c.runs[0].Series = append(c.runs[0].Series, s)
	tl := c.analyse(t).Timelines[0]
	for _, id := range []string{"cpu", "memory"} {
		for _, part := range lineOf(t, panel(t, tl, id), "client").Parts {
			for _, xy := range part {
				if xy[1] == 0 || xy[0] > .9 {
					t.Errorf("%s: %v", id, part)
				}
			}
		}
	}
}

// A last reading right behind a regular one gives no rate: within a
// millisecond no counter of the kernel moves, which is no drop to 0.
func TestReadingsRightBehindEachOther(t *testing.T) {
	c := single(1, func(int) float64 { return 1000 })
	s := observe.Series{Source: "processes", IntervalNS: 200e6}
	for i, at := range []int64{0, 200e6, 400e6, 600e6, 601e6} {
		cpu := int64(min(i, 3)) * 100e6
		s.Samples = append(s.Samples, observe.Sample{AtNS: at, Reading: observe.Reading{Processes: []observe.Process{{Role: "server", Count: 1, RSSBytes: 8 << 20, CPUUserNS: cpu}}}})
	}
	c.runs[0].Series = append(c.runs[0].Series, s)
	parts := lineOf(t, panel(t, c.analyse(t).Timelines[0], "cpu"), "server").Parts
	if len(parts) != 1 || len(parts[0]) != 3 {
		t.Fatalf("%v", parts)
	}
	for _, xy := range parts[0] {
		near(t, "cores", xy[1], .5, 1e-9)
	}
}
