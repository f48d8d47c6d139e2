package analysis

import (
	"math"
	"strings"
	"testing"

	"abacus/harness/record"
)

var step50 = record.Step{Concurrency: 50, Requests: 1000}

func caches() []record.Cell {
	return []record.Cell{cellOf("cache", "memcached", step50, true), cellOf("cache", "apcu", step50, false)}
}

// ratios makes apcu's throughput times memcached's 1,000/s, round by round.
func ratios(r ...float64) *campaign {
	return newCampaign(len(r), caches(), func(cell, round int) float64 {
		if cell == 0 {
			return 1000
		}
		return 1000 * r[round]
	})
}

func primaryComparison(t *testing.T, a *Analysis) Comparison {
	t.Helper()
	p := primaryOf(a, "cache")
	if len(p) != 1 {
		t.Fatalf("%d primary comparisons, want 1", len(p))
	}
	return p[0]
}

// Ratios e^0.6 and e^0.65, three of each: the mean of the logs is 0.625, e^0.625 = 1.868246;
// the deviations are ±0.025, sd = 0.025·√(6/5) = 0.0273861; half = 2.570582·0.0273861/√6 = 0.0287400;
// the interval is e^0.596260 = 1.815316 to e^0.653740 = 1.922719; t = 0.625/(0.0273861/√6) = 55.90.
func TestFasterByHand(t *testing.T) {
	lo, hi := math.Exp(0.6), math.Exp(0.65)
	a := ratios(lo, hi, lo, hi, lo, hi).analyse(t)
	c := primaryComparison(t, a)
	if c.N != 6 || c.A != "apcu" || c.B != "memcached" || c.Baseline != "memcached" || c.Verdict != VerdictFaster {
		t.Fatalf("%+v", c)
	}
	near(t, "ratio", *c.Ratio, 1.868246, 1e-6)
	near(t, "lo", c.CI95[0], 1.815316, 2e-6)
	near(t, "hi", c.CI95[1], 1.922719, 2e-6)
	if *c.PHolm >= 1e-6 || *c.PHolm != *c.PValue {
		t.Errorf("p %v, Holm %v", *c.PValue, *c.PHolm)
	}
	near(t, "Mann–Whitney", *c.PMWU, 2.0/924, 1e-12)
	want := "apcu served 1.87 times (95\u202f% interval 1.82 to 1.92) the requests of memcached with a new connection per request; 6 rounds, adjusted p < 0.001."
	if c.Sentence != want {
		t.Errorf("got  %s\nwant %s", c.Sentence, want)
	}
	if a.Verdict[0] != want || a.Scenarios[0].Finding != want {
		t.Errorf("verdict %q, title %q", a.Verdict, a.Scenarios[0].Finding)
	}
}

func TestVerdicts(t *testing.T) {
	for _, c := range []struct {
		name     string
		r        []float64
		verdict  string
		sentence string
	}{
		{"slower", []float64{.5, .52, .5, .52, .5, .52}, VerdictSlower, "apcu served 0.510 times (95\u202f% interval 0.499 to 0.522) the requests of memcached"},
		// Within 1 % either way: the interval is inside the margin.
		{"equivalent", []float64{1.004, .998, 1.003, .999, 1.002, 1}, VerdictEquivalent,
			"apcu and memcached served the same within 2\u202f% with a new connection per request: ratio 1.0010 (95\u202f% interval 0.9985 to 1.0035); 6 rounds."},
		{"undecided", []float64{.9, 1.2, .95, 1.15, .92, 1.12}, VerdictNoDifference, "No difference shown between apcu and memcached with a new connection per request: ratio 1.0"},
		// Clearly not 1, but the middle is within 2 %: no difference that matters is shown.
		{"below the margin", []float64{1.012, 1.022, 1.013, 1.021, 1.014, 1.02}, VerdictNoDifference, "No difference beyond 2\u202f% shown between"},
		{"no spread", []float64{2, 2, 2, 2, 2, 2}, VerdictNoDifference, "No difference shown"},
		{"five rounds", []float64{1.9, 2, 1.9, 2, 1.95}, VerdictNotEnoughRuns,
			"apcu was ahead in 5 of 5 rounds with a new connection per request (1.95 times in the middle one); fewer than six rounds give no verdict."},
		{"baseline ahead", []float64{.5, .4, 2}, VerdictNotEnoughRuns,
			"apcu served less than memcached in 2 of 3 rounds with a new connection per request (0.500 times in the middle one); fewer than six rounds give no verdict."},
		{"draw", []float64{.5, 2}, VerdictNotEnoughRuns, "Neither apcu nor memcached was ahead in more rounds"},
		{"one", []float64{1.5}, VerdictNotEnoughRuns,
			"apcu was ahead in the one round with a new connection per request (1.50 times); fewer than six rounds give no verdict."},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := primaryComparison(t, ratios(c.r...).analyse(t))
			if got.Verdict != c.verdict || !strings.HasPrefix(got.Sentence, c.sentence) {
				t.Errorf("got  %s: %s\nwant %s: %s", got.Verdict, got.Sentence, c.verdict, c.sentence)
			}
			if (got.PValue != nil) && got.N < MinRounds {
				t.Errorf("a p-value from %d rounds", got.N)
			}
		})
	}
}

