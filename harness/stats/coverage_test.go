package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Simulated campaigns with known truth: log-normal runs (σ = 0.03), drift
// shared by the runs of a round. The intervals must hold the truth as often as
// they say, and equal variants must be told apart no more often than α.
func TestCoverage(t *testing.T) {
	const trials = 5_000
	for _, n := range []int{6, 10} {
		rng := rand.New(rand.NewPCG(2026, uint64(n)))
		var meanHeld, ratioHeld, falsePaired, found int
		const sigma, ratio = 0.03, 1.1
		truth := math.Exp(sigma * sigma / 2) // the mean of such a log-normal
		for range trials {
			a, b, c := make([]float64, n), make([]float64, n), make([]float64, n)
			still := make([]float64, n)
			for i := range n {
				still[i] = math.Exp(sigma * rng.NormFloat64())
				drift := math.Exp(0.2 * rng.NormFloat64())
				a[i] = drift * math.Exp(sigma*rng.NormFloat64())
				b[i] = drift * math.Exp(sigma*rng.NormFloat64())
				c[i] = ratio * drift * math.Exp(sigma*rng.NormFloat64())
			}
			if s, _ := Describe(still); s.CI95[0] <= truth && truth <= s.CI95[1] {
				meanHeld++
			}
			if r, _ := PairedRatio(c, b); r.CI95[0] <= ratio && ratio <= r.CI95[1] {
				ratioHeld++
			}
			if r, _ := PairedRatio(a, b); *r.P < 0.05 {
				falsePaired++
			}
			if r, _ := PairedRatio(c, a); *r.P < 0.05 {
				found++
			}
		}
		for _, k := range []struct {
			what        string
			got         int
			least, most float64
		}{
			{"interval of the mean holds it", meanHeld, .94, .96},
			{"interval of the paired ratio holds it", ratioHeld, .94, .96},
			{"equal variants are told apart", falsePaired, .04, .055},
			{"10 % at 3 % noise is found", found, .95, 1},
		} {
			if share := float64(k.got) / trials; share < k.least || share > k.most {
				t.Errorf("n = %d: %s in %.4f of trials, want %.3f to %.3f", n, k.what, share, k.least, k.most)
			}
		}
	}
}

// Whole families of equal variants after Holm: at least one false difference in
// no more than 5.5 % of them.
func TestFamilyError(t *testing.T) {
	const trials, n, variants = 3_000, 6, 4
	rng := rand.New(rand.NewPCG(7, 7))
	wrong := 0
	for range trials {
		base := make([]float64, n)
		for i := range base {
			base[i] = math.Exp(0.03 * rng.NormFloat64())
		}
		var p []float64
		for range variants {
			v := make([]float64, n)
			for i := range v {
				v[i] = math.Exp(0.03 * rng.NormFloat64())
			}
			r, _ := PairedRatio(v, base)
			p = append(p, *r.P)
		}
		for _, adjusted := range Holm(p) {
			if adjusted < 0.05 {
				wrong++
				break
			}
		}
	}
	if share := float64(wrong) / trials; share > 0.055 {
		t.Errorf("%.4f of families have a false difference", share)
	}
}
