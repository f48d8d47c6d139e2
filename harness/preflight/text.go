package preflight

import (
	"fmt"
	"strings"
	"unicode"

	"abacus/harness/number"
)

// quoted is a text of the server's in quotes, shortened and escaped.
func quoted(s string) string { return fmt.Sprintf("%q", shorten(s, 80)) }

// shorten cuts a text to most runes (the last one is then "…") and replaces
// what is not printable by a space.
func shorten(s string, most int) string {
	if limit := 4 * (most + 1); len(s) > limit {
		s = s[:limit]
	}
	r := []rune(strings.ToValidUTF8(s, "?"))
	if len(r) > most {
		r = append(r[:most-1], '…')
	}
	for i, c := range r {
		if !unicode.IsPrint(c) {
			r[i] = ' '
		}
	}
	return strings.TrimSpace(string(r))
}

// plural is "1 thing" or "n things".
func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return number.Count(int64(n)) + " " + thing + "s"
}
