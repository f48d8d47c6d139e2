//go:build unix && !linux

package worker

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// maxRSS is the most memory that this process has held in bytes, 0 when
// unknown.
func maxRSS() int64 {
	var ru unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &ru); err != nil {
		return 0
	}
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		return int64(ru.Maxrss) // bytes there, KiB elsewhere
	}
	return int64(ru.Maxrss) << 10
}
