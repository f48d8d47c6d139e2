package stats

import (
	"math"
	"testing"
)

func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if math.IsNaN(got) || math.Abs(got-want) > tol {
		t.Errorf("%s = %.10g, want %.10g", what, got, want)
	}
}

// The t table: NIST/SEMATECH e-Handbook of Statistical Methods, section 1.3.6.7.2.
func TestTQuantileTable(t *testing.T) {
	for _, c := range []struct{ df, want float64 }{
		{1, 12.706}, {2, 4.303}, {5, 2.571}, {9, 2.262}, {30, 2.042}, {100, 1.984},
	} {
		near(t, "t(0.975)", TQuantile(0.975, c.df), c.want, 0.0005)
	}
	near(t, "t(0.975, 5)", TQuantile(0.975, 5), 2.570582, 1e-6)
}

// 2, 4, 4, 4, 5, 5, 7, 9: mean 5, squared deviations 9+1+1+1+0+0+4+16 = 32,
// sample variance 32/7; t(0.975, 7) = 2.364624.
func TestDescribeByHand(t *testing.T) {
	in := []float64{9, 4, 2, 4, 5, 4, 7, 5}
	s, ok := Describe(in)
	if !ok || s.N != 8 || s.Mean != 5 || s.Min != 2 || s.Max != 9 {
		t.Fatalf("%+v, %v", s, ok)
	}
	near(t, "sd", *s.SD, math.Sqrt(32.0/7), 1e-12)
	half := 2.364624 * math.Sqrt(32.0/7) / math.Sqrt(8)
	near(t, "lo", s.CI95[0], 5-half, 1e-5)
	near(t, "hi", s.CI95[1], 5+half, 1e-5)
	if in[0] != 9 || in[2] != 2 {
		t.Error("the caller's slice was reordered")
	}
}

func TestDescribeEdges(t *testing.T) {
	one, ok := Describe([]float64{3})
	if !ok || one.N != 1 || one.Mean != 3 || one.SD != nil || one.CI95 != nil {
		t.Errorf("one value: %+v, %v", one, ok)
	}
	eq, ok := Describe([]float64{7, 7, 7})
	if !ok || *eq.SD != 0 || *eq.CI95 != [2]float64{7, 7} {
		t.Errorf("equal values: %+v, %v", eq, ok)
	}
	for _, bad := range [][]float64{nil, {}, {1, math.NaN()}, {math.Inf(1)}, {math.MaxFloat64, -math.MaxFloat64}} {
		if s, ok := Describe(bad); ok {
			t.Errorf("Describe(%v) = %+v, want not ok", bad, s)
		}
	}
}

func TestMedian(t *testing.T) {
	if m, ok := Median([]float64{3, 1, 2}); !ok || m != 2 {
		t.Errorf("odd: %v, %v", m, ok)
	}
	if m, ok := Median([]float64{4, 1, 3, 2}); !ok || m != 2.5 {
		t.Errorf("even: %v, %v", m, ok)
	}
	if _, ok := Median(nil); ok {
		t.Error("nothing has no median")
	}
}

// Student's own sleep data (Biometrika 6, 1908; R's datasets::sleep):
// R's t.test(paired = TRUE) gives t = −4.0621, df = 9, p = 0.002833.
func TestTTestSleep(t *testing.T) {
	a := []float64{0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0}
	b := []float64{1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4}
	diff := make([]float64, len(a))
	for i := range a {
		diff[i] = a[i] - b[i]
	}
	p, ok := TTest(diff, 0)
	if !ok {
		t.Fatal("not ok")
	}
	near(t, "p", p, 0.002833, 5e-7)
}

func TestTTestAbsent(t *testing.T) {
	for _, bad := range [][]float64{nil, {1}, {2, 2, 2}, {1, math.NaN()}} {
		if p, ok := TTest(bad, 0); ok {
			t.Errorf("TTest(%v) = %v, want not ok", bad, p)
		}
	}
}

// Ratios 2, 2, 8: logs ln 2 · (1, 1, 3), mean 5/3 ln 2, so 2^(5/3) = 3.1748;
// deviations ln 2 · (−2/3, −2/3, 4/3), sd = ln 2 · √(24/9 / 2) = ln 2 · 1.154701;
// half = 4.302653 · 0.800377 / √3 in logs.
func TestPairedRatioByHand(t *testing.T) {
	r, ok := PairedRatio([]float64{2, 4, 80}, []float64{1, 2, 10})
	if !ok || r.N != 3 {
		t.Fatalf("%+v, %v", r, ok)
	}
	near(t, "ratio", r.Value, 3.1748021, 1e-7)
	near(t, "log sd", *r.LogSD, 0.8003774, 1e-6)
	half := 4.302653 * 0.8003774 / math.Sqrt(3)
	near(t, "lo", r.CI95[0], 3.1748021*math.Exp(-half), 1e-5)
	near(t, "hi", r.CI95[1], 3.1748021*math.Exp(half), 1e-4)
	// t = (5/3) / (1.154701/√3) = 2.5 exactly; with df 2 the two-sided p is
	// 1 − t/√(t²+2) = 1 − 2.5/√8.25.
	near(t, "p", *r.P, 1-2.5/math.Sqrt(8.25), 1e-9)
}

