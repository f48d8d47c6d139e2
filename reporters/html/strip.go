package html

import (
	"fmt"
	"math"
	"strings"

	"abacus/harness/analysis"
	"abacus/harness/number"
)

// row is one variant of a comparison, ready to be drawn.
type row struct {
	cell    analysis.Cell
	look    look
	name    string
	note    string
	against *analysis.Comparison // to the baseline, on the primary metric
}

const (
	ink = "var(--ink)"
	mut = "var(--mut)"
)

// strip draws the answer of a comparison: the runs' throughput with mean and
// interval on an axis from 0, and beside it the ratio to the baseline.
func strip(rows []row, margin float64, narrow bool) *chart {
	pitch, top, half := 62, 26, 18.0
	labels, split, right := "22.6%", "36%", "34"
	if narrow {
		pitch, labels, split, right = 83, "2", "7", "7"
	}
	height := pitch * len(rows)
	if len(rows) == 0 {
		height = pitch
	}
	ratios := hasRatio(rows)
	total := top + height + 48
	if narrow && ratios {
		total += height + 78
	}
	c := newChart(total)
	x := zeroAxis(topThroughput(rows), 5)
	x.ticks.Grid, x.ticks.Inset = true, narrow
	y := axis{max: float64(len(rows)), ticks: ticks{Line: true}}
	if !ratios {
		split = right
	}
	p := c.panel(labels, split, top, height, x, y)
	if narrow {
		c.add(p, mark{Kind: "text", Color: mut, AbsX: true, AbsY: true, Texts: []string{"Throughput, requests/s"}}, [][]float64{{0, 8}})
	} else {
		c.add(p, mark{Kind: "text", Color: mut, Texts: []string{"Throughput, requests/s"}}, [][]float64{{0, y.max, 0, -16}})
	}
	for i, r := range rows {
		at := y.max - float64(i) - 0.5
		c.rowLabel(p, r, at, narrow)
		c.throughputRow(p, r, at, half, narrow, x.max)
	}
	note := "points: the runs, first round on top · line: mean"
	if hasInterval(rows) {
		note += " · band: 95" + number.ThinSpace + "% interval"
		if cutInterval(rows, x.max) && !narrow {
			note += ", cut at the edge"
		}
	}
	if mostRuns(rows) < 2 {
		note = "point and line: the one run"
	}
	c.add(p, mark{Kind: "text", Color: mut, Small: true, Texts: []string{note}}, [][]float64{{0, 0, 0, 38}})
	if ratios {
		c.ratioPanel(rows, margin, narrow, top, height)
	}
	return c
}

func hasInterval(rows []row) bool {
	for _, r := range rows {
		if t := r.cell.Throughput; t != nil && t.CI95 != nil {
			return true
		}
	}
	return false
}

// cutInterval tells whether an interval reaches beyond the axis.
func cutInterval(rows []row, end float64) bool {
	for _, r := range rows {
		if t := r.cell.Throughput; t != nil && t.CI95 != nil && t.CI95[1] > end {
			return true
		}
	}
	return false
}

func hasRatio(rows []row) bool {
	for _, r := range rows {
		if r.against != nil && r.against.Ratio != nil && *r.against.Ratio > 0 {
			return true
		}
	}
	return false
}

// topThroughput is how far a throughput axis reaches: to the good runs, means
// and intervals. Runs in no mean are in no scale, unless there are no others.
func topThroughput(rows []row) float64 {
	top, bad := 0.0, 0.0
	for _, r := range rows {
		for _, pt := range r.cell.Points {
			switch {
			case pt.Throughput == nil:
			case pt.Bad != "":
				bad = math.Max(bad, *pt.Throughput)
			default:
				top = math.Max(top, *pt.Throughput)
			}
		}
		if t := r.cell.Throughput; t != nil {
			top = math.Max(top, t.Mean)
		}
	}
	if top == 0 {
		return bad
	}
	// An interval of few runs may be many times as wide as the figures: it is
	// cut where it would squeeze them together.
	wide := top
	for _, r := range rows {
		if t := r.cell.Throughput; t != nil && t.CI95 != nil {
			wide = math.Max(wide, t.CI95[1])
		}
	}
	return math.Min(wide, 1.6*top)
}

func (c *chart) rowLabel(p int, r row, at float64, narrow bool) {
	if narrow {
		c.add(p, mark{Kind: "text", Color: r.look.Color, Bold: true, Texts: []string{shorten(r.name, 34)}}, [][]float64{{0, at, 5, -30}})
		return
	}
	c.add(p, mark{Kind: "text", Color: r.look.Color, Bold: true, AbsX: true, Texts: []string{shorten(r.name, 26)}}, [][]float64{{0, at, 0, -7}})
	if r.note != "" {
		c.add(p, mark{Kind: "text", Color: mut, AbsX: true, Texts: []string{shorten(r.note, 30)}}, [][]float64{{0, at, 0, 9}})
	}
}

