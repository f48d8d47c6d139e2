package stats

import "math"

// Ratio is how many times as large one thing was as another, over pairs.
type Ratio struct {
	N int
	// Value is the geometric mean of the pairs' ratios.
	Value float64
	// CI95 is the t interval on the logarithms of the ratios, exponentiated;
	// nil for one pair.
	CI95 *[2]float64
	// LogSD is the standard deviation (n−1) of the logarithms; nil for one pair.
	LogSD *float64
	// P is the two-sided p-value of the paired t test on the logarithms
	// against a ratio of 1; nil for one pair and when all ratios are equal,
	// since no spread is no ground to test on.
	P *float64
}

// PairedRatio compares a with b pair by pair. ok is false without a pair, with
// unequal lengths, and when a value is not positive and finite.
func PairedRatio(a, b []float64) (Ratio, bool) {
	if len(a) != len(b) || len(a) == 0 {
		return Ratio{}, false
	}
	logs := make([]float64, len(a))
	for i := range a {
		if !(a[i] > 0) || !(b[i] > 0) || !allFinite(a[i], b[i]) {
			return Ratio{}, false
		}
		logs[i] = math.Log(a[i]) - math.Log(b[i])
	}
	s, ok := Describe(logs)
	if !ok {
		return Ratio{}, false
	}
	r := Ratio{N: s.N, Value: math.Exp(s.Mean), LogSD: s.SD}
	if !allFinite(r.Value) || r.Value == 0 {
		return Ratio{}, false
	}
	if s.CI95 != nil {
		ci := [2]float64{math.Exp(s.CI95[0]), math.Exp(s.CI95[1])}
		// An interval too wide for a float64 says nothing: it is absent.
		if allFinite(ci[0], ci[1]) {
			r.CI95 = &ci
		}
	}
	if p, ok := TTest(logs, 0); ok {
		r.P = &p
	}
	return r, true
}

// TTest is the two-sided p-value of the one-sample t test of the values' mean
// against mu. ok is false under two values, when all are equal, and when one
// is not finite.
func TTest(values []float64, mu float64) (p float64, ok bool) {
	s, ok := Describe(values)
	if !ok || s.SD == nil || *s.SD == 0 || !allFinite(mu) {
		return 0, false
	}
	t := (s.Mean - mu) / (*s.SD / math.Sqrt(float64(s.N)))
	if math.IsNaN(t) {
		return 0, false
	}
	p = tTwoSided(t, float64(s.N-1))
	return p, allFinite(p)
}

// Holm adjusts the p-values of a family by Holm's step-down method (Scandinavian
// Journal of Statistics 6, 1979): the i-th smallest of m is multiplied by
// m − i + 1, made to rise, and capped at 1. The order is the input's. A value
// that is no p-value counts as 1.
func Holm(p []float64) []float64 {
	order := make([]int, len(p))
	clean := make([]float64, len(p))
	for i, v := range p {
		order[i] = i
		clean[i] = 1
		if v >= 0 && v <= 1 {
			clean[i] = v
		}
	}
	sortStable(order, func(i, j int) bool { return clean[i] < clean[j] })
	out := make([]float64, len(p))
	highest := 0.0
	for rank, i := range order {
		highest = max(highest, min(1, clean[i]*float64(len(p)-rank)))
		out[i] = highest
	}
	return out
}

// RoundsNeeded is about how many pairs would make the interval of the ratio
// no wider than ±margin, given the standard deviation of the logarithms seen
// so far: the smallest n with t(0.975, n−1)·sd/√n ≤ ln(1 + margin). ok is
// false when the inputs are not positive and finite, or n would pass a million.
func RoundsNeeded(logSD, margin float64) (n int, ok bool) {
	const most = 1_000_000
	if !(logSD > 0) || !(margin > 0) || !allFinite(logSD, margin) {
		return 0, false
	}
	want := math.Log1p(margin)
	fits := func(n int) bool {
		return TQuantile(0.975, float64(n-1))*logSD/math.Sqrt(float64(n)) <= want
	}
	if !fits(most) {
		return 0, false
	}
	// The half-width falls with n, so the first n that fits can be bisected.
	lo, hi := 1, most
	for hi-lo > 1 {
		if mid := lo + (hi-lo)/2; fits(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi, true
}
