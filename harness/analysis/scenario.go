package analysis

import (
	"cmp"
	"slices"

	"abacus/harness/record"
)

// The kinds of scenario.
const (
	KindLadder     = "ladder"
	KindComparison = "comparison"
)

// scenarioNames lists scenarios in the manifest's order; cells of one that the
// manifest does not frame come last.
func scenarioNames(m record.Manifest, cells []Cell) []string {
	var names []string
	for _, s := range m.Scenarios {
		if !slices.Contains(names, s.Name) {
			names = append(names, s.Name)
		}
	}
	for _, c := range cells {
		if !slices.Contains(names, c.Scenario) {
			names = append(names, c.Scenario)
		}
	}
	return names
}

// frameOf is the manifest's word on a scenario, or one with defaults.
func frameOf(m record.Manifest, name string) record.Scenario {
	for _, s := range m.Scenarios {
		if s.Name == name {
			return s
		}
	}
	return record.Scenario{Name: name, Primary: metricThroughput, Margin: defaultMargin}
}

// baselineOf is the variant that the others are compared with: the marked
// cell's, else the named one, else the first.
func baselineOf(frame record.Scenario, cells []Cell) string {
	first, named := "", ""
	for _, c := range cells {
		if c.Scenario != frame.Name {
			continue
		}
		if c.Baseline {
			return c.Variant
		}
		if first == "" {
			first = c.Variant
		}
		if c.Variant == frame.Baseline {
			named = c.Variant
		}
	}
	if named != "" {
		return named
	}
	return first
}

func countSteps(cells []Cell, scenario string) int {
	seen := map[record.Step]bool{}
	for _, c := range cells {
		if c.Scenario == scenario {
			seen[c.Step] = true
		}
	}
	return len(seen)
}

func frameScenarios(m record.Manifest, cells []Cell) []Scenario {
	out := []Scenario{}
	for _, name := range scenarioNames(m, cells) {
		f := frameOf(m, name)
		s := Scenario{Name: name, Title: f.Title, Question: f.Question, Baseline: baselineOf(f, cells),
			Primary: primaryMetric(f.Primary), Margin: f.Margin, Caveats: f.Caveats, Kind: KindComparison, CellIndexes: []int{}}
		if !(s.Margin > 0) {
			s.Margin = defaultMargin
		}
		if countSteps(cells, name) > 1 {
			s.Kind = KindLadder
		}
		for i, c := range cells {
			if c.Scenario == name {
				s.CellIndexes = append(s.CellIndexes, i)
			}
		}
		order(&s, cells)
		out = append(out, s)
	}
	return out
}

// order sorts a scenario's cells as its tables show them: a ladder by variant
// and page, then the joined levels ascending, then those apart; a comparison
// by page, then by the primary metric, best first, cells without it last.
func order(s *Scenario, cells []Cell) {
	pages := firstSeen(cells, s.Name, func(c Cell) string { return c.Page })
	variants := firstSeen(cells, s.Name, func(c Cell) string { return c.Variant })
	joined := joinedKeepAlive(cells, s.Name)
	slices.SortStableFunc(s.CellIndexes, func(i, j int) int {
		a, b := cells[i], cells[j]
		if s.Kind == KindLadder {
			return cmp.Or(
				variants[a.Variant]-variants[b.Variant],
				pages[a.Page]-pages[b.Page],
				btoi(a.Step.KeepAlive != joined)-btoi(b.Step.KeepAlive != joined),
				a.Step.Concurrency-b.Step.Concurrency,
				cmp.Compare(a.Step.Requests, b.Step.Requests),
				cmp.Compare(a.Step.DurationS, b.Step.DurationS))
		}
		va, okA := primaryValue(a, s.Primary)
		vb, okB := primaryValue(b, s.Primary)
		better := -cmp.Compare(va, vb)
		if s.Primary == metricP95 {
			better = -better
		}
		return cmp.Or(pages[a.Page]-pages[b.Page], btoi(!okA)-btoi(!okB), better)
	})
}

func primaryValue(c Cell, metric string) (float64, bool) {
	if metric == metricP95 {
		if c.Latency.P95.Runs == nil {
			return 0, false
		}
		return c.Latency.P95.Runs.Mean, true
	}
	if c.Throughput == nil {
		return 0, false
	}
	return c.Throughput.Mean, true
}

// joinedKeepAlive is the keep-alive setting that most levels of a scenario
// share: those are joined in a curve, the others stand apart.
func joinedKeepAlive(cells []Cell, scenario string) bool {
	levels := map[record.Step]bool{}
	with, without := 0, 0
	for _, c := range cells {
		if c.Scenario != scenario || levels[c.Step] {
			continue
		}
		levels[c.Step] = true
		if c.Step.KeepAlive {
			with++
		} else {
			without++
		}
	}
	return with >= without
}

// joinCurves makes one curve per variant and page of each ladder. Levels that
// differ in nothing but their load (connections, and with them the number of
// requests or seconds) are joined; a level with another keep-alive, and a
// second one at the same number of connections, stand apart.
func joinCurves(scenarios []Scenario, cells []Cell) []Curve {
	out := []Curve{}
	for _, s := range scenarios {
		if s.Kind != KindLadder {
			continue
		}
		joined := joinedKeepAlive(cells, s.Name)
		at := map[[2]string]int{}
		for _, i := range s.CellIndexes {
			c := cells[i]
			key := [2]string{c.Variant, c.Page}
			k, known := at[key]
			if !known {
				k = len(out)
				at[key] = k
				out = append(out, Curve{Scenario: s.Name, Variant: c.Variant, Page: c.Page, Engine: c.Engine, CellIndexes: []int{}})
			}
			curve := &out[k]
			twice := slices.ContainsFunc(curve.CellIndexes, func(j int) bool {
				return cells[j].Step.Concurrency == c.Step.Concurrency
			})
			if c.Step.KeepAlive != joined || twice {
				curve.Apart = append(curve.Apart, i)
			} else {
				curve.CellIndexes = append(curve.CellIndexes, i)
			}
		}
	}
	return out
}

func firstSeen(cells []Cell, scenario string, key func(Cell) string) map[string]int {
	out := map[string]int{}
	for _, c := range cells {
		if _, known := out[key(c)]; c.Scenario == scenario && !known {
			out[key(c)] = len(out)
		}
	}
	return out
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
