package clock

import "golang.org/x/sys/unix"

// Now returns nanoseconds of the machine's monotonic clock (CLOCK_MONOTONIC).
// The zero point is arbitrary but the same for all processes of one boot, so
// readings of two processes may be subtracted.
func Now() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		return fallback()
	}
	return ts.Nano()
}
