package html

import (
	"fmt"
	"math"
	"sort"
	"strings"

	"abacus/harness/analysis"
	"abacus/harness/number"
)

// phase is a part of a request's time.
type phase struct {
	name string
	of   func(analysis.WithinRun) *analysis.Within
}

func phases() []phase {
	return []phase{
		{"Connect", func(w analysis.WithinRun) *analysis.Within { return w.Connect }},
		{"Waiting", func(w analysis.WithinRun) *analysis.Within { return w.Waiting }},
		{"Processing", func(w analysis.WithinRun) *analysis.Within { return w.Processing }},
		{"Total", func(w analysis.WithinRun) *analysis.Within { return w.Total }},
	}
}

// phaseUnit is the unit of a phase's column; ok is false when none was recorded.
func phaseUnit(rows []row, p phase) (unit string, divisor float64, ok bool) {
	var means []float64
	for _, r := range rows {
		if w := p.of(r.cell.WithinRun); w != nil && w.Count > 0 {
			means = append(means, w.Mean)
		}
	}
	unit, divisor = number.DurationUnit(median(means))
	return unit, divisor, len(means) > 0
}

// withinTable is where the time goes, per request, over all requests of all
// good runs: the other standard deviation.
func withinTable(id, name string, rows []row, many bool) []table {
	t := table{ID: id, Caption: name + ": where the time goes, per request. Here ± is the standard deviation ", Em: "within runs", Rest: ", over all requests of all good runs."}
	heading := "Load level"
	levels := map[string]bool{}
	for _, r := range rows {
		levels[r.cell.Label] = true
	}
	if many {
		heading = "Variant"
		if len(levels) > 1 {
			heading = ladderHead(true)
		}
	}
	first := []cell{col(heading)}
	any := false
	list := phases()
	divisors := make([]float64, len(list))
	for k, p := range list {
		unit, d, ok := phaseUnit(rows, p)
		any = any || ok
		divisors[k] = d
		first = append(first, colPair(p.name+", "+unit))
	}
	if !any {
		return nil
	}
	first = append(first, col("Requests"))
	t.Head = [][]cell{first}
	for _, r := range rows {
		key := ""
		if many {
			key = r.key()
		}
		name := r.name
		if many && len(levels) > 1 {
			name = strings.Replace(name, r.cell.Label, levelName(r.cell), 1)
		}
		head, second := tableRow{Key: key, Head: name}, tableRow{Class: "sub", Head: "least – median – greatest"}
		count := int64(0)
		for k, p := range list {
			w := p.of(r.cell.WithinRun)
			if w == nil || w.Count == 0 {
				head.Cells = append(head.Cells, nones("none was recorded")...)
				second.Cells = append(second.Cells, cell{Cols: 2})
				continue
			}
			count = max(count, w.Count)
			spread := math.NaN()
			if w.SD != nil {
				spread = *w.SD / divisors[k]
			}
			place := number.PlaceShared(w.Mean/divisors[k], math.NaN(), spread)
			head.Cells = append(head.Cells, num(number.At(w.Mean/divisors[k], place)))
			sd := ""
			if w.SD != nil {
				sd = number.At(*w.SD/divisors[k], place)
			}
			head.Cells = append(head.Cells, sdCell(sd))
			second.Cells = append(second.Cells, cell{Cols: 2, Class: "c2", Text: number.Sig3(float64(w.Min)/divisors[k]) + " – " + number.Sig3(float64(w.Median)/divisors[k]) + " – " + number.Sig3(float64(w.Max)/divisors[k])})
		}
		if count == 0 {
			continue
		}
		head.Cells = append(head.Cells, num(number.Count(count)))
		second.Cells = append(second.Cells, cell{})
		t.Rows = append(t.Rows, head, second)
	}
	return []table{t}
}

// pairsTable lists all comparisons of a scenario, with n and verdict.
func pairsTable(id string, a *analysis.Analysis, sc analysis.Scenario) (table, bool) {
	t := table{ID: id, Summary: "All comparisons, with their sentences", Caption: shortTitle(sc) + ": each pair by complete rounds; the interval is the 95" + number.ThinSpace + "% interval of the ratio. Only the metric " + sc.Primary + " carries the verdict."}
	t.Head = [][]cell{{col("Pair"), colText("Load level"), colText("Metric"), col("Rounds"), col("Ratio"), col("95" + number.ThinSpace + "% interval"), col("p"), col("adj. p"), col("Mann–Whitney"), colText("What it says")}}
	for _, c := range a.Comparisons {
		if c.Scenario != sc.Name {
			continue
		}
		tr := tableRow{Head: c.A + " ÷ " + c.B}
		tr.Cells = append(tr.Cells, words(stepLabel(a, c)), words(c.Metric), num(number.Count(int64(c.N))))
		times, interval := "", ""
		if c.Ratio == nil {
			tr.Cells = append(tr.Cells, none("no complete round"))
		} else {
			times, interval = number.Ratio(*c.Ratio, c.CI95)
			tr.Cells = append(tr.Cells, num(times))
		}
		if c.CI95 == nil {
			tr.Cells = append(tr.Cells, none("none: a quick look, or fewer than two complete rounds"))
		} else {
			tr.Cells = append(tr.Cells, num(interval))
		}
		for _, p := range []*float64{c.PValue, c.PHolm, c.PMWU} {
			if p == nil {
				tr.Cells = append(tr.Cells, none("not computed"))
			} else {
				tr.Cells = append(tr.Cells, num(number.P(*p)))
			}
		}
		tr.Cells = append(tr.Cells, cell{Text: c.Sentence, Class: "tx wide"})
		t.Rows = append(t.Rows, tr)
	}
	return t, len(t.Rows) > 0
}

