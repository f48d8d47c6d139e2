package observe

import "time"

// StatusRates is what happened on the server between two status samples. A
// figure that the samples do not give is nil.
type StatusRates struct {
	// ElapsedNS is the time between the two answers, by our own clock: the
	// server's has steps of a second.
	ElapsedNS int64 `json:"elapsed_ns"`
	// Requests were finished in between, without the polls themselves.
	Requests     *int64   `json:"requests,omitempty"`
	RequestsPerS *float64 `json:"requests_per_s,omitempty"`
	// BytesPerS has steps of 1 KiB, the counter's own.
	BytesPerS *float64 `json:"bytes_per_s,omitempty"`
	// MSPerRequest is the server's own mean time for them.
	MSPerRequest *float64 `json:"ms_per_request,omitempty"`
	// CPUCores is the CPU time used over the elapsed time: 1 is one full core.
	CPUCores *float64 `json:"cpu_cores,omitempty"`
	// Reset tells that the server was restarted in between (counters or
	// uptime fell, or another server answers): there are no rates then.
	Reset bool `json:"reset,omitempty"`
}

// Rates compares two status samples, the earlier one first. polls is the
// number of polls of ours that the counters took in between: 1 for two samples
// in a row, since a poll is counted from the next one on. Their requests and
// bytes are taken off. Samples without a status, or not in order, give no
// rates.
func Rates(prev, cur Sample, polls int) StatusRates {
	a, b := prev.Status, cur.Status
	// The page is written just before it is sent, so its counters belong to
	// the end of a poll, also of one that waited for a worker.
	r := StatusRates{ElapsedNS: cur.AtNS + cur.TookNS - prev.AtNS - prev.TookNS}
	if a == nil || b == nil || r.ElapsedNS <= 0 {
		return r
	}
	if restarted(a, b) {
		r.Reset = true
		return r
	}
	seconds := time.Duration(r.ElapsedNS).Seconds()
	if d, ok := delta(a.TotalAccesses, b.TotalAccesses); ok {
		n := max(d-int64(polls), 0)
		rate := float64(n) / seconds
		r.Requests, r.RequestsPerS = &n, &rate
	}
	if d, ok := delta(a.TotalKBytes, b.TotalKBytes); ok {
		bytes := d * 1024
		if b.PollBytes != nil {
			bytes -= int64(polls) * *b.PollBytes
		}
		if r.Requests != nil && *r.Requests == 0 {
			// Bytes are counted when a request ends: these are the polls' own,
			// whose size is only about known.
			bytes = 0
		}
		rate := float64(max(bytes, 0)) / seconds
		r.BytesPerS = &rate
	}
	if d, ok := delta(a.TotalDurationMS, b.TotalDurationMS); ok && r.Requests != nil && *r.Requests > 0 {
		mean := float64(d) / float64(*r.Requests)
		r.MSPerRequest = &mean
	}
	if a.CPUSeconds != nil && b.CPUSeconds != nil && *b.CPUSeconds >= *a.CPUSeconds {
		cores := (*b.CPUSeconds - *a.CPUSeconds) / seconds
		r.CPUCores = &cores
	}
	return r
}

// delta is the growth of a counter that both readings have.
func delta(a, b *int64) (int64, bool) {
	if a == nil || b == nil {
		return 0, false
	}
	return *b - *a, true
}

// restarted tells whether two readings are of two lives of a server.
func restarted(a, b *Status) bool {
	for _, p := range [][2]*int64{
		{a.UptimeS, b.UptimeS},
		{a.TotalAccesses, b.TotalAccesses},
		{a.TotalKBytes, b.TotalKBytes},
		{a.TotalDurationMS, b.TotalDurationMS},
		{a.ConfigGeneration, b.ConfigGeneration},
	} {
		if d, ok := delta(p[0], p[1]); ok && d < 0 {
			return true
		}
	}
	return a.ServerVersion != b.ServerVersion || a.ServerMPM != b.ServerMPM
}

