package html

import (
	"math"
	"strings"
	"testing"

	"abacus/harness/analysis"
	"abacus/harness/preflight"
)

// The grey band is the margin that the verdict uses, 1 ÷ (1 + m) to 1 + m: even
// a margin of 100 % has a lower end.
func TestMarginBandIsTheVerdicts(t *testing.T) {
	c := newChart(100)
	c.ratioPanelAt([]row{{}}, 1, "0", "0", 0, 54)
	for i, m := range c.spec.Marks {
		if m.Kind != "box" || m.Full != "y" {
			continue
		}
		row := c.c.MultiSeries[i].Data.([]any)[0].([]any)
		lo, hi := row[0].(float64), row[2].(float64)
		if math.Abs(lo+math.Log10(2)) > 1e-6 || math.Abs(hi-math.Log10(2)) > 1e-6 {
			t.Errorf("the band is %v to %v, want ±log10 2", lo, hi)
		}
		return
	}
	t.Error("no band")
}

// A void run stretches no scale; without a good one there is no other to take.
func TestVoidRunsStretchNoScale(t *testing.T) {
	cell := analysis.Cell{Points: []analysis.Point{{Throughput: ptr(1000.0)}, {Throughput: ptr(50000.0), State: "void", Bad: "the client was the limit"}}}
	if got := topThroughput([]row{{cell: cell}}); got != 1000 {
		t.Errorf("the scale reaches to %v, want 1000", got)
	}
	cell.Points = cell.Points[1:]
	if got := topThroughput([]row{{cell: cell}}); got != 50000 {
		t.Errorf("the scale of void runs alone reaches to %v, want 50000", got)
	}
}

// The ring of a run beyond the scale stands at the edge, with its own value
// under the cursor.
func TestVoidRunBeyondTheScale(t *testing.T) {
	a := newSample()
	voidLevel(a)
	a.Cells[4].Points[3].Throughput = ptr(987654.0)
	page := string(render(t, a))
	if !strings.Contains(page, "round 4: 987,654 requests/s, void: the client was the limit") {
		t.Error("the value of the void run is not said")
	}
	if strings.Contains(page, ",987654,") {
		t.Error("the void run is drawn beyond the panel")
	}
}

// A ratio reads as in its sentence: one last digit for it and its interval.
func TestRatioAndIntervalShareTheirDigit(t *testing.T) {
	a := byHand()
	k := &a.Comparisons[0]
	k.Ratio, k.CI95 = ptr(0.91), &[2]float64{0.1, 8.25}
	text := plainText(render(t, a))
	// Half the width is 4.1; the ratio itself has its first digit at the tenths.
	if n := strings.Count(text, "0.9\u202f× 0.1–8.2"); n != 2 {
		t.Errorf("%d of 2 tables write it so:\n%s", n, text)
	}
}

// The count beside the merged percentiles is that of the merged histogram, in
// which void runs are not.
func TestQuantileTableCountsItsHistogram(t *testing.T) {
	a := newSample()
	a.Cells[4].WithinRun.Total.Count = 54321
	rows := rowsOf(a, a.Scenarios[0])
	table := quantileTable("t", a.Scenarios[0], rows, "ms", 1e6)
	last := table.Rows[4].Cells[len(table.Rows[4].Cells)-1]
	if last.Text != "54,321" {
		t.Errorf("got %q, want 54,321", last.Text)
	}
}

// The median of an even number is the mean of the middle two, and failed
// requests are not counted with it.
func TestMedianOfSingles(t *testing.T) {
	i := &preflight.Idle{}
	for _, ms := range []int64{1, 2, 4, 9} {
		i.Singles = append(i.Singles, preflight.Phases{TotalNS: ms * 1e6})
	}
	i.Singles = append(i.Singles, preflight.Phases{TotalNS: 500e6, Error: "refused"})
	if got, want := singles(i), "total 3.00\u00a0ms (median of 4)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Where the verdict rests on p95, the ratio is of p95 and says so.
func TestRatioOfP95SaysSo(t *testing.T) {
	a := newSample()
	a.Scenarios[2].Primary, a.Comparisons[2].Metric = "p95", "p95"
	page := string(render(t, a))
	for _, want := range []string{`"p95, ratio to baseline (log scale)"`, "p95 of each variant as a ratio to the baseline"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

func TestVerdictDefinitionNamesTheMargin(t *testing.T) {
	text := plainText(render(t, newSample()))
	if !strings.Contains(text, "the adjusted p is under 0.05, and the ratio lies beyond the margin (±2\u202f%)") {
		t.Error("the definition of the verdict leaves out the margin")
	}
}

// The note on ratios says how many rounds each rests on.
func TestRatioNoteCountsRounds(t *testing.T) {
	rows := []row{{against: &analysis.Comparison{N: 6}}, {against: &analysis.Comparison{N: 5}}}
	want := "Ratio: geometric mean over 5 to 6 complete rounds."
	if got := comparisonNote(rows, true); !strings.HasPrefix(got, want) || !strings.Contains(got, "Fewer than six rounds give no verdict.") {
		t.Errorf("got %q, want %q first", got, want)
	}
}
