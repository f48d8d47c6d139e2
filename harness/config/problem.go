package config

import (
	"fmt"
	"strings"

	"abacus/harness/oneline"
)

// Problem is one thing that is wrong with the configuration.
type Problem struct {
	// File is where it stands: a path, or the flag or variable that said it.
	File string
	// Line counts from 1; 0 when it is not of a file.
	Line int
	// Key is the path of the key, as in steps[0].concurrency; empty when the
	// whole file is meant.
	Key string
	// Value is what was given, HasValue tells that it is worth showing.
	Value    string
	HasValue bool
	// Text says what is wrong and what is allowed.
	Text string
	// Suggestion is what was probably meant, "" when nothing is near.
	Suggestion string
}

// String is one line: file:line: key: value "…": what is allowed.
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d", p.Line)
	}
	b.WriteString(": ")
	if p.Key != "" {
		b.WriteString(p.Key + ": ")
	}
	if p.HasValue {
		fmt.Fprintf(&b, "value %s: ", oneline.Quote(p.Value, mostValue))
	}
	b.WriteString(p.Text)
	if p.Suggestion != "" {
		fmt.Fprintf(&b, "; did you mean %q?", p.Suggestion)
	}
	return b.String()
}

// mostValue bounds a value that is shown, in runes.
const mostValue = 80

// Problems are all that was found, in the order of the files.
type Problems []Problem

// mostShown bounds what Error prints: nobody reads on.
const mostShown = 50

// Error is one line for one problem, else a heading and a line for each, up to
// fifty.
func (p Problems) Error() string {
	if len(p) == 1 {
		return p[0].String()
	}
	lines := []string{fmt.Sprintf("%d problems in the configuration:", len(p))}
	for i, one := range p {
		if i == mostShown {
			lines = append(lines, fmt.Sprintf("  and %d more", len(p)-i))
			break
		}
		lines = append(lines, "  "+one.String())
	}
	return strings.Join(lines, "\n")
}
