package html

import (
	"fmt"
	"math"

	"abacus/harness/analysis"
	"abacus/harness/number"
)

// quantileLine is one merged histogram, as it is drawn.
type quantileLine struct {
	name  string
	color string
	shape string
	cell  analysis.Cell
}

// fewBeyond is the number of slower requests under which a percentile stands
// on too few to be drawn as a full line.
const fewBeyond = 10

// percentiles draws latency by percentile, on an axis where each step to the
// right is ten times rarer. Log is for levels that lie decades apart.
func percentiles(lines []quantileLine, unit string, divisor float64, log, narrow bool) *chart {
	const top = 24
	height, right, letters := 262, 28, 22
	if narrow {
		height, letters = 240, 15
	}
	for _, l := range lines {
		right = max(right, 24+7*len([]rune(shorten(l.name, letters))))
	}
	x := rarityAxis(lines)
	lo, hi := quantileRange(lines, x.max)
	var y axis
	title := "Latency, " + unit
	if log {
		y = logAxis(lo/divisor, hi/divisor)
		title += " (log scale)"
	} else {
		y = zeroAxis(hi/divisor, 5)
	}
	y.ticks.Grid = true
	if narrow {
		x.ticks = sparse(x, float64(330-right-axisWidth(y)))
	}
	c := newChart(top + height + 46)
	p := c.panel(fmt.Sprint(axisWidth(y)), fmt.Sprint(right), top, height, x, y)
	c.add(p, mark{Kind: "text", Color: mut, AbsX: true, AbsY: true, Texts: []string{title}}, [][]float64{{0, 8}})
	names := mark{Kind: "text", Bold: true, Spread: 15}
	var ends [][]float64
	for _, l := range lines {
		end, ok := c.quantiles(p, l, unit, divisor, log, x)
		if !ok {
			continue
		}
		ends = append(ends, []float64{x.max, end[1], 7, 0})
		names.Texts = append(names.Texts, shorten(l.name, letters))
		names.Colors = append(names.Colors, l.color)
	}
	c.add(p, names, ends)
	c.add(p, mark{Kind: "text", Color: mut, Align: "center", Texts: []string{"percentile (log scale of 1/(1−p))"}},
		[][]float64{{x.max / 2, y.min, 0, 36}})
	return c
}

// rarity maps a share to the axis: 0.9 is 1, 0.99 is 2.
func rarity(q float64) float64 { return -math.Log10(1 - q) }

// rarityAxis ends with the last percentile that any request lies beyond, at
// most 99.999 %.
func rarityAxis(lines []quantileLine) axis {
	most := 0.0
	for _, l := range lines {
		for _, q := range l.cell.Percentiles {
			if q.Q < 1 && q.Beyond >= 1 {
				most = math.Max(most, rarity(q.Q))
			}
		}
	}
	a := axis{max: math.Min(5, math.Max(2, most))}
	for _, t := range []struct {
		q     float64
		label string
	}{{0, "0"}, {0.5, "50"}, {0.9, "90"}, {0.95, "95"}, {0.99, "99"}, {0.999, "99.9"}, {0.9999, "99.99"}, {0.99999, "99.999"}} {
		if rarity(t.q) > a.max+1e-9 {
			continue
		}
		a.ticks.At = append(a.ticks.At, rarity(t.q)+0)
		a.ticks.Labels = append(a.ticks.Labels, t.label)
	}
	a.ticks.Labels[len(a.ticks.Labels)-1] += number.ThinSpace + "%"
	a.ticks.Line, a.ticks.Mark = true, true
	return a
}

func quantileRange(lines []quantileLine, end float64) (lo, hi float64) {
	lo, hi = math.Inf(1), 0
	for _, l := range lines {
		for _, q := range l.cell.Percentiles {
			if q.NS > 0 && q.Q < 1 && rarity(q.Q) <= end+1e-9 {
				lo, hi = math.Min(lo, float64(q.NS)), math.Max(hi, float64(q.NS))
			}
		}
	}
	if hi == 0 {
		return 1e6, 1e7
	}
	return lo, hi
}

// quantiles draws one line, dotted where fewer than ten requests lie beyond,
// with marks at the percentiles that the tables name.
func (c *chart) quantiles(p int, l quantileLine, unit string, divisor float64, log bool, x axis) (end []float64, ok bool) {
	var solid, dotted, dots [][]float64
	m := mark{Kind: "dot", Color: l.color, Shape: l.shape, Size: 3.2}
	for _, q := range l.cell.Percentiles {
		if q.Q >= 1 || q.NS <= 0 || rarity(q.Q) > x.max+1e-9 {
			continue
		}
		v := float64(q.NS) / divisor
		y := v
		if log {
			y = math.Log10(v)
		}
		at := []float64{math.Max(0, rarity(q.Q)), y}
		end, ok = at, true
		if q.Beyond >= fewBeyond {
			solid = append(solid, at)
		} else {
			if len(dotted) == 0 && len(solid) > 0 {
				dotted = append(dotted, solid[len(solid)-1])
			}
			dotted = append(dotted, at)
		}
		for _, named := range []float64{0.5, 0.95, 0.99, 0.999} {
			if math.Abs(q.Q-named) < 1e-9 {
				dots = append(dots, at)
				m.Tips = append(m.Tips, fmt.Sprintf("%s: p%g %s%s%s", l.name, math.Round(named*1000)/10, number.Sig3(v), number.HardSpace, unit))
			}
		}
	}
	c.add(p, mark{Kind: "line", Color: l.color, Width: 2}, solid)
	c.add(p, mark{Kind: "line", Color: l.color, Width: 2, Dash: "dotted"}, dotted)
	c.add(p, m, dots)
	return end, ok
}
