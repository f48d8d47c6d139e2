package html

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"abacus/harness/analysis"
	"abacus/harness/number"
	"abacus/harness/stats"
)

// course is one curve of a ladder with its look.
type course struct {
	name  string
	look  look
	cells []analysis.Cell // ascending load
	apart []analysis.Cell
}

// stress draws a ladder: throughput with error bars and the runs above,
// latency on a log axis below, on one axis of load levels.
func stress(courses []course, unit string, divisor float64, narrow bool) *chart {
	top, upper, gap, lower := 24, 252, 66, 200
	right := 118
	if narrow {
		upper, gap, lower, right = 220, 62, 180, 78
	}
	if len(courses) > 1 {
		right = max(right, 24+7*longest(courses))
	}
	c := newChart(top + upper + gap + lower + 62)
	x := levelAxis(levelsOf(courses))
	y := zeroAxis(topOf(courses), 5)
	y.ticks.Grid = true
	lo, hi := latencyRange(courses)
	y2 := logAxis(lo/divisor, hi/divisor)
	y2.ticks.Grid = true
	left := max(axisWidth(y), axisWidth(y2))
	bare := x
	bare.ticks.Labels = nil
	xn := x
	if narrow {
		xn.ticks = sparse(x, float64(300-left))
	}
	p1 := c.panel(fmt.Sprint(left), fmt.Sprint(right), top, upper, bare, y)
	p2 := c.panel(fmt.Sprint(left), fmt.Sprint(right), top+upper+gap, lower, xn, y2)
	c.add(p1, mark{Kind: "text", Color: mut, AbsX: true, AbsY: true, Texts: []string{"Throughput, requests/s", latencyTitle(courses, unit)}},
		[][]float64{{0, 8}, {0, float64(top + upper + gap - 20)}})
	px := float64(600)
	if narrow {
		px = 230
	}
	jitter := math.Min(6.4, px*closest(x)/(x.max-x.min)/9)
	for _, k := range courses {
		c.throughputCourse(p1, k, jitter, x, y.max, len(courses) > 1)
	}
	if len(courses) == 1 {
		c.percentileLines(p2, courses[0], unit, divisor, x, narrow)
	} else {
		c.p95Lines(p2, courses, unit, divisor, x)
	}
	c.add(p2, mark{Kind: "text", Color: mut, Align: "center", Texts: []string{"concurrency, connections (log scale)"}},
		[][]float64{{(x.min + x.max) / 2, y2.min, 0, 36}})
	return c
}

func latencyTitle(courses []course, unit string) string {
	if len(courses) > 1 {
		return "p95 latency, " + unit + " (log scale)"
	}
	return "Latency, " + unit + " (log scale)"
}

func longest(courses []course) int {
	n := 0
	for _, k := range courses {
		n = max(n, len([]rune(shorten(k.name, 18))))
	}
	return n
}

// levelsOf lists the tested levels, ascending, each once.
func levelsOf(courses []course) []int {
	seen := map[int]bool{}
	var out []int
	for _, k := range courses {
		for _, list := range [][]analysis.Cell{k.cells, k.apart} {
			for _, c := range list {
				if n := max(1, c.Step.Concurrency); !seen[n] {
					seen[n] = true
					out = append(out, n)
				}
			}
		}
	}
	slices.Sort(out)
	return out
}

func topOf(courses []course) float64 {
	var rows []row
	for _, k := range courses {
		for _, c := range append(append([]analysis.Cell{}, k.cells...), k.apart...) {
			rows = append(rows, row{cell: c})
		}
	}
	return topThroughput(rows)
}

// latencyRange is the least and greatest latency drawn, in nanoseconds.
func latencyRange(courses []course) (lo, hi float64) {
	lo, hi = math.Inf(1), 0
	for _, k := range courses {
		for _, c := range k.cells {
			figures := []analysis.Figure{c.Latency.P50, c.Latency.P95, c.Latency.P99}
			if len(courses) > 1 {
				figures = figures[1:2]
			}
			for _, f := range figures {
				if f.Runs != nil && f.Runs.Mean > 0 {
					lo, hi = math.Min(lo, f.Runs.Mean), math.Max(hi, f.Runs.Mean)
				}
			}
		}
	}
	if hi == 0 {
		return 1e6, 1e7
	}
	return lo, hi
}

// closest is the least distance of two ticks of an axis.
func closest(a axis) float64 {
	d := a.max - a.min
	for i := 1; i < len(a.ticks.At); i++ {
		d = math.Min(d, a.ticks.At[i]-a.ticks.At[i-1])
	}
	return d
}

