package analysis

import (
	"abacus/harness/load"
	"abacus/harness/number"
	"abacus/harness/observe"
	"abacus/harness/stats"
)

// plot gathers one line's points over all runs of a timeline; a break starts
// a new part.
type plot struct {
	line Line
	open bool
}

func (p *plot) add(x, y float64) {
	if !p.open {
		p.line.Parts = append(p.line.Parts, nil)
		p.open = true
	}
	last := len(p.line.Parts) - 1
	p.line.Parts[last] = append(p.line.Parts[last], [2]float64{x, y})
}

func (p *plot) gap() { p.open = false }

// lines keeps the plots that have a point.
func lines(plots ...*plot) []Line {
	var out []Line
	for _, p := range plots {
		if len(p.line.Parts) > 0 {
			out = append(out, p.line)
		}
	}
	return out
}

func newPlot(name string) *plot { return &plot{line: Line{Name: name}} }

// intervals calls f for each slice of each run at the slice's middle; a slice
// much shorter than the others (the run's last one) is left out, since a rate
// over it is mostly chance.
func intervals(all []laid, before func(), f func(x float64, iv load.Interval)) {
	for _, l := range all {
		before()
		var longest int64
		for _, iv := range l.Result.Intervals {
			longest = max(longest, iv.LengthNS)
		}
		for _, iv := range l.Result.Intervals {
			if iv.LengthNS > 0 && 4*iv.LengthNS >= longest {
				f(l.startS+float64(iv.StartNS+iv.LengthNS/2)/1e9, iv)
			}
		}
	}
}

func throughputPanel(all []laid) Panel {
	p := newPlot("answers")
	failed := newPlot("failed")
	any := false
	intervals(all, func() { p.gap(); failed.gap() }, func(x float64, iv load.Interval) {
		s := float64(iv.LengthNS) / 1e9
		p.add(x, float64(iv.Complete)/s)
		failed.add(x, float64(iv.Failed)/s)
		any = any || iv.Failed > 0
	})
	out := Panel{ID: "throughput", Title: "Throughput", Unit: "/s", Lines: lines(p)}
	if any {
		out.Lines = append(out.Lines, lines(failed)...)
	}
	return out
}

func latencyPanel(all []laid) Panel {
	var p99s []float64
	intervals(all, func() {}, func(_ float64, iv load.Interval) {
		if iv.P99NS != nil {
			p99s = append(p99s, float64(*iv.P99NS))
		}
	})
	middle, _ := stats.Median(p99s)
	unit, div := number.DurationUnit(middle)
	p50, p99 := newPlot("p50"), newPlot("p99")
	intervals(all, func() { p50.gap(); p99.gap() }, func(x float64, iv load.Interval) {
		// A slice in which no answer ended has no percentile: a gap.
		for _, of := range []struct {
			p *plot
			v *int64
		}{{p50, iv.P50NS}, {p99, iv.P99NS}} {
			if of.v == nil {
				of.p.gap()
			} else {
				of.p.add(x, float64(*of.v)/div)
			}
		}
	})
	return Panel{ID: "latency", Title: "Latency", Unit: unit, Lines: lines(p50, p99)}
}

// samples calls f for each reading of a source that is within the drawn time
// of its run, with the reading before it when that is near enough to take a
// rate from; gap is called where a line must break.
func samples(all []laid, source string, gap func(), f func(x float64, now observe.Sample, before *observe.Sample)) {
	for _, l := range all {
		gap()
		s := series(l.Series, source)
		if s == nil {
			continue
		}
		var before *observe.Sample
		for i := range s.Samples {
			now := s.Samples[i]
			if now.Error != "" {
				gap()
				before = nil
				continue
			}
			if before != nil && now.AtNS-before.AtNS < s.IntervalNS/4 {
				continue // a last reading right behind a regular one: a rate over so little is chance
			}
			if before != nil && s.IntervalNS > 0 && now.AtNS-before.AtNS > 5*s.IntervalNS/2 {
				gap()
				before = nil
			}
			if x := l.startS + float64(now.AtNS)/1e9; x >= l.fromS && x <= l.toS {
				f(x, now, before)
			}
			before = &s.Samples[i]
		}
	}
}

// gauge plots a figure that is read as it stands.
func gauge(p *plot, x float64, v float64, ok bool) {
	if !ok {
		p.gap()
		return
	}
	p.add(x, v)
}

// rate plots by how much a counter rose per second. A counter that fell was
// reset: a gap.
func rate(p *plot, x float64, now, before observe.Sample, read func(observe.Sample) (float64, bool)) {
	a, ok1 := read(before)
	b, ok2 := read(now)
	dt := float64(now.AtNS-before.AtNS) / 1e9
	if !ok1 || !ok2 || dt <= 0 || b < a {
		p.gap()
		return
	}
	p.add(x, (b-a)/dt)
}

func workersPanel(all []laid) Panel {
	busy, idle := newPlot("busy"), newPlot("idle")
	samples(all, "status", func() { busy.gap(); idle.gap() }, func(x float64, now observe.Sample, _ *observe.Sample) {
		if now.Status == nil {
			busy.gap()
			idle.gap()
			return
		}
		b, i := workers(now.Status)
		gauge(busy, x, deref(b), b != nil)
		gauge(idle, x, deref(i), i != nil)
	})
	return Panel{ID: "workers", Title: "Workers", Unit: "", Lines: lines(busy, idle)}
}

func deref(p *int64) float64 {
	if p == nil {
		return 0
	}
	return float64(*p)
}