// throughputRow draws one variant: stem, interval, mean, runs and the figure.
func (c *chart) throughputRow(p int, r row, at, half float64, narrow bool, axisMax float64) {
	t := r.cell.Throughput
	if t == nil {
		c.add(p, mark{Kind: "text", Color: "var(--crit)", Bold: true, Texts: []string{failedText(r.cell)}}, [][]float64{{0, at, 8, 0}})
		return
	}
	lo, hi := t.Mean, t.Mean
	if t.CI95 != nil {
		lo, hi = math.Max(0, t.CI95[0]), math.Min(axisMax, t.CI95[1])
		c.add(p, mark{Kind: "box", Color: r.look.Color, Opacity: 0.16}, [][]float64{{lo, at, hi, at, -half, half}})
	}
	c.add(p, mark{Kind: "seg", Color: r.look.Color, Opacity: 0.45, Width: 1.2}, [][]float64{{0, at, math.Max(0, lo), at}})
	c.add(p, mark{Kind: "seg", Color: r.look.Color, Width: 2}, [][]float64{{t.Mean, at, t.Mean, at, -half, half}})
	left := c.runDots(p, r.cell, r.look, at, 12, axisMax)
	value := meanText(t)
	m := mark{Kind: "text", Color: r.look.Color, Bold: true, Align: "right", Texts: []string{value}}
	from, to := math.Min(math.Min(lo, left), t.Min), math.Max(hi, t.Max)
	switch {
	case narrow:
		c.add(p, m, [][]float64{{axisMax, at, 0, -30}})
	case left >= axisMax*0.2 && from >= axisMax*0.15:
		c.add(p, m, [][]float64{{from, at, -10, -8}})
	case to <= axisMax*0.85:
		m.Align = "left"
		c.add(p, m, [][]float64{{to, at, 10, -8}})
	default: // no room at either end: above the band
		m.Align = "center"
		c.add(p, m, [][]float64{{t.Mean, at, 0, -half - 8}})
	}
}

// figureOf takes one figure of a run; ok is false when the run has none.
type figureOf func(analysis.Point) (v float64, ok bool)

func throughputOf(p analysis.Point) (float64, bool) { return deref(p.Throughput) }
func p95Of(p analysis.Point) (float64, bool)        { return deref(p.P95NS) }

func deref(v *float64) (float64, bool) {
	if v == nil {
		return 0, false
	}
	return *v, true
}

func requestsPerS(v float64) string { return fourDigits(v) + " requests/s" }

// runDots draws the runs of one row in order of rounds, first on top, within
// ±spread pixels, and void ones as dashed rings, at most at the end of the axis.
// It returns the least value.
func (c *chart) runDots(p int, cell analysis.Cell, l look, at, spread, most float64) float64 {
	good, bad := mark{Kind: "dot", Color: l.Color, Shape: l.Shape, Size: 2.9, Opacity: 0.75}, mark{Kind: "dot", Color: mut, Shape: "void", Size: 5}
	var goods, bads [][]float64
	least := math.Inf(1)
	n := len(cell.Points)
	for i, pt := range cell.Points {
		v, ok := throughputOf(pt)
		dy := 0.0
		if n > 1 {
			dy = spread * (2*float64(i)/float64(n-1) - 1)
		}
		tip := fmt.Sprintf("%s, round %d: ", cell.Variant, pt.Round)
		switch {
		case !ok && pt.Bad != "":
			c.add(p, mark{Kind: "dot", Color: "var(--warn)", Shape: "cross", Size: 3.5, Tips: []string{tip + shorten(pt.Fate(), 80)}}, [][]float64{{0, at, 0, dy}})
			continue
		case !ok:
			continue
		case pt.Bad != "":
			bads = append(bads, []float64{math.Min(v, most), at, 0, dy})
			bad.Tips = append(bad.Tips, tip+requestsPerS(v)+", "+shorten(pt.Fate(), 80))
			continue
		}
		goods = append(goods, []float64{v, at, 0, dy})
		good.Tips = append(good.Tips, tip+requestsPerS(v))
		least = math.Min(least, v)
	}
	c.add(p, good, goods)
	c.add(p, bad, bads)
	if math.IsInf(least, 1) {
		return 0
	}
	return least
}

// ratioPanel places the ratios beside the throughput, or below it.
func (c *chart) ratioPanel(rows []row, margin float64, narrow bool, top, height int) {
	if narrow {
		c.ratioPanelAt(rows, margin, "7", "34", top+height+78, height)
		return
	}
	c.ratioPanelAt(rows, margin, "72%", "34", top, height)
}

