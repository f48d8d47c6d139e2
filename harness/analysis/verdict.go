package analysis

import (
	"fmt"
	"slices"
	"strings"

	"abacus/harness/number"
	"abacus/harness/record"
)

// peak is the level of a curve with the highest mean throughput.
type peak struct {
	cell int
	// close are the levels whose interval meets the peak's.
	close []int
}

// peakOf finds a curve's peak; ok is false when no level has a figure.
func peakOf(curve Curve, cells []Cell) (p peak, ok bool) {
	p.cell = -1
	for _, i := range curve.CellIndexes {
		if t := cells[i].Throughput; t != nil && (p.cell < 0 || t.Mean > cells[p.cell].Throughput.Mean) {
			p.cell = i
		}
	}
	if p.cell < 0 {
		return p, false
	}
	top := cells[p.cell].Throughput
	for _, i := range curve.CellIndexes {
		t := cells[i].Throughput
		if i != p.cell && t != nil && (t.CI95 == nil || top.CI95 == nil || t.CI95[1] >= top.CI95[0]) {
			p.close = append(p.close, i)
		}
	}
	return p, true
}

// perSecond is "3,030/s (95 % interval 2,980 to 3,080)".
func perSecond(c Cell) string {
	t := c.Throughput
	exp := LastDigit(t, 1)
	s := number.At(t.Mean, exp) + "/s"
	if t.CI95 == nil {
		return s
	}
	return fmt.Sprintf("%s (95%s%% interval %s)", s, number.ThinSpace, number.BetweenAt(t.CI95[0], t.CI95[1], exp))
}

// peakSentence says where a ladder's throughput was highest, and which levels
// cannot be told apart from it.
func peakSentence(curve Curve, cells []Cell) (string, bool) {
	p, ok := peakOf(curve, cells)
	if !ok {
		return "", false
	}
	c := cells[p.cell]
	if c.Throughput.CI95 == nil {
		return "", false
	}
	s := fmt.Sprintf("Throughput was highest at %s: %s", connections(c.Step), perSecond(c))
	if len(p.close) == 0 {
		return s + ".", true
	}
	var names []string
	for _, i := range p.close {
		names = append(names, number.Count(int64(cells[i].Step.Concurrency)))
	}
	noun := "connections"
	if len(p.close) == 1 && cells[p.close[0]].Step.Concurrency == 1 {
		noun = "connection"
	}
	return fmt.Sprintf("%s; %s %s cannot be told apart from it.", s, list(names), noun), true
}

// titleSentence is the title of a scenario's chart: the finding, or the bare
// subject when nothing can be claimed.
func titleSentence(a *Analysis, s *Scenario) string {
	primary := primaryOf(a, s.Name)
	var shown []Comparison
	for _, c := range primary {
		if isShown(c) {
			shown = append(shown, c)
		}
	}
	switch {
	case len(primary) == 1 && primary[0].Verdict != VerdictNotEnoughRuns:
		return primary[0].Sentence
	case len(shown) > 0 && s.Kind == KindComparison:
		return strongest(shown).Sentence
	case len(shown) > 0:
		return tally(primary, s.Baseline)
	case len(primary) == 0 && s.Kind == KindLadder && !a.Quick:
		// Of several curves (pages) none may speak for all.
		if own := curvesOf(a, s.Name); len(own) == 1 {
			if text, ok := peakSentence(own[0], a.Cells); ok {
				return text
			}
		}
	}
	return subjectTitle(a, s)
}

func curvesOf(a *Analysis, scenario string) []Curve {
	var out []Curve
	for _, c := range a.Curves {
		if c.Scenario == scenario {
			out = append(out, c)
		}
	}
	return out
}

func subjectTitle(a *Analysis, s *Scenario) string {
	what := "Throughput"
	if s.Primary == metricP95 {
		what = "p95"
	}
	by := "by variant"
	if s.Kind == KindLadder {
		by = "by load level"
	} else if a.variantsOf(s.Name) < 2 {
		by = "run by run"
	}
	n := 0
	for _, i := range s.CellIndexes {
		n = max(n, a.Cells[i].Runs)
	}
	if n == 0 {
		return fmt.Sprintf("%s %s: no good run", what, by)
	}
	return fmt.Sprintf("%s %s, %s", what, by, rounds(n))
}

