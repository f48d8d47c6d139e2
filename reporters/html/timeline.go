package html

import (
	"fmt"
	"math"
	"sort"
	"strings"

	"abacus/harness/analysis"
	"abacus/harness/number"
)

// pixelColumns is how many columns of pixels a wide timeline has.
const pixelColumns = 780

// timeline draws all panels of one round on one time axis, with the load
// shaded and named on top.
func timeline(t analysis.Timeline, group string, narrow bool) (c *chart, thinned bool) {
	t.Panels = splitPanels(t.Panels)
	const first, gap = 58, 42
	total := first
	heights := make([]int, len(t.Panels))
	for i, p := range t.Panels {
		heights[i] = 64
		if p.AllZero {
			heights[i] = 26
		}
		total += heights[i] + gap
	}
	c = newChart(total - 4)
	c.spec.Cursor, c.spec.Group = true, group
	start, end := extent(t)
	top := first
	left := 52
	for i, p := range t.Panels {
		x := timeAxis(start, end, narrow)
		x.ticks.Line = true
		if i < len(t.Panels)-1 {
			x.ticks.Labels, x.ticks.Mark = nil, false
		}
		y, log := panelAxis(p, slotsOf(t))
		if narrow {
			left = 44
		}
		at := c.panel(fmt.Sprint(left), "8", top, heights[i], x, y)
		c.shade(at, t.Segments, y, i == 0, i == len(t.Panels)-1, gap)
		if i == 0 {
			c.segmentNames(at, t.Segments, y.max, end-start, narrow, -46)
		}
		c.panelTitle(at, p, top)
		if p.AllZero {
			c.add(at, mark{Kind: "text", Color: mut, Small: true, Texts: []string{"none moved"}}, [][]float64{{start, 0, 8, -10}})
		}
		for k, l := range p.Lines {
			less := c.timeLine(at, p, l, k, end-start, log)
			thinned = thinned || less
		}
		top += heights[i] + gap
	}
	return c, thinned
}

// dwarfed is how many times greater a line must be than all others of its
// panel to get a panel of its own: on one axis the others would lie flat.
const dwarfed = 20

// splitPanels takes lines that would dwarf their neighbours out of a panel;
// workers stay together, since busy and idle share the slots.
func splitPanels(panels []analysis.Panel) []analysis.Panel {
	var out []analysis.Panel
	for _, p := range panels {
		tall, first, second := -1, 0.0, 0.0
		for i, l := range p.Lines {
			switch top := greatest(l); {
			case top > first:
				tall, first, second = i, top, first
			case top > second:
				second = top
			}
		}
		if tall < 0 || len(p.Lines) < 2 || p.ID == "latency" || p.ID == "workers" || second <= 0 || first < dwarfed*second {
			out = append(out, p)
			continue
		}
		alone, rest := p, p
		alone.Title, alone.Lines = p.Title+" "+p.Lines[tall].Name, []analysis.Line{{Name: p.Lines[tall].Name, Parts: p.Lines[tall].Parts}}
		rest.Lines = append(append([]analysis.Line{}, p.Lines[:tall]...), p.Lines[tall+1:]...)
		if len(rest.Lines) == 1 {
			rest.Title = p.Title + " " + rest.Lines[0].Name
		}
		out = append(out, rest, alone)
	}
	return out
}

func greatest(l analysis.Line) float64 {
	top := 0.0
	for _, part := range l.Parts {
		for _, v := range part {
			top = math.Max(top, v[1])
		}
	}
	return top
}

// extent is the time from the first sample (which may lie before the load) to
// the last.
func extent(t analysis.Timeline) (start, end float64) {
	see := func(from, to float64) { start, end = math.Min(start, from), math.Max(end, to) }
	for _, s := range t.Segments {
		see(s.StartS, s.EndS)
	}
	for _, p := range t.Panels {
		for _, l := range p.Lines {
			for _, part := range l.Parts {
				if n := len(part); n > 0 {
					see(part[0][0], part[n-1][0])
				}
			}
		}
	}
	if h := t.Scoreboard; h != nil && len(h.AtS) > 0 {
		see(h.AtS[0], h.AtS[len(h.AtS)-1])
	}
	return start, math.Max(end, start+1e-9)
}

func slotsOf(t analysis.Timeline) int {
	if t.Scoreboard == nil {
		return 0
	}
	return t.Scoreboard.Slots
}

func timeAxis(start, end float64, narrow bool) axis {
	n := 6
	if narrow {
		n = 4
	}
	a := zeroAxis(end, n)
	a.min, a.max = start, end
	for len(a.ticks.At) > 1 && a.ticks.At[len(a.ticks.At)-1] > end {
		a.ticks.At = a.ticks.At[:len(a.ticks.At)-1]
		a.ticks.Labels = a.ticks.Labels[:len(a.ticks.Labels)-1]
	}
	a.ticks.Labels[len(a.ticks.Labels)-1] += number.HardSpace + "s"
	a.ticks.Mark = true
	return a
}

