//go:build !unix

package worker

// cpuTimes are not read on this system.
func cpuTimes() (user, system int64, ok bool) { return 0, 0, false }

// maxRSS is not read on this system.
func maxRSS() int64 { return 0 }