// strongest is the comparison whose ratio is farthest from 1 beyond doubt: by
// the interval's nearer end.
func strongest(list []Comparison) Comparison {
	distance := func(c Comparison) float64 {
		if c.CI95[0] > 1 {
			return c.CI95[0]
		}
		return 1 / c.CI95[1]
	}
	return slices.MaxFunc(list, func(x, y Comparison) int {
		switch dx, dy := distance(x), distance(y); {
		case dx < dy:
			return -1
		case dx > dy:
			return 1
		}
		return 0
	})
}

// tally sums up a family over several levels, variant by variant: every
// verdict that was given, or that none was.
func tally(family []Comparison, baseline string) string {
	var variants []string
	counts := map[string]*verdictCounts{}
	for _, c := range family {
		k := counts[c.A]
		if k == nil {
			k = &verdictCounts{margin: c.Margin, page: c.Page}
			counts[c.A] = k
			variants = append(variants, c.A)
		}
		k.add(c)
	}
	var parts []string
	for _, v := range variants {
		parts = append(parts, v+" "+counts[v].words(baseline))
	}
	return strings.Join(parts, "; ") + "."
}

// verdictCounts are one variant's verdicts against the baseline.
type verdictCounts struct {
	all, faster, slower, same, late int
	margin                          float64
	page                            string
	pages                           bool // several pages: a level is then several comparisons
}

func (k *verdictCounts) add(c Comparison) {
	k.all++
	k.pages = k.pages || c.Page != k.page
	switch c.Verdict {
	case VerdictFaster:
		k.faster++
	case VerdictSlower:
		k.slower++
	case VerdictEquivalent:
		k.same++
	case VerdictNotEnoughRuns:
		k.late++
	}
}

func (k *verdictCounts) words(baseline string) string {
	in, noun := "at", "level"
	if k.pages {
		in, noun = "in", "comparison"
	}
	all, within := number.Plural(int64(k.all), noun), "within "+number.Percent(k.margin)
	var parts []string
	for _, v := range []struct {
		n            int
		first, later string
	}{
		{k.faster, "was faster than " + baseline, "faster"},
		{k.slower, "was slower than " + baseline, "slower"},
		{k.same, "was the same as " + baseline + " " + within, "the same " + within},
	} {
		switch {
		case v.n == 0:
		case len(parts) == 0:
			parts = append(parts, fmt.Sprintf("%s %s %d of %s", v.first, in, v.n, all))
		default:
			parts = append(parts, fmt.Sprintf("%s %s %d", v.later, in, v.n))
		}
	}
	if len(parts) == 0 {
		parts = append(parts, fmt.Sprintf("was not shown to differ from %s %s any of %s", baseline, in, all))
	}
	text := list(parts)
	if k.late > 0 {
		text += fmt.Sprintf(" (%d with fewer than six complete rounds)", k.late)
	}
	return text
}

func primaryOf(a *Analysis, scenario string) []Comparison {
	var out []Comparison
	for _, c := range a.Comparisons {
		if c.Scenario == scenario && c.Primary {
			out = append(out, c)
		}
	}
	return out
}

// verdict is the paragraph under the title: what comparisons have shown, which
// of them stayed open, then where ladders peaked, then what is missing.
func verdict(a *Analysis) []string {
	var out []string
	if a.Quick {
		out = append(out, "Quick look: one short round, no verdict.")
	}
	if anyGood(a) {
		shown, open, measured, late := scenarioSentences(a)
		out = slices.Concat(out, shown, open, measured, late)
		if bad := nothingGood(a); bad != "" {
			out = append(out, bad)
		}
	} else {
		out = []string{"Nothing was measured: no run gave a figure."}
	}
	if !a.Complete {
		out = append(out, incomplete(a))
	}
	return out
}

// scenarioSentences says each scenario in the order of the file: differences
// and equivalences that were shown, comparisons that stayed open, what was
// measured without a comparison, and where too few rounds say nothing.
func scenarioSentences(a *Analysis) (shown, open, measured, late []string) {
	for i := range a.Scenarios {
		s := &a.Scenarios[i]
		primary := primaryOf(a, s.Name)
		decided := slices.ContainsFunc(primary, isShown)
		switch {
		case s.Kind == KindComparison:
			for _, c := range primary {
				switch {
				case isShown(c):
					shown = append(shown, c.Sentence)
				case c.N > 0 || ranAtAll(a, s):
					open = append(open, c.Sentence)
				}
			}
			if len(primary) == 0 {
				measured = append(measured, singleSentence(a, s)...)
			}
			continue
		case decided:
			shown = append(shown, tally(primary, s.Baseline))
		case slices.ContainsFunc(primary, func(c Comparison) bool { return c.Verdict == VerdictNoDifference }):
			open = append(open, s.Name+": "+tally(primary, s.Baseline))
		case len(primary) > 0 && ranAtAll(a, s):
			late = append(late, fmt.Sprintf("%s: fewer than six complete rounds give no verdict.", s.Name))
		}
		measured = append(measured, ladderSentences(a, s)...)
	}
	return shown, open, measured, late
}

