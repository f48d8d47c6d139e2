package number

import "math"

// DurationUnit chooses the unit of a column: that in which its median cell
// lies in 1 to 999. The divisor turns nanoseconds into it. A median that is not
// finite gives ms.
func DurationUnit(medianNS float64) (unit string, divisor float64) {
	switch {
	case !finite(medianNS):
		return "ms", 1e6
	case medianNS >= 1e9:
		return "s", 1e9
	case medianNS >= 1e6:
		return "ms", 1e6
	}
	return "µs", 1e3
}

// Duration writes one duration in nanoseconds with its own unit and three
// significant digits: "24.1 ms".
func Duration(ns float64) string {
	if !finite(ns) {
		return Absent
	}
	abs := math.Abs(ns)
	// 999.6 µs would be written 1,000 µs: the next unit reads better.
	unit, div := DurationUnit(abs)
	if unit != "s" && math.Abs(abs/div) >= 999.5 {
		unit, div = DurationUnit(abs * 1.001)
	}
	return Sig3(ns/div) + HardSpace + unit
}

// Seconds writes a number of seconds for a sentence: "8.02 s".
func Seconds(s float64) string {
	if !finite(s) {
		return Absent
	}
	return Sig3(s) + HardSpace + "s"
}

// Bytes writes an amount of memory or traffic in binary units with three
// significant digits, and whole bytes below 1 KiB: "62.3 MiB".
func Bytes(n float64) string {
	if !finite(n) {
		return Absent
	}
	units := []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}
	i := 0
	for math.Abs(n) >= 1023.5 && i < len(units)-1 {
		n /= 1024
		i++
	}
	if i == 0 {
		return At(n, 0) + HardSpace + units[0]
	}
	if math.Abs(n) >= 999.5 {
		return At(n, 0) + HardSpace + units[i]
	}
	return Sig3(n) + HardSpace + units[i]
}
