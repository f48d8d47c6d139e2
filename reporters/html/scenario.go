package html

import (
	"fmt"
	"strings"

	"abacus/harness/analysis"
	"abacus/harness/number"
)

// section is one scenario.
type section struct {
	ID, Short, Title, Lead string
	Figures                []figure
	Tables                 []table
}

func sectionID(i int) string { return fmt.Sprintf("s%d", i+1) }

// shortTitle names a scenario for contents and links.
func shortTitle(sc analysis.Scenario) string {
	s := strings.ReplaceAll(sc.Name, "-", " ")
	if s == "" || s[0] >= '0' && s[0] <= '9' { // made from an address
		if sc.Kind == kindLadder {
			return "Load levels"
		}
		return "Comparison"
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// kindLadder is the Kind of a scenario whose steps differ in load.
const kindLadder = "ladder"

// maxDrawn bounds the rows of a comparison's drawings; the tables hold all.
const maxDrawn = 12

// maxLines bounds the lines of one drawing of rounds; with more they cannot
// be told apart, and the table of runs has them all.
const maxLines = 6

func (v *view) addScenarios(a *analysis.Analysis) error {
	answer := answerScenario(a)
	for i, sc := range a.Scenarios {
		s := section{ID: sectionID(i), Short: shortTitle(sc), Title: shortTitle(sc), Lead: lead(a, sc)}
		sc.Finding = strings.TrimSuffix(sc.Finding, ".")
		var err error
		if sc.Kind == kindLadder {
			err = v.addLadder(a, sc, &s, i == answer)
		} else {
			err = v.addComparison(a, sc, &s, i == answer)
		}
		if err != nil {
			return err
		}
		if len(s.Tables) > 0 || len(s.Figures) > 0 {
			v.Sections = append(v.Sections, s)
		}
	}
	return nil
}

// lead is a scenario's title and question, as far as the page's own do not
// say them already.
func lead(a *analysis.Analysis, sc analysis.Scenario) string {
	said := map[string]bool{"": true, a.Title: true, a.Question: true}
	var parts []string
	for _, p := range []string{sc.Title, sc.Question} {
		if !said[p] {
			said[p] = true
			if !strings.ContainsAny(p[len(p)-1:], ".?!:") {
				p += "."
			}
			parts = append(parts, p)
		}
	}
	return strings.Join(parts, " ")
}

// answerScenario is the one whose chart answers: the first comparison that
// has a ratio, else the first scenario with a figure, else −1.
func answerScenario(a *analysis.Analysis) int {
	for _, wantRatio := range []bool{true, false} {
		for i, sc := range a.Scenarios {
			if !measured(sc, a.Cells) {
				continue
			}
			if !wantRatio || (sc.Kind != kindLadder && hasRatio(rowsOf(a, sc))) {
				return i
			}
		}
	}
	return -1
}

// measured tells whether a scenario has any cell with a figure.
func measured(sc analysis.Scenario, cells []analysis.Cell) bool {
	for _, i := range sc.CellIndexes {
		if cells[i].Throughput != nil {
			return true
		}
	}
	return false
}

// touched tells whether any run of the scenario was made at all.
func touched(sc analysis.Scenario, cells []analysis.Cell) bool {
	for _, i := range sc.CellIndexes {
		if c := cells[i]; c.Runs+c.VoidRuns+c.FailedRuns > 0 || len(c.Points) > 0 {
			return true
		}
	}
	return false
}

// rowsOf lists the cells of a comparison in the order of the tables.
func rowsOf(a *analysis.Analysis, sc analysis.Scenario) []row {
	looks, many := looksOf(sc, a.Cells), variants(sc, a.Cells) > 1
	pages, levels := map[string]bool{}, map[string]bool{}
	for _, i := range sc.CellIndexes {
		pages[a.Cells[i].Page], levels[a.Cells[i].Label] = true, true
	}
	var rows []row
	for _, i := range sc.CellIndexes {
		c := a.Cells[i]
		r := row{cell: c, look: looks[c.Variant], against: toBaseline(a, sc, c)}
		var name []string
		if many || len(levels) < 2 {
			name = append(name, c.Variant)
		}
		if len(pages) > 1 {
			name = append(name, c.Page)
		}
		if len(levels) > 1 {
			name = append(name, c.Label)
		}
		r.name = strings.Join(name, " · ")
		var notes []string
		if c.Engine != "" && !strings.Contains(c.Variant, c.Engine) {
			notes = append(notes, "engine "+c.Engine)
		}
		if c.Baseline {
			notes = append(notes, "baseline")
		}
		r.note = strings.Join(notes, " · ")
		rows = append(rows, r)
	}
	return rows
}

// toBaseline finds the comparison of a cell with its baseline on the primary
// metric.
func toBaseline(a *analysis.Analysis, sc analysis.Scenario, c analysis.Cell) *analysis.Comparison {
	for i := range a.Comparisons {
		k := &a.Comparisons[i]
		if k.Scenario != sc.Name || k.Page != c.Page || k.Step != c.Step || !k.Primary || k.Baseline == c.Variant {
			continue
		}
		if (k.A == c.Variant && k.B == k.Baseline) || (k.B == c.Variant && k.A == k.Baseline) {
			return k
		}
	}
	return nil
}

func (v *view) addComparison(a *analysis.Analysis, sc analysis.Scenario, s *section, answer bool) error {
	if !touched(sc, a.Cells) {
		return nil
	}
	rows := rowsOf(a, sc)
	tableID := s.ID + "_table"
	unit, divisor := latencyUnit(cellsOf(rows))
	if err := v.comparisonFigures(a, sc, s, rows, answer, unit, divisor); err != nil {
		return err
	}
	s.Tables = append(s.Tables, comparisonTable(tableID, sc, rows, unit, divisor))
	s.Tables = append(s.Tables, withinTable(s.ID+"_within", s.Short, rows, variants(sc, a.Cells) > 1)...)
	if t, ok := pairsTable(s.ID+"_pairs", a, sc); ok {
		s.Tables = append(s.Tables, t)
	}
	s.Tables = append(s.Tables, runsTable(s.ID+"_runs", s.Short, rows, unit, divisor))
	return nil
}

func (v *view) comparisonFigures(a *analysis.Analysis, sc analysis.Scenario, s *section, rows []row, answer bool, unit string, divisor float64) error {
	if !measured(sc, a.Cells) {
		return nil
	}
	drawn := rows[:min(len(rows), maxDrawn)]
	tableID := s.ID + "_table"
	name := shortTitle(sc)
	desc := describeThroughput(drawn)
	if answer {
		f, err := newFigure("answer", sc.Finding, levelLine(rows), "Throughput by variant"+andRatio(drawn), desc, tableID,
			strip(drawn, sc.Margin, false), strip(drawn, sc.Margin, true))
		if err != nil {
			return err
		}
		v.Answer = &f
	} else {
		f, err := newFigure(s.ID+"_bars", sc.Finding, barLine(rows), "Throughput by variant, "+name, desc, tableID, bars(drawn, throughputMeasure()), nil)
		if err != nil {
			return err
		}
		s.Figures = append(s.Figures, f)
	}
	f, err := newFigure(s.ID+"_p95", "How long the slow requests took: p95 by variant", barLine(rows), "95th percentile latency by variant, "+name,
		describeP95(drawn, unit, divisor), tableID, bars(drawn, p95Measure(unit, divisor)), nil)
	if err != nil {
		return err
	}
	s.Figures = append(s.Figures, f)
	last := lastRound(rows)
	if last > 1 && len(rows) <= maxLines {
		f, err = newFigure(s.ID+"_rounds", "Throughput round by round", "each point is one run", "Throughput of each variant in each round, "+name,
			desc, s.ID+"_runs", rounds(drawn, last), nil)
		if err != nil {
			return err
		}
		s.Figures = append(s.Figures, f)
	}
	if !answer && hasRatio(drawn) {
		f, err = newFigure(s.ID+"_ratio", "Ratio to "+sc.Baseline, levelLine(rows), metricName(sc)+" of each variant as a ratio to the baseline, "+name,
			describeRatios(drawn), tableID, ratioStrip(drawn, sc.Margin), nil)
		if err != nil {
			return err
		}
		s.Figures = append(s.Figures, f)
	}
	return nil
}

// ratioWords is a ratio with its interval for a sentence: "1.87 × (1.82 to 1.93)".
func ratioWords(x float64, ci *[2]float64) string {
	half := number.Half(ci)
	if ci == nil {
		return number.Times(x, half)
	}
	return number.Times(x, half) + " (" + number.BetweenAt(ci[0], ci[1], number.PlaceFor(x, half)) + ")"
}

func andRatio(rows []row) string {
	if hasRatio(rows) {
		return ", and its ratio to the baseline"
	}
	return ""
}

func lastRound(rows []row) int {
	n := 0
	for _, r := range rows {
		for _, p := range r.cell.Points {
			n = max(n, p.Round)
		}
	}
	return n
}

func cellsOf(rows []row) []analysis.Cell {
	out := make([]analysis.Cell, len(rows))
	for i, r := range rows {
		out[i] = r.cell
	}
	return out
}

// levelLine says what the drawing shows: load and n.
func levelLine(rows []row) string {
	if len(rows) == 0 {
		return ""
	}
	return oneLabel(rows) + runCount(rows)
}

func barLine(rows []row) string {
	if mostRuns(rows) < 2 {
		return "bar: the one run, without spread"
	}
	return "bar: mean; whisker: ± 1 sd between the runs; points: runs" + runCount(rows)
}

// oneLabel is the load level when all rows share it.
func oneLabel(rows []row) string {
	l := rows[0].cell.Label
	for _, r := range rows {
		if r.cell.Label != l {
			return "several load levels"
		}
	}
	return l
}

// runCount says the number of good runs per row: "6 runs" or "5 to 6 runs".
func runCount(rows []row) string {
	lo, hi := -1, 0
	for _, r := range rows {
		n := r.cell.Runs
		if lo < 0 || n < lo {
			lo = n
		}
		hi = max(hi, n)
	}
	if lo == hi {
		return ", " + plural(hi, "run", "runs") + " each"
	}
	return fmt.Sprintf(", %d to %d runs each", lo, hi)
}

// mostRuns is the greatest number of good runs of any row.
func mostRuns(rows []row) int {
	n := 0
	for _, r := range rows {
		n = max(n, r.cell.Runs)
	}
	return n
}

func describeThroughput(rows []row) string {
	var parts []string
	for _, r := range rows {
		t := r.cell.Throughput
		if t == nil {
			parts = append(parts, r.name+": "+failedText(r.cell))
			continue
		}
		p := r.name + ": mean " + meanText(t) + " requests per second"
		if t.CI95 != nil {
			p += ", 95" + number.ThinSpace + "% interval " + betweenText(t)
		}
		parts = append(parts, p)
	}
	return strings.Join(parts, "; ") + "."
}

func describeP95(rows []row, unit string, divisor float64) string {
	var parts []string
	for _, r := range rows {
		s := r.cell.Latency.P95.Runs
		if s == nil {
			continue
		}
		parts = append(parts, r.name+": "+meanSD(s, divisor)+" "+unit)
	}
	return strings.Join(parts, "; ") + "."
}

func describeRatios(rows []row) string {
	var parts []string
	for _, r := range rows {
		if r.against == nil || r.against.Ratio == nil {
			continue
		}
		x, ci := againstBaseline(*r.against)
		parts = append(parts, r.name+": "+ratioWords(x, ci))
	}
	return strings.Join(parts, "; ") + "."
}

// ratioStrip is the ratio panel by itself, for half the column's width.
func ratioStrip(rows []row, margin float64) *chart {
	const pitch, top = 54, 30
	height := pitch * len(rows)
	c := newChart(top + height + 50)
	p := c.ratioPanelAt(rows, margin, "110", "30", top, height)
	for i, r := range rows {
		c.add(p, mark{Kind: "text", Color: r.look.Color, Bold: true, AbsX: true, Texts: []string{shorten(r.name, 15)}}, [][]float64{{0, float64(len(rows)-i) - 0.5}})
	}
	return c
}
