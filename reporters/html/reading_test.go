package html

import (
	"slices"
	"strings"
	"testing"

	"abacus/harness/analysis"
	"abacus/harness/stats"
)

// twoRuns is the by-hand comparison with two runs of 32,096 and 26,444: mean
// 29,270, sd 3,997, interval to 65,178; p95 of 7.63 and 28.3 ms: mean 17.97,
// sd 14.6.
func twoRuns() *analysis.Analysis {
	a := byHand()
	for i := range a.Cells {
		c := &a.Cells[i]
		c.Runs, c.PlannedRuns = 2, 2
		c.Throughput = &stats.Spread{N: 2, Mean: 29270, SD: ptr(3996.6), Min: 26444, Max: 32096, CI95: &[2]float64{0, 65178}}
		c.Latency.P95.Runs = &stats.Spread{N: 2, Mean: 17.965e6, SD: ptr(14.616e6), CI95: &[2]float64{0, 149.3e6}}
		c.Points = c.Points[:2]
		c.Points[0].Throughput, c.Points[1].Throughput = ptr(32096.0), ptr(26444.0)
	}
	return a
}

func TestWideIntervalsKeepTheirSD(t *testing.T) {
	text := plainText(render(t, twoRuns()))
	for _, want := range []string{"29,000 ± 4,000 0–65,000", "20 ± 10"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(text, "± 0") {
		t.Error("an sd that is not 0 reads as 0")
	}
}

// Levels of a ladder of variants have the same short names in both tables, and
// an sd within runs keeps a digit too.
func TestWithinTable(t *testing.T) {
	text := plainText(render(t, ladderOfThree()))
	if !strings.Contains(text, "worker · 50 6 ") || strings.Contains(text, "worker · 50 connections least") || strings.Count(text, "Variant · connections") != 2 {
		t.Error("the table of phases names its levels otherwise")
	}
	a := byHand()
	a.Cells[0].WithinRun.Total.SD = ptr(0.004e6)
	if text := plainText(render(t, a)); !strings.Contains(text, "25.630 ± 0.004") {
		t.Error("the sd within runs reads as 0")
	}
}

// A bar that leaves its panel is cut there and has no cap at that end.
func TestErrorBarsStayInTheirPanel(t *testing.T) {
	for _, c := range []struct {
		ci   [2]float64
		want []float64
	}{
		{[2]float64{10, 90}, []float64{1, 10, 1, 90, 0, 0, 0}},
		{[2]float64{-10, 90}, []float64{1, 0, 1, 90, 0, 0, 1}},
		{[2]float64{10, 200}, []float64{1, 10, 1, 100, 0, 0, 2}},
		{[2]float64{-10, 200}, []float64{1, 0, 1, 100, 0, 0, 3}},
	} {
		if got := clipped(1, &c.ci, 100); !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, want %v", c.ci, got, c.want)
		}
	}
	if got := whisker(3, 5, 0, 9); !slices.Equal(got, []float64{0, 0, 8, 0, 9, 9, 1}) {
		t.Errorf("%v", got)
	}
	many := []course{{cells: twoRuns().Cells}}
	if got := stressLine(many); !strings.Contains(got, "error bars: 95\u202f% interval (without a cap: cut at the edge); small") {
		t.Error(got)
	}
	two := twoRuns()
	if page := string(render(t, two)); !strings.Contains(page, "band: 95\u202f% interval, cut at the edge") {
		t.Error("the strip does not say that its bands are cut")
	}
	// The greatest run is 32,096: the axis ends by 1.6 times that.
	rows := rowsOf(twoRuns(), twoRuns().Scenarios[0])
	if got := topThroughput(rows); got < 32096 || got > 1.6*32097 {
		t.Errorf("%v", got)
	}
}

// At most three sentences stand in large type; a long second one does not.
func TestVerdictIsNoWall(t *testing.T) {
	long := strings.Repeat("x", 300) + "."
	for _, c := range []struct {
		in   []string
		want verdict
	}{
		{[]string{"A.", "B.", "C.", "D."}, verdict{Lead: "A.", Rest: "B. C.", More: "D."}},
		{[]string{"A (1 to 2) b.", "C."}, verdict{Lead: "A", Rest: "(1 to 2) b. C."}},
		{[]string{long, long}, verdict{Lead: long, More: long}},
		{[]string{"A."}, verdict{Lead: "A."}},
	} {
		if got := newVerdict(&analysis.Analysis{Complete: true, Verdict: c.in}); got != c.want {
			t.Errorf("%q: %+v", c.in, got)
		}
	}
}

