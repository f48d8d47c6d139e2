package analysis

import (
	"math"
	"slices"
	"strings"
	"testing"

	"abacus/harness/load"
	"abacus/harness/observe"
	"abacus/harness/record"
)

func panel(t *testing.T, tl Timeline, id string) Panel {
	t.Helper()
	for _, p := range tl.Panels {
		if p.ID == id {
			return p
		}
	}
	t.Fatalf("no panel %s", id)
	return Panel{}
}

func lineOf(t *testing.T, p Panel, name string) Line {
	t.Helper()
	for _, l := range p.Lines {
		if l.Name == name {
			return l
		}
	}
	t.Fatalf("panel %s has no line %s", p.ID, name)
	return Line{}
}

// Two levels of 1 s each, the second begun 10 s later: its pause of 9 s is cut
// to 1 s, so it stands at 2 to 3 s.
func TestTimelineAxis(t *testing.T) {
	cells := []record.Cell{cellOf("ladder", "static", keepAlive(1), true), cellOf("ladder", "static", record.Step{Concurrency: 10, Requests: 9}, true)}
	c := newCampaign(1, cells, func(int, int) float64 { return 1000 })
	tl := c.analyse(t).Timelines
	if len(tl) != 1 || tl[0].Title != "Round 1: 2 load levels one after another; pauses longer than 1\u00a0s are cut" {
		t.Fatalf("%+v", tl)
	}
	want := []Segment{{"1 connection", 0, 1}, {"10 connections, no keep-alive", 2, 3}}
	if !slices.Equal(tl[0].Segments, want) {
		t.Errorf("got %v, want %v", tl[0].Segments, want)
	}
	// 250 answers in each quarter of a second, at the quarters' middles; two parts.
	p := panel(t, tl[0], "throughput")
	answers := lineOf(t, p, "answers")
	if len(p.Lines) != 1 || len(answers.Parts) != 2 || p.Max != 1000 || answers.Parts[1][0] != [2]float64{2.125, 1000} {
		t.Errorf("%+v", p)
	}
	// 1 ms at one connection, 10 ms at ten; the median p99 is in ms.
	l := panel(t, tl[0], "latency")
	if p99 := lineOf(t, l, "p99"); l.Unit != "ms" || p99.Parts[0][0][1] != 1 || p99.Parts[1][0][1] != 10 {
		t.Errorf("%+v", l)
	}
	if len(tl[0].Missing) != 3 || tl[0].Missing[0] != "Workers: not observed, no status page is known." || tl[0].Scoreboard != nil {
		t.Errorf("missing %q", tl[0].Missing)
	}
}

// A failed poll, and one that never came, are gaps: the line starts anew.
func TestTimelineGaps(t *testing.T) {
	c := single(1, func(int) float64 { return 100 }) // 10 s
	s := observe.Series{Source: "status", IntervalNS: 200e6}
	at := func(ms, idle int64, err string) {
		x := observe.Sample{AtNS: ms * 1e6, Error: err}
		if err == "" {
			x.Status = &observe.Status{BusyWorkers: new(10 - idle), IdleWorkers: &idle, Scoreboard: strings.Repeat("_", int(idle)) + strings.Repeat("W", int(10-idle))}
		}
		s.Samples = append(s.Samples, x)
	}
	at(-5000, 10, "") // long before the load: not drawn
	at(-200, 10, "")
	at(0, 9, "")
	at(200, 0, "timed out")
	at(400, 4, "")
	at(600, 5, "")
	at(2000, 6, "")
	c.runs[0].Series = append(c.runs[0].Series, s)
	tl := c.analyse(t).Timelines[0]
	idle := lineOf(t, panel(t, tl, "workers"), "idle")
	want := [][][2]float64{{{-0.2, 10}, {0, 9}}, {{0.4, 4}, {0.6, 5}}, {{2, 6}}}
	if len(idle.Parts) != 3 {
		t.Fatalf("%v", idle.Parts)
	}
	for i := range want {
		if !slices.Equal(idle.Parts[i], want[i]) {
			t.Errorf("part %d: %v, want %v", i, idle.Parts[i], want[i])
		}
	}
	h := tl.Scoreboard
	if h == nil || h.Slots != 10 || !slices.Equal(h.Letters, []string{"_", "W"}) || !slices.Equal(h.Counts[0], []int{10, 9, 4, 5, 6}) ||
		!slices.Equal(h.Counts[1], []int{0, 1, 6, 5, 4}) || h.Meaning["W"] != "writing" || len(h.AtS) != 5 {
		t.Errorf("%+v", h)
	}
}

