package html

import (
	"math"
	"strings"
	"testing"

	"abacus/harness/analysis"
)

func TestZeroAxis(t *testing.T) {
	tests := []struct {
		max    float64
		steps  int
		end    float64
		labels string
	}{
		{3789, 4, 4000, "0 1,000 2,000 3,000 4,000"},
		{47.1, 6, 50, "0 10 20 30 40 50"},
		{9.2, 4, 10, "0.0 2.5 5.0 7.5 10.0"},
		{0.031, 4, 0.04, "0.00 0.01 0.02 0.03 0.04"},
		{1, 2, 1, "0.0 0.5 1.0"},
		{0, 4, 1, "0.00 0.25 0.50 0.75 1.00"},
		{math.NaN(), 2, 1, "0.0 0.5 1.0"},
		{math.Inf(1), 2, 1, "0.0 0.5 1.0"},
	}
	for _, tt := range tests {
		a := zeroAxis(tt.max, tt.steps)
		if math.Abs(a.max-tt.end) > 1e-12 || strings.Join(a.ticks.Labels, " ") != tt.labels {
			t.Errorf("zeroAxis(%v, %d) ends at %v with %q, want %v with %q", tt.max, tt.steps, a.max, a.ticks.Labels, tt.end, tt.labels)
		}
	}
}

func TestLogAxis(t *testing.T) {
	tests := []struct {
		lo, hi     float64
		start, end float64
		labels     string
	}{
		{0.846, 492, -1, 3, "0.1 1 10 100 1,000"},
		{1, 1000, 0, 3, "1 10 100 1,000"},
		{12, 60, 1, 2, "10 20 50 100"},
		{3, 3, math.Log10(2), math.Log10(5), "2 5"},
	}
	for _, tt := range tests {
		a := logAxis(tt.lo, tt.hi)
		if math.Abs(a.min-tt.start) > 1e-9 || math.Abs(a.max-tt.end) > 1e-9 || strings.Join(a.ticks.Labels, " ") != tt.labels {
			t.Errorf("logAxis(%v, %v): %v to %v with %q, want %v to %v with %q", tt.lo, tt.hi, a.min, a.max, a.ticks.Labels, tt.start, tt.end, tt.labels)
		}
	}
}

func TestRatioAxisHoldsOneAndAllValues(t *testing.T) {
	for _, r := range [][2]float64{{0.98, 1.02}, {1.8, 1.95}, {0.3, 0.4}, {0.05, 12}, {1, 1}} {
		a := ratioAxis(r[0], r[1])
		if a.min > math.Log10(r[0]) || a.max < math.Log10(r[1]) || a.min > 0 || a.max < 0 {
			t.Errorf("%v: the axis runs from %v to %v", r, a.min, a.max)
		}
		one := false
		for i, at := range a.ticks.At {
			one = one || at == 0 && a.ticks.Labels[i] == "1\u202f×"
		}
		if !one || len(a.ticks.At) > 6 {
			t.Errorf("%v: ticks %q", r, a.ticks.Labels)
		}
	}
}

func TestLevelAxisHasTestedLevelsOnly(t *testing.T) {
	a := levelAxis([]int{1, 10, 200})
	if strings.Join(a.ticks.Labels, " ") != "1 10 200" || a.ticks.At[1] != 1 || math.Abs(a.ticks.At[2]-math.Log10(200)) > 1e-12 {
		t.Errorf("ticks %v %q", a.ticks.At, a.ticks.Labels)
	}
	if one := levelAxis([]int{50}); !(one.max > one.min) {
		t.Errorf("one level: %v to %v", one.min, one.max)
	}
}

func TestRarity(t *testing.T) {
	for q, want := range map[float64]float64{0: 0, 0.9: 1, 0.99: 2, 0.999: 3} {
		if got := rarity(q); math.Abs(got-want) > 1e-9 {
			t.Errorf("rarity(%v) = %v, want %v", q, got, want)
		}
	}
}

