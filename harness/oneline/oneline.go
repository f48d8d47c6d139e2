// Package oneline makes texts that come from elsewhere (a server, a file, an
// error) fit to be shown on one line: bounded, and without anything that a
// terminal would act on.
package oneline

import (
	"fmt"
	"strings"
	"unicode"
)

// Shorten cuts a text to most runes, the last of which is then "…", replaces
// what is not printable by a space, and takes spaces off both ends.
func Shorten(s string, most int) string {
	r := cut(s, most)
	for i, c := range r {
		if !unicode.IsPrint(c) {
			r[i] = ' '
		}
	}
	return strings.TrimSpace(string(r))
}

// Quote puts a text into quotes, with everything escaped that is not
// printable; it is cut to most runes as Shorten does.
func Quote(s string, most int) string { return fmt.Sprintf("%q", string(cut(s, most))) }

// cut returns at most most runes (at least one).
func cut(s string, most int) []rune {
	// By bytes first, so that a huge text is not decoded whole.
	if limit := 4 * (most + 1); len(s) > limit {
		s = s[:limit]
	}
	r := []rune(strings.ToValidUTF8(s, "?"))
	if len(r) > most {
		r = append(r[:most-1], '…')
	}
	return r
}
