// Package observe takes readings of the server and of the machine while load
// runs: mod_status, the host, processes. A poller takes one reading; Collect
// calls it on a ticker and keeps the readings in time, with what each poll
// cost. Nothing here can hold up the load.
package observe

// Reading is what one poll saw. Exactly the parts that its poller reads are
// set.
type Reading struct {
	Status    *Status   `json:"status,omitempty"`
	Host      *Host     `json:"host,omitempty"`
	Processes []Process `json:"processes,omitempty"`
}

// Sample is a reading in time.
type Sample struct {
	// AtNS is when the poll was begun. Collect gives package clock's time;
	// record rebases it so that 0 is the start of the run's load (negative
	// before).
	AtNS int64 `json:"at_ns"`
	// TookNS is how long the poll took.
	TookNS int64 `json:"took_ns"`
	// Error says why there is no reading; the Reading is then empty.
	Error string `json:"error,omitempty"`
	Reading
}

// Series is everything that one poller said during one run.
type Series struct {
	// Source names the poller: status, host, processes.
	Source     string `json:"source"`
	IntervalNS int64  `json:"interval_ns"`
	// Polls were begun; of them Failed gave no reading and Late took longer
	// than the interval. Skipped counts ticks at which the poll before was
	// still running, so none was begun.
	Polls   int      `json:"polls"`
	Failed  int      `json:"failed,omitempty"`
	Late    int      `json:"late,omitempty"`
	Skipped int      `json:"skipped,omitempty"`
	Samples []Sample `json:"samples,omitempty"`
}

// Status is one reading of Apache's mod_status page (?auto). Every field is
// optional: ExtendedStatus Off, older versions and other MPMs leave fields
// out, and a missing one is nil.
type Status struct {
	ServerVersion string `json:"server_version,omitempty"`
	ServerMPM     string `json:"server_mpm,omitempty"`
	UptimeS       *int64 `json:"uptime_s,omitempty"`
	// Counters since the server's start.
	TotalAccesses   *int64 `json:"total_accesses,omitempty"`
	TotalKBytes     *int64 `json:"total_kbytes,omitempty"`
	TotalDurationMS *int64 `json:"total_duration_ms,omitempty"`
	// CPUSeconds is the sum of the four CPU fields.
	CPUSeconds *float64 `json:"cpu_s,omitempty"`
	// Gauges.
	BusyWorkers         *int64   `json:"busy_workers,omitempty"`
	IdleWorkers         *int64   `json:"idle_workers,omitempty"`
	GracefulWorkers     *int64   `json:"graceful_workers,omitempty"`
	Processes           *int64   `json:"processes,omitempty"`
	Stopping            *int64   `json:"stopping,omitempty"`
	ConnsTotal          *int64   `json:"conns_total,omitempty"`
	ConnsAsyncWaitIO    *int64   `json:"conns_async_wait_io,omitempty"`
	ConnsAsyncWriting   *int64   `json:"conns_async_writing,omitempty"`
	ConnsAsyncKeepAlive *int64   `json:"conns_async_keep_alive,omitempty"`
	ConnsAsyncClosing   *int64   `json:"conns_async_closing,omitempty"`
	ConfigGeneration    *int64   `json:"config_generation,omitempty"`
	Load1               *float64 `json:"load1,omitempty"`
	// Scoreboard has one letter per worker slot; its length is the effective
	// worker limit.
	Scoreboard string `json:"scoreboard,omitempty"`
	// PollBytes is about what the poll's own answer took on the wire, head
	// included; the server counts it in Total kBytes.
	PollBytes *int64 `json:"poll_bytes,omitempty"`
}

// Host is one reading of the machine: counters since boot and gauges. Times
// are nanoseconds.
type Host struct {
	// CPU is the sum over all cores, Cores one entry a core.
	CPU   CPUTimes   `json:"cpu"`
	Cores []CPUTimes `json:"cores,omitempty"`
	Load1 *float64   `json:"load1,omitempty"`

	MemTotalBytes     uint64  `json:"mem_total_bytes"`
	MemAvailableBytes uint64  `json:"mem_available_bytes"`
	SwapTotalBytes    uint64  `json:"swap_total_bytes"`
	SwapUsedBytes     uint64  `json:"swap_used_bytes"`
	SwapInBytes       *uint64 `json:"swap_in_bytes,omitempty"`  // counter
	SwapOutBytes      *uint64 `json:"swap_out_bytes,omitempty"` // counter

	NetRxBytes      *uint64 `json:"net_rx_bytes,omitempty"` // counters over all interfaces, loopback included
	NetTxBytes      *uint64 `json:"net_tx_bytes,omitempty"`
	ContextSwitches *uint64 `json:"context_switches,omitempty"` // counter
	// TimeWait is the number of TCP sockets in TIME_WAIT now.
	TimeWait *int64 `json:"time_wait,omitempty"`
}

// CPUTimes is CPU time since boot by mode, in nanoseconds.
type CPUTimes struct {
	UserNS    int64 `json:"user_ns"`
	NiceNS    int64 `json:"nice_ns,omitempty"`
	SystemNS  int64 `json:"system_ns"`
	IdleNS    int64 `json:"idle_ns"`
	IOWaitNS  int64 `json:"iowait_ns,omitempty"`
	IRQNS     int64 `json:"irq_ns,omitempty"`
	SoftIRQNS int64 `json:"softirq_ns,omitempty"`
	StealNS   int64 `json:"steal_ns,omitempty"`
}

// BusyNS is all time but idle and iowait.
func (c CPUTimes) BusyNS() int64 {
	return c.UserNS + c.NiceNS + c.SystemNS + c.IRQNS + c.SoftIRQNS + c.StealNS
}

// TotalNS is the sum of all modes.
func (c CPUTimes) TotalNS() int64 { return c.BusyNS() + c.IdleNS + c.IOWaitNS }

// Process is one reading of a group of processes that play one role.
type Process struct {
	// Role is client (the load worker), server, memcached, or abacus itself.
	Role string `json:"role"`
	// Count is the number of living processes of the role.
	Count       int    `json:"count"`
	CPUUserNS   int64  `json:"cpu_user_ns"`
	CPUSystemNS int64  `json:"cpu_system_ns"`
	RSSBytes    uint64 `json:"rss_bytes"`
	Threads     int    `json:"threads"`
}