func TestThin(t *testing.T) {
	// 4 columns' worth of axis, 780 in all: 40 points within one column.
	var part [][2]float64
	for i := 0; i < 40; i++ {
		part = append(part, [2]float64{float64(i) * 0.01, 5})
	}
	part[7][1], part[20][1] = 1, 9
	got := thin(part, 780)
	want := [][2]float64{part[0], part[7], part[20], part[39]}
	if len(got) != len(want) {
		t.Fatalf("got %v, want first, least, greatest, last: %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("point %d: %v, want %v", i, got[i], want[i])
		}
	}
	// Two points a column and fewer stay as they are.
	if few := thin(part[:2], 780); len(few) != 2 {
		t.Errorf("two points became %d", len(few))
	}
	if same := thin(part, 1); len(same) != 40 {
		t.Errorf("40 points over 312 columns became %d", len(same))
	}
}

func TestGapsStayGaps(t *testing.T) {
	l := analysis.Line{Parts: [][][2]float64{{{0, 1}, {1, 2}}, {{3, 0}, {4, 5}}}}
	data, _ := lineData(l, 4, false)
	if len(data) != 5 || !math.IsNaN(data[2][1]) {
		t.Errorf("no gap between the parts: %v", data)
	}
	// On a log axis a zero cannot be drawn: it is a gap, not a bottom.
	data, _ = lineData(l, 4, true)
	if !math.IsNaN(data[3][1]) || data[1][1] != math.Log10(2) {
		t.Errorf("log: %v", data)
	}
}

func TestTooFewSamplesAreNotJoined(t *testing.T) {
	part := func(n int) (out [][2]float64) {
		for i := 0; i < n; i++ {
			out = append(out, [2]float64{float64(i), 1})
		}
		return out
	}
	l := analysis.Line{Name: "busy", Parts: [][][2]float64{part(9), part(10), part(1)}}
	joined, alone := bySamples(l, true)
	if len(joined.Parts) != 1 || len(joined.Parts[0]) != 10 || len(alone) != 10 {
		t.Errorf("sampled: %d parts joined, %d points alone, want the part of 10, and 9 + 1 points", len(joined.Parts), len(alone))
	}
	// Throughput and latency are counted without gaps, so any two are joined.
	joined, alone = bySamples(l, false)
	if len(joined.Parts) != 2 || len(alone) != 1 {
		t.Errorf("counted: %d parts joined, %d points alone, want 2 and 1", len(joined.Parts), len(alone))
	}
}

func TestSplitPanels(t *testing.T) {
	line := func(name string, v float64) analysis.Line {
		return analysis.Line{Name: name, Parts: [][][2]float64{{{0, v}}}}
	}
	got := splitPanels([]analysis.Panel{
		{ID: "memory", Title: "Memory", Lines: []analysis.Line{line("available", 23000), line("server", 40), line("client", 20)}},
		{ID: "workers", Title: "Workers", Lines: []analysis.Line{line("busy", 1), line("idle", 149)}},
		{ID: "network", Title: "Network", Lines: []analysis.Line{line("in", 100), line("out", 1)}},
		{ID: "cpu", Title: "CPU", Lines: []analysis.Line{line("machine", 2), line("server", 0.4)}},
		{ID: "swap", Title: "Swap", Lines: []analysis.Line{line("in", 0), line("out", 0)}},
	})
	var names []string
	for _, p := range got {
		name := p.Title + ":"
		for _, l := range p.Lines {
			name += " " + l.Name
		}
		names = append(names, name)
	}
	if s := strings.Join(names, "; "); s != "Memory: server client; Memory available: available; Workers: busy idle; Network out: out; Network in: in; CPU: machine server; Swap: in out" {
		t.Errorf("got %q", s)
	}
}

func TestHeatRunsKeepTheDarkest(t *testing.T) {
	bounds := heatBounds(150)
	if bounds != [5]int{5, 17, 50, 110, 150} {
		t.Fatalf("bounds %v", bounds)
	}
	// Cells of 0.4 s: {2, 120} → 5, {0, 0} → open, {3, 4} and {1} → 1, joined.
	at := []float64{0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.2}
	runs := heatRuns(at, []int{2, 120, 0, 0, 3, 4, 1}, 0.4, bounds)
	if len(runs) != 2 {
		t.Fatalf("runs %+v", runs)
	}
	if r := runs[0]; r.level != 5 || r.most != 120 || r.from != 0 || math.Abs(r.to-0.4) > 1e-9 {
		t.Errorf("first %+v", r)
	}
	if r := runs[1]; r.level != 1 || r.most != 4 || math.Abs(r.from-0.8) > 1e-9 || math.Abs(r.to-1.6) > 1e-9 {
		t.Errorf("second %+v", r)
	}
}