// cpuPanel draws busy cores: the machine's, the server's (with memcached) and
// the client's.
func cpuPanel(all []laid) Panel {
	machine, server, client := newPlot("machine"), newPlot("server"), newPlot("client")
	samples(all, "host", machine.gap, func(x float64, now observe.Sample, before *observe.Sample) {
		if before == nil {
			return
		}
		a, b := before.Host, now.Host
		if a == nil || b == nil {
			machine.gap()
			return
		}
		total, used := b.CPU.TotalNS()-a.CPU.TotalNS(), b.CPU.BusyNS()-a.CPU.BusyNS()
		cores := len(b.Cores)
		if total <= 0 || used < 0 || cores == 0 {
			machine.gap()
			return
		}
		machine.add(x, float64(used)/float64(total)*float64(cores))
	})
	samples(all, "processes", func() { server.gap(); client.gap() }, func(x float64, now observe.Sample, before *observe.Sample) {
		if before == nil {
			return
		}
		for _, of := range []struct {
			p     *plot
			roles []string
		}{{server, []string{"server", "memcached"}}, {client, []string{"client"}}} {
			rate(of.p, x, now, *before, func(s observe.Sample) (float64, bool) { return cpuOf(s, of.roles) })
		}
	})
	return Panel{ID: "cpu", Title: "CPU", Unit: "cores", Lines: lines(machine, server, client)}
}

// cpuOf is the CPU seconds of all processes of these roles; ok is false when
// the first role is absent.
func cpuOf(s observe.Sample, roles []string) (float64, bool) {
	sum, any := 0.0, false
	for _, p := range s.Processes {
		for i, role := range roles {
			if p.Role == role && !gone(p) {
				sum += float64(p.CPUUserNS+p.CPUSystemNS) / 1e9
				any = any || i == 0
			}
		}
	}
	return sum, any
}

const mib = 1 << 20

func memoryPanel(all []laid) Panel {
	available, server, client := newPlot("available"), newPlot("server"), newPlot("client")
	samples(all, "host", available.gap, func(x float64, now observe.Sample, _ *observe.Sample) {
		if now.Host == nil || now.Host.MemTotalBytes == 0 {
			available.gap()
			return
		}
		available.add(x, float64(now.Host.MemAvailableBytes)/mib)
	})
	samples(all, "processes", func() { server.gap(); client.gap() }, func(x float64, now observe.Sample, _ *observe.Sample) {
		s, okS := rssOf(now, "server", "memcached")
		c, okC := rssOf(now, "client")
		gauge(server, x, s/mib, okS)
		gauge(client, x, c/mib, okC)
	})
	return Panel{ID: "memory", Title: "Memory", Unit: "MiB", Lines: lines(available, server, client)}
}

// gone tells that no process of the role was alive any more: what is then read
// of it is no value, not 0.
func gone(p observe.Process) bool { return p.Count == 0 && p.RSSBytes == 0 && p.Threads == 0 }

func rssOf(s observe.Sample, roles ...string) (bytes float64, ok bool) {
	for _, p := range s.Processes {
		for i, role := range roles {
			if p.Role == role && !gone(p) {
				bytes += float64(p.RSSBytes)
				ok = ok || i == 0
			}
		}
	}
	return bytes, ok && bytes > 0
}

// hostRates draws two counters of the machine in MiB per second.
func hostRates(all []laid, id, title, first, second string, read func(*observe.Host) (a, b *uint64)) Panel {
	in, out := newPlot(first), newPlot(second)
	samples(all, "host", func() { in.gap(); out.gap() }, func(x float64, now observe.Sample, before *observe.Sample) {
		if before == nil {
			return
		}
		pick := func(second bool) func(observe.Sample) (float64, bool) {
			return func(s observe.Sample) (float64, bool) {
				if s.Host == nil {
					return 0, false
				}
				a, b := read(s.Host)
				if second {
					a = b
				}
				if a == nil {
					return 0, false
				}
				return float64(*a) / mib, true
			}
		}
		rate(in, x, now, *before, pick(false))
		rate(out, x, now, *before, pick(true))
	})
	return Panel{ID: id, Title: title, Unit: "MiB/s", Lines: lines(in, out)}
}

func swapPanel(all []laid) Panel {
	return hostRates(all, "swap", "Swap", "in", "out", func(h *observe.Host) (a, b *uint64) { return h.SwapInBytes, h.SwapOutBytes })
}

func networkPanel(all []laid) Panel {
	return hostRates(all, "network", "Network, loopback included", "received", "sent",
		func(h *observe.Host) (a, b *uint64) { return h.NetRxBytes, h.NetTxBytes })
}

// heat counts the scoreboard's letters over time.
func heat(all []laid) *Heat {
	h := &Heat{Meaning: map[string]string{}}
	var boards []map[rune]int
	samples(all, "status", func() {}, func(x float64, now observe.Sample, _ *observe.Sample) {
		if now.Status == nil || now.Status.Scoreboard == "" {
			return
		}
		h.AtS = append(h.AtS, x)
		h.Slots = max(h.Slots, len(now.Status.Scoreboard))
		boards = append(boards, observe.ScoreboardCounts(now.Status.Scoreboard))
	})
	if len(boards) == 0 {
		return nil
	}
	for _, l := range observe.ScoreboardMeaning() {
		row, any := make([]int, len(boards)), false
		for i, b := range boards {
			row[i] = b[l.Letter]
			any = any || row[i] > 0
		}
		if any {
			h.Letters = append(h.Letters, string(l.Letter))
			h.Counts = append(h.Counts, row)
			h.Meaning[string(l.Letter)] = l.Word
		}
	}
	if len(h.Letters) == 0 {
		return nil
	}
	return h
}
