package preflight

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"abacus/harness/number"
)

// Machine is what the verdict needs to know beside the baseline; 0 is unknown.
type Machine struct {
	// CPUs is the number of cores that may be used.
	CPUs int
	// Ports is the number of ports for outgoing connections.
	Ports int
}

// The limits of the idle baseline. Above a warn limit one may start, and the
// report says what was found; above a stop limit figures would be of something
// else.
const (
	cpuBusyWarn, cpuBusyStop = 0.20, 0.50
	stealWarn, stealStop     = 0.02, 0.20
	iowaitWarn               = 0.20
	memFreeWarn, memFreeStop = 0.05, 0.02 // share of memory available, below
	loadWarn                 = 2.0        // load average a core
	portsWarn, portsStop     = 0.25, 0.90 // share of ports in TIME_WAIT
	foreignWarn, foreignStop = 2.0, 50.0  // requests a second that are not ours
	singleSpread             = 10.0       // slowest single request to the median
)

// JudgeIdle answers "may one start?" from the figures of the baseline alone:
// Checks, MayStart and Reason are set anew, each figure that is not known is
// a check that was not made.
func JudgeIdle(i Idle, m Machine) Idle {
	i.Checks = []Check{
		judgeCPU(i), judgeSteal(i), judgeLoad(i, m), judgeMemory(i), judgeSwap(i),
		judgePorts(i, m), judgeWorkers(i), judgeForeign(i), judgeSingles(i),
	}
	var stops, warnings []string
	for _, c := range i.Checks {
		switch c.Severity {
		case Critical:
			stops = append(stops, c.Finding)
		case Warning:
			warnings = append(warnings, c.Finding)
		}
	}
	i.MayStart = len(stops) == 0
	switch {
	case len(stops) > 0:
		i.Reason = "not ready: " + strings.Join(stops, "; ")
	case len(warnings) > 0:
		i.Reason = "ready, but " + strings.Join(warnings, "; ")
	default:
		i.Reason = i.calm()
	}
	return i
}

// calm is the sentence of a machine that is idle.
func (i Idle) calm() string {
	var parts []string
	if i.CPUBusyShare != nil {
		parts = append(parts, "CPU "+number.Percent(*i.CPUBusyShare))
	}
	if i.IdleWorkers != nil {
		parts = append(parts, number.Plural(*i.IdleWorkers, "worker")+" idle")
	}
	if i.SwapMoved != nil {
		parts = append(parts, "no swap moved")
	}
	if len(parts) == 0 {
		return "ready, as far as could be seen"
	}
	return strings.Join(parts, ", ") + ": ready"
}

// notSeen turns a check into one that was not made.
func notSeen(c Check, why string) Check {
	c.Severity, c.Finding = NotSeen, why
	return c
}

// grade picks the severity of a value that is worse the higher it is.
func grade(v, warn, stop float64) Severity {
	switch {
	case v > stop:
		return Critical
	case v > warn:
		return Warning
	}
	return OK
}

func judgeCPU(i Idle) Check {
	c := Check{ID: "idle.cpu", Question: "Is the machine's CPU idle?", Method: "CPU time by mode over the baseline"}
	if i.CPUBusyShare == nil {
		return notSeen(c, "CPU time is not known here")
	}
	c.Severity = grade(*i.CPUBusyShare, cpuBusyWarn, cpuBusyStop)
	c.Finding = fmt.Sprintf("the CPU was %s busy without load", number.Percent(*i.CPUBusyShare))
	c.Evidence = []string{fmt.Sprintf("watched for %v over all cores; warning above %s, not ready above %s",
		time.Duration(i.DurationNS).Round(100*time.Millisecond), number.Percent(cpuBusyWarn), number.Percent(cpuBusyStop))}
	if i.IOWaitShare != nil {
		c.Evidence = append(c.Evidence, "waiting for disks "+number.Percent(*i.IOWaitShare))
		if *i.IOWaitShare > iowaitWarn && c.Severity == OK {
			c.Severity = Warning
			c.Finding = fmt.Sprintf("the CPU waited for disks for %s of the time", number.Percent(*i.IOWaitShare))
		}
	}
	if c.Severity != OK {
		c.Advice = "Find out what is running (top), end it or wait for it."
	}
	return c
}

