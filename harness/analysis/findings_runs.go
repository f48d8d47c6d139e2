package analysis

import (
	"fmt"
	"slices"
	"strings"

	"abacus/harness/number"
	"abacus/harness/preflight"
	"abacus/harness/stats"
)

// record judges the record itself: what of it is missing or damaged.
func (f *finder) record() {
	a := f.a
	if n := len(f.s.damaged); n > 0 {
		var texts []string
		for _, t := range f.s.damaged[:min(n, 3)] {
			texts = append(texts, short(t, 300))
		}
		if n > 3 {
			texts = append(texts, fmt.Sprintf("and %d more", n-3))
		}
		f.add(Finding{ID: "record_damaged", Severity: preflight.Warning,
			Title:    fmt.Sprintf("%s cannot be read.", number.Plural(int64(n), "run file")),
			Evidence: sentence(strings.Join(texts, "; "), "These runs are in no figure"),
			Advice:   "restore the files, or repeat the runs: `abacus run --resume RECORD`."})
	}
	f.damagedFiles()
	if len(f.s.strays) > 0 {
		f.add(Finding{ID: "record_damaged", Severity: preflight.Warning,
			Title:    fmt.Sprintf("%s belong to no load level of the record.", number.Plural(int64(len(f.s.strays)), "run")),
			Evidence: fmt.Sprintf("The first is run %d; cell_index points outside the list of cells. They are in no figure.", f.s.strays[0]),
			Advice:   "see whether files of two records were mixed."})
	}
	missing := a.PlannedRuns - a.FinishedRuns - len(f.in.Manifest.Skipped) - len(f.s.damaged)
	switch {
	case !a.Complete:
		x := Finding{ID: "record_incomplete", Severity: preflight.Warning, Title: incompleteCount(a) + ".",
			Evidence: "Only complete rounds enter comparisons; levels may have fewer runs than planned.",
			Advice:   "take the cause away and start the campaign again."}
		if a.FinishedRuns == 0 {
			x.Evidence = "No run had ended."
		}
		if a.Resumable() {
			x.Advice = "`abacus run --resume RECORD` finishes it."
		}
		f.add(x)
	case missing > 0:
		f.add(Finding{ID: "runs_missing", Severity: preflight.Warning,
			Title:    fmt.Sprintf("%s of %s missing, though the record is marked complete.", number.Plural(int64(missing), "run"), number.Count(int64(a.PlannedRuns))),
			Evidence: fmt.Sprintf("%s planned, %s read.", number.Count(int64(a.PlannedRuns)), number.Count(int64(a.FinishedRuns))),
			Advice:   "restore the run files, or repeat the campaign."})
	}
	if d := f.in.Manifest.Differences; len(d) > 0 {
		var texts []string
		for _, t := range d {
			texts = append(texts, short(t, 200))
		}
		f.add(Finding{ID: "resumed_with_differences", Severity: preflight.Warning,
			Title:    "The record was finished under other conditions than it was begun.",
			Evidence: sentence(strings.Join(texts, "; ")), Advice: "compare only runs from before, or only from after, the break."})
	}
	f.skipped()
}

func (f *finder) skipped() {
	reasons := map[string]int{}
	for _, s := range f.in.Manifest.Skipped {
		reasons[s.Reason]++
	}
	if len(reasons) == 0 {
		return
	}
	f.add(Finding{ID: "runs_skipped", Severity: preflight.Warning,
		Title:    fmt.Sprintf("%s given up by rule.", wasWere(len(f.in.Manifest.Skipped), "run")),
		Evidence: sentence(capitalised(counted(reasons, 5)))})
}

func wasWere(n int, noun string) string {
	if n == 1 {
		return "1 " + noun + " was"
	}
	return fmt.Sprintf("%s %ss were", number.Count(int64(n)), noun)
}

// badRuns are the runs of one cell that are in no figure, by their reason.
type badRuns struct {
	voids, fails     map[string]int
	voidIn, failedIn []int
}

func badOf(c Cell) badRuns {
	b := badRuns{voids: map[string]int{}, fails: map[string]int{}}
	for _, p := range c.Points {
		switch p.State {
		case stateVoid:
			b.voids[p.Bad]++
			b.voidIn = append(b.voidIn, p.Round)
		case stateFailed:
			b.fails[p.Bad]++
			b.failedIn = append(b.failedIn, p.Round)
		}
	}
	return b
}

