package metric

import (
	"strings"

	"github.com/agnivade/levenshtein"
)

// Nearest returns the candidate that word was probably meant to be, "" when
// none is near: at most a third of its letters differ (one in a short word).
// Case does not count, two letters in the wrong order count less than a wrong
// one, and the first of equally near candidates wins.
func Nearest(word string, candidates []string) string {
	const scale = 2 // so that swapped letters are half a step
	best, least := "", scale*min(max(len(word)/3, 1), 3)+1
	for _, c := range candidates {
		a, b := strings.ToLower(word), strings.ToLower(c)
		d := scale * levenshtein.ComputeDistance(a, b)
		if swapped(a, b) {
			d = scale / 2
		}
		if d < least {
			best, least = c, d
		}
	}
	return best
}

// swapped tells whether a becomes b when two neighbouring letters change
// places.
func swapped(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := 0; i+1 < len(a); i++ {
		if a[i] != b[i] {
			return a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
		}
	}
	return false
}
