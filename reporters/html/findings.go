package html

import (
	"fmt"
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
	ID string
	// Class is c, w or i.
	Class, Word, Title, Evidence, Advice string
	// Links lead to the sections that show it.
	LinkID, LinkText string
	Confidence       string
}

// newSaw lists the findings; present are the sections that a link may lead to.
func newSaw(a *analysis.Analysis, present map[string]bool) saw {
	counts := map[preflight.Severity]int{}
	s := saw{}
	for i, f := range a.Findings {
		counts[f.Severity]++
		x := newFinding(f, a, present)
		x.ID = findingID(i)
		s.Findings = append(s.Findings, x)
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

func findingID(i int) string { return fmt.Sprintf("finding%d", i+1) }

func newFinding(f analysis.Finding, a *analysis.Analysis, present map[string]bool) finding {
	out := finding{Class: "i", Word: "info", Title: strings.TrimSuffix(f.Title, "."), Evidence: f.Evidence, Advice: f.Advice}
	switch f.Severity {
	case preflight.Critical:
		out.Class, out.Word = "c", "critical"
	case preflight.Warning:
		out.Class, out.Word = "w", "warning"
	}
	if f.Confidence == "low" {
		out.Confidence = "low confidence"
	}
	for i, sc := range a.Scenarios {
		if sc.Name == f.Scope.Scenario && f.Scope.Scenario != "" {
			if present[sectionID(i)] {
				out.LinkID, out.LinkText = sectionID(i), "See "+shortTitle(sc)
			}
			for k, t := range a.Timelines {
				if f.AtNS != nil && t.Scenario == sc.Name && present[timeID(k)] {
					out.LinkID, out.LinkText = timeID(k), "See the timeline"
				}
			}
		}
	}
	return out
}