// stepLabel finds the plain words for a comparison's level.
func stepLabel(a *analysis.Analysis, c analysis.Comparison) string {
	for _, k := range a.Cells {
		if k.Scenario == c.Scenario && k.Step == c.Step && k.Page == c.Page {
			if c.Page != "" {
				return c.Page + ", " + k.Label
			}
			return k.Label
		}
	}
	return plural(c.Step.Concurrency, "connection", "connections")
}

// runsTable lists every run, the data of the drawings.
func runsTable(id, name string, rows []row, unit string, divisor float64) table {
	t := table{ID: id, Summary: "Every run", Caption: name + ": every run by itself; those that are in no mean say why."}
	t.Head = [][]cell{{col("Run"), col("Round"), colText("What"), col("Requests/s"), col("Mean, " + unit), col("p50"), col("p95"), col("p99"), col("Complete"), col("Failed"), colText("State")}}
	type line struct {
		seq int
		row tableRow
	}
	var lines []line
	for _, r := range rows {
		for _, p := range r.cell.Points {
			tr := tableRow{Head: number.Count(int64(p.Seq))}
			tr.Cells = append(tr.Cells, num(number.Count(int64(p.Round))), words(r.name))
			value := func(v *float64, d float64) cell {
				if v == nil {
					return none("the run has none")
				}
				return cell{Text: fourDigits(*v / d), Struck: p.Bad != ""}
			}
			tr.Cells = append(tr.Cells, value(p.Throughput, 1))
			for _, v := range []*float64{p.MeanNS, p.P50NS, p.P95NS, p.P99NS} {
				tr.Cells = append(tr.Cells, value(v, divisor))
			}
			tr.Cells = append(tr.Cells, requests(p.Complete), requests(p.Failed))
			state := "good"
			if p.Bad != "" {
				tr.Class, state = "void", p.Fate()
			}
			tr.Cells = append(tr.Cells, cell{Text: state, Class: "tx wide"})
			lines = append(lines, line{p.Seq, tr})
		}
	}
	sort.SliceStable(lines, func(i, k int) bool { return lines[i].seq < lines[k].seq })
	for _, l := range lines {
		t.Rows = append(t.Rows, l.row)
	}
	return t
}

// goals is the table of goals: missed first, then undecided, then met.
func goals(a *analysis.Analysis) *table {
	if len(a.Goals) == 0 {
		return nil
	}
	t := &table{ID: "goals_table", Caption: "Each goal is judged on one load level: by the 95" + number.ThinSpace + "% interval over runs where there is one."}
	t.Head = [][]cell{{colText("Outcome"), colText("Goal"), colText("Where"), colText("Evidence")}}
	t.Head[0][0].Class = ""
	for _, outcome := range []string{analysis.GoalMissed, analysis.GoalUndecided, analysis.GoalMet} {
		for _, g := range a.Goals {
			if g.Outcome != outcome {
				continue
			}
			tr := tableRow{Head: outcome, Class: goalClass(outcome), Icon: goalIcon(outcome)}
			tr.Cells = []cell{words(g.Goal), words(a.GoalPlace(g)), {Text: g.Evidence, Class: "tx wide"}}
			t.Rows = append(t.Rows, tr)
		}
	}
	return t
}

func goalClass(outcome string) string {
	switch outcome {
	case analysis.GoalMissed:
		return "missed"
	case analysis.GoalUndecided:
		return "open"
	}
	return "met"
}

func goalIcon(outcome string) string {
	switch outcome {
	case analysis.GoalMissed:
		return "c"
	case analysis.GoalUndecided:
		return "w"
	}
	return "ok"
}

// goalLead counts the outcomes in a sentence.
func goalLead(a *analysis.Analysis) string {
	counts := map[string]int{}
	for _, g := range a.Goals {
		counts[g.Outcome]++
	}
	return fmt.Sprintf("%d missed, %d undecided, %d met.", counts[analysis.GoalMissed], counts[analysis.GoalUndecided], counts[analysis.GoalMet])
}
