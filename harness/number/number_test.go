package number

import (
	"math"
	"strings"
	"testing"
)

func TestCount(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 7: "7", 999: "999", 1000: "1,000", 1960: "1,960", 1234567: "1,234,567",
		-1960: "−1,960", math.MinInt64: "−9,223,372,036,854,775,808",
	} {
		if got := Count(n); got != want {
			t.Errorf("Count(%d) = %q, want %q", n, got, want)
		}
	}
}

// The three examples are those of the page's rules.
func TestPlace(t *testing.T) {
	for _, c := range []struct {
		half float64
		want int
		ok   bool
	}{
		{131, 1, true}, {0.056, -2, true}, {0.019, -3, true},
		{30, 1, true}, {math.Nextafter(30, 0), 0, true}, {3, 0, true}, {300, 2, true},
		{0, 0, false}, {-1, 0, false}, {math.NaN(), 0, false}, {math.Inf(1), 0, false},
	} {
		if got, ok := Place(c.half); got != c.want || ok != c.ok {
			t.Errorf("Place(%v) = %d, %v, want %d, %v", c.half, got, ok, c.want, c.ok)
		}
	}
}

// Two runs of 32,096 and 26,444: mean 29,270, sd 3,996.6, half-width 35,908,
// which allows ten thousands only; the sd asks for thousands.
func TestPlaceShared(t *testing.T) {
	for _, c := range []struct {
		value, half, sd float64
		want            int
	}{
		{29270, 35908, 3996.6, 3}, {17.97, 131.3, 14.6, 1}, {3658, 131, 121, 1}, {1963, 93, 80.4, 1},
		{29270, 35908, 0, 4}, {29270, 35908, math.NaN(), 4}, {12.34, math.NaN(), math.NaN(), -1},
		{1000, 300, 9.96, 1}, {0, 0.5, 0.2, -1}, {1e6, 3, 1e-9, -2}, {math.NaN(), 1, 1, 0},
	} {
		if got := PlaceShared(c.value, c.half, c.sd); got != c.want {
			t.Errorf("PlaceShared(%v, %v, %v) = %d, want %d", c.value, c.half, c.sd, got, c.want)
		}
	}
	for _, c := range []struct{ got, want string }{
		{RangeAt(0, 65178, 3), "0–65,000"}, {BetweenAt(0, 65178, 3), "0 to 65,000"}, {RangeAt(-1, 2, 0), "−1 to 2"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestWithInterval(t *testing.T) {
	for _, c := range []struct {
		v, half float64
		want    string
	}{
		{1963.4, 85, "1,960"}, {3658, 131, "3,660"}, {1.8749, 0.056, "1.87"}, {1.003, 0.009, "1.003"},
		{45.63, 1.2, "45.6"}, {12345.678, 0, "12,300"}, {12.3456, math.NaN(), "12.3"},
		{3, 4000, "3"}, {0, 0.5, "0.0"}, {0, 0, "0"}, {-1963.4, 85, "−1,960"},
		{math.NaN(), 1, "–"}, {math.Inf(1), 1, "–"}, {10000.125, 1e-12, "10,000.1250"}, {-0.001, 0.5, "−0.001"},
	} {
		if got := WithInterval(c.v, c.half); got != c.want {
			t.Errorf("WithInterval(%v, %v) = %q, want %q", c.v, c.half, got, c.want)
		}
	}
}

func TestIntervals(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{BetweenAt(1.8222, 1.9321, -2), "1.82 to 1.93"},
		{RangeAt(1868, 2043, 1), "1,870–2,040"},
		{RangeAt(-1.21, 3.4, -1), "−1.2 to 3.4"},
		// A lower end that is not 0 is not written as 0; one that is, is.
		{RangeAt(0.18, 42, 0), "0.2–42"}, {BetweenAt(0.0046, 17.83, -1), "0.005 to 17.8"}, {RangeAt(3996, 81000, 4), "4,000–80,000"},
		{RangeAt(0, 42, 0), "0–42"}, {BetweenAt(-0.3, 5, 0), "−0.3 to 5"}, {RangeAt(0.6, 5, 0), "1–5"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

// A wide interval has the ratio's own first digit, as the ratio does: its lower
// end is not written as 0.
func TestRatio(t *testing.T) {
	for _, c := range []struct {
		v               float64
		ci              *[2]float64
		times, interval string
	}{
		{1.8749, &[2]float64{1.8222, 1.9321}, "1.87\u202f×", "1.82–1.93"},
		{0.91, &[2]float64{0.12, 8.3}, "0.9\u202f×", "0.1–8.3"},
		{0.444, nil, "0.444\u202f×", ""},
		{math.NaN(), nil, "–", ""},
	} {
		if times, interval := Ratio(c.v, c.ci); times != c.times || interval != c.interval {
			t.Errorf("Ratio(%v, %v) = %q, %q, want %q, %q", c.v, c.ci, times, interval, c.times, c.interval)
		}
	}
}

func TestSig3(t *testing.T) {
	for _, c := range []struct {
		v    float64
		want string
	}{
		{0, "0"}, {1, "1.00"}, {0.056789, "0.0568"}, {12.345, "12.3"}, {999.6, "1,000"}, {999.4, "999"},
		{1234.5, "1,230"}, {-1234.5, "−1,230"}, {0.0009996, "0.00100"}, {1.234e18, "1.23e+18"}, {1.234e-9, "1.23e−09"},
		{math.NaN(), "–"}, {math.Inf(-1), "–"},
	} {
		if got := Sig3(c.v); got != c.want {
			t.Errorf("Sig3(%v) = %q, want %q", c.v, got, c.want)
		}
	}
}

func TestP(t *testing.T) {
	for _, c := range []struct {
		p        float64
		want, eq string
	}{
		{0, "< 0.001", "p < 0.001"}, {math.Nextafter(0.001, 0), "< 0.001", "p < 0.001"}, {0.001, "0.001", "p = 0.001"},
		{0.0044, "0.004", "p = 0.004"}, {0.05, "0.050", "p = 0.050"}, {1, "1.000", "p = 1.000"},
	} {
		if got := P(c.p); got != c.want {
			t.Errorf("P(%v) = %q, want %q", c.p, got, c.want)
		}
		if got := PEquals(c.p); got != c.eq {
			t.Errorf("PEquals(%v) = %q, want %q", c.p, got, c.eq)
		}
	}
	for _, bad := range []float64{math.NaN(), math.Inf(1), -0.1, 1.1} {
		if got := P(bad); got != Absent {
			t.Errorf("P(%v) = %q", bad, got)
		}
	}
}

func TestPercent(t *testing.T) {
	for _, c := range []struct {
		share float64
		want  string
	}{
		{0.12, "12"}, {0.02, "2"}, {0.034, "3.4"}, {0, "0"}, {1, "100"}, {0.0049, "0.49"}, {0.9999, "99.9"},
		{0.996, "99.6"}, {1.5, "150"}, {-0.07, "−7"}, {0.000001, "< 0.001"}, {0.0999, "10"},
	} {
		if got := Percent(c.share); got != c.want+"\u202f%" {
			t.Errorf("Percent(%v) = %q, want %q", c.share, got, c.want+"\u202f%")
		}
	}
}

func TestUnits(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Duration(24.06e6), "24.1\u00a0ms"}, {Duration(999.6e3), "1.00\u00a0ms"}, {Duration(999.4e3), "999\u00a0µs"},
		{Duration(1.5e9), "1.50\u00a0s"}, {Duration(500), "0.500\u00a0µs"}, {Duration(0), "0\u00a0µs"}, {Duration(math.NaN()), "–"},
		{Seconds(8.02), "8.02\u00a0s"},
		{Bytes(512), "512\u00a0B"}, {Bytes(1024), "1.00\u00a0KiB"}, {Bytes(65.3 * 1024 * 1024), "65.3\u00a0MiB"},
		{Bytes(1000 * 1024), "1,000\u00a0KiB"}, {Bytes(math.Inf(1)), "–"},
		{Times(1.8749, 0.056), "1.87\u202f×"}, {Times(math.NaN(), 1), "–"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
	for _, c := range []struct {
		ns   float64
		unit string
		div  float64
	}{{999e3, "µs", 1e3}, {1e6, "ms", 1e6}, {999e6, "ms", 1e6}, {1e9, "s", 1e9}, {math.NaN(), "ms", 1e6}} {
		if u, d := DurationUnit(c.ns); u != c.unit || d != c.div {
			t.Errorf("DurationUnit(%v) = %s, %v", c.ns, u, d)
		}
	}
}

// No number of any size gives a text with NaN or Inf in it, or an empty one.
func FuzzNumber(f *testing.F) {
	f.Add(1.0, 0.5)
	f.Add(math.NaN(), math.Inf(1))
	f.Add(1e300, 1e-300)
	f.Add(5e-324, 1e308)
	f.Fuzz(func(t *testing.T, v, half float64) {
		for _, s := range []string{WithInterval(v, half), Sig3(v), P(v), Percent(v), Duration(v),
			Bytes(v), Times(v, half), At(v, PlaceShared(v, half, half)), BetweenAt(v, half, 0), RangeAt(v, half, 0), Seconds(v)} {
			if s == "" || strings.Contains(s, "NaN") || strings.Contains(s, "Inf") || strings.HasPrefix(s, "-") {
				t.Errorf("v %v, half %v: %q", v, half, s)
			}
		}
	})
}
