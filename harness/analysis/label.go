package analysis

import (
	"fmt"
	"strings"

	"abacus/harness/number"
	"abacus/harness/record"
)

// label names a load level in plain words: "50 connections, no keep-alive".
func label(s record.Step) string {
	if s.KeepAlive {
		return connections(s) + ", keep-alive"
	}
	return connections(s) + ", no keep-alive"
}

// connections is the level without its keep-alive: "1 connection".
func connections(s record.Step) string {
	if s.Concurrency == 1 {
		return "1 connection"
	}
	return number.Count(int64(s.Concurrency)) + " connections"
}

// where places a level of a scenario in a sentence. ladder tells that the
// scenario has other levels, so that this one has to be named.
func where(s record.Step, page string, ladder bool) string {
	var b strings.Builder
	if ladder {
		b.WriteString(" at " + connections(s))
	}
	if !s.KeepAlive {
		b.WriteString(" with a new connection per request")
	}
	if page != "" {
		b.WriteString(" on " + page)
	}
	return b.String()
}

// subject names a cell in a finding: the variant when there are several, and
// the level.
func (a *Analysis) subject(i int) string {
	c := a.Cells[i]
	parts := []string{connections(c.Step)}
	if !c.Step.KeepAlive {
		parts = append(parts, "no keep-alive")
	}
	name := c.Scenario
	switch {
	case a.variantsOf(c.Scenario) > 1:
		name = c.Variant
	case len(a.Scenarios) == 1:
		name = "" // there is no other to tell it from
	}
	if c.Page != "" {
		name = strings.TrimSpace(name + " " + c.Page)
	}
	if name == "" {
		return strings.Join(parts, ", ")
	}
	return fmt.Sprintf("%s (%s)", name, strings.Join(parts, ", "))
}

func (a *Analysis) variantsOf(scenario string) int {
	seen := map[string]bool{}
	for _, c := range a.Cells {
		if c.Scenario == scenario {
			seen[c.Variant] = true
		}
	}
	return len(seen)
}

// rounds is "1 round" or "6 rounds".
func rounds(n int) string { return number.Plural(int64(n), "round") }

// list joins names for a sentence: "a", "a and b", "a, b and c".
func list(items []string) string {
	switch len(items) {
	case 0:
		return ""
	case 1:
		return items[0]
	}
	return strings.Join(items[:len(items)-1], ", ") + " and " + items[len(items)-1]
}

// short cuts a text from outside to n runes and takes line breaks out.
func short(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}
