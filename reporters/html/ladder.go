package html

import (
	"strings"

	"abacus/harness/analysis"
	"abacus/harness/number"
)

// coursesOf gathers the curves of a ladder with their cells.
func coursesOf(a *analysis.Analysis, sc analysis.Scenario) []course {
	looks := looksOf(sc, a.Cells)
	pages := map[string]bool{}
	var own []analysis.Curve
	for _, k := range a.Curves {
		if k.Scenario == sc.Name {
			own = append(own, k)
			pages[k.Page] = true
		}
	}
	var out []course
	for _, k := range own {
		c := course{name: k.Variant, look: looks[k.Variant]}
		if len(pages) > 1 {
			c.name += " · " + k.Page
		}
		if len(own) == 1 {
			c.look = lookFirst
		}
		for _, i := range k.CellIndexes {
			c.cells = append(c.cells, a.Cells[i])
		}
		for _, i := range k.Apart {
			c.apart = append(c.apart, a.Cells[i])
		}
		if len(c.cells)+len(c.apart) > 0 {
			out = append(out, c)
		}
	}
	return out
}

func (v *view) addLadder(a *analysis.Analysis, sc analysis.Scenario, s *section, answer bool) error {
	if !touched(sc, a.Cells) {
		return nil
	}
	courses := coursesOf(a, sc)
	rows := rowsOf(a, sc)
	unit, divisor := latencyUnit(cellsOf(rows))
	tableID := s.ID + "_table"
	if measured(sc, a.Cells) && len(courses) > 0 {
		id := s.ID + "_stress"
		if answer {
			id = "answer"
		}
		f, err := newFigure(id, sc.Finding, stressLine(courses), shortTitle(sc)+": throughput and latency against concurrency",
			describeLadder(courses, unit, divisor), tableID, stress(courses, unit, divisor, false), stress(courses, unit, divisor, true))
		if err != nil {
			return err
		}
		if answer {
			v.Answer = &f
		} else {
			s.Figures = append(s.Figures, f)
		}
	}
	s.Tables = append(s.Tables, ladderTable(tableID, a, sc, rows, apartSet(a, sc), unit, divisor))
	s.Tables = append(s.Tables, withinTable(s.ID+"_within", s.Short, rows, variants(sc, a.Cells) > 1)...)
	if t, ok := pairsTable(s.ID+"_pairs", a, sc); ok {
		s.Tables = append(s.Tables, t)
	}
	s.Tables = append(s.Tables, runsTable(s.ID+"_runs", s.Short, rows, unit, divisor))
	return nil
}

// apartSet holds the indexes of cells that no curve joins.
func apartSet(a *analysis.Analysis, sc analysis.Scenario) map[int]bool {
	set := map[int]bool{}
	for _, k := range a.Curves {
		if k.Scenario != sc.Name {
			continue
		}
		for _, i := range k.Apart {
			set[i] = true
		}
	}
	return set
}

func stressLine(courses []course) string {
	var rows []row
	bad, apart := false, false
	for _, k := range courses {
		for _, c := range k.cells {
			rows = append(rows, row{cell: c})
			bad = bad || c.VoidRuns > 0
		}
		apart = apart || len(k.apart) > 0
	}
	if mostRuns(rows) < 2 {
		return "points: the one run of each level, joined by straight lines"
	}
	text := "large points: mean" + strings.Replace(runCount(rows), ",", " of", 1) + ", joined by straight lines; error bars: 95" + number.ThinSpace + "% interval; small points: runs"
	top := zeroAxis(topOf(courses), 5).max
	for _, r := range rows {
		if t := r.cell.Throughput; t != nil && t.CI95 != nil && t.CI95[1] > top {
			text = strings.Replace(text, "% interval", "% interval (without a cap: cut at the edge)", 1)
			break
		}
	}
	if bad {
		text += "; dashed rings: void runs, in no mean"
	}
	if apart {
		text += "; open squares differ in more than load"
	}
	return text
}

func describeLadder(courses []course, unit string, divisor float64) string {
	var parts []string
	for _, k := range courses {
		var levels, tail []string
		for _, c := range k.cells {
			n := number.Count(int64(c.Step.Concurrency))
			if c.Throughput == nil {
				levels = append(levels, n+": "+failedText(c))
				continue
			}
			levels = append(levels, n+": "+meanText(c.Throughput))
			if s := c.Latency.P99.Runs; s != nil {
				mean, _ := spreadText(s, divisor)
				tail = append(tail, n+": "+mean)
			}
		}
		p := "Throughput in requests per second by connections: " + strings.Join(levels, "; ") + "."
		if len(tail) > 0 {
			p += " p99 latency in " + unit + ": " + strings.Join(tail, "; ") + "."
		}
		if len(courses) > 1 {
			p = k.name + ". " + p
		}
		parts = append(parts, p)
	}
	return strings.Join(parts, " ")
}
