package config

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"abacus/harness/metric"
	"abacus/harness/plan"
	"abacus/scenarios"
)

// The ranges of numbers.
const (
	mostName        = 64
	mostRepeats     = 1000
	mostConcurrency = 10_000
	mostRequests    = 1_000_000_000
	mostPath        = 4096
)

// broken tells whether the value at path, one around it or one in it could not
// be read: what seems wrong with it then is only what follows.
func (l *loader) broken(path string) bool {
	return slices.ContainsFunc(l.failed, func(f string) bool { return holds(f, path) || holds(path, f) })
}

// holds tells whether the value at inner is the one at outer or inside it.
func holds(outer, inner string) bool {
	rest, ok := strings.CutPrefix(inner, outer)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[' || rest[0] == '{' || outer == "")
}

// bad reports what is wrong with the value at path.
func (l *loader) bad(path, suggestion, format string, args ...any) {
	if l.broken(path) {
		return
	}
	rest, pos, _ := l.nearest(path)
	p := Problem{File: pos.file, Line: pos.line, Key: strings.TrimPrefix(pos.key+rest, "."), Text: fmt.Sprintf(format, args...), Suggestion: suggestion}
	if rest == "" && pos.scalar {
		p.Value, p.HasValue = pos.value, true
		if isSecretPath(path) {
			p.Value = redacted
		}
	}
	if p.File == "" {
		p.File = "configuration"
	}
	if !slices.Contains(l.problems, p) {
		l.problems = append(l.problems, p)
	}
}

// ruleName is what names a folder or file: campaign and scenario.
var ruleName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]*$`)

// variantName may also hold what names files and hosts.
var variantName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// validate checks the values of a campaign that was read without a problem.
func (l *loader) validate() {
	c := &l.campaign
	l.checkName("campaign", c.Name)
	l.checkSettings("", &c.Settings)
	if c.URL != "" && c.Lab != nil && c.Lab.Kind != plan.LabExternal {
		l.bad("url", "", "needs lab: external, not %s; leave lab: out or the url", c.Lab.Kind)
	}
	l.checkText("results", c.Results)
	for i, f := range c.Report.Formats {
		path := fmt.Sprintf("report.formats[%d]", i)
		l.checkChoice(path, f, formatNames(), laterFormats())
		if slices.Contains(c.Report.Formats[:i], f) {
			l.bad(path, "", "stands twice")
		}
	}
	names := map[string]string{}
	for i := range c.Scenarios {
		s := &c.Scenarios[i]
		path := fmt.Sprintf("scenarios[%d]", i)
		l.checkScenario(path, s)
		if first, twice := names[s.Name]; twice && s.Name != "" {
			l.bad(path+".scenario", "", "the name %s is taken by %s; names of scenarios must differ", s.Name, first)
		}
		names[s.Name] = l.place(path)
	}
	if len(l.problems) == 0 {
		l.checkPlan()
	}
}

// place says where something stands, for "first at".
func (l *loader) place(path string) string {
	_, pos, _ := l.nearest(path)
	return pos.String()
}

// checkPlan expands the campaign, which finds what only the whole shows.
func (l *loader) checkPlan() {
	p, err := plan.Expand(l.campaign, *l.campaign.Seed)
	if err != nil {
		l.bad("scenarios", "", "%v", err)
		return
	}
	if !l.campaign.Quick && p.Rounds < 6 {
		l.warnings = append(l.warnings, fmt.Sprintf("repeats is %d: fewer than six rounds give figures but no verdict", p.Rounds))
	}
}

func (l *loader) checkName(path, name string) {
	switch {
	case len(name) > mostName:
		l.bad(path, "", "is longer than %d characters", mostName)
	case !ruleName.MatchString(name):
		suggestion := strings.Trim(regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(strings.ToLower(name), "-"), "-")
		l.bad(path, suggestion, "must be a name of a-z, 0-9 and -, beginning with a letter or digit")
	}
}

func (l *loader) checkScenario(path string, s *scenarios.Scenario) {
	l.checkName(path+".scenario", s.Name)
	l.checkSettings(path, &s.Settings)
	if s.Primary != "" {
		if _, ok := metric.Lookup(s.Primary); !ok {
			l.bad(path+".primary", nearMetric(s.Primary), "unknown metric; a verdict may rest on throughput, latency, p50, p95, p99, …")
		} else if s.Primary == "service_p99" || s.Primary == "send_lag" || s.Primary == "send_lag_p99" || s.Primary == "send_lag_p99_ns" {
			l.bad(path+".primary", "", "needs load at a fixed rate, which is not in this version yet")
		}
	}
	if _, given := l.at[path+".margin"]; given && (s.Margin <= 0 || s.Margin > 0.5) {
		l.bad(path+".margin", "", "must be a share above 0 and up to 0.5; 0.02 is 2 %%")
	}
	for i, p := range s.Pages {
		at := fmt.Sprintf("%s.pages[%d]", path, i)
		l.checkPath(at, p)
		if slices.Contains(s.Pages[:i], p) {
			l.bad(at, "", "stands twice")
		}
	}
	l.checkSteps(path, s)
	l.checkVariants(path, s)
	if !l.broken(path + ".variants") {
		l.checkTargets(path, s)
	}
}

func nearMetric(name string) string {
	var all []string
	for _, d := range metric.Table() {
		all = append(append(all, d.ID), d.Aliases...)
	}
	return metric.Nearest(name, all)
}

func (l *loader) checkSteps(path string, s *scenarios.Scenario) {
	if len(s.Steps) == 0 {
		l.bad(path+".steps", "", "is missing: a scenario needs a load level, as in steps: {concurrency: 10, requests: 1000}")
		return
	}
	seen := map[scenarios.Step]bool{}
	for i, step := range s.Steps {
		at := fmt.Sprintf("%s.steps[%d]", path, i)
		_, hasC := l.at[at+".concurrency"]
		_, hasR := l.at[at+".requests"]
		_, hasD := l.at[at+".duration"]
		switch {
		case !hasC && step.Concurrency == 0:
			l.bad(at, "", "needs a concurrency: the number of connections at once, 1 to %d", mostConcurrency)
		case step.Concurrency < 1 || step.Concurrency > mostConcurrency:
			l.bad(at+".concurrency", "", "must be 1 to %d connections", mostConcurrency)
		}
		if hasR && (step.Requests < 1 || step.Requests > mostRequests) {
			l.bad(at+".requests", "", "must be 1 to %d", mostRequests)
		} else if hasR && step.Concurrency > 0 && step.Requests < int64(step.Concurrency) {
			l.bad(at+".requests", "", "must be at least the concurrency, which is %d", step.Concurrency)
		}
		if hasD {
			l.checkDuration(at+".duration", step.Duration, 10*time.Millisecond, 24*time.Hour)
		}
		if !hasR && !hasD && step.Requests == 0 && step.Duration == 0 {
			l.bad(at, "", "needs requests or a duration; with both, whichever comes first ends the run")
		}
		if seen[step] {
			l.bad(at, "", "the same load level stands twice")
		}
		seen[step] = true
	}
}

func (l *loader) checkVariants(path string, s *scenarios.Scenario) {
	names := map[string]int{}
	for i := range s.Variants {
		v := &s.Variants[i]
		at := fmt.Sprintf("%s.variants[%d]", path, i)
		switch {
		case v.Name == "":
			l.bad(at+".name", "", "is missing: every variant needs a name")
		case len(v.Name) > mostName:
			l.bad(at+".name", "", "is longer than %d characters", mostName)
		case !variantName.MatchString(v.Name):
			l.bad(at+".name", strings.Trim(unsafeRunes.ReplaceAllString(v.Name, "-"), "-._"), "must be a name of letters, digits, dot, _ and -, beginning with a letter or digit")
		}
		if first, twice := names[strings.ToLower(v.Name)]; twice && v.Name != "" {
			l.bad(at+".name", "", "the name is taken by variant %d; names must differ, not only in upper and lower case", first+1)
		} else {
			names[strings.ToLower(v.Name)] = i
		}
		if v.Path != "" {
			l.checkPath(at+".path", v.Path)
			if v.URL != "" {
				l.bad(at+".path", "", "stands beside a url; a variant has one of them")
			}
		}
		for j, lab := range v.Labs {
			l.checkChoice(fmt.Sprintf("%s.labs[%d]", at, j), lab, slices.Concat(labKinds(), laterLabs()), nil)
		}
		if v.Repeats != 0 {
			l.bad(at+".repeats", "", "cannot differ between the variants of a scenario, which are compared round by round; put it on the scenario")
		}
		if v.Seed != nil {
			l.bad(at+".seed", "", "draws the order of all variants; put it on the scenario or campaign")
		}
		for j, f := range v.Source {
			l.checkFile(fmt.Sprintf("%s.source[%d]", at, j), f)
		}
		l.checkSettings(at, &v.Settings)
	}
}

// checkTargets finds variants that have nothing to load on their lab, and a
// baseline that does not run.
func (l *loader) checkTargets(path string, s *scenarios.Scenario) {
	c := l.campaign
	kept, left := plan.Variants(c, *s)
	if len(kept) == 0 {
		lab := plan.LabOf(c, *s, left[0])
		l.bad(path+".variants", "", "cannot run on lab %s: its variants exist only on %s", lab, list(labsOf(left)))
		return
	}
	for _, v := range left {
		l.warnings = append(l.warnings, fmt.Sprintf("scenario %s: variant %s is left out, it exists only on %s", s.Name, v.Name, list(v.Labs)))
	}
	var running []string
	unnamed := func(v scenarios.Variant) bool { return v.Name == "" }
	if slices.ContainsFunc(kept, unnamed) || slices.ContainsFunc(left, unnamed) {
		return
	}
	for _, v := range kept {
		at := path
		for i := range s.Variants {
			if s.Variants[i].Name == v.Name {
				at = fmt.Sprintf("%s.variants[%d]", path, i)
			}
		}
		l.checkTarget(at, s, v)
		engines := plan.EnginesOf(c, *s, v)
		for _, e := range engines {
			if len(engines) > 1 {
				running = append(running, v.Name+"/"+e)
			}
		}
		if !slices.Contains(running, v.Name) {
			running = append(running, v.Name)
		}
	}
	if s.Baseline != "" && !slices.Contains(running, s.Baseline) {
		name, _, _ := strings.Cut(s.Baseline, "/")
		if slices.Contains(running, name) { // its engine was changed by a flag
			l.warnings = append(l.warnings, fmt.Sprintf("scenario %s: baseline %s does not run; %s is taken", s.Name, s.Baseline, name))
			s.Baseline = name
			return
		}
		if slices.ContainsFunc(left, func(v scenarios.Variant) bool { return v.Name == name }) {
			l.warnings = append(l.warnings, fmt.Sprintf("scenario %s: baseline %s does not run on this lab; %s is taken", s.Name, s.Baseline, running[0]))
			s.Baseline = running[0]
			return
		}
		l.bad(path+".baseline", metric.Nearest(s.Baseline, running), "is none of the variants %s", list(running))
	}
}

func (l *loader) checkTarget(at string, s *scenarios.Scenario, v scenarios.Variant) {
	lab := plan.LabOf(l.campaign, *s, v)
	hasPath := v.Path != "" || len(s.Pages) > 0
	target := scenarios.Overlay(scenarios.Overlay(l.campaign.Settings, s.Settings), v.Settings).URL
	switch {
	case lab == plan.LabExternal && target == "":
		l.bad(at, "", "lab external needs a url: on the variant, the scenario or the campaign, or the flag --url")
	case lab != plan.LabExternal && v.URL != "":
		l.bad(at+".url", "", "cannot be loaded on lab %s; leave one of them out", lab)
	case lab != plan.LabExternal && !hasPath:
		l.bad(at, "", "needs a path: (or the scenario pages:) to be asked for on lab %s, or a url:", lab)
	}
}

func labsOf(variants []scenarios.Variant) []string {
	var out []string
	for _, v := range variants {
		for _, lab := range v.Labs {
			if !slices.Contains(out, lab) {
				out = append(out, lab)
			}
		}
	}
	return out
}
