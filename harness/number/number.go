package number

import (
	"math"
	"strconv"
	"strings"
)

// mostDigits bounds how many significant digits any number is given, however
// narrow its interval: beyond them no measurement of ours means anything.
const mostDigits = 9

// Count is a whole number with a comma between thousands: 1,960.
func Count(n int64) string {
	s := strconv.FormatInt(n, 10)
	if digits, neg := strings.CutPrefix(s, "-"); neg {
		return Minus + thousands(digits)
	}
	return thousands(s)
}

// Place is the exponent of the last digit that an interval of this half-width
// allows: 131 gives 1 (tens), 0.056 gives −2 (hundredths). ok is false for a
// half-width that is 0, negative or not finite.
func Place(half float64) (exp int, ok bool) {
	if !finite(half) || half <= 0 {
		return 0, false
	}
	return magnitude(half / 3), true
}

// PlaceFor is Place, bounded by what value can carry: at least one and at most
// nine of its significant digits are kept. Without a usable half-width it is
// the place of the third significant digit.
func PlaceFor(value, half float64) int {
	if !finite(value) {
		return 0
	}
	exp, ok := Place(half)
	if value == 0 {
		if !ok {
			return 0
		}
		return exp
	}
	top := magnitude(math.Abs(value))
	if !ok {
		return sigPlace(value, 3)
	}
	return max(min(exp, top), top-mostDigits+1)
}

// PlaceShared is PlaceFor for a value that stands beside its standard
// deviation: the last digit that both share is fine enough for an sd that is
// not 0 to keep one significant digit, however wide the interval is. An sd
// that is 0, negative or not finite asks for nothing. All three are in one unit.
func PlaceShared(value, half, sd float64) int {
	exp := PlaceFor(value, half)
	if !finite(value) || !finite(sd) || sd <= 0 {
		return exp
	}
	if fine := sigPlace(sd, 1); fine < exp {
		exp = fine
	}
	if value != 0 {
		exp = max(exp, magnitude(math.Abs(value))-mostDigits+1)
	}
	return exp
}

// At writes v with its last digit at the place exp: At(1963, 1) is 1,960 and
// At(1.8749, −2) is 1.87.
func At(v float64, exp int) string {
	if !finite(v) {
		return Absent
	}
	if math.Abs(v) >= 1e18 {
		return scientific(v)
	}
	var s string
	if exp > 0 {
		unit := math.Pow(10, float64(exp))
		s = strconv.FormatFloat(math.Round(v/unit)*unit, 'f', 0, 64)
	} else {
		s = strconv.FormatFloat(v, 'f', min(-exp, 20), 64)
	}
	neg := strings.HasPrefix(s, "-")
	s = strings.TrimPrefix(s, "-")
	whole, frac, _ := strings.Cut(s, ".")
	out := thousands(whole)
	if frac != "" {
		out += "." + frac
	}
	// A value that rounds to nothing has no sign.
	if neg && strings.Trim(s, "0.") != "" {
		out = Minus + out
	}
	return out
}

// WithInterval writes a value with the digits that the half-width of its
// interval allows; a half-width that is 0 or not finite gives Sig3.
func WithInterval(value, half float64) string {
	if !finite(value) {
		return Absent
	}
	return At(value, PlaceFor(value, half))
}

// Half is half the width of an interval, NaN for nil.
func Half(ci *[2]float64) float64 {
	if ci == nil {
		return math.NaN()
	}
	return (ci[1] - ci[0]) / 2
}

// BetweenAt writes an interval for a sentence, "1.82 to 1.93", with the last
// digit at the place exp, as the value that the interval belongs to has it. A
// lower end that is not 0 keeps a digit: it never reads as 0.
func BetweenAt(lo, hi float64, exp int) string { return lowEnd(lo, exp) + " to " + At(hi, exp) }

