package html

import (
	"abacus/harness/analysis"
)

// look is how one variant is drawn: hue and shape together, so that colour is
// never alone.
type look struct {
	// Color is a CSS colour, Shape a dot's shape, Class and Key the CSS
	// classes of the marker in a table.
	Color, Shape, Class, Key string
}

var (
	lookBaseline = look{"var(--z)", "diamond", "z", "kc"}
	lookFirst    = look{"var(--a)", "circle", "a", "ka"}
	lookSecond   = look{"var(--b)", "square", "tl", "kb"}
	lookOther    = look{"var(--mut)", "triangle", "o", "kt"}
)

// looksOf gives each variant of a scenario its look, in the order of the
// tables: neutral for the baseline, then the two hues. Further ones share the
// neutral triangle: they are told apart by their labels.
func looksOf(sc analysis.Scenario, cells []analysis.Cell) map[string]look {
	looks := map[string]look{}
	free := []look{lookFirst, lookSecond}
	for _, i := range sc.CellIndexes {
		c := cells[i]
		if _, ok := looks[c.Variant]; ok {
			continue
		}
		switch {
		case c.Variant == sc.Baseline && variants(sc, cells) > 1:
			looks[c.Variant] = lookBaseline
		case len(free) > 0:
			looks[c.Variant], free = free[0], free[1:]
		default:
			looks[c.Variant] = lookOther
		}
	}
	return looks
}

// variants counts the different variants of a scenario.
func variants(sc analysis.Scenario, cells []analysis.Cell) int {
	seen := map[string]bool{}
	for _, i := range sc.CellIndexes {
		seen[cells[i].Variant] = true
	}
	return len(seen)
}

// ramp is the colour of load level i of n, lightest for the least load.
func ramp(i, n int) string {
	k := 5
	if n > 1 {
		k = 1 + (i*4+(n-1)/2)/(n-1)
	}
	return [...]string{"var(--r1)", "var(--r2)", "var(--r3)", "var(--r4)", "var(--r5)"}[k-1]
}