// runs judges void, failed and stopped runs: levels without a good run and
// levels with fewer once per scenario, void ones per level.
func (f *finder) runs() {
	lost := func(i int) bool {
		return f.a.Cells[i].Runs == 0 && len(badOf(f.a.Cells[i]).fails) > 0
	}
	f.byScenario(lost, func(_ string, cells []int) { f.failedRuns(cells, true) })
	fewer := func(i int) bool { return !lost(i) && len(badOf(f.a.Cells[i]).fails) > 0 }
	f.byScenario(fewer, func(_ string, cells []int) { f.failedRuns(cells, false) })
	for i := range f.a.Cells {
		f.voidRuns(i)
	}
	f.stopped()
}

// failedRuns tells of runs that failed: all of these cells', or some of each.
func (f *finder) failedRuns(cells []int, all bool) {
	reasons, kinds := map[string]int{}, map[string]int64{}
	var in []int
	planned := 0
	for _, i := range cells {
		c := f.a.Cells[i]
		b := badOf(c)
		for text, n := range b.fails {
			reasons[text] += n
		}
		for kind, n := range c.FailedBy {
			kinds[kind] += n
		}
		in = append(in, b.failedIn...)
		planned += c.PlannedRuns
	}
	failed := fmt.Sprintf("%s of %d failed", number.Plural(int64(len(in)), "run"), planned)
	if all {
		f.add(Finding{ID: "level_failed", Severity: preflight.Critical, Scope: f.scopeOf(cells),
			Title:    fmt.Sprintf("No run succeeded %s.", f.at(cells)),
			Evidence: sentence(failed+", "+inRounds(in)+": "+counted(reasons, 3), failedKinds(kinds)),
			Advice:   "fix what the messages name; there is no figure here until then."})
		return
	}
	f.add(Finding{ID: "run_failed", Severity: preflight.Warning, Scope: f.scopeOf(cells),
		Title:    fmt.Sprintf("%s %s.", failed, f.at(cells)),
		Evidence: sentence(capitalised(inRounds(in))+": "+counted(reasons, 3), "The figures rest on the good runs"),
		Advice:   "repeat the campaign when the cause is found; a level with fewer runs has a wider interval."})
}

// voidRuns tells of a cell's void runs.
func (f *finder) voidRuns(i int) {
	c := f.a.Cells[i]
	b := badOf(c)
	if len(b.voids) == 0 {
		return
	}
	reasons := capitalised(inRounds(b.voidIn)) + ": " + counted(b.voids, 3)
	title := fmt.Sprintf("%s of %d %s void %s.", number.Plural(int64(len(b.voidIn)), "run"), c.PlannedRuns, isAre(len(b.voidIn)), f.at([]int{i}))
	evidence := sentence(reasons, "A void run is in no figure")
	if c.Runs+c.FailedRuns == 0 {
		title = fmt.Sprintf("%s is void: no run there can be used.", f.name(i))
		evidence = sentence(reasons, "Nothing is said about the server there")
	}
	f.add(Finding{ID: "run_void", Severity: preflight.Warning, Scope: f.scopeOf([]int{i}), Title: title, Evidence: evidence,
		Advice: "take the cause away and repeat these runs."})
}

func isAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// capitalised makes the first letter of a sentence of our own words large.
func capitalised(s string) string {
	if s == "" || s[0] < 'a' || s[0] > 'z' {
		return s
	}
	return string(s[0]-'a'+'A') + s[1:]
}

// failedKinds is "6 × connect" for levels without a figure.
func failedKinds(all map[string]int64) string {
	counts := map[string]int64{}
	for kind, n := range all {
		if n > 0 {
			counts[kind] = n
		}
	}
	var parts []string
	for _, kind := range byCount(counts) {
		parts = append(parts, fmt.Sprintf("%s%s× %s", number.Count(counts[kind]), number.ThinSpace, kind))
	}
	if len(parts) == 0 {
		return ""
	}
	return "Failed requests: " + strings.Join(parts, ", ")
}