// Only rounds in which both runs are good make a pair.
func TestPairsNeedBothRuns(t *testing.T) {
	c := ratios(2, 2.1, 2, 2.1, 2, 2.1)
	c.runs[3].Void = "the client was the limit"
	got := primaryComparison(t, c.analyse(t))
	if got.N != 5 || got.Verdict != VerdictNotEnoughRuns || got.PValue != nil || len(got.BlockRatios) != 5 {
		t.Errorf("%+v", got)
	}
}

func TestHolmOverTheFamily(t *testing.T) {
	cells := append(caches(), cellOf("cache", "persistent", step50, false))
	noise := []float64{0.00, 0.02, 0.01, -0.01, -0.02, 0.015}
	c := newCampaign(6, cells, func(cell, round int) float64 {
		return 1000 * math.Exp([]float64{0, 0.05, 0.03}[cell]+noise[round]*[]float64{0, 1, 2}[cell])
	})
	a := c.analyse(t)
	p := primaryOf(a, "cache")
	if len(p) != 2 {
		t.Fatalf("%d comparisons", len(p))
	}
	small, large := p[0], p[1]
	if *small.PValue > *large.PValue {
		t.Fatal("the data were meant to give apcu the smaller p")
	}
	near(t, "smaller", *small.PHolm, 2**small.PValue, 1e-15)
	near(t, "larger", *large.PHolm, max(2**small.PValue, *large.PValue), 1e-15)
}

// Logs of 0.07 ± 0.0522: sd 0.0522·√(6/5) = 0.057182, t = 0.07/(0.057182/√6) = 2.9986,
// two-sided p = 0.0302 with 5 degrees of freedom: a difference alone, none once
// it is one of two (Holm: 0.0604).
func TestHolmDecides(t *testing.T) {
	hi, lo := math.Exp(0.07+0.0522), math.Exp(0.07-0.0522)
	alone := primaryComparison(t, ratios(hi, lo, hi, lo, hi, lo).analyse(t))
	if alone.Verdict != VerdictFaster {
		t.Errorf("alone: %s, p %v", alone.Verdict, *alone.PHolm)
	}
	near(t, "p", *alone.PValue, 0.0302, 1e-4)
	cells := append(caches(), cellOf("cache", "persistent", step50, false))
	c := newCampaign(6, cells, func(cell, round int) float64 {
		return 1000 * []float64{1, []float64{hi, lo}[round%2], []float64{1.3, 0.8, 1.1, 0.9, 1.2, 0.7}[round]}[cell]
	})
	p := primaryOf(c.analyse(t), "cache")
	near(t, "adjusted", *p[0].PHolm, 2**p[0].PValue, 1e-12)
	if p[0].Verdict != VerdictNoDifference || !strings.HasPrefix(p[0].Sentence, "No difference shown between apcu and memcached") {
		t.Errorf("one of two: %s: %s", p[0].Verdict, p[0].Sentence)
	}
}

// The family is what was planned: a member that lost a round, and with it its
// p-value, makes it no smaller.
func TestHolmOverThePlannedFamily(t *testing.T) {
	cells := append(caches(), cellOf("cache", "persistent", step50, false))
	c := newCampaign(6, cells, func(cell, round int) float64 { return 1000 * (1 + float64(cell)*(1+0.1*float64(round%2))) })
	c.runs[2].Void = "the client was the limit"
	p := primaryOf(c.analyse(t), "cache")
	if p[1].N != 5 || p[1].PHolm != nil || p[1].Verdict != VerdictNotEnoughRuns {
		t.Fatalf("%+v", p[1])
	}
	near(t, "adjusted", *p[0].PHolm, 2**p[0].PValue, 1e-15)
}

