package observe

import (
	"fmt"
	"strings"
	"unicode"
)

// maxError bounds the error text that is kept with a sample, in runes.
const maxError = 200

// ErrorText is the text that a sample keeps of an error: at most 200 runes,
// printable, never empty.
func ErrorText(err error) string {
	if text := shorten(err.Error(), maxError); text != "" {
		return text
	}
	return "failed without a reason"
}

// quoted is a text of the server's in quotes, shortened, with everything
// escaped that a terminal would act on.
func quoted(s string) string { return fmt.Sprintf("%q", shorten(s, 60)) }

// shorten cuts a text to most runes (the last one is then "…") and replaces
// what is not printable by a space.
func shorten(s string, most int) string {
	// Cut by bytes first, so that a huge text is not decoded whole.
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
