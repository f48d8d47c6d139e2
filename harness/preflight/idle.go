package preflight

import (
	"context"
	"runtime"
	"time"
)

// HostSeen is one reading of the machine, as plain values: the caller reads
// it. Times are counters in nanoseconds over all cores.
type HostSeen struct {
	BusyNS, TotalNS, StealNS, IOWaitNS int64
	Load1                              *float64
	MemAvailableBytes, MemTotalBytes   uint64
	// SwapMovedBytes is the counter of bytes swapped in and out.
	SwapMovedBytes *uint64
	TimeWait       *int64
}

// WorkersSeen is one reading of the status page, as plain values.
type WorkersSeen struct {
	BusyWorkers, IdleWorkers *int64
	// TotalAccesses is the counter of finished requests, UptimeS the server's
	// uptime: a restart in between is noticed by it.
	TotalAccesses, UptimeS *int64
}

// IdleInput says how the idle baseline is taken.
type IdleInput struct {
	// Duration is how long the machine is watched (5 s; a quick look 1 s),
	// Interval how often the workers are polled meanwhile (0 is 200 ms).
	Duration, Interval time.Duration
	// Host and Workers take a reading; nil where there is nothing to read.
	Host    func(context.Context) (HostSeen, error)
	Workers func(context.Context) (WorkersSeen, error)
	// Singles requests are then made of Target, one after another, each on a
	// connection of its own; 0 makes none.
	Singles int
	Target  Target
	// Machine is what the verdict needs beside; no CPUs are this machine's.
	Machine Machine
}

// maxSingles bounds all single requests together.
const maxSingles = 30 * time.Second

// MeasureIdle watches the machine and the server before any load, then makes
// the single requests, and judges: may one start? It ends early, with what it
// has, when ctx is done.
func MeasureIdle(ctx context.Context, in IdleInput) Idle {
	begun := time.Now()
	var idle Idle
	host, hostErr := readHost(ctx, in)
	watchWorkers(ctx, in, begun, &idle)
	if in.Host != nil && hostErr == nil {
		if after, err := in.Host(ctx); err == nil {
			idle.takeHost(host, after)
		}
	}
	idle.DurationNS = time.Since(begun).Nanoseconds()
	if in.Singles > 0 {
		idle.SinglesURL = redact(in.Target.URL)
		idle.Singles = singles(ctx, in.Target, in.Singles)
	}
	if in.Machine.CPUs == 0 {
		in.Machine.CPUs = runtime.NumCPU()
	}
	return JudgeIdle(idle, in.Machine)
}

func readHost(ctx context.Context, in IdleInput) (HostSeen, error) {
	if in.Host == nil {
		return HostSeen{}, nil
	}
	return in.Host(ctx)
}

// watchWorkers polls the status page until the duration is over.
func watchWorkers(ctx context.Context, in IdleInput, begun time.Time, idle *Idle) {
	interval := in.Interval
	if interval <= 0 {
		interval = 200 * time.Millisecond
	}
	over := time.NewTimer(in.Duration - time.Since(begun))
	defer over.Stop()
	if in.Workers == nil {
		select {
		case <-over.C:
		case <-ctx.Done():
		}
		return
	}
	tick := time.NewTicker(interval)
	defer tick.Stop()
	var seen []WorkersSeen
	// A slow page may not stretch the baseline without end.
	limited, cancel := context.WithTimeout(ctx, in.Duration+2*time.Second)
	defer cancel()
	for {
		if w, err := in.Workers(limited); err == nil {
			seen = append(seen, w)
		}
		select {
		case <-tick.C:
		case <-over.C:
			idle.takeWorkers(seen)
			return
		case <-limited.Done():
			idle.takeWorkers(seen)
			return
		}
	}
}

// takeHost turns two readings into shares and amounts.
func (i *Idle) takeHost(a, b HostSeen) {
	if total := b.TotalNS - a.TotalNS; total > 0 {
		share := func(from, to int64) *float64 {
			s := max(float64(to-from), 0) / float64(total)
			return &s
		}
		i.CPUBusyShare = share(a.BusyNS, b.BusyNS)
		i.CPUStealShare = share(a.StealNS, b.StealNS)
		i.IOWaitShare = share(a.IOWaitNS, b.IOWaitNS)
	}
	i.Load1, i.TimeWait = b.Load1, b.TimeWait
	if b.MemTotalBytes > 0 {
		available, total := b.MemAvailableBytes, b.MemTotalBytes
		i.MemAvailable, i.MemTotal = &available, &total
	}
	if a.SwapMovedBytes != nil && b.SwapMovedBytes != nil && *b.SwapMovedBytes >= *a.SwapMovedBytes {
		moved := *b.SwapMovedBytes - *a.SwapMovedBytes
		i.SwapMoved = &moved
	}
}

// takeWorkers keeps the extremes, and counts the requests that were not our
// polls: each poll is counted from the next one on.
func (i *Idle) takeWorkers(seen []WorkersSeen) {
	var foreign int64
	known := false
	for n, w := range seen {
		if w.BusyWorkers != nil && (i.BusyWorkers == nil || *w.BusyWorkers > *i.BusyWorkers) {
			i.BusyWorkers = w.BusyWorkers
		}
		if w.IdleWorkers != nil && (i.IdleWorkers == nil || *w.IdleWorkers < *i.IdleWorkers) {
			i.IdleWorkers = w.IdleWorkers
		}
		if n == 0 || w.TotalAccesses == nil || seen[n-1].TotalAccesses == nil {
			continue
		}
		// A restart begins the counter again: that interval is not known.
		if d := *w.TotalAccesses - *seen[n-1].TotalAccesses - 1; d >= 0 {
			known = true
			foreign += d
		}
	}
	if known {
		i.ForeignRequests = &foreign
	}
}

// singles makes n single requests; three failures in a row end them.
func singles(ctx context.Context, t Target, n int) []Phases {
	ctx, cancel := context.WithTimeout(ctx, maxSingles)
	defer cancel()
	var made []Phases
	failures := 0
	for range n {
		p := SingleRequest(ctx, t)
		if ctx.Err() != nil && len(made) > 0 {
			break
		}
		made = append(made, p)
		if p.Error == "" {
			failures = 0
			continue
		}
		if failures++; failures == giveUpAfter {
			break
		}
	}
	return made
}
