// Package number writes numbers for people: how many digits an interval
// allows, thousands, units, p-values. Page, terminal and sentences use the
// same functions, so that one figure never reads in two ways.
//
// The rules: the last digit shown is the largest power of ten that is at most
// a third of the interval's half-width; without an interval three significant
// digits; a standard deviation or lower end that is not 0 never reads as 0;
// counts exact. U+202F stands before % and ×, U+00A0 before other units, U+2212
// is the minus. Absent, or not finite, is Absent and never 0.
package number

// Absent is what stands where there is no number.
const Absent = "–"

// The spaces and signs that the rules ask for.
const (
	ThinSpace = "\u202f" // before % and ×
	HardSpace = "\u00a0" // before other units
	Minus     = "\u2212"
)