// sparse leaves out labels that would touch on an axis of so many pixels; the
// ticks stay.
func sparse(a axis, px float64) ticks {
	t := a.ticks
	t.Labels = append([]string{}, t.Labels...)
	end := math.Inf(-1)
	for i, at := range t.At {
		pos, half := (at-a.min)/(a.max-a.min)*px, float64(len([]rune(t.Labels[i])))*3.5
		if pos-half < end {
			t.Labels[i] = ""
			continue
		}
		end = pos + half + 6
	}
	return t
}

func log10(n int) float64 { return math.Log10(float64(max(1, n))) }

// throughputCourse draws one curve: means joined by straight lines, their
// intervals as error bars, runs as small points, void runs as rings, levels
// that differ in more than load as open squares.
func (c *chart) throughputCourse(p int, k course, jitter float64, x axis, top float64, named bool) {
	var line, bars, means [][]float64
	dots := mark{Kind: "dot", Color: k.look.Color, Shape: k.look.Shape, Size: 3.8}
	for _, cell := range k.cells {
		at := log10(cell.Step.Concurrency)
		c.levelRuns(p, cell, k.look, at, jitter, top)
		t := cell.Throughput
		if t == nil {
			line = append(line, []float64{at, math.NaN()})
			c.add(p, mark{Kind: "text", Color: "var(--crit)", Align: "center", Small: true, Texts: []string{shorten(failedText(cell), 24)}}, [][]float64{{at, 0, 0, -10}})
			continue
		}
		line = append(line, []float64{at, t.Mean})
		means = append(means, []float64{at, t.Mean})
		tip := cell.Label + ": mean " + meanText(t) + " requests/s"
		if t.CI95 != nil {
			bars = append(bars, clipped(at, t.CI95, top))
			tip += " (" + betweenText(t) + ")"
		}
		if named {
			tip = k.name + ", " + tip
		}
		dots.Tips = append(dots.Tips, tip)
	}
	c.add(p, mark{Kind: "line", Color: k.look.Color, Width: 2}, line)
	barColor := ink
	if named {
		barColor = k.look.Color // whose interval it is, where several meet
	}
	c.add(p, mark{Kind: "seg", Color: barColor, Caps: 6}, bars)
	c.add(p, dots, means)
	if named && len(means) > 0 {
		end := means[len(means)-1]
		c.add(p, mark{Kind: "text", Color: k.look.Color, Bold: true, Texts: []string{shorten(k.name, 18)}}, [][]float64{{x.max, end[1], 8, 0}})
	}
	c.apartMarks(p, k)
}

// clipped is an error bar within a panel from 0 to top. An end that lies beyond
// is cut, and has no cap: 1 is the lower, 2 the upper, 3 both.
func clipped(at float64, ci *[2]float64, top float64) []float64 {
	bare := 0.0
	lo, hi := ci[0], ci[1]
	if lo < 0 {
		lo, bare = 0, bare+1
	}
	if hi > top {
		hi, bare = top, bare+2
	}
	return []float64{at, lo, at, hi, 0, 0, bare}
}

// levelRuns draws the runs of one level side by side in order of rounds,
// leaving the middle for the mean. Runs in no mean stand at most at the top.
func (c *chart) levelRuns(p int, cell analysis.Cell, l look, at, jitter, top float64) {
	good := mark{Kind: "dot", Color: l.Color, Shape: l.Shape, Size: 2.4, Opacity: 0.75}
	ring := mark{Kind: "dot", Color: mut, Shape: "void", Size: 5.5}
	cross := mark{Kind: "dot", Color: "var(--warn)", Shape: "cross", Size: 3.5}
	var goods, rings, crosses [][]float64
	n := len(cell.Points)
	if n < 2 && cell.Throughput != nil {
		return // the mean is the run
	}
	for i, pt := range cell.Points {
		k := float64(i - n/2)
		if i >= n/2 {
			k++
		}
		tip := fmt.Sprintf("%s, round %d: ", cell.Label, pt.Round)
		v, ok := throughputOf(pt)
		switch {
		case ok && pt.Bad == "":
			goods = append(goods, []float64{at, v, k * jitter, 0})
			good.Tips = append(good.Tips, tip+requestsPerS(v))
		case ok:
			rings = append(rings, []float64{at, math.Min(v, top), k * jitter, 0})
			ring.Tips = append(ring.Tips, tip+requestsPerS(v)+", "+shorten(pt.Fate(), 80))
		case pt.Bad != "":
			crosses = append(crosses, []float64{at, 0, k * jitter, 0})
			cross.Tips = append(cross.Tips, tip+shorten(pt.Fate(), 80))
		}
	}
	c.add(p, good, goods)
	c.add(p, ring, rings)
	c.add(p, cross, crosses)
}

