package html

import (
	"strings"

	"abacus/harness/analysis"
	"abacus/harness/preflight"
)

// saw is the section of findings.
type saw struct {
	Lead     string
	Findings []finding
}

type finding struct {
	// Class is c, w or i.
	Class, Word, Title, Evidence, Advice string
	// Links lead to the sections that show it.
	LinkID, LinkText string
	Confidence       string
}

func newSaw(a *analysis.Analysis) saw {
	counts := map[preflight.Severity]int{}
	s := saw{}
	for _, f := range a.Findings {
		counts[f.Severity]++
		s.Findings = append(s.Findings, newFinding(f, a))
	}
	sev := []string{
		small(counts[preflight.Critical], "critical finding", "critical findings"),
		small(counts[preflight.Warning], "warning", "warnings"),
		small(len(a.Findings)-counts[preflight.Critical]-counts[preflight.Warning], "note", "notes"),
	}
	if counts[preflight.Critical] == 0 {
		sev[0] = "no critical finding"
	}
	text := strings.Join(sev, ", ") + "."
	s.Lead = strings.ToUpper(text[:1]) + text[1:]
	if len(a.Findings) == 0 {
		s.Lead = "Nothing stood out: no finding of any kind."
	}
	return s
}

func newFinding(f analysis.Finding, a *analysis.Analysis) finding {
	out := finding{Class: "i", Word: "info", Title: strings.TrimSuffix(f.Title, "."), Evidence: f.Evidence, Advice: f.Advice}
	switch f.Severity {
	case preflight.Critical:
		out.Class, out.Word = "c", "critical"
	case preflight.Warning:
		out.Class, out.Word = "w", "warning"
	}
	if f.Confidence == "low" || f.Confidence == "medium" {
		out.Confidence = f.Confidence + " confidence"
	}
	for i, sc := range a.Scenarios {
		if sc.Name == f.Scope.Scenario && f.Scope.Scenario != "" {
			out.LinkID, out.LinkText = sectionID(i), "See "+shortTitle(sc)
			for k, t := range a.Timelines {
				if f.AtNS != nil && t.Scenario == sc.Name {
					out.LinkID, out.LinkText = timeID(k), "See the timeline"
				}
			}
		}
	}
	return out
}