// panelAxis is log for latency, which spans decades, and from 0 for the rest;
// workers end at the number of slots.
func panelAxis(p analysis.Panel, slots int) (a axis, log bool) {
	lo, hi := math.Inf(1), 0.0
	for _, l := range p.Lines {
		for _, part := range l.Parts {
			for _, v := range part {
				hi = math.Max(hi, v[1])
				if v[1] > 0 {
					lo = math.Min(lo, v[1])
				}
			}
		}
	}
	if p.AllZero {
		return axis{max: 1, ticks: ticks{At: []float64{0}, Labels: []string{"0"}}}, false
	}
	if p.ID == "latency" && hi > 0 && hi/lo > 30 {
		a = logAxis(lo, hi)
		a.ticks.Grid = true
		return a, true
	}
	if full := float64(slots); p.ID == "workers" && hi <= full {
		a = axis{max: full, ticks: ticks{At: []float64{0, full}, Grid: true}}
		if slots%2 == 0 {
			a.ticks.At = []float64{0, full / 2, full}
		}
		for _, v := range a.ticks.At {
			a.ticks.Labels = append(a.ticks.Labels, plain(v))
		}
		return a, false
	}
	a = zeroAxis(hi, 2)
	a.ticks.Grid = true
	return a, false
}

func lineColor(k int) string {
	return [...]string{"var(--a)", "var(--z)", "var(--b)", "var(--mut)"}[min(k, 3)]
}

// shade marks the load through all panels without a break.
func (c *chart) shade(p int, segments []analysis.Segment, y axis, first, last bool, gap float64) {
	above, below := 0.0, gap
	if first {
		above = -36
	}
	if last {
		below = 0
	}
	var boxes [][]float64
	for _, s := range segments {
		boxes = append(boxes, []float64{s.StartS, y.max, s.EndS, y.min, above, below})
	}
	c.add(p, mark{Kind: "box", Color: "var(--lv)", Under: true}, boxes)
}

// segmentNames writes the load levels over their shades, as far as they fit.
func (c *chart) segmentNames(p int, segments []analysis.Segment, y, span float64, narrow bool, dy float64) {
	best := nameForm(segments, span, narrow)
	m := mark{Kind: "text", Bold: true, Color: ink, Align: "center"}
	var at [][]float64
	for _, s := range segments {
		label := nameForms(s.Label)[best]
		if len([]rune(label)) > nameRoom(s, span, narrow) {
			continue
		}
		m.Texts = append(m.Texts, label)
		at = append(at, []float64{(s.StartS + s.EndS) / 2, y, 0, dy})
	}
	c.add(p, m, at)
}

// nameRoom is how many letters fit over a load.
func nameRoom(s analysis.Segment, span float64, narrow bool) int {
	px := 780.0
	if narrow {
		px = 300
	}
	return int((s.EndS - s.StartS) / span * px / 6.6)
}

// nameForm is the form that most names have room in, the longest of equal
// ones: all have the same, so that they read alike.
func nameForm(segments []analysis.Segment, span float64, narrow bool) int {
	best, most := 0, -1
	for form := range len(nameForms("")) {
		fits := 0
		for _, s := range segments {
			if len([]rune(nameForms(s.Label)[form])) <= nameRoom(s, span, narrow) {
				fits++
			}
		}
		if fits > most {
			best, most = form, fits
		}
	}
	return best
}

// saysNew tells whether a drawing names a level by "new".
func saysNew(t analysis.Timeline) bool {
	start, end := extent(t)
	for _, narrow := range []bool{false, true} {
		form := nameForm(t.Segments, end-start, narrow)
		for _, s := range t.Segments {
			if strings.HasSuffix(nameForms(s.Label)[form], " new") {
				return true
			}
		}
	}
	return false
}

// nameForms are ever shorter forms of a load level's name: whole, abbreviated,
// and its number, with what sets it apart ("10 new": a connection per request).
func nameForms(label string) []string {
	short := strings.Replace(strings.Replace(label, " connections", " conn.", 1), " connection", " conn.", 1)
	bare := strings.SplitN(label, " connection", 2)[0]
	if strings.Contains(label, "no keep-alive") {
		bare += " new"
	}
	return []string{label, short, bare}
}

