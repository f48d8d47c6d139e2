package html

import (
	"fmt"
	"math"

	"abacus/harness/analysis"
	"abacus/harness/stats"
)

// measure is what bars show: a figure of the cell, in one unit for all.
type measure struct {
	title   string // axis name with unit
	unit    string
	divisor float64
	spread  func(analysis.Cell) *stats.Spread
	of      figureOf
}

func throughputMeasure() measure {
	return measure{
		title: "throughput, requests/s", unit: "requests/s", divisor: 1, of: throughputOf,
		spread: func(c analysis.Cell) *stats.Spread { return c.Throughput },
	}
}

func p95Measure(unit string, divisor float64) measure {
	return measure{
		title: "p95 latency, " + unit, unit: unit, divisor: divisor, of: p95Of,
		spread: func(c analysis.Cell) *stats.Spread { return c.Latency.P95.Runs },
	}
}

// bars draws means as bars from 0 with whiskers of ± 1 sd between runs, and
// the runs as points.
func bars(rows []row, m measure) *chart {
	const pitch, top = 72, 6
	height := pitch * len(rows)
	c := newChart(top + height + 46)
	hi := 0.0
	for _, r := range rows {
		for _, pt := range r.cell.Points {
			if v, ok := m.of(pt); ok && pt.Bad == "" {
				hi = math.Max(hi, v)
			}
		}
		if s := m.spread(r.cell); s != nil {
			hi = math.Max(hi, s.Mean+sdOf(s))
		}
	}
	// A quarter is left free at the right for the figures.
	x := zeroAxis(hi/m.divisor*1.28, 5)
	x.ticks.Grid, x.ticks.Inset = true, true
	y := axis{max: float64(len(rows)), ticks: ticks{Line: true}}
	p := c.panel("1", "10", top, height, x, y)
	for i, r := range rows {
		c.bar(p, r, y.max-float64(i)-0.5, m)
	}
	c.add(p, mark{Kind: "text", Color: mut, Align: "center", Texts: []string{m.title}}, [][]float64{{x.max / 2, 0, 0, 36}})
	return c
}

func (c *chart) bar(p int, r row, at float64, m measure) {
	c.add(p, mark{Kind: "text", Color: r.look.Color, Bold: true, Texts: []string{shorten(r.name, 44)}}, [][]float64{{0, at, 5, -20}})
	s := m.spread(r.cell)
	const dy, half = 6, 17
	if s == nil {
		text := failedText(r.cell)
		if r.cell.Throughput != nil {
			text = "not measured"
		}
		c.add(p, mark{Kind: "text", Color: "var(--crit)", Bold: true, Texts: []string{text}}, [][]float64{{0, at, 8, dy + 4}})
		return
	}
	mean, sd := s.Mean/m.divisor, sdOf(s)/m.divisor
	c.add(p, mark{Kind: "box", Color: r.look.Color, Opacity: 0.28}, [][]float64{{0, at, mean, at, dy - half, dy + half + 6}})
	c.add(p, mark{Kind: "seg", Color: r.look.Color, Width: 2}, [][]float64{{mean, at, mean, at, dy - half, dy + half + 6}})
	end := mean + sd
	var good [][]float64
	dots := mark{Kind: "dot", Color: r.look.Color, Shape: r.look.Shape, Size: 2.7, Opacity: 0.75}
	n := len(r.cell.Points)
	for i, pt := range r.cell.Points {
		v, ok := m.of(pt)
		if !ok || pt.Bad != "" {
			continue
		}
		v /= m.divisor
		end = math.Max(end, v)
		if n < 2 {
			continue // the bar itself is the run
		}
		off := 14 * (2*float64(i)/float64(n-1) - 1)
		good = append(good, []float64{v, at, 0, dy + 3 + off})
		dots.Tips = append(dots.Tips, fmt.Sprintf("%s, round %d: %s %s", r.name, pt.Round, fourDigits(v), m.unit))
	}
	if s.SD != nil {
		c.add(p, mark{Kind: "seg", Color: ink, Caps: 5}, [][]float64{whisker(mean, sd, at, dy+3)})
	}
	c.add(p, dots, good)
	c.add(p, mark{Kind: "text", Color: ink, Texts: []string{meanSD(s, m.divisor)}}, [][]float64{{end, at, 9, dy + 3}})
}

