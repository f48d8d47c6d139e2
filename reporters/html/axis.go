package html

import (
	"math"
	"strconv"

	"abacus/harness/number"
)

// zeroAxis runs from 0 to at least max, with at most n steps between.
func zeroAxis(max float64, n int) axis {
	if !(max > 0) || math.IsInf(max, 0) {
		max = 1
	}
	step := niceStep(max / float64(n))
	a := axis{max: math.Ceil(max/step-1e-9) * step}
	exp := int(math.Floor(math.Log10(step) + 1e-9))
	if r := step / math.Pow10(exp); r > 2.4 && r < 2.6 {
		exp-- // a step of 25 or 2.5 needs its second digit
	}
	for i := 0; ; i++ {
		v := float64(i) * step
		if v > a.max*(1+1e-9) {
			break
		}
		a.ticks.At = append(a.ticks.At, v)
		a.ticks.Labels = append(a.ticks.Labels, number.At(v, exp))
	}
	return a
}

// niceStep is the least of 1, 2, 2.5, 5 × 10^k that is not below v.
func niceStep(v float64) float64 {
	base := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 2, 2.5, 5} {
		if m*base >= v*(1-1e-9) {
			return m * base
		}
	}
	return 10 * base
}

// logAxis covers lo to hi (both positive) in decades; under one and a half of
// them the ticks stand at 1, 2 and 5. Its coordinates are log10.
func logAxis(lo, hi float64) axis {
	a := axis{min: math.Floor(math.Log10(lo) + 1e-9), max: math.Ceil(math.Log10(hi) - 1e-9)}
	if a.max <= a.min {
		a.max = a.min + 1
	}
	steps := []float64{1}
	if math.Log10(hi/lo) < 1.5 {
		steps = []float64{1, 2, 5}
		a.min, a.max = looseLog(lo, false), looseLog(hi, true)
	}
	for e := int(math.Floor(a.min)); e <= int(math.Ceil(a.max)); e++ {
		for _, m := range steps {
			p := float64(e) + math.Log10(m)
			if p < a.min-1e-9 || p > a.max+1e-9 {
				continue
			}
			a.ticks.At = append(a.ticks.At, p)
			a.ticks.Labels = append(a.ticks.Labels, number.At(m*math.Pow10(e), e))
		}
	}
	return a
}

// looseLog is log10 of the nearest of 1, 2, 5 × 10^k at or beyond v.
func looseLog(v float64, up bool) float64 {
	e := math.Floor(math.Log10(v))
	best := e
	for _, m := range []float64{1, 2, 5, 10} {
		p := e + math.Log10(m)
		if up && p >= math.Log10(v)-1e-9 {
			return p
		}
		if p <= math.Log10(v)+1e-9 {
			best = p
		}
	}
	return best
}

// levelAxis has its ticks at the tested levels only, at their true place on a
// log axis, with a margin at both ends.
func levelAxis(levels []int) axis {
	lo, hi := math.Inf(1), math.Inf(-1)
	var t ticks
	for _, l := range levels {
		p := math.Log10(float64(l))
		lo, hi = math.Min(lo, p), math.Max(hi, p)
		t.At = append(t.At, p)
		t.Labels = append(t.Labels, number.Count(int64(l)))
	}
	pad := math.Max((hi-lo)*0.035, 0.05)
	t.Line, t.Mark = true, true
	return axis{min: lo - pad, max: hi + pad, ticks: t}
}

// within keeps a coordinate on the axis.
func (a axis) within(v float64) float64 { return math.Min(math.Max(v, a.min), a.max) }

// ratioAxis is a log axis that holds 1 and all values.
func ratioAxis(lo, hi float64) axis {
	lo, hi = math.Min(lo, 1), math.Max(hi, 1)
	candidates := []float64{0.01, 0.02, 0.05, 0.1, 0.2, 0.33, 0.5, 0.67, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 2, 3, 5, 10, 20, 50, 100}
	span := math.Log(hi / lo)
	a := axis{min: math.Log10(lo) - 0.02, max: math.Log10(hi) + 0.02}
	if span < 0.2 {
		a.min, a.max = math.Min(a.min, math.Log10(0.9)), math.Max(a.max, math.Log10(1.1))
	}
	last := math.Inf(-1)
	gap := (a.max - a.min) / 5
	for _, v := range candidates {
		p := math.Log10(v)
		inside := p >= a.min-1e-9 && p <= a.max+1e-9
		if !inside || (v != 1 && (p-last < gap*0.8 || math.Abs(p) < gap*0.8)) {
			continue
		}
		last = p
		a.ticks.At = append(a.ticks.At, p)
		a.ticks.Labels = append(a.ticks.Labels, strconv.FormatFloat(v, 'g', 3, 64)+number.ThinSpace+"×")
	}
	a.ticks.Grid = true
	return a
}