// ratioPanelAt draws each variant's ratio to the baseline on a log axis, with
// its interval, 1× and the margin as a grey band.
func (c *chart) ratioPanelAt(rows []row, margin float64, left, right string, top, height int) int {
	// The margin is the verdict's: as far below 1 as above it, as ratios go.
	lo, hi := 1/(1+margin), 1+margin
	title := "Ratio to baseline (log scale)"
	for _, r := range rows {
		if r.against == nil || r.against.Ratio == nil {
			continue
		}
		if m := r.against.Metric; m != "" && !strings.HasPrefix(m, "throughput") {
			title = m + ", ratio to baseline (log scale)"
		}
		v, ci := againstBaseline(*r.against)
		lo, hi = math.Min(lo, v), math.Max(hi, v)
		if ci != nil {
			lo, hi = math.Min(lo, ci[0]), math.Max(hi, ci[1])
		}
	}
	x := ratioAxis(math.Max(lo, 1e-3), math.Min(hi, 1e3))
	y := axis{max: float64(len(rows))}
	p := c.panel(left, right, top, height, x, y)
	c.add(p, mark{Kind: "text", Color: mut, Texts: []string{title}}, [][]float64{{x.min, y.max, 0, -16}})
	if margin > 0 {
		c.add(p, mark{Kind: "box", Color: "var(--z)", Opacity: 0.16, Full: "y"}, [][]float64{{-math.Log10(1 + margin), 0, math.Log10(1 + margin), 0}})
	}
	c.add(p, mark{Kind: "seg", Color: mut, Width: 1, Full: "y"}, [][]float64{{0, 0, 0, 0}})
	for i, r := range rows {
		c.ratioRow(p, r, y.max-float64(i)-0.5, x)
	}
	var notes []string
	for _, r := range rows {
		if r.against != nil && r.against.CI95 != nil {
			notes = append(notes, "line: 95"+number.ThinSpace+"% interval")
			break
		}
	}
	if margin > 0 {
		notes = append(notes, "grey: ±"+number.Percent(margin)+" margin")
	}
	note := strings.Join(notes, " · ")
	c.add(p, mark{Kind: "text", Color: mut, Small: true, Texts: []string{note}}, [][]float64{{x.min, 0, 0, 38}})
	return p
}

func (c *chart) ratioRow(p int, r row, at float64, x axis) {
	if r.cell.Baseline {
		c.add(p, mark{Kind: "dot", Color: r.look.Color, Shape: r.look.Shape, Size: 4.5}, [][]float64{{0, at}})
		if -x.min > 0.6*(x.max-x.min) { // little room at the right
			c.add(p, mark{Kind: "text", Color: mut, Align: "right", Texts: []string{"baseline"}}, [][]float64{{0, at, -15, 0}})
		} else {
			c.add(p, mark{Kind: "text", Color: mut, Texts: []string{"baseline"}}, [][]float64{{0, at, 15, 0}})
		}
		return
	}
	if r.against == nil || r.against.Ratio == nil {
		return
	}
	v, ci := againstBaseline(*r.against)
	text, interval := number.Ratio(v, ci)
	tip := r.name + ": " + ratioWords(v, ci)
	end := math.Log10(v)
	c.add(p, mark{Kind: "seg", Color: r.look.Color, Opacity: 0.45, Width: 1.2}, [][]float64{{0, at, math.Log10(v), at}})
	if ci != nil {
		c.add(p, mark{Kind: "seg", Color: r.look.Color, Width: 2.4}, [][]float64{{x.within(math.Log10(ci[0])), at, x.within(math.Log10(ci[1])), at}})
		text += " " + interval
		end = x.within(math.Log10(ci[1]))
	}
	c.add(p, mark{Kind: "dot", Color: r.look.Color, Shape: r.look.Shape, Size: 4.5, Tips: []string{tip}}, [][]float64{{math.Log10(v), at}})
	m := mark{Kind: "text", Color: r.look.Color, Bold: true, Align: "right", Texts: []string{text}}
	if (end-x.min)/(x.max-x.min) < 0.45 {
		m.Align, end = "left", math.Min(0, math.Log10(v))
		if ci != nil {
			end = math.Min(end, x.within(math.Log10(ci[0])))
		}
		c.add(p, m, [][]float64{{end, at, 0, -14}})
		return
	}
	c.add(p, m, [][]float64{{end, at, 12, -14}})
}

// againstBaseline is the ratio variant ÷ baseline with its interval, whichever
// way round the comparison was made.
func againstBaseline(c analysis.Comparison) (v float64, ci *[2]float64) {
	if c.Baseline == c.B || *c.Ratio == 0 {
		return *c.Ratio, c.CI95
	}
	if c.CI95 != nil && c.CI95[0] > 0 {
		ci = &[2]float64{1 / c.CI95[1], 1 / c.CI95[0]}
	}
	return 1 / *c.Ratio, ci
}
