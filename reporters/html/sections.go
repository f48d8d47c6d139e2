package html

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"abacus/harness/analysis"
	"abacus/harness/number"
)

// timeSection is one timeline.
type timeSection struct {
	ID      string
	Lead    string
	Panels  *figure
	Heat    *figure
	Legend  []swatch
	Letters []pair
	Missing []string
	Table   *table
}

type swatch struct{ Class, Text string }

func timeID(i int) string { return fmt.Sprintf("time%d", i+1) }

// quantileGroup is what shares one drawing by percentile.
type quantileGroup struct {
	title, sub string
	lines      []quantileLine
}

// maxGroups bounds the drawings by percentile of one scenario; the table
// holds all.
const maxGroups = 6

// addPercentiles adds drawings and one table for each scenario that has merged
// histograms.
func (v *view) addPercentiles(a *analysis.Analysis) error {
	for i, sc := range a.Scenarios {
		rows := rowsOf(a, sc)
		unit, divisor := latencyUnit(cellsOf(rows))
		tableID := fmt.Sprintf("pct%d_table", i+1)
		groups := quantileGroups(a, sc, rows)
		for k, g := range groups[:min(len(groups), maxGroups)] {
			id := fmt.Sprintf("pct%d_%d", i+1, k+1)
			log := spansDecades(g.lines)
			f, err := newFigure(id, g.title+": latency by percentile", g.sub+"; merged histogram of the good runs", "Latency by percentile, "+g.title,
				describeQuantiles(g.lines, unit, divisor), tableID, percentiles(g.lines, unit, divisor, log, false), percentiles(g.lines, unit, divisor, log, true))
			if err != nil {
				return err
			}
			v.Percentiles = append(v.Percentiles, f)
		}
		if len(groups) > 0 {
			v.PercentileTables = append(v.PercentileTables, quantileTable(tableID, sc, rows, unit, divisor))
		}
	}
	return nil
}

// quantileGroups puts a ladder's levels together by variant, and a
// comparison's variants by page and level. Levels apart from the curve are in
// the table only.
func quantileGroups(a *analysis.Analysis, sc analysis.Scenario, rows []row) []quantileGroup {
	apart := apartSet(a, sc)
	ladder := sc.Kind == kindLadder
	many := variants(sc, a.Cells) > 1
	var order []string
	members := map[string][]row{}
	for k, r := range rows {
		if ladder && apart[sc.CellIndexes[k]] || len(r.cell.Percentiles) < 2 {
			continue
		}
		key := r.cell.Page + "\x00" + r.cell.Label
		if ladder {
			key = r.cell.Variant + "\x00" + r.cell.Page
		}
		if _, ok := members[key]; !ok {
			order = append(order, key)
		}
		members[key] = append(members[key], r)
	}
	var out []quantileGroup
	for _, key := range order {
		list := members[key]
		list = list[:min(len(list), maxDrawn)]
		g := quantileGroup{title: shortTitle(sc), sub: list[0].cell.Label}
		if ladder {
			g.sub = "one line for each load level"
		}
		if ladder && many {
			g.title += ", " + list[0].cell.Variant
		}
		if len(order) > 1 && list[0].cell.Page != "" {
			g.title += ", " + list[0].cell.Page
		}
		for k, r := range list {
			l := quantileLine{name: r.cell.Variant, color: r.look.Color, shape: r.look.Shape, cell: r.cell}
			if ladder {
				l.name, l.color, l.shape = plural(r.cell.Step.Concurrency, "connection", "connections"), ramp(k, len(list)), "circle"
			}
			g.lines = append(g.lines, l)
		}
		out = append(out, g)
	}
	return out
}

// spansDecades tells whether the medians lie so far apart that the axis must
// be logarithmic.
func spansDecades(lines []quantileLine) bool {
	lo, hi := math.Inf(1), 0.0
	for _, l := range lines {
		if v := l.cell.Latency.P50.Value; v != nil && *v > 0 {
			lo, hi = math.Min(lo, *v), math.Max(hi, *v)
		}
	}
	return hi > 4*lo
}

