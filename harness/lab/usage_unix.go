//go:build unix

package lab

import (
	"math"
	"syscall"
)

// processCPU is the CPU time of this process and its ended children, nil when
// the system does not tell.
func processCPU() *cpuTimes {
	var self, children syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &self) != nil || syscall.Getrusage(syscall.RUSAGE_CHILDREN, &children) != nil {
		return nil
	}
	return &cpuTimes{ticks(self.Utime), ticks(self.Stime), ticks(children.Utime), ticks(children.Stime)}
}

// ticks are seconds in whole steps of 10 ms.
func ticks(t syscall.Timeval) float64 { return math.Floor(float64(t.Nano())/1e7) / 100 }