func TestExploratoryHasNoVerdict(t *testing.T) {
	a := ratios(1.9, 2, 1.9, 2, 1.9, 2).analyse(t)
	n := 0
	for _, c := range a.Comparisons {
		if c.Primary {
			continue
		}
		n++
		if c.Metric != "p95" || c.Verdict != "" || c.PValue != nil || c.CI95 == nil || !strings.HasSuffix(c.Sentence, "; no verdict.") {
			t.Errorf("%+v", c)
		}
	}
	if n != 1 {
		t.Errorf("%d exploratory comparisons, want 1", n)
	}
}

func TestPrimaryP95(t *testing.T) {
	c := ratios(1.9, 2, 1.9, 2, 1.9, 2)
	c.manifest.Scenarios[0].Primary = "p95"
	got := primaryComparison(t, c.analyse(t))
	// Twice the throughput at the same concurrency is half the latency.
	if got.Metric != "p95" || got.Verdict != VerdictFaster || !strings.HasPrefix(got.Sentence, "With apcu, p95 was 0.51") {
		t.Errorf("%s: %s", got.Verdict, got.Sentence)
	}
}

func TestEnginesAreComparedAsEngines(t *testing.T) {
	cells := []record.Cell{cellOf("engine-check", "static/native", record.Step{Concurrency: 50, Requests: 1000, KeepAlive: true}, false),
		cellOf("engine-check", "static/hey", record.Step{Concurrency: 50, Requests: 1000, KeepAlive: true}, false)}
	cells[0].URL, cells[1].URL, cells[1].Engine = "/static.html", "/static.html", "hey"
	a := newCampaign(6, cells, func(cell, round int) float64 { return []float64{1000, 900 + float64(round)}[cell] }).analyse(t)
	c := primaryOf(a, "engine-check")[0]
	if c.B != "static/native" || !strings.HasPrefix(c.Sentence, "Loaded by hey, the server answered 0.90") ||
		!strings.Contains(c.Sentence, "the requests per second that it did loaded by native; 6 rounds") {
		t.Errorf("%s against %s: %s", c.A, c.B, c.Sentence)
	}
}

func TestAbout(t *testing.T) {
	for n, want := range map[int]string{7: "About 7 rounds", 20: "About 20 rounds", 44: "About 40 rounds", 46: "About 50 rounds",
		249: "About 200 rounds", 951: "About 1,000 rounds", 1001: "More than 1,000 rounds"} {
		if got := about(n); got != want {
			t.Errorf("about(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestEnginesOverFewRounds(t *testing.T) {
	cells := []record.Cell{cellOf("engine-check", "static/native", keepAlive(50), false), cellOf("engine-check", "static/hey", keepAlive(50), false)}
	cells[0].URL, cells[1].URL, cells[1].Engine = "/static.html", "/static.html", "hey"
	a := newCampaign(3, cells, func(cell, round int) float64 { return []float64{1500, 1000}[cell] }).analyse(t)
	want := "Loaded by hey, the server answered less than loaded by native in 3 of 3 rounds (0.667 times in the middle one); fewer than six rounds give no verdict."
	if got := primaryOf(a, "engine-check")[0].Sentence; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestQuickGivesNoIntervals(t *testing.T) {
	c := ratios(1.9, 2, 1.9, 2, 1.9, 2)
	c.manifest.Quick = true
	a := c.analyse(t)
	if a.Verdict[0] != "Quick look: one short round, no verdict." {
		t.Errorf("verdict %q", a.Verdict)
	}
	for _, k := range a.Comparisons {
		if k.CI95 != nil || k.PValue != nil || (k.Primary && k.Verdict != VerdictNotEnoughRuns) {
			t.Errorf("%+v", k)
		}
	}
	for _, k := range a.Cells {
		if k.Throughput.CI95 != nil || k.Latency.P95.Runs.CI95 != nil {
			t.Errorf("%+v", k.Throughput)
		}
	}
}

func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if math.IsNaN(got) || math.Abs(got-want) > tol {
		t.Errorf("%s = %.10g, want %.10g", what, got, want)
	}
}
