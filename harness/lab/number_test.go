package lab

import (
	"math"
	"strconv"
	"testing"
)

// The first group stands in the fixtures, each beside the counters that it
// was worked out from; the others follow from the rule of APR's %g: an
// exponent once more than four zeros would have to be appended or put before.
func TestStatusNumber(t *testing.T) {
	for _, tc := range []struct {
		v    float64
		want string
	}{
		{0, "0"},
		{.3, ".3"},
		{.02, ".02"},
		{1.04, "1.04"},
		{9.44, "9.44"},
		{67, "67"},
		{1024 * 10516 / 2.0, "5384190"},
		{1024 * 10516 / 7508.0, "1434.25"},
		{28817 / 7508.0, "3.83817"},
		{2 / 3.0, ".666667"},
		{131.5, "131.5"},
		{12.08 / 17 * 100, "71.0588"},
		{60064 / 17.0, "3533.18"},
		{100, "100"},

		{12345, "12345"},
		{123456, "123456"},
		{1234567, "1234570"},
		{1e5, "1.e+5"},
		{12e4, "120000"},
		{380900000, "3.809e+8"},
		{1e12, "1.e+12"},
		{.001, ".001"},
		{.00012, ".00012"},
		{.000012, "1.2e-5"},
		{999999.6, "1.e+6"},
		{-2.5, "-2.5"},
	} {
		if got := statusNumber(tc.v); got != tc.want {
			t.Errorf("statusNumber(%v) = %q, want %q", tc.v, got, tc.want)
		}
	}
}

func TestUptimeText(t *testing.T) {
	for _, tc := range []struct {
		seconds int64
		want    string
	}{
		{0, ""},
		{1, " 1 second"},
		{17, " 17 seconds"},
		{60, " 1 minute"},
		{3661, " 1 hour 1 minute 1 second"},
		{2*86400 + 3*3600 + 120, " 2 days 3 hours 2 minutes"},
	} {
		if got := uptimeText(tc.seconds); got != tc.want {
			t.Errorf("uptimeText(%d) = %q, want %q", tc.seconds, got, tc.want)
		}
	}
}

// Whatever the figure: what is written reads back as the same value to six
// significant digits.
func FuzzStatusNumber(f *testing.F) {
	for _, v := range []float64{0, .3, -1, 5384192, 999999.5, 1e-9, 1e300, 5e-324, .00099999949} {
		f.Add(v)
	}
	f.Fuzz(func(t *testing.T, v float64) {
		text := statusNumber(v)
		got, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatalf("%v is written as %q: %v", v, text, err)
		}
		if math.IsNaN(v) || math.IsInf(v, 0) {
			v = 0 // there is no figure
		}
		if want, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'e', 5, 64), 64); got != want {
			t.Errorf("%v is written as %q, which is %v, want %v", v, text, got, want)
		}
	})
}