func describeQuantiles(lines []quantileLine, unit string, divisor float64) string {
	var parts []string
	for _, l := range lines {
		var figures []string
		for _, f := range []struct {
			name string
			v    *float64
		}{{"median", l.cell.Latency.P50.Value}, {"p95", l.cell.Latency.P95.Value}, {"p99", l.cell.Latency.P99.Value}, {"p99.9", l.cell.Latency.P999.Value}} {
			if f.v != nil {
				figures = append(figures, f.name+" "+number.Sig3(*f.v/divisor)+" "+unit)
			}
		}
		parts = append(parts, l.name+": "+strings.Join(figures, ", "))
	}
	return strings.Join(parts, "; ") + "."
}

func quantileTable(id string, sc analysis.Scenario, rows []row, unit string, divisor float64) table {
	t := table{ID: id, Summary: shortTitle(sc) + ": the percentiles as numbers", Caption: shortTitle(sc) + ": latency in " + unit + " of the merged histogram of all good runs of a line; the tables above show means of the runs’ own percentiles."}
	t.Head = [][]cell{{col("Line"), col("Mean"), col("p50"), col("p75"), col("p90"), col("p95"), col("p99"), col("p99.9"), col("Greatest"), col("Answers")}}
	for _, r := range rows {
		tr := tableRow{Key: r.key(), Head: r.name}
		l := r.cell.Latency
		for _, f := range []analysis.Figure{l.Mean, l.P50, l.P75, l.P90, l.P95, l.P99, l.P999, l.Max} {
			if f.Value == nil {
				tr.Cells = append(tr.Cells, none(noGoodRun))
			} else {
				tr.Cells = append(tr.Cells, num(number.Sig3(*f.Value/divisor)))
			}
		}
		if w := r.cell.WithinRun.Total; w != nil {
			tr.Cells = append(tr.Cells, num(number.Count(w.Count)))
		} else {
			tr.Cells = append(tr.Cells, none(noGoodRun))
		}
		t.Rows = append(t.Rows, tr)
	}
	return t
}

// addTimes adds the timelines.
func (v *view) addTimes(a *analysis.Analysis) error {
	for i, t := range a.Timelines {
		s := timeSection{ID: timeID(i), Missing: t.Missing, Lead: fmt.Sprintf("%s, round %d of %d. Shaded: load.", scenarioTitle(a, t.Scenario), t.Round, a.Rounds)}
		group := s.ID
		if len(t.Panels) > 0 {
			wide, thinned := timeline(t, group, false)
			narrow, _ := timeline(t, group, true)
			sub := "one time axis for all; the cursor reads every panel"
			if thinned {
				sub += "; thinned to the first, least, greatest and last of each pixel column"
			}
			if sparsePanels(t) {
				sub += fmt.Sprintf("; readings of loads with fewer than %d samples are points without a line: a peak may be missed", analysis.FewSamples)
			}
			if saysNew(t) {
				sub += "; new: a new connection per request"
			}
			title := t.Title
			if title == "" {
				title = "Load, server and machine over one round"
			}
			f, err := newFigure(s.ID, title, sub, title, describeTimeline(t), s.ID+"_table", wide, narrow)
			if err != nil {
				return err
			}
			s.Panels = &f
			table := timeTable(s.ID+"_table", scenarioTitle(a, t.Scenario), t)
			s.Table = &table
		}
		if h := t.Scoreboard; h != nil && len(h.Letters) > 0 && len(h.AtS) > 0 {
			heatTable := ""
			if s.Table != nil {
				heatTable = s.Table.ID
			}
			f, err := newFigure(s.ID+"_heat", "The scoreboard, letter by letter", heatLine(t), "Worker slots by state over time", describeHeat(h), heatTable,
				heat(t, group, false), heat(t, group, true))
			if err != nil {
				return err
			}
			s.Heat = &f
			s.Legend, s.Letters = heatLegend(h)
		}
		if s.Panels != nil || s.Heat != nil || len(s.Missing) > 0 {
			v.Times = append(v.Times, s)
		}
	}
	return nil
}

func scenarioTitle(a *analysis.Analysis, name string) string {
	for _, sc := range a.Scenarios {
		if sc.Name == name {
			return shortTitle(sc)
		}
	}
	return name
}

func heatLine(t analysis.Timeline) string {
	start, end := extent(t)
	step := heatStep(t.Scoreboard.AtS, end-start, heatColumns(false))
	return fmt.Sprintf("slots in each state, the most of every %s%ss; %s slots", strconv.FormatFloat(step, 'g', 2, 64), number.HardSpace, number.Count(int64(t.Scoreboard.Slots)))
}

