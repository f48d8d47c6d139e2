package analysis

import "abacus/harness/observe"

// serverCPU is the CPU time in nanoseconds that the server spent on a run:
// from the process samples of the roles server and memcached, else from
// mod_status' own CPU counter. ok is false when neither covers the run, or a
// counter fell (a process ended meanwhile).
func serverCPU(all []observe.Series, elapsed int64) (ns float64, ok bool) {
	if s := series(all, "processes"); s != nil {
		v, ok := counterDelta(s.Samples, elapsed, func(x observe.Sample) (float64, bool) {
			sum, any := 0.0, false
			for _, p := range x.Processes {
				if p.Role == "server" || p.Role == "memcached" {
					sum += float64(p.CPUUserNS + p.CPUSystemNS)
					any = any || p.Role == "server"
				}
			}
			return sum, any
		})
		if ok {
			return v, true
		}
	}
	if s := series(all, "status"); s != nil {
		return counterDelta(s.Samples, elapsed, func(x observe.Sample) (float64, bool) {
			if x.Status == nil || x.Status.CPUSeconds == nil {
				return 0, false
			}
			return *x.Status.CPUSeconds * 1e9, true
		})
	}
	return 0, false
}

// counterDelta is by how much a counter rose over the load: from the last
// reading at or before its start (else the first one) to the first at or after
// its end (else the last one). Readings outside the load add nothing but idle
// time; when the readings begin late or end early, the rise is scaled to the
// whole load, as long as they cover 80 % of it. ok is false otherwise, and
// when the counter fell between any two readings.
func counterDelta(samples []observe.Sample, elapsed int64, read func(observe.Sample) (float64, bool)) (v float64, ok bool) {
	type reading struct {
		at int64
		v  float64
	}
	var in []reading
	for _, s := range samples {
		if x, ok := read(s); ok {
			in = append(in, reading{s.AtNS, x})
		}
	}
	if len(in) < 2 || elapsed <= 0 {
		return 0, false
	}
	from, to := 0, len(in)-1
	for from+1 < len(in) && in[from+1].at <= 0 {
		from++
	}
	for to-1 > from && in[to-1].at >= elapsed {
		to--
	}
	for i := from; i < to; i++ {
		if in[i+1].v < in[i].v {
			return 0, false
		}
	}
	covered := min(in[to].at, elapsed) - max(in[from].at, 0)
	if covered <= 0 || float64(covered) < 0.8*float64(elapsed) {
		return 0, false
	}
	return (in[to].v - in[from].v) * float64(elapsed) / float64(covered), true
}

// swapMoved is how much was swapped in and out between the first and the last
// reading. ok is false when the machine does not tell.
func swapMoved(samples []observe.Sample) (in, out uint64, ok bool) {
	var first, last *observe.Host
	for _, s := range samples {
		if s.Host == nil || s.Host.SwapInBytes == nil || s.Host.SwapOutBytes == nil {
			continue
		}
		if first == nil {
			first = s.Host
		}
		last = s.Host
	}
	if first == nil || first == last {
		return 0, 0, false
	}
	// A counter that fell was reset; what moved is then unknown.
	if *last.SwapInBytes < *first.SwapInBytes || *last.SwapOutBytes < *first.SwapOutBytes {
		return 0, 0, false
	}
	return *last.SwapInBytes - *first.SwapInBytes, *last.SwapOutBytes - *first.SwapOutBytes, true
}

// cpuShares is how much of all cores' time the machine was busy, and was taken
// by its hypervisor, between the first and the last reading within the load.
func cpuShares(samples []observe.Sample, elapsed int64) (busy, steal float64, ok bool) {
	var first, last *observe.Host
	for _, s := range samples {
		if s.Host == nil || !within0(s.AtNS, elapsed) {
			continue
		}
		if first == nil {
			first = s.Host
		}
		last = s.Host
	}
	if first == nil || first == last {
		return 0, 0, false
	}
	total := float64(last.CPU.TotalNS() - first.CPU.TotalNS())
	used := float64(last.CPU.BusyNS() - first.CPU.BusyNS())
	stolen := float64(last.CPU.StealNS - first.CPU.StealNS)
	if total <= 0 || used < 0 || stolen < 0 {
		return 0, 0, false
	}
	return min(1, used/total), stolen / total, true
}

// restarted tells whether the server's counters went back between two
// readings of a run: it was started anew meanwhile.
func restarted(samples []observe.Sample) bool {
	var uptime, accesses *int64
	for _, s := range samples {
		if s.Status == nil {
			continue
		}
		if fell(uptime, s.Status.UptimeS) || fell(accesses, s.Status.TotalAccesses) {
			return true
		}
		if s.Status.UptimeS != nil {
			uptime = s.Status.UptimeS
		}
		if s.Status.TotalAccesses != nil {
			accesses = s.Status.TotalAccesses
		}
	}
	return false
}

func fell(before, now *int64) bool { return before != nil && now != nil && *now < *before }
