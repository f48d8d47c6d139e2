package lab

import (
	"math"
	"strconv"
	"strings"
)

// statusNumber writes a figure the way that mod_status does: six significant
// digits, no zeros at the end, and no zero before the point (".3"). Large
// figures keep their zeros ("5384190") where C's %g would use an exponent,
// unless more than four would have to be appended.
func statusNumber(v float64) string { return statusDigits(v, 6) }

// statusDigits is statusNumber with another number of significant digits.
func statusDigits(v float64, significant int) string {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return "0"
	}
	// ±d.ddddde±xx: the digits and the place of the point.
	text := strconv.FormatFloat(math.Abs(v), 'e', significant-1, 64)
	mantissa, exponent, _ := strings.Cut(text, "e")
	exp, _ := strconv.Atoi(exponent)
	digits := strings.TrimRight(strings.Replace(mantissa, ".", "", 1), "0")
	point := exp + 1 // digits before the point
	sign := ""
	if v < 0 {
		sign = "-"
	}
	switch {
	case point-len(digits) > 4 || point < -3:
		return sign + digits[:1] + "." + digits[1:] + "e" + exponentText(point-1)
	case point <= 0:
		return sign + "." + strings.Repeat("0", -point) + digits
	case point >= len(digits):
		return sign + digits + strings.Repeat("0", point-len(digits))
	}
	return sign + digits[:point] + "." + digits[point:]
}

// exponentText writes an exponent with its sign and no more digits than it
// needs.
func exponentText(e int) string {
	if e < 0 {
		return strconv.Itoa(e)
	}
	return "+" + strconv.Itoa(e)
}