func TestPairedRatioEdges(t *testing.T) {
	one, ok := PairedRatio([]float64{3}, []float64{2})
	if !ok || one.CI95 != nil || one.P != nil || math.Abs(one.Value-1.5) > 1e-12 {
		t.Errorf("one pair: %+v, %v", one, ok)
	}
	same, ok := PairedRatio([]float64{4, 4}, []float64{2, 2})
	if !ok || same.P != nil || math.Abs(same.CI95[0]-2) > 1e-12 || math.Abs(same.CI95[1]-2) > 1e-12 {
		t.Errorf("equal ratios: %+v, %v", same, ok)
	}
	for _, c := range [][2][]float64{{nil, nil}, {{1}, {0}}, {{-1}, {1}}, {{1, 2}, {1}}, {{math.NaN()}, {1}}, {{math.Inf(1)}, {1}}} {
		if r, ok := PairedRatio(c[0], c[1]); ok {
			t.Errorf("PairedRatio(%v, %v) = %+v, want not ok", c[0], c[1], r)
		}
	}
	wide, ok := PairedRatio([]float64{1e300, 1e-300}, []float64{1e-8, 1e8})
	if ok && wide.CI95 != nil && !allFinite(wide.CI95[0], wide.CI95[1]) {
		t.Errorf("interval %v is not finite", wide.CI95)
	}
}

// R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm") gives 0.03 0.06 0.06 0.02,
// the worked example of Wikipedia's "Holm–Bonferroni method".
func TestHolm(t *testing.T) {
	got := Holm([]float64{0.01, 0.04, 0.03, 0.005})
	for i, want := range []float64{0.03, 0.06, 0.06, 0.02} {
		near(t, "holm", got[i], want, 1e-12)
	}
	got = Holm([]float64{0.6, 0.9, math.NaN()})
	for i, want := range []float64{1, 1, 1} {
		near(t, "holm capped", got[i], want, 0)
	}
	if len(Holm(nil)) != 0 {
		t.Error("nothing stays nothing")
	}
}

func TestMannWhitney(t *testing.T) {
	// 3 against 3, fully apart: 2 of the 20 choices are as extreme, p = 0.10.
	p, ok := MannWhitney([]float64{1, 2, 3}, []float64{4, 5, 6})
	if !ok {
		t.Fatal("not ok")
	}
	near(t, "3 against 3", p, 0.1, 1e-12)
	// 6 against 6 fully apart: 2/924.
	p, _ = MannWhitney([]float64{1, 2, 3, 4, 5, 6}, []float64{7, 8, 9, 10, 11, 12})
	near(t, "6 against 6", p, 2.0/924, 1e-12)
	// R's example for wilcox.test (Hollander & Wolfe 1973, p. 69 f.): permeability
	// constants, W = 35, two-sided exact p = 0.2544.
	x := []float64{0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46}
	y := []float64{1.15, 0.88, 0.90, 0.74, 1.21}
	p, _ = MannWhitney(x, y)
	near(t, "permeability", p, 0.2544, 5e-5)
	// A tie by hand: {1, 2} against {2, 3}: mid-ranks 1, 2.5 | 2.5, 4, sum 3.5.
	// Of the 6 choices the sums are 3.5, 3.5, 5, 5, 6.5, 6.5: 2 at most 3.5, p = 4/6.
	p, _ = MannWhitney([]float64{1, 2}, []float64{2, 3})
	near(t, "tie", p, 4.0/6, 1e-12)
	if _, ok := MannWhitney([]float64{5, 5}, []float64{5, 5}); ok {
		t.Error("all equal has no p")
	}
	if _, ok := MannWhitney(nil, []float64{1}); ok {
		t.Error("an empty side has no p")
	}
}

// Above the exact limit the approximation meets the exact count at the seam.
func TestMannWhitneyApproximation(t *testing.T) {
	var a, b []float64
	for i := range 32 {
		a = append(a, float64(i))
		b = append(b, float64(i)+5.5)
	}
	approx, ok := MannWhitney(a, b)
	if !ok {
		t.Fatal("not ok")
	}
	all := append(append([]float64{}, a...), b...)
	ranks, _ := doubledRanks(all)
	sum := 0
	for _, r := range ranks[:len(a)] {
		sum += r
	}
	near(t, "p", approx, exactRankSum(ranks, len(a), sum), 0.002)
}

// By hand: sd 0.065, margin 2 %: ln 1.02 = 0.019803; with n = 44 the half-width is
// 2.0167·0.065/√44 = 0.019762 (fits), with n = 43 2.0181·0.065/√43 = 0.020004 (does not).
func TestRoundsNeeded(t *testing.T) {
	if n, ok := RoundsNeeded(0.065, 0.02); !ok || n != 44 {
		t.Errorf("got %d, %v, want 44", n, ok)
	}
	for _, bad := range [][2]float64{{0, 0.02}, {0.1, 0}, {math.NaN(), 0.02}, {1e9, 0.02}} {
		if n, ok := RoundsNeeded(bad[0], bad[1]); ok {
			t.Errorf("RoundsNeeded%v = %d, want not ok", bad, n)
		}
	}
}

func FuzzStats(f *testing.F) {
	f.Add(1.0, 2.0, 3.0, 4.0)
	f.Add(1e308, -1e308, 5e-324, 0.0)
	f.Fuzz(func(t *testing.T, w, x, y, z float64) {
		if s, ok := Describe([]float64{w, x, y, z}); ok && !allFinite(s.Mean, *s.SD, s.Min, s.Max, s.CI95[0], s.CI95[1]) {
			t.Errorf("%+v", s)
		}
		if r, ok := PairedRatio([]float64{w, x}, []float64{y, z}); ok {
			if !allFinite(r.Value) || (r.CI95 != nil && !allFinite(r.CI95[0], r.CI95[1])) || (r.P != nil && !(*r.P >= 0 && *r.P <= 1)) {
				t.Errorf("%+v", r)
			}
		}
		if p, ok := MannWhitney([]float64{w, x}, []float64{y, z}); ok && !(p > 0 && p <= 1) {
			t.Errorf("p %v", p)
		}
	})
}