// HostUse is what happened on the machine between two host samples. A figure
// that the samples do not give is nil.
type HostUse struct {
	ElapsedNS int64 `json:"elapsed_ns"`
	// Shares of all CPU time of all cores, 0 to 1. BusyShare is all but idle
	// and iowait.
	BusyShare   *float64 `json:"busy_share,omitempty"`
	UserShare   *float64 `json:"user_share,omitempty"` // user and nice
	SystemShare *float64 `json:"system_share,omitempty"`
	IOWaitShare *float64 `json:"iowait_share,omitempty"`
	IRQShare    *float64 `json:"irq_share,omitempty"` // hard and soft
	StealShare  *float64 `json:"steal_share,omitempty"`
	// CoreBusyShares has one entry a core, nil when the cores differ in number.
	CoreBusyShares []float64 `json:"core_busy_shares,omitempty"`

	SwapInBytesPerS     *float64 `json:"swap_in_bytes_per_s,omitempty"`
	SwapOutBytesPerS    *float64 `json:"swap_out_bytes_per_s,omitempty"`
	NetRxBytesPerS      *float64 `json:"net_rx_bytes_per_s,omitempty"`
	NetTxBytesPerS      *float64 `json:"net_tx_bytes_per_s,omitempty"`
	ContextSwitchesPerS *float64 `json:"context_switches_per_s,omitempty"`
}

// HostRates compares two host samples, the earlier one first. Samples without
// a host reading, or not in order, give no figure; a counter that fell gives
// none either.
func HostRates(prev, cur Sample) HostUse {
	a, b := prev.Host, cur.Host
	u := HostUse{ElapsedNS: cur.AtNS - prev.AtNS}
	if a == nil || b == nil || u.ElapsedNS <= 0 {
		return u
	}
	d := cpuDelta(a.CPU, b.CPU)
	if total := d.TotalNS(); total > 0 {
		share := func(ns int64) *float64 {
			s := float64(ns) / float64(total)
			return &s
		}
		u.BusyShare = share(d.BusyNS())
		u.UserShare = share(d.UserNS + d.NiceNS)
		u.SystemShare = share(d.SystemNS)
		u.IOWaitShare = share(d.IOWaitNS)
		u.IRQShare = share(d.IRQNS + d.SoftIRQNS)
		u.StealShare = share(d.StealNS)
	}
	if len(a.Cores) == len(b.Cores) {
		for i := range b.Cores {
			core := cpuDelta(a.Cores[i], b.Cores[i])
			busy := 0.0
			if total := core.TotalNS(); total > 0 {
				busy = float64(core.BusyNS()) / float64(total)
			}
			u.CoreBusyShares = append(u.CoreBusyShares, busy)
		}
	}
	seconds := time.Duration(u.ElapsedNS).Seconds()
	rate := func(from, to *uint64) *float64 {
		if from == nil || to == nil || *to < *from {
			return nil
		}
		r := float64(*to-*from) / seconds
		return &r
	}
	u.SwapInBytesPerS = rate(a.SwapInBytes, b.SwapInBytes)
	u.SwapOutBytesPerS = rate(a.SwapOutBytes, b.SwapOutBytes)
	u.NetRxBytesPerS = rate(a.NetRxBytes, b.NetRxBytes)
	u.NetTxBytesPerS = rate(a.NetTxBytes, b.NetTxBytes)
	u.ContextSwitchesPerS = rate(a.ContextSwitches, b.ContextSwitches)
	return u
}

// cpuDelta is the growth by mode. Linux lets iowait, idle and steal fall a
// little at times: that counts as no growth.
func cpuDelta(a, b CPUTimes) CPUTimes {
	grown := func(from, to int64) int64 { return max(to-from, 0) }
	return CPUTimes{
		UserNS: grown(a.UserNS, b.UserNS), NiceNS: grown(a.NiceNS, b.NiceNS),
		SystemNS: grown(a.SystemNS, b.SystemNS), IdleNS: grown(a.IdleNS, b.IdleNS),
		IOWaitNS: grown(a.IOWaitNS, b.IOWaitNS), IRQNS: grown(a.IRQNS, b.IRQNS),
		SoftIRQNS: grown(a.SoftIRQNS, b.SoftIRQNS), StealNS: grown(a.StealNS, b.StealNS),
	}
}