func judgeSteal(i Idle) Check {
	c := Check{ID: "idle.steal", Question: "Does the host give this machine its CPU?", Method: "steal time over the baseline"}
	if i.CPUStealShare == nil {
		return notSeen(c, "steal time is not known here")
	}
	c.Severity = grade(*i.CPUStealShare, stealWarn, stealStop)
	c.Finding = fmt.Sprintf("%s of the CPU time went to other guests", number.Percent(*i.CPUStealShare))
	if c.Severity != OK {
		c.Advice = "Measure at another time or on another host: results will vary with the neighbours."
	}
	return c
}

func judgeLoad(i Idle, m Machine) Check {
	c := Check{ID: "idle.load", Question: "Was the machine calm in the last minute?", Method: "load average over 1 minute"}
	if i.Load1 == nil || m.CPUs <= 0 {
		return notSeen(c, "the load average is not known here")
	}
	c.Severity = OK
	c.Finding = fmt.Sprintf("the load average was %.2f on %s", *i.Load1, number.Plural(int64(m.CPUs), "core"))
	if *i.Load1 > loadWarn*float64(m.CPUs) {
		c.Severity = Warning
		c.Advice = "Wait a minute: the average lags behind, but something was busy a moment ago."
	}
	return c
}

func judgeMemory(i Idle) Check {
	c := Check{ID: "idle.memory", Question: "Is memory left?", Method: "available memory at the end of the baseline"}
	if i.MemAvailable == nil || i.MemTotal == nil || *i.MemTotal == 0 {
		return notSeen(c, "memory is not known here")
	}
	share := float64(*i.MemAvailable) / float64(*i.MemTotal)
	c.Severity = OK
	switch {
	case share < memFreeStop:
		c.Severity = Critical
	case share < memFreeWarn:
		c.Severity = Warning
	}
	c.Finding = fmt.Sprintf("%s of memory is available", number.Percent(share))
	c.Evidence = []string{fmt.Sprintf("%s of %s MiB", number.Count(int64(*i.MemAvailable>>20)), number.Count(int64(*i.MemTotal>>20)))}
	if c.Severity != OK {
		c.Advice = "Free memory first: under load the machine would swap or end processes."
	}
	return c
}

func judgeSwap(i Idle) Check {
	c := Check{ID: "idle.swap", Question: "Is swap quiet?", Method: "pages swapped in and out over the baseline"}
	if i.SwapMoved == nil {
		return notSeen(c, "swap traffic is not known here")
	}
	c.Severity = OK
	c.Finding = "no swap moved"
	if *i.SwapMoved > 0 {
		c.Severity = Warning
		c.Finding = fmt.Sprintf("%s KiB of swap moved without load", number.Count(int64((*i.SwapMoved+1023)>>10)))
		c.Advice = "Free memory first: latencies would be the disk's."
	}
	return c
}

func judgePorts(i Idle, m Machine) Check {
	c := Check{ID: "idle.ports", Question: "Are client ports free?", Method: "TCP sockets in TIME_WAIT against the range of ephemeral ports"}
	if i.TimeWait == nil || m.Ports <= 0 {
		return notSeen(c, "sockets in TIME_WAIT are not known here")
	}
	share := float64(*i.TimeWait) / float64(m.Ports)
	c.Severity = grade(share, portsWarn, portsStop)
	c.Finding = fmt.Sprintf("%s of %s ports wait in TIME_WAIT", number.Count(*i.TimeWait), number.Count(int64(m.Ports)))
	if c.Severity != OK {
		c.Advice = "Wait a minute for them to end, or use keep-alive."
	}
	return c
}

