package worker

import (
	"math"
	"runtime"
	"runtime/metrics"

	"abacus/harness/load"
)

const schedLatencies = "/sched/latencies:seconds"

// meter measures what this process spends between startMeter and stop.
type meter struct {
	cpuOK        bool
	user, system int64
	sched        *metrics.Float64Histogram
	gcPauseNS    uint64
}

func startMeter() *meter {
	m := &meter{sched: schedHistogram(), gcPauseNS: gcPauses()}
	m.user, m.system, m.cpuOK = cpuTimes()
	return m
}

// stop returns what was spent; nil when the system does not tell CPU times.
func (m *meter) stop() *load.Usage {
	user, system, ok := cpuTimes()
	if !ok || !m.cpuOK {
		return nil
	}
	u := &load.Usage{
		CPUUserNS: user - m.user, CPUSystemNS: system - m.system,
		MaxRSSBytes: maxRSS(),
		Cores:       runtime.GOMAXPROCS(0),
	}
	pause := int64(gcPauses() - m.gcPauseNS)
	u.GCPauseNS = &pause
	if p99, ok := quantileBetween(m.sched, schedHistogram(), .99); ok {
		ns := int64(math.Round(p99 * 1e9))
		u.SchedP99NS = &ns
	}
	return u
}

func gcPauses() uint64 {
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return s.PauseTotalNs
}

// schedHistogram reads how long goroutines have waited for a processor, since
// the start of the process; nil when the runtime does not tell.
func schedHistogram() *metrics.Float64Histogram {
	s := []metrics.Sample{{Name: schedLatencies}}
	metrics.Read(s)
	if s[0].Value.Kind() != metrics.KindFloat64Histogram {
		return nil
	}
	return s[0].Value.Float64Histogram()
}

// quantileBetween returns the upper bound of the bucket that holds quantile q
// of what was added between two readings of one histogram (the lower bound
// where the upper is infinite). ok is false when nothing was added.
func quantileBetween(before, after *metrics.Float64Histogram, q float64) (v float64, ok bool) {
	if before == nil || after == nil || len(before.Counts) != len(after.Counts) {
		return 0, false
	}
	var total uint64
	for i := range after.Counts {
		total += after.Counts[i] - before.Counts[i]
	}
	if total == 0 {
		return 0, false
	}
	rank := uint64(math.Ceil(q * float64(total)))
	var seen uint64
	for i := range after.Counts {
		if seen += after.Counts[i] - before.Counts[i]; seen < rank {
			continue
		}
		if upper := after.Buckets[i+1]; !math.IsInf(upper, 1) {
			return upper, true
		}
		return after.Buckets[i], true
	}
	return 0, false
}