// RangeAt writes an interval for a table, "1,870–2,040", as BetweenAt does; "to"
// takes the place of the dash when a bound is negative.
func RangeAt(lo, hi float64, exp int) string {
	if lo < 0 || hi < 0 {
		return BetweenAt(lo, hi, exp)
	}
	return lowEnd(lo, exp) + "–" + At(hi, exp)
}

func lowEnd(lo float64, exp int) string {
	s := At(lo, exp)
	if finite(lo) && lo != 0 && strings.Trim(s, "0.") == "" {
		return At(lo, sigPlace(lo, 1))
	}
	return s
}

// Sig3 writes three significant digits: 0.0568, 12.3, 1,230. What is too large
// or too small to read so is written as 1.23e+18.
func Sig3(v float64) string {
	switch {
	case !finite(v):
		return Absent
	case v == 0:
		return "0"
	case math.Abs(v) >= 1e15 || math.Abs(v) < 1e-6:
		return scientific(v)
	}
	return At(v, sigPlace(v, 3))
}

// P writes a p-value: "< 0.001", else three decimals; it is never 0.
func P(p float64) string {
	switch {
	case !finite(p) || p < 0 || p > 1:
		return Absent
	case p < 0.001:
		return "< 0.001"
	}
	return strconv.FormatFloat(p, 'f', 3, 64)
}

// PEquals writes a p-value for a sentence: "p < 0.001" or "p = 0.004".
func PEquals(p float64) string {
	s := P(p)
	if strings.HasPrefix(s, "<") {
		return "p " + s
	}
	return "p = " + s
}

// Percent writes a share (0 to 1) as a percentage: whole numbers from 10 % on,
// one decimal from 1 % to 10 %, two significant digits below. A share that is
// not 1 is not written as 100 %, one that is not 0 not as 0 %.
func Percent(share float64) string {
	if !finite(share) {
		return Absent
	}
	v := share * 100
	abs := math.Abs(v)
	var s string
	switch {
	case v == 0:
		s = "0"
	case abs < 0.001:
		s = "< 0.001"
	case abs < 1:
		s = At(v, sigPlace(v, 2))
	case abs < 9.95:
		s = strings.TrimSuffix(At(v, -1), ".0")
	case abs < 100 && abs >= 99.5:
		s = At(math.Copysign(math.Min(math.Floor(abs*10)/10, 99.9), v), -1)
	default:
		s = At(v, 0)
	}
	return s + ThinSpace + "%"
}

// Times writes a ratio with the digits that half allows: "1.87 ×".
func Times(v float64, half float64) string {
	if !finite(v) {
		return Absent
	}
	return WithInterval(v, half) + ThinSpace + "×"
}

// Ratio writes a ratio and its interval with one last digit: "1.87 ×" and
// "1.82–1.93". The interval is empty for nil.
func Ratio(v float64, ci *[2]float64) (times, interval string) {
	half := Half(ci)
	if ci != nil {
		interval = RangeAt(ci[0], ci[1], PlaceFor(v, half))
	}
	return Times(v, half), interval
}

func scientific(v float64) string {
	return strings.ReplaceAll(strconv.FormatFloat(v, 'e', 2, 64), "-", Minus)
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// magnitude is the exponent of v's first digit, v > 0. The decimal form is
// asked because a logarithm is off by one just below powers of ten.
func magnitude(v float64) int {
	s := strconv.FormatFloat(v, 'e', -1, 64)
	_, e, _ := strings.Cut(s, "e")
	exp, _ := strconv.Atoi(e)
	return exp
}

// sigPlace is the place of the n-th significant digit of v after rounding to
// n digits: 999.6 has its third digit at the tens, as 1,000.
func sigPlace(v float64, n int) int {
	s := strconv.FormatFloat(math.Abs(v), 'e', n-1, 64)
	_, e, _ := strings.Cut(s, "e")
	exp, _ := strconv.Atoi(e)
	return exp - n + 1
}

func thousands(digits string) string {
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}

// Plural is "1 run" or "1,234 runs": a count with its noun, which takes an s.
func Plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Count(n) + " " + noun + "s"
}
