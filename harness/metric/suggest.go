package metric

import (
	"strings"

	"github.com/agnivade/levenshtein"
)

// Nearest returns the candidate that word was probably meant to be, "" when
// none is near: at most a third of its letters differ. The first of equally
// near ones wins.
func Nearest(word string, candidates []string) string {
	best, least := "", len(word)/3+1
	if least > 3 {
		least = 3
	}
	for _, c := range candidates {
		d := levenshtein.ComputeDistance(strings.ToLower(word), strings.ToLower(c))
		if d <= least && (best == "" || d < levenshtein.ComputeDistance(strings.ToLower(word), strings.ToLower(best))) {
			best = c
		}
	}
	return best
}