func describeHeat(h *analysis.Heat) string {
	var parts []string
	for i, l := range h.Letters {
		most := 0
		if i < len(h.Counts) {
			for _, n := range h.Counts[i] {
				most = max(most, n)
			}
		}
		parts = append(parts, fmt.Sprintf("%s at most %d", letterName(h, l), most))
	}
	return fmt.Sprintf("Of %d slots: %s.", h.Slots, strings.Join(parts, "; "))
}

func letterName(h *analysis.Heat, l string) string {
	if m := h.Meaning[l]; m != "" {
		return l + " (" + m + ")"
	}
	return l
}

func heatLegend(h *analysis.Heat) (steps []swatch, letters []pair) {
	steps = append(steps, swatch{"h0", "0"})
	from := 1
	for i, b := range heatBounds(h.Slots) {
		if b < from {
			continue
		}
		text := fmt.Sprintf("%d–%d", from, b)
		if from == b {
			text = fmt.Sprint(b)
		}
		steps = append(steps, swatch{fmt.Sprintf("h%d", i+1), text})
		from = b + 1
	}
	for _, l := range h.Letters {
		letters = append(letters, pair{l, h.Meaning[l]})
	}
	return steps, letters
}

func describeTimeline(t analysis.Timeline) string {
	var parts []string
	for _, p := range t.Panels {
		for _, l := range p.Lines {
			lo, hi := math.Inf(1), math.Inf(-1)
			for _, part := range l.Parts {
				for _, v := range part {
					lo, hi = math.Min(lo, v[1]), math.Max(hi, v[1])
				}
			}
			if hi >= lo {
				name := p.Title
				if len(p.Lines) > 1 {
					name += " " + l.Name
				}
				parts = append(parts, fmt.Sprintf("%s: %s to %s %s", name, number.Sig3(lo), number.Sig3(hi), p.Unit))
			}
		}
	}
	return strings.Join(parts, "; ") + "."
}

// timeRows bounds the length of a timeline's table.
const timeRows = 90

// timeTable has the first sample of each line in every second (or every few
// seconds of a long round).
func timeTable(id, name string, t analysis.Timeline) table {
	start, end := extent(t)
	step := math.Max(1, math.Ceil((end-start)/timeRows))
	every := "second"
	if step > 1 {
		every = fmt.Sprintf("%g seconds", step)
	}
	out := table{ID: id, Summary: "The timeline as numbers", Caption: name + ", round " + strconv.Itoa(t.Round) + ": the first sample in every " + every + "; a dash where there was none."}
	head := []cell{col("From, s"), colText("Load")}
	var columns []map[int]float64
	for _, p := range t.Panels {
		for _, l := range p.Lines {
			name := p.Title
			if len(p.Lines) > 1 {
				name += ": " + l.Name
			}
			if p.Unit != "" {
				name += ", " + p.Unit
			}
			head = append(head, col(name))
			first := map[int]float64{}
			for _, part := range l.Parts {
				for _, v := range part {
					k := int(math.Floor(v[0]/step + 1e-9))
					if _, ok := first[k]; !ok {
						first[k] = v[1]
					}
				}
			}
			columns = append(columns, first)
		}
	}
	out.Head = [][]cell{head}
	for k := int(math.Floor(start / step)); float64(k)*step < end; k++ {
		from := float64(k) * step
		tr := tableRow{Head: plain(from), Cells: []cell{words(loadAt(t, from, from+step))}}
		for _, c := range columns {
			v, ok := c[k]
			if !ok {
				tr.Cells = append(tr.Cells, none("no sample"))
				continue
			}
			tr.Cells = append(tr.Cells, num(plain(v)))
		}
		out.Rows = append(out.Rows, tr)
	}
	return out
}

// plain writes a sample: counts as they are, others with three digits.
func plain(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return number.Count(int64(v))
	}
	return number.Sig3(v)
}

// loadAt names the load in a slice of time.
func loadAt(t analysis.Timeline, from, to float64) string {
	for _, s := range t.Segments {
		if s.StartS < to && s.EndS > from {
			return s.Label
		}
	}
	return ""
}