// panelTitle names a panel and its lines, each in its own colour.
func (c *chart) panelTitle(at int, p analysis.Panel, top int) {
	m := mark{Kind: "flow", AbsX: true, AbsY: true}
	text := func(s, color string) { m.Texts, m.Colors = append(m.Texts, s), append(m.Colors, color) }
	unit := ""
	if p.Unit != "" {
		unit = ", " + p.Unit
	}
	if len(p.Lines) < 2 {
		text(shorten(p.Title, 40), lineColor(0))
		text(shorten(unit, 30), mut)
	} else {
		text(shorten(p.Title+unit, 50)+": ", mut)
		for k, l := range p.Lines {
			if k > 0 {
				text(", ", mut)
			}
			text(shorten(l.Name, 24), lineColor(k))
		}
	}
	c.add(at, m, [][]float64{{0, float64(top - 16)}})
}

// lineData joins the parts of a line with gaps between, thinned to what the
// pixels can show.
func lineData(l analysis.Line, span float64, log bool) (data [][]float64, thinned bool) {
	for i, part := range l.Parts {
		if i > 0 && len(part) > 0 {
			data = append(data, []float64{part[0][0], math.NaN()})
		}
		kept := thin(part, span)
		thinned = thinned || len(kept) < len(part)
		for _, v := range kept {
			y := v[1]
			if log {
				if y <= 0 {
					y = math.NaN()
				} else {
					y = math.Log10(y)
				}
			}
			data = append(data, []float64{v[0], y})
		}
	}
	return data, thinned
}

// thin keeps the first, least, greatest and last point of each pixel column
// where there are more than two points a column on average. axis is the length
// of the whole axis in seconds.
func thin(part [][2]float64, axis float64) [][2]float64 {
	if len(part) < 3 {
		return part
	}
	span := part[len(part)-1][0] - part[0][0]
	columns := math.Max(1, span/axis*pixelColumns)
	if float64(len(part)) <= 2*columns {
		return part
	}
	var out [][2]float64
	for i := 0; i < len(part); {
		column := math.Floor(part[i][0] / axis * pixelColumns)
		lo, hi, k := i, i, i
		for ; k < len(part) && math.Floor(part[k][0]/axis*pixelColumns) == column; k++ {
			if part[k][1] < part[lo][1] {
				lo = k
			}
			if part[k][1] > part[hi][1] {
				hi = k
			}
		}
		keep := []int{i, lo, hi, k - 1}
		sort.Ints(keep)
		last := -1
		for _, j := range keep {
			if j != last {
				out = append(out, part[j])
			}
			last = j
		}
		i = k
	}
	return out
}

// counted tells whether a panel's values are counts of whole intervals, which
// leave nothing out, and not readings at moments.
func counted(p analysis.Panel) bool { return p.ID == "throughput" || p.ID == "latency" }

// bySamples splits a line into parts that may be joined and single points:
// between few readings a line would claim what happened there.
func bySamples(l analysis.Line, sampled bool) (joined analysis.Line, alone [][2]float64) {
	least := 2
	if sampled {
		least = analysis.FewSamples
	}
	joined.Name = l.Name
	for _, part := range l.Parts {
		if len(part) >= least {
			joined.Parts = append(joined.Parts, part)
		} else {
			alone = append(alone, part...)
		}
	}
	return joined, alone
}

// sparsePanels tells whether any reading is drawn as a point for want of
// samples.
func sparsePanels(t analysis.Timeline) bool {
	for _, p := range t.Panels {
		if p.AllZero || counted(p) {
			continue
		}
		for _, l := range p.Lines {
			if _, alone := bySamples(l, true); len(alone) > 0 {
				return true
			}
		}
	}
	return false
}

// timeLine draws one line of a panel: what may be joined as a line, the rest
// as points, and all of it under the time cursor.
func (c *chart) timeLine(at int, p analysis.Panel, l analysis.Line, k int, span float64, log bool) (thinned bool) {
	name := l.Name
	if name == "" {
		name = p.Title
	}
	joined, alone := bySamples(l, !counted(p) && !p.AllZero)
	line := mark{Kind: "line", Color: lineColor(k), Width: 1.4, Unit: p.Unit, Log: log}
	if len(alone) == 0 {
		line.Name = name
		data, thinned := lineData(l, span, log)
		c.add(at, line, data)
		return thinned
	}
	data, thinned := lineData(joined, span, log)
	c.add(at, line, data)
	// The cursor reads an invisible line through everything.
	all, _ := lineData(l, span, log)
	line.Name, line.Color = name, "transparent"
	c.add(at, line, all)
	var points [][]float64
	for _, v := range alone {
		y := v[1]
		if log {
			if y <= 0 {
				continue
			}
			y = math.Log10(y)
		}
		points = append(points, []float64{v[0], y})
	}
	c.add(at, mark{Kind: "dot", Color: lineColor(k), Shape: "circle", Size: 1.8}, points)
	return thinned
}