func (c *chart) apartMarks(p int, k course) {
	squares := mark{Kind: "dot", Color: k.look.Color, Shape: "open", Size: 4.5}
	labels := mark{Kind: "text", Color: mut, Small: true, Align: "center"}
	var at, below [][]float64
	for _, cell := range k.apart {
		t := cell.Throughput
		if t == nil {
			continue
		}
		x := log10(cell.Step.Concurrency)
		at = append(at, []float64{x, t.Mean})
		below = append(below, []float64{x, t.Mean, 0, 18})
		squares.Tips = append(squares.Tips, cell.Label+": mean "+meanText(t)+" requests/s")
		labels.Texts = append(labels.Texts, shorten(difference(cell), 26))
	}
	c.add(p, squares, at)
	c.add(p, labels, below)
}

// difference names what sets a level apart from its curve.
func difference(c analysis.Cell) string {
	if !c.Step.KeepAlive {
		return "without keep-alive"
	}
	return c.Label
}

// percentileLines draws p50, p95 and p99 of one curve, thicker up the tail.
func (c *chart) percentileLines(p int, k course, unit string, divisor float64, x axis, narrow bool) {
	names := mark{Kind: "text", Spread: 15}
	var ends [][]float64
	for _, l := range []struct {
		name, color string
		width       float64
		of          func(analysis.Cell) *stats.Spread
	}{
		{"p99", "var(--p99)", 2.6, func(c analysis.Cell) *stats.Spread { return c.Latency.P99.Runs }},
		{"p95", "var(--p95)", 2, func(c analysis.Cell) *stats.Spread { return c.Latency.P95.Runs }},
		{"p50", "var(--p50)", 1.4, func(c analysis.Cell) *stats.Spread { return c.Latency.P50.Runs }},
	} {
		end, s := c.latencyLine(p, k.cells, l.of, mark{Kind: "dot", Color: l.color, Shape: "circle", Size: 3.4}, l.width, l.name, unit, divisor)
		if s == nil {
			continue
		}
		mean, _ := spreadText(s, divisor)
		ends = append(ends, []float64{x.max, end, 8, 0})
		text := l.name + "  " + mean
		if !narrow {
			text += number.HardSpace + unit
		}
		names.Texts = append(names.Texts, text)
		names.Colors = append(names.Colors, l.color)
	}
	names.Bold = true
	c.add(p, names, ends)
}

// p95Lines draws p95 of several variants.
func (c *chart) p95Lines(p int, courses []course, unit string, divisor float64, x axis) {
	names := mark{Kind: "text", Spread: 15, Bold: true}
	var ends [][]float64
	for _, k := range courses {
		of := func(c analysis.Cell) *stats.Spread { return c.Latency.P95.Runs }
		end, s := c.latencyLine(p, k.cells, of, mark{Kind: "dot", Color: k.look.Color, Shape: k.look.Shape, Size: 3.4}, 2, k.name+" p95", unit, divisor)
		if s == nil {
			continue
		}
		ends = append(ends, []float64{x.max, end, 8, 0})
		names.Texts = append(names.Texts, shorten(k.name, 18))
		names.Colors = append(names.Colors, k.look.Color)
	}
	c.add(p, names, ends)
}

// latencyLine draws one percentile over the levels; it returns the height of
// its last point, and the spread there (nil when there is none).
func (c *chart) latencyLine(p int, cells []analysis.Cell, of func(analysis.Cell) *stats.Spread, dots mark, width float64, name, unit string, divisor float64) (end float64, last *stats.Spread) {
	var line, at [][]float64
	for _, cell := range cells {
		s := of(cell)
		x := log10(cell.Step.Concurrency)
		if s == nil || s.Mean <= 0 {
			line = append(line, []float64{x, math.NaN()})
			continue
		}
		y := math.Log10(s.Mean / divisor)
		line, at = append(line, []float64{x, y}), append(at, []float64{x, y})
		dots.Tips = append(dots.Tips, strings.Join([]string{cell.Label + ": " + name, meanSD(s, divisor) + number.HardSpace + unit}, " "))
		end, last = y, s
	}
	c.add(p, mark{Kind: "line", Color: dots.Color, Width: width}, line)
	c.add(p, dots, at)
	return end, last
}