func (f *finder) stopped() {
	f.byScenario(func(i int) bool { return len(f.s.cells[i].seen.stopped) > 0 }, func(_ string, cells []int) {
		exprs := map[string]int{}
		var in []int
		for _, i := range cells {
			for _, st := range f.s.cells[i].seen.stopped {
				exprs[st.expr]++
				in = append(in, st.round)
			}
		}
		f.add(Finding{ID: "stopped_early", Severity: preflight.Warning, Scope: f.scopeOf(cells),
			Title:    fmt.Sprintf("The load was stopped early %s.", f.at(cells)),
			Evidence: sentence(capitalised(inRounds(in))+": "+counted(exprs, 3), "From then on this level and higher ones of the same variant and page were given up"),
			Advice:   "stay below this level, or change stop_if."})
	})
}

// firstRound tells when the first round was slower than the others could
// explain. A round is slowest by chance in one of n cells, so the deficit must
// also stand out: 2 % and three standard deviations of the other rounds, in at
// least half of the scenario's cells.
func (f *finder) firstRound() {
	for _, s := range f.a.Scenarios {
		var slow, able []int
		worst := 0.0
		for _, i := range s.CellIndexes {
			deficit, stands, ok := firstDeficit(f.a.Cells[i])
			if !ok {
				continue
			}
			able = append(able, i)
			if stands {
				slow = append(slow, i)
				worst = max(worst, deficit)
			}
		}
		if len(slow) == 0 || 2*len(slow) < len(able) {
			continue
		}
		what := "load levels"
		if s.Kind == KindComparison {
			what = "variants"
		}
		of := fmt.Sprintf("for %d of %d %s of %s", len(slow), len(able), what, s.Name)
		if len(able) == 1 {
			of = "of " + s.Name
		}
		var parts []string
		for _, i := range slow {
			d, _, _ := firstDeficit(f.a.Cells[i])
			parts = append(parts, fmt.Sprintf("%s %s", f.name(i), number.Percent(-d)))
		}
		f.add(Finding{ID: "slow_first_round", Severity: preflight.Info, Scope: Scope{Scenario: s.Name}, Confidence: confidenceMedium,
			Title:    fmt.Sprintf("Round 1 was the slowest %s.", of),
			Evidence: sentence("Against the mean of the other rounds: "+strings.Join(parts, ", "), "It is kept in every figure"+f.withoutFirst(s)),
			Advice:   "warm up longer before the first round."})
	}
}

// firstDeficit is by which share round 1 was below the mean of the others.
func firstDeficit(c Cell) (deficit float64, stands, ok bool) {
	var first *float64
	var others []float64
	for _, p := range c.Points {
		if p.Bad != "" || p.Throughput == nil {
			continue
		}
		if p.Round == 1 {
			first = p.Throughput
		} else {
			others = append(others, *p.Throughput)
		}
	}
	s, described := stats.Describe(others)
	if first == nil || !described || s.SD == nil || s.N < 3 || s.Mean <= 0 {
		return 0, false, false
	}
	deficit = 1 - *first/s.Mean
	return deficit, *first < s.Min && deficit >= 0.02 && s.Mean-*first >= 3**s.SD, true
}

// withoutFirst says what the scenario's first comparison would be without
// round 1.
func (f *finder) withoutFirst(s Scenario) string {
	for _, c := range f.a.Comparisons {
		if c.Scenario != s.Name || !c.Primary || c.CI95 == nil {
			continue
		}
		a, b := f.cellLike(c, c.A), f.cellLike(c, c.B)
		if a == nil || b == nil {
			return ""
		}
		cut := func(k Cell) Cell {
			k.Points = slices.DeleteFunc(slices.Clone(k.Points), func(p Point) bool { return p.Round == 1 })
			return k
		}
		va, vb := blockValues(cut(*a), cut(*b), c.Metric)
		r, ok := stats.PairedRatio(va, vb)
		if !ok || r.CI95 == nil {
			return ""
		}
		without := Comparison{Ratio: &r.Value, CI95: r.CI95}
		return fmt.Sprintf("; without it the ratio of %s to %s would be %s", c.A, c.B, ratioWithInterval(without, ""))
	}
	return ""
}

func (f *finder) cellLike(c Comparison, variant string) *Cell {
	for i := range f.a.Cells {
		k := &f.a.Cells[i]
		if k.Scenario == c.Scenario && k.Variant == variant && k.Page == c.Page && k.Step == c.Step {
			return k
		}
	}
	return nil
}
