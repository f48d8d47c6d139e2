package analysis

import (
	"fmt"
	"slices"
	"strings"

	"abacus/harness/number"
	"abacus/harness/preflight"
)

// The confidence of a finding.
const (
	confidenceHigh   = "high"   // counted or read off
	confidenceMedium = "medium" // follows from what was seen, other causes are possible
	confidenceLow    = "low"    // a guess from few samples
)

// findingOrder lists the ids in the order in which findings of one severity
// stand. Carried-over checks ("check:…") come after all of these.
func findingOrder() []string {
	return []string{
		"record_damaged", "record_incomplete", "runs_missing", "level_failed", "expect_unmet", "bodies_differ",
		"failures_connect", "failures_receive", "failures_length", "failures_timeout", "failures_exception", "non_2xx",
		"run_failed", "run_void", "stopped_early", "runs_skipped", "counts_contradict", "client_idle", "client_limit",
		"connects_late", "connections_closed", "idle_workers", "server_restarted", "status_late", "swap_moved", "cpu_full", "cpu_stolen",
		"baseline_not_quiet", "settle_timeout", "hook_failed", "resumed_with_differences", "warmup_not_steady",
		"slow_first_round", "few_status_samples", "status_absent", "status_errors", "shared_machine", "engine_notes",
	}
}

// finder gathers findings from one analysis.
type finder struct {
	in  Input
	a   *Analysis
	s   *state
	out []Finding
}

// findings judges everything that was gathered: one finding per kind and
// scenario or level, never one per run; the severest first, then in a fixed
// order, then in the order of scenarios.
func findings(in Input, a *Analysis, s *state) []Finding {
	f := &finder{in: in, a: a, s: s, out: []Finding{}}
	f.record()
	f.failures()
	f.answers()
	f.runs()
	f.client()
	f.connections()
	f.status()
	f.workers()
	f.machine()
	f.preparation()
	f.firstRound()
	f.checks()
	order := map[string]int{}
	for i, id := range findingOrder() {
		order[id] = i + 1
	}
	place := func(x Finding) int {
		if n := order[x.ID]; n > 0 {
			return n
		}
		return len(order) + 1
	}
	slices.SortStableFunc(f.out, func(x, y Finding) int {
		if d := severityRank(y.Severity) - severityRank(x.Severity); d != 0 {
			return d
		}
		return place(x) - place(y)
	})
	return f.out
}

func severityRank(s preflight.Severity) int {
	switch s {
	case preflight.Critical:
		return 3
	case preflight.Warning:
		return 2
	case preflight.Info:
		return 1
	}
	return 0
}

func (f *finder) add(x Finding) {
	if x.Confidence == "" {
		x.Confidence = confidenceHigh
	}
	x.Advice = capitalised(x.Advice)
	f.out = append(f.out, x)
}

// scopeOf narrows a finding as far as the cells agree.
func (f *finder) scopeOf(cells []int) Scope {
	if len(cells) == 0 {
		return Scope{}
	}
	first := f.a.Cells[cells[0]]
	scope := Scope{Scenario: first.Scenario, Variant: first.Variant, Page: first.Page, Step: &first.Step}
	for _, i := range cells[1:] {
		c := f.a.Cells[i]
		if c.Scenario != scope.Scenario {
			return Scope{}
		}
		if c.Variant != scope.Variant {
			scope.Variant = ""
		}
		if c.Page != scope.Page {
			scope.Page = ""
		}
		if scope.Step != nil && c.Step != *scope.Step {
			scope.Step = nil
		}
	}
	return scope
}

// at names cells in a sentence: "at 200 connections", or the scenario when
// there are many.
func (f *finder) at(cells []int) string {
	if len(cells) == 0 {
		return ""
	}
	c := f.a.Cells[cells[0]]
	variants, levels := f.a.variantsOf(c.Scenario) > 1, countSteps(f.a.Cells, c.Scenario) > 1
	switch {
	case len(cells) > 3 && len(f.a.Scenarios) == 1:
		return fmt.Sprintf("at %d load levels", len(cells))
	case len(cells) > 3:
		return fmt.Sprintf("at %d load levels of %s", len(cells), c.Scenario)
	case len(cells) > 1:
		var names []string
		for _, i := range cells {
			names = append(names, f.name(i))
		}
		if variants {
			return "with " + list(names)
		}
		return "at " + list(names)
	case variants && levels:
		return fmt.Sprintf("with %s at %s", c.Variant, f.level(c))
	case variants:
		return "with " + c.Variant
	}
	return "at " + f.level(c)
}

// name tells a cell from the others of its scenario.
func (f *finder) name(i int) string {
	c := f.a.Cells[i]
	variants, levels := f.a.variantsOf(c.Scenario) > 1, countSteps(f.a.Cells, c.Scenario) > 1
	name := f.level(c)
	switch {
	case variants && levels:
		name = c.Variant + " at " + name
	case variants:
		name = c.Variant
	}
	if c.Page != "" {
		name += " on " + c.Page
	}
	return name
}

func (f *finder) level(c Cell) string {
	if c.Step.KeepAlive {
		return connections(c.Step)
	}
	return connections(c.Step) + " without keep-alive"
}

// byScenario calls do with the cells of each scenario for which is holds.
func (f *finder) byScenario(is func(i int) bool, do func(scenario string, cells []int)) {
	for _, sc := range f.a.Scenarios {
		var cells []int
		for i, c := range f.a.Cells {
			if c.Scenario == sc.Name && is(i) {
				cells = append(cells, i)
			}
		}
		if len(cells) > 0 {
			do(sc.Name, cells)
		}
	}
}

// inRounds is "in round 3", "in rounds 1 and 4" or "in 6 rounds".
func inRounds(all []int) string {
	seen := slices.Compact(slices.Sorted(slices.Values(all)))
	switch {
	case len(seen) == 0:
		return ""
	case len(seen) == 1:
		return fmt.Sprintf("in round %d", seen[0])
	case len(seen) <= 3:
		var s []string
		for _, r := range seen {
			s = append(s, fmt.Sprint(r))
		}
		return "in rounds " + list(s)
	}
	return "in " + rounds(len(seen))
}

// counted lists texts with their counts, the most frequent first: "reset by
// peer (38), EOF (2)"; without counts when each came once. Texts from outside
// are cut.
func counted[N interface{ ~int | ~int64 }](counts map[string]N, most int) string {
	var parts []string
	order := byCount(counts)
	once := len(order) > 0 && counts[order[0]] <= 1
	for k, text := range order {
		if k == most {
			parts = append(parts, fmt.Sprintf("%d more kinds", len(counts)-most))
			break
		}
		part := short(text, 160)
		if !once {
			part += fmt.Sprintf(" (%s)", number.Count(int64(counts[text])))
		}
		parts = append(parts, part)
	}
	for _, p := range parts {
		if strings.Contains(p, ", ") {
			return strings.Join(parts, "; ")
		}
	}
	return strings.Join(parts, ", ")
}

func sentence(parts ...string) string {
	var out []string
	for _, p := range parts {
		if p = strings.TrimSpace(p); p == "" {
			continue
		}
		if !strings.HasSuffix(p, ".") && !strings.HasSuffix(p, "…") {
			p += "."
		}
		out = append(out, p)
	}
	return strings.Join(out, " ")
}
