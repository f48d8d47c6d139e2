//go:build unix

package worker

import "golang.org/x/sys/unix"

// cpuTimes are the user and system time of this process in nanoseconds.
func cpuTimes() (user, system int64, ok bool) {
	var ru unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &ru); err != nil {
		return 0, 0, false
	}
	return ru.Utime.Nano(), ru.Stime.Nano(), true
}