// whisker is ± 1 sd around a mean, cut at 0, where it has no cap.
func whisker(mean, sd, at, dy float64) []float64 {
	if mean < sd {
		return []float64{0, at, mean + sd, at, dy, dy, 1}
	}
	return []float64{mean - sd, at, mean + sd, at, dy, dy, 0}
}

func sdOf(s *stats.Spread) float64 {
	if s == nil || s.SD == nil {
		return 0
	}
	return *s.SD
}

// meanSD writes mean ± sd, both with the digits that the interval allows.
func meanSD(s *stats.Spread, divisor float64) string {
	mean, sd := spreadText(s, divisor)
	if sd == "" {
		return mean
	}
	return mean + " ± " + sd
}

// rounds draws every run in order, one line per variant, so that drift shows.
func rounds(rows []row, last int) *chart {
	const top, height = 24, 212
	c := newChart(top + height + 46)
	y := zeroAxis(topThroughput(rows), 5)
	y.ticks.Grid = true
	x := axis{min: 0.82, max: float64(last) + 0.18}
	x.ticks.Line, x.ticks.Mark = true, true
	for r := 1; r <= last; r++ {
		if last > 12 && r != 1 && r%5 != 0 {
			continue
		}
		x.ticks.At = append(x.ticks.At, float64(r))
		x.ticks.Labels = append(x.ticks.Labels, fmt.Sprint(r))
	}
	names := mark{Kind: "text", Bold: true, Spread: 15}
	var at [][]float64
	width := 0
	for _, r := range rows {
		width = max(width, len([]rune(shorten(r.name, 18))))
	}
	p := c.panel(fmt.Sprint(axisWidth(y)), fmt.Sprint(20+width*7), top, height, x, y)
	c.add(p, mark{Kind: "text", Color: mut, AbsX: true, AbsY: true, Texts: []string{"Throughput, requests/s"}}, [][]float64{{0, 8}})
	for _, r := range rows {
		var line, dots, voids, failed [][]float64
		m := mark{Kind: "dot", Color: r.look.Color, Shape: r.look.Shape, Size: 3.4}
		ring := mark{Kind: "dot", Color: mut, Shape: "void", Size: 5.5}
		cross := mark{Kind: "dot", Color: "var(--warn)", Shape: "cross", Size: 3.5}
		for _, pt := range r.cell.Points {
			v, ok := throughputOf(pt)
			tip := fmt.Sprintf("%s, round %d: ", r.name, pt.Round)
			if !ok || pt.Bad != "" {
				line = append(line, []float64{float64(pt.Round), math.NaN()})
				if ok {
					voids = append(voids, []float64{float64(pt.Round), math.Min(v, y.max)})
					ring.Tips = append(ring.Tips, tip+requestsPerS(v)+", "+shorten(pt.Fate(), 80))
				} else if pt.Bad != "" {
					failed = append(failed, []float64{float64(pt.Round), 0})
					cross.Tips = append(cross.Tips, tip+shorten(pt.Fate(), 80))
				}
				continue
			}
			line = append(line, []float64{float64(pt.Round), v})
			dots = append(dots, []float64{float64(pt.Round), v})
			m.Tips = append(m.Tips, tip+requestsPerS(v))
		}
		c.add(p, mark{Kind: "line", Color: r.look.Color, Width: 1.4}, line)
		c.add(p, m, dots)
		c.add(p, ring, voids)
		c.add(p, cross, failed)
		if len(dots) > 0 {
			end := dots[len(dots)-1]
			at = append(at, []float64{x.max, end[1], 8, 0})
			names.Texts = append(names.Texts, shorten(r.name, 18))
			names.Colors = append(names.Colors, r.look.Color)
		}
	}
	c.add(p, names, at)
	c.add(p, mark{Kind: "text", Color: mut, Align: "center", Texts: []string{"round"}}, [][]float64{{(x.min + x.max) / 2, 0, 0, 36}})
	return c
}

// axisWidth is the room that the labels of a y axis need, in pixels.
func axisWidth(a axis) int {
	n := 0
	for _, l := range a.ticks.Labels {
		n = max(n, len([]rune(l)))
	}
	return 14 + 7*n
}
