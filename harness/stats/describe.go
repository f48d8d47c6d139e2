package stats

import (
	"math"

	mf "github.com/montanaflynn/stats"
	"gonum.org/v1/gonum/stat/distuv"
)

// Describe gives the spread of independent values. ok is false for no values
// and when any value, or a figure of them, is not finite.
func Describe(values []float64) (Spread, bool) {
	if len(values) == 0 || !allFinite(values...) {
		return Spread{}, false
	}
	// The errors of montanaflynn/stats all mean too few values, which is
	// ruled out above and below.
	mean, _ := mf.Mean(values)
	least, _ := mf.Min(values)
	most, _ := mf.Max(values)
	s := Spread{N: len(values), Mean: mean, Min: least, Max: most}
	if len(values) >= 2 {
		sd, _ := mf.StandardDeviationSample(values)
		half := TQuantile(0.975, float64(len(values)-1)) * sd / math.Sqrt(float64(len(values)))
		ci := [2]float64{mean - half, mean + half}
		if !allFinite(sd, ci[0], ci[1]) {
			return Spread{}, false
		}
		s.SD, s.CI95 = &sd, &ci
	}
	return s, allFinite(mean)
}

// Median is the middle value, or the mean of the two middle ones; ok is false
// for no values and when one is not finite.
func Median(values []float64) (float64, bool) {
	if len(values) == 0 || !allFinite(values...) {
		return 0, false
	}
	m, err := mf.Median(values)
	return m, err == nil && allFinite(m)
}

// TQuantile is the quantile p (0 to 1) of Student's t with df degrees of
// freedom: TQuantile(0.975, 5) is 2.5706.
func TQuantile(p, df float64) float64 {
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: df}.Quantile(p)
}

// tTwoSided is the two-sided p-value of t with df degrees of freedom. The
// lower tail is taken because 1 − CDF loses small values.
func tTwoSided(t, df float64) float64 {
	return 2 * distuv.StudentsT{Mu: 0, Sigma: 1, Nu: df}.CDF(-math.Abs(t))
}

func allFinite(values ...float64) bool {
	for _, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}
