package observe

import "abacus/harness/oneline"

// Bounds of texts that are kept, in runes: an error's, and a server's words in
// quotes.
const (
	maxError   = 200
	mostQuoted = 60
)

// ErrorText is the text that a sample keeps of an error: at most 200 runes,
// printable, never empty.
func ErrorText(err error) string {
	if text := oneline.Shorten(err.Error(), maxError); text != "" {
		return text
	}
	return "failed without a reason"
}