// A rule above the verdict says already that the record is incomplete.
func TestIncompleteIsSaidOnce(t *testing.T) {
	a := byHand()
	interrupted(a)
	a.Verdict = []string{"A.", "Incomplete: 31 of 12 runs, stopped in round 4: SIGINT."}
	if text := plainText(render(t, a)); strings.Count(text, "Incomplete:") != 2 { // the rule, and the footer
		t.Errorf("%d times", strings.Count(text, "Incomplete:"))
	}
}

// Only what the record has is defined, in the units of the tables.
func TestDefinitionsAreOfThisRecord(t *testing.T) {
	terms := map[string]string{}
	for _, d := range definitions(byHand()) {
		terms[d.Term] = d.ID
	}
	for _, absent := range []string{"service_p99", "send_lag_p99_ns", "connect_ns", "non_2xx", "failed_timeout", "client_cpu_share"} {
		if _, there := terms[absent]; there {
			t.Errorf("%s is defined, but the page has none", absent)
		}
	}
	for term, unit := range map[string]string{"throughput_per_s": "requests/s", "p95": "ms", "total_ns": "ms", "failed_receive": "count", "failed_connect": "count"} {
		if got, there := terms[term]; !there || got != unit {
			t.Errorf("%s: %q, %v, want %q", term, got, there, unit)
		}
	}
	a := byHand()
	a.Goals = []analysis.GoalResult{{Goal: "client_cpu_share < 0.9"}}
	if !slices.ContainsFunc(definitions(a), func(d definition) bool { return d.Term == "client_cpu_share" && d.ID == "%" }) {
		t.Error("the metric of a goal is not defined")
	}
}

// What is not drawn is in no legend.
func TestLegendsOfOneRun(t *testing.T) {
	a := newSample()
	quick(a)
	for _, d := range chartData(t, render(t, a)) {
		for _, m := range d.Wide.Marks {
			for _, text := range m.Texts {
				if strings.Contains(text, "% interval") {
					t.Errorf("a legend says %q", text)
				}
			}
		}
	}
	v := view{Tiles: []tile{{Spark: &spark{}}}}
	if got := v.StripWords(); got != "Strips: a point is a run, the line the mean." {
		t.Error(got)
	}
}

func TestTileThatWarns(t *testing.T) {
	a := byHand()
	a.Headline = []analysis.Headline{{Label: "Failed requests", Note: "beside 9,800 whole answers, 9,800 of them not 2xx", Warn: true}}
	if page := string(render(t, a)); !strings.Contains(page, `<dd class="iv wn">beside 9,800 whole answers, 9,800 of them not 2xx</dd>`) {
		t.Error("the tile does not warn")
	}
}

// The figure of a variant stands beside its band, or above it, never on its name.
func TestFigureOfAWideBand(t *testing.T) {
	place := func(lo, mean, hi float64) (x, dy float64) {
		c := newChart(10)
		r := row{cell: analysis.Cell{Throughput: &stats.Spread{N: 2, Mean: mean, Min: mean, Max: mean, CI95: &[2]float64{lo, hi}}, Points: []analysis.Point{{Throughput: &mean}}}}
		c.throughputRow(0, r, 0, 18, false, 100)
		data := seriesOf(c.finish())
		last := data[len(data)-1].Data.([]any)[0].([]any)
		return last[0].(float64), last[3].(float64)
	}
	for _, c := range []struct{ lo, mean, hi, x, dy float64 }{
		{60, 70, 80, 60, -8}, {0, 40, 80, 80, -8}, {0, 50, 100, 50, -26}, {10, 15, 20, 20, -8},
	} {
		if x, dy := place(c.lo, c.mean, c.hi); x != c.x || dy != c.dy {
			t.Errorf("%v: at %v, %v", c, x, dy)
		}
	}
}

// A tile of a ratio reads as the sentences do: half of 5.3 − 0.6 allows tenths.
func TestTileOfAWideRatio(t *testing.T) {
	got := newTile(analysis.Headline{Value: 1.8, Unit: "×", CI95: &[2]float64{0.6, 5.3}})
	if got.Value != "1.8" || got.Note != "95\u202f% interval 0.6 to 5.3" {
		t.Errorf("%+v", got)
	}
}