func judgeWorkers(i Idle) Check {
	c := Check{ID: "idle.workers", Question: "Are the server's workers idle?", Method: "status page polled over the baseline"}
	if i.IdleWorkers == nil {
		return notSeen(c, "workers are not observed")
	}
	c.Severity = OK
	c.Finding = fmt.Sprintf("at least %s idle", number.Plural(*i.IdleWorkers, "worker"))
	if i.BusyWorkers != nil {
		c.Evidence = []string{fmt.Sprintf("at most %d busy (the poll itself is one)", *i.BusyWorkers)}
	}
	switch {
	case *i.IdleWorkers == 0:
		c.Severity = Critical
		c.Finding = "no worker was idle without load"
		c.Advice = "Find out who holds them (the status page lists the requests); the server is full before the first request."
	case i.BusyWorkers != nil && *i.BusyWorkers > max(*i.IdleWorkers, 1):
		c.Severity = Warning
		c.Finding = fmt.Sprintf("%s busy without load", number.Plural(*i.BusyWorkers, "worker"))
		c.Advice = "Find out who uses the server, and wait or stop it."
	}
	return c
}

func judgeForeign(i Idle) Check {
	c := Check{ID: "idle.foreign", Question: "Does anyone else use the server?", Method: "growth of Total Accesses without our own polls"}
	if i.ForeignRequests == nil || i.DurationNS <= 0 {
		return notSeen(c, "the server's requests are not observed")
	}
	rate := float64(*i.ForeignRequests) / time.Duration(i.DurationNS).Seconds()
	c.Severity = grade(rate, foreignWarn, foreignStop)
	c.Finding = "nobody else asked the server"
	if *i.ForeignRequests > 0 {
		c.Finding = fmt.Sprintf("%s came from elsewhere in %v", number.Plural(*i.ForeignRequests, "request"),
			time.Duration(i.DurationNS).Round(100*time.Millisecond))
	}
	if c.Severity != OK {
		c.Advice = "Stop the other client, or measure when it is quiet: its load is in every figure."
	}
	return c
}

func judgeSingles(i Idle) Check {
	c := Check{ID: "idle.single", Question: "How long does one request take alone?", Method: fmt.Sprintf("%s, one after another, each on its own connection", number.Plural(int64(len(i.Singles)), "request"))}
	if len(i.Singles) == 0 {
		return notSeen(c, "no single request was made")
	}
	var totals []int64
	failed := 0
	for _, p := range i.Singles {
		if p.Error != "" {
			failed++
			continue
		}
		totals = append(totals, p.TotalNS)
	}
	if len(totals) == 0 {
		c.Severity = Critical
		c.Finding = "no single request was answered"
		c.Evidence = []string{i.Singles[0].Error}
		c.Advice = "Start the server, or correct the URL."
		return c
	}
	slices.Sort(totals)
	median, slowest := totals[(len(totals)-1)/2], totals[len(totals)-1]
	c.Severity = OK
	c.Finding = fmt.Sprintf("one request alone took %s (median of %d)", number.Duration(float64(median)), len(totals))
	c.Evidence = []string{fmt.Sprintf("fastest %s, slowest %s", number.Duration(float64(totals[0])), number.Duration(float64(slowest)))}
	switch {
	case failed > 0:
		c.Severity = Warning
		c.Finding = fmt.Sprintf("%d of %d single requests failed", failed, len(i.Singles))
		c.Advice = "Find out why before loading the server."
	case len(totals) >= 5 && float64(slowest) > singleSpread*float64(median) && slowest > int64(10*time.Millisecond):
		c.Severity = Info
		c.Finding = fmt.Sprintf("single requests vary much: median %s, slowest %s", number.Duration(float64(median)), number.Duration(float64(slowest)))
	}
	return c
}
