// Package preflight finds out what is really being measured, and whether one
// may start: the target's answers, the status page, the machine and its idle
// baseline, each as a check with its evidence.
package preflight

// Severity says how much a check or a finding matters.
type Severity string

// The severities, least first. OK is a check that passed, NotSeen one that
// could not be made.
const (
	OK       Severity = "ok"
	NotSeen  Severity = "not_seen"
	Info     Severity = "info"
	Warning  Severity = "warning"
	Critical Severity = "critical"
)

// Check is one question that was asked before load, and its answer.
type Check struct {
	ID       string   `json:"id"`
	Question string   `json:"question"`
	Method   string   `json:"method"`
	Severity Severity `json:"severity"`
	// Finding states the answer in one sentence, Evidence lists what was
	// seen, Advice is one act to take.
	Finding  string   `json:"finding"`
	Evidence []string `json:"evidence,omitempty"`
	Advice   string   `json:"advice,omitempty"`
	// Target is what the check was about: scenario/variant, or empty.
	Target string `json:"target,omitempty"`
}

// Page is what the fetches of one target without load gave.
type Page struct {
	Scenario string `json:"scenario"`
	Variant  string `json:"variant"`
	// Path is the page's path; empty when the variant has one page.
	Path    string `json:"path,omitempty"`
	URL     string `json:"url"`
	Status  int    `json:"status,omitempty"`
	Bytes   *int64 `json:"bytes,omitempty"`
	SHA256  string `json:"sha256,omitempty"`
	Fetches int    `json:"fetches"`
	// Stable tells whether all fetches gave the same bytes.
	Stable bool `json:"stable"`
	// Headers are the answer's headers that matter for a benchmark, by name
	// in canonical form.
	Headers map[string]string `json:"headers,omitempty"`
	// Redirect is where a 3xx points; RedirectElsewhere tells that this is
	// another host, which is never loaded.
	Redirect          string `json:"redirect,omitempty"`
	RedirectElsewhere bool   `json:"redirect_elsewhere,omitempty"`
	Protocol          string `json:"protocol,omitempty"`
	TLS               string `json:"tls,omitempty"`
	// Addresses are all addresses that the host resolved to.
	Addresses []string `json:"addresses,omitempty"`
	Error     string   `json:"error,omitempty"`
}

// Phases splits one request into its parts; nil parts did not happen or were
// not seen. All in nanoseconds.
type Phases struct {
	DNSNS       *int64 `json:"dns_ns,omitempty"`
	ConnectNS   *int64 `json:"connect_ns,omitempty"`
	TLSNS       *int64 `json:"tls_ns,omitempty"`
	FirstByteNS *int64 `json:"first_byte_ns,omitempty"`
	TotalNS     int64  `json:"total_ns"`
	Status      int    `json:"status,omitempty"`
	Error       string `json:"error,omitempty"`
}

// Idle is the machine and the server before any load.
type Idle struct {
	DurationNS int64 `json:"duration_ns"`
	// CPUBusyShare is busy time over all time of all cores, 0 to 1.
	CPUBusyShare  *float64 `json:"cpu_busy_share,omitempty"`
	CPUStealShare *float64 `json:"cpu_steal_share,omitempty"`
	IOWaitShare   *float64 `json:"iowait_share,omitempty"`
	Load1         *float64 `json:"load1,omitempty"`
	MemAvailable  *uint64  `json:"mem_available_bytes,omitempty"`
	MemTotal      *uint64  `json:"mem_total_bytes,omitempty"`
	SwapMoved     *uint64  `json:"swap_moved_bytes,omitempty"`
	TimeWait      *int64   `json:"time_wait,omitempty"`
	// BusyWorkers is the highest seen (the poll itself holds one),
	// IdleWorkers the lowest, ForeignRequests the accesses that were not polls.
	BusyWorkers     *int64 `json:"busy_workers,omitempty"`
	IdleWorkers     *int64 `json:"idle_workers,omitempty"`
	ForeignRequests *int64 `json:"foreign_requests,omitempty"`
	// Singles are the single requests, one after another.
	SinglesURL string   `json:"singles_url,omitempty"`
	Singles    []Phases `json:"singles,omitempty"`
	// MayStart is the verdict, Reason its sentence.
	MayStart bool   `json:"may_start"`
	Reason   string `json:"reason"`
	// Checks are the verdict's parts.
	Checks []Check `json:"checks,omitempty"`
}

// Environment is the machine that everything ran on. What is unknown is left
// out.
type Environment struct {
	Schema        int               `json:"schema"`
	AbacusVersion string            `json:"abacus_version"`
	GoVersion     string            `json:"go_version"`
	OS            string            `json:"os"`
	Platform      string            `json:"platform,omitempty"`
	Kernel        string            `json:"kernel,omitempty"`
	Arch          string            `json:"arch"`
	CPUModel      string            `json:"cpu_model,omitempty"`
	CPUs          int               `json:"cpus"`
	Governor      string            `json:"governor,omitempty"`
	Virtual       string            `json:"virtualization,omitempty"`
	MemBytes      uint64            `json:"mem_bytes,omitempty"`
	SwapBytes     *uint64           `json:"swap_bytes,omitempty"`
	CgroupCPUs    *float64          `json:"cgroup_cpus,omitempty"`
	CgroupMem     *uint64           `json:"cgroup_mem_bytes,omitempty"`
	OpenFiles     *uint64           `json:"open_files_limit,omitempty"`
	PortRange     string            `json:"ephemeral_ports,omitempty"`
	Somaxconn     *int64            `json:"somaxconn,omitempty"`
	SameMachine   *bool             `json:"client_and_server_share_machine,omitempty"`
	Versions      map[string]string `json:"versions,omitempty"`
	TimeZone      string            `json:"time_zone,omitempty"`
}