// Rates are deltas of counters: of two cores 50 % busy is one; a counter that
// falls is a gap, not a negative rate.
func TestTimelineRates(t *testing.T) {
	c := single(1, func(int) float64 { return 1000 })
	c.runs[0].Series = append(c.runs[0].Series, hostSeries([]uint64{0, 0, 1 << 20, 0, 0}, .5))
	processes(&c.runs[0], [3]int64{0, 0, 0}, [3]int64{200, 100, 20}, [3]int64{400, 50, 0}, [3]int64{600, 150, 0})
	tl := c.analyse(t).Timelines[0]
	cpu := panel(t, tl, "cpu")
	machine := lineOf(t, cpu, "machine")
	if cpu.Unit != "cores" || len(machine.Parts) != 1 || len(machine.Parts[0]) != 4 {
		t.Fatalf("%+v", cpu)
	}
	near(t, "machine", machine.Parts[0][0][1], 1, 1e-9)
	// 120 ms of CPU in 200 ms; then the counter falls (a gap); then 100 ms in 200 ms.
	server := lineOf(t, cpu, "server")
	if len(server.Parts) != 2 {
		t.Fatalf("%v", server.Parts)
	}
	near(t, "server", server.Parts[0][0][1], 0.6, 1e-9)
	near(t, "server later", server.Parts[1][0][1], 0.5, 1e-9)
	// 1 MiB in 0.2 s.
	swap := panel(t, tl, "swap")
	near(t, "swap", swap.Max, 5, 1e-9)
	if swap.AllZero {
		t.Error("swap that moved is marked as still")
	}
	m := lineOf(t, panel(t, tl, "memory"), "available")
	if m.Parts[0][0][1] != 4096 {
		t.Errorf("memory %v", m.Parts[0][0])
	}
	if cl := lineOf(t, cpu, "client"); cl.Parts[0][0][1] != 0 {
		t.Errorf("client %v", cl.Parts)
	}
}

func TestSwapThatStoodStill(t *testing.T) {
	c := single(1, func(int) float64 { return 1000 })
	c.runs[0].Series = append(c.runs[0].Series, hostSeries([]uint64{7, 7, 7}, .5))
	if p := panel(t, c.analyse(t).Timelines[0], "swap"); !p.AllZero || p.Max != 0 {
		t.Errorf("%+v", p)
	}
}

// The first whole round is drawn; without one, that with most good runs.
func TestTimelineChoosesTheRound(t *testing.T) {
	for _, c := range []struct {
		name string
		bad  []int // indexes of runs, two a round
		want int
	}{
		{"all good", nil, 1}, {"first round bad", []int{0}, 2}, {"none whole", []int{0, 1, 2, 5}, 2}, {"last whole", []int{0, 2}, 3}, {"all bad", []int{0, 1, 2, 3, 4, 5}, 1},
	} {
		k := newCampaign(3, caches(), func(int, int) float64 { return 1000 })
		for _, i := range c.bad {
			k.runs[i].Void = "x"
		}
		if tl := k.analyse(t).Timelines; len(tl) != 1 || tl[0].Round != c.want || len(tl[0].Segments) != 2 {
			t.Errorf("%s: %+v", c.name, tl)
		}
	}
}

// A slice much shorter than the others is no rate; one without an answer has
// no percentile.
func TestTimelineSlices(t *testing.T) {
	c := single(1, func(int) float64 { return 1000 })
	ms := int64(5e6)
	c.runs[0].Result.Intervals = []load.Interval{
		{StartNS: 0, LengthNS: 200e6, Complete: 100, P50NS: &ms, P99NS: &ms},
		{StartNS: 200e6, LengthNS: 200e6, Failed: 20},
		{StartNS: 400e6, LengthNS: 200e6, Complete: 100, P50NS: &ms, P99NS: &ms},
		{StartNS: 600e6, LengthNS: 1e6, Complete: 9, P50NS: &ms, P99NS: &ms},
	}
	tl := c.analyse(t).Timelines[0]
	p := panel(t, tl, "throughput")
	if got := lineOf(t, p, "answers").Parts[0]; len(got) != 3 || got[1][1] != 0 || math.Abs(got[0][1]-500) > 1e-9 {
		t.Errorf("%v", got)
	}
	if got := lineOf(t, p, "failed").Parts[0]; got[1][1] != 100 {
		t.Errorf("%v", got)
	}
	if got := lineOf(t, panel(t, tl, "latency"), "p99").Parts; len(got) != 2 {
		t.Errorf("%v", got)
	}
}
