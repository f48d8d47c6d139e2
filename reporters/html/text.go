package html

import (
	"fmt"
	"math"
	"sort"
	"strings"

	"abacus/harness/analysis"
	"abacus/harness/load"
	"abacus/harness/number"
	"abacus/harness/stats"
)

// fourDigits writes a single run's value, which carries no interval.
func fourDigits(v float64) string {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return number.Sig3(v)
	}
	exp := int(math.Floor(math.Log10(math.Abs(v)))) - 3
	return number.At(v, min(exp, 0))
}

// spreadText writes mean and sd of a spread in the unit that divisor makes,
// with the same last digit; sd is empty for a single run.
func spreadText(s *stats.Spread, divisor float64) (mean, sd string) {
	place := analysis.LastDigit(s, divisor)
	mean = number.At(s.Mean/divisor, place)
	if s.SD != nil {
		sd = number.At(*s.SD/divisor, place)
	}
	return mean, sd
}

// meanText is the mean of a spread as it reads everywhere.
func meanText(s *stats.Spread) string {
	mean, _ := spreadText(s, 1)
	return mean
}

// betweenText is the interval of a spread, with the mean's last digit.
func betweenText(s *stats.Spread) string {
	return number.BetweenAt(s.CI95[0], s.CI95[1], analysis.LastDigit(s, 1))
}

// shorten cuts text that would not fit a drawing; the tables hold it whole.
func shorten(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n-1]) + "…"
}

// failedText says for a cell without a good run what happened instead.
func failedText(c analysis.Cell) string {
	if c.VoidRuns > 0 && c.FailedRuns == 0 {
		return fmt.Sprintf("void: all %d runs", c.VoidRuns)
	}
	if c.VoidRuns+c.FailedRuns == 0 {
		return "not measured"
	}
	kinds := failuresByKind(c.FailedBy)
	if n := c.StoppedRuns(); n > 0 && n == c.FailedRuns {
		return fmt.Sprintf("stopped early: %d of %d runs", n, c.PlannedRuns)
	}
	if kinds == "" {
		return fmt.Sprintf("failed: %d of %d runs", c.FailedRuns, c.PlannedRuns)
	}
	return "failed: " + kinds
}

// failuresByKind lists counts of failures, in the order that all outputs share.
func failuresByKind(by map[string]int64) string {
	var parts []string
	seen := map[string]bool{}
	for _, k := range load.Kinds() {
		seen[string(k)] = true
		if n := by[string(k)]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s × %s", number.Count(n), k))
		}
	}
	var others []string
	for k, n := range by {
		if !seen[k] && n > 0 {
			others = append(others, k)
		}
	}
	sort.Strings(others)
	for _, k := range others {
		parts = append(parts, fmt.Sprintf("%s × %s", number.Count(by[k]), k))
	}
	return strings.Join(parts, ", ")
}

// plural writes a count with its noun.
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return number.Count(int64(n)) + " " + many
}

// small writes small counts as words, as sentences want them.
func small(n int, one, many string) string {
	words := []string{"no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"}
	if n >= len(words) {
		return plural(n, one, many)
	}
	if n == 1 {
		return "one " + one
	}
	return words[n] + " " + many
}