func TestAgainstBaseline(t *testing.T) {
	c := analysis.Comparison{A: "memcached", B: "apcu", Baseline: "memcached", Ratio: ptr(0.5), CI95: &[2]float64{0.4, 0.8}}
	v, ci := againstBaseline(c)
	if v != 2 || *ci != [2]float64{1.25, 2.5} {
		t.Errorf("apcu ÷ memcached: %v %v, want 2 and 1.25 to 2.5", v, *ci)
	}
	c.Baseline = "apcu"
	if v, ci = againstBaseline(c); v != 0.5 || *ci != [2]float64{0.4, 0.8} {
		t.Errorf("memcached ÷ apcu: %v %v", v, *ci)
	}
}

func TestFailuresByKind(t *testing.T) {
	got := failuresByKind(map[string]int64{"timeout": 2, "connect": 1000, "length": 0, "other": 1, "a": 2, "zeta": 3, "mid": 4})
	if got != "1,000 × connect, 2 × timeout, 2 × a, 4 × mid, 1 × other, 3 × zeta" {
		t.Errorf("got %q", got)
	}
}

func TestYAMLLinesKeepTheText(t *testing.T) {
	const text = "campaign: a\nurl: http://x/?a=b: c\nlist:\n  - {name: b}\n  - name: \"</script>\"\n# note: no key\n"
	var b strings.Builder
	for _, l := range yamlLines(text) {
		b.WriteString(l.Indent + l.Key + l.Rest + "\n")
	}
	if b.String() != text {
		t.Errorf("got  %q\nwant %q", b.String(), text)
	}
	if l := yamlLines("# note: x\n")[0]; l.Key != "" {
		t.Errorf("a comment became the key %q", l.Key)
	}
}

// Names of load levels have one form on one axis; those without room are left
// out.
func TestSegmentNames(t *testing.T) {
	names := func(lengths ...float64) []string {
		labels := []string{"10 connections", "200 connections", "10 connections, no keep-alive"}
		var all []analysis.Segment
		at := 0.0
		for i, l := range lengths {
			all = append(all, analysis.Segment{Label: labels[i], StartS: at, EndS: at + l})
			at += l
		}
		c := newChart(10)
		c.segmentNames(0, all, 1, 780, false, 0) // a pixel a second; a letter is 6.6 wide
		if len(c.spec.Marks) == 0 {
			return nil
		}
		return c.spec.Marks[0].Texts
	}
	for _, c := range []struct {
		lengths []float64
		want    string
	}{
		{[]float64{200, 200, 200}, "10 connections|200 connections|10 connections, no keep-alive"},
		{[]float64{80, 80, 160}, "10 conn.|200 conn.|10 conn., no keep-alive"},
		{[]float64{25, 25, 45}, "10|200|10 new"},
		{[]float64{25, 10, 45}, "10|10 new"},
		{[]float64{5, 5, 5}, ""},
	} {
		if got := strings.Join(names(c.lengths...), "|"); got != c.want {
			t.Errorf("%v: %q, want %q", c.lengths, got, c.want)
		}
	}
}

// FuzzYAMLLines: setting keys apart never changes the text.
func FuzzYAMLLines(f *testing.F) {
	for _, s := range []string{"a: b\n", "- a:\n  b: 'c: d'\n", "\n\n", ": x", "- - a: b\n", "\ta: b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var b strings.Builder
		for _, l := range yamlLines(text) {
			b.WriteString(l.Indent + l.Key + l.Rest + "\n")
		}
		if got, want := b.String(), strings.TrimRight(text, "\n")+"\n"; got != want && text != "" {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}