// ranAtAll tells whether a scenario has any run: of one that was not reached
// there is nothing to say.
func ranAtAll(a *Analysis, s *Scenario) bool {
	return slices.ContainsFunc(s.CellIndexes, func(i int) bool { return len(a.Cells[i].Points) > 0 })
}

// isShown tells whether a comparison has a verdict that says something.
func isShown(c Comparison) bool {
	return c.Verdict == VerdictFaster || c.Verdict == VerdictSlower || c.Verdict == VerdictEquivalent
}

func ladderSentences(a *Analysis, s *Scenario) []string {
	var out []string
	for _, curve := range curvesOf(a, s.Name) {
		text, ok := peakSentence(curve, a.Cells)
		if !ok {
			p, any := peakOf(curve, a.Cells)
			if !any {
				continue
			}
			c := a.Cells[p.cell]
			text = fmt.Sprintf("Throughput was highest at %s: %s in the one run there", connections(c.Step), perSecond(c))
			if a.Quick {
				text += "."
			} else {
				text += ", which gives no interval."
			}
		}
		var who []string
		if a.variantsOf(s.Name) > 1 {
			who = append(who, "with "+curve.Variant)
		}
		if curve.Page != "" {
			who = append(who, "on "+curve.Page)
		}
		if len(who) > 0 {
			text = capitalised(strings.Join(who, " ")) + ", " + lowered(text)
		}
		if len(a.Scenarios) > 1 {
			text = s.Name + ": " + lowered(text)
		}
		out = append(out, text)
	}
	return out
}

// lowered makes the first letter of a sentence of our own words small, to
// stand after a colon.
func lowered(s string) string {
	if s == "" || s[0] < 'A' || s[0] > 'Z' {
		return s
	}
	return string(s[0]-'A'+'a') + s[1:]
}

func singleSentence(a *Analysis, s *Scenario) []string {
	var out []string
	for _, i := range s.CellIndexes {
		if c := a.Cells[i]; c.Throughput != nil {
			on := ""
			if c.Page != "" {
				on = " on " + c.Page
			}
			out = append(out, fmt.Sprintf("%s served %s at %s%s; %s.", c.Variant, perSecond(c), c.Label, on, oneOr(c.Runs)))
		}
	}
	return out
}

func oneOr(runs int) string {
	if runs == 1 {
		return "one run"
	}
	return number.Plural(int64(runs), "run")
}

func anyGood(a *Analysis) bool {
	return slices.ContainsFunc(a.Cells, func(c Cell) bool { return c.Runs > 0 })
}

// nothingGood names the levels of which no run is good, though some ended.
func nothingGood(a *Analysis) string {
	f := &finder{a: a}
	var parts []string
	for _, s := range a.Scenarios {
		var names []string
		for _, i := range s.CellIndexes {
			if c := a.Cells[i]; c.Runs == 0 && c.VoidRuns+c.FailedRuns > 0 {
				names = append(names, f.name(i))
			}
		}
		if len(names) > 0 {
			parts = append(parts, list(names)+" of "+s.Name)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf("Nothing is said about %s: no run there was good.", strings.Join(parts, "; "))
}

// incomplete is the sentence of a record that is not complete.
func incomplete(a *Analysis) string {
	s := incompleteCount(a)
	if a.State == record.StateRunning {
		return s + "; the campaign is still running, or was killed."
	}
	if a.Reason != "" {
		s += ": " + short(a.Reason, 200)
	}
	if s[len(s)-1] != '.' {
		s += "."
	}
	return s
}

func incompleteCount(a *Analysis) string {
	s := fmt.Sprintf("Incomplete: %s of %s", number.Count(int64(a.FinishedRuns)), number.Plural(int64(a.PlannedRuns), "run"))
	if a.LastRound > 0 && a.State != record.StateRunning {
		s += fmt.Sprintf(", stopped in round %d", a.LastRound)
	}
	return s
}
