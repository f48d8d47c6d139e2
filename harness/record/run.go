// Package record holds what a campaign leaves behind: its values, and the
// folder that they are written to and read from. Everything in it is a plain
// value; nothing is computed here beyond what it takes to write and read.
package record

import (
	"time"

	"abacus/harness/load"
	"abacus/harness/observe"
	"abacus/harness/preflight"
)

// The schemas that this program writes. A reader refuses newer ones.
const (
	RunSchema         = 1
	ManifestSchema    = 1
	IdleSchema        = 1
	PreflightSchema   = 1
	EnvironmentSchema = 1
)

// Step is one load level.
type Step struct {
	Concurrency int     `json:"concurrency"`
	Requests    int64   `json:"requests,omitempty"`
	DurationS   float64 `json:"duration_s,omitempty"`
	KeepAlive   bool    `json:"keepalive"`
}

// Cell is what gets one line of figures: variant × page × step of a scenario,
// by one engine on one lab.
type Cell struct {
	Scenario string `json:"scenario"`
	Variant  string `json:"variant"`
	Page     string `json:"page,omitempty"`
	Engine   string `json:"engine"`
	Lab      string `json:"lab"`
	Step     Step   `json:"step"`
	// URL is what is loaded, as far as it is known when the plan is made: a
	// path on a lab, or an absolute URL.
	URL string `json:"url,omitempty"`
	// Baseline tells that the variant is its scenario's reference.
	Baseline bool `json:"baseline,omitempty"`
}

// Scenario is what the record keeps of a scenario beside its cells.
type Scenario struct {
	Name     string   `json:"name"`
	Title    string   `json:"title,omitempty"`
	Question string   `json:"question,omitempty"`
	Baseline string   `json:"baseline,omitempty"`
	Primary  string   `json:"primary"`
	Margin   float64  `json:"margin"`
	Caveats  []string `json:"caveats,omitempty"`
	Goals    []string `json:"goals,omitempty"`
}

// Run is one run file: what was asked, when, and everything that was seen.
type Run struct {
	Schema int `json:"schema"`
	// Seq is the place in the campaign's order, from 1; CellIndex points into
	// Manifest.Cells; Round and Block are as planned.
	Seq       int  `json:"seq"`
	CellIndex int  `json:"cell_index"`
	Round     int  `json:"round"`
	Block     int  `json:"block"`
	Cell      Cell `json:"cell"`
	// Job is what the engine was asked, with secrets unexpanded.
	Job load.Job `json:"job"`
	// StartedAt is the wall clock at the start of the load; nil when it never
	// started. ClockNS is package clock's reading at the same moment: sample
	// times count from there.
	StartedAt *time.Time `json:"started_at,omitempty"`
	ClockNS   int64      `json:"clock_ns,omitempty"`
	// Result is nil when the engine gave none; Error then says why.
	Result *load.Result     `json:"result,omitempty"`
	Error  string           `json:"error,omitempty"`
	Series []observe.Series `json:"series,omitempty"`
	Settle *Settle          `json:"settle,omitempty"`
	// Void says why the run must not enter any figure; empty is a good run.
	Void string `json:"void,omitempty"`
	// Stopped names the stop_if expression that ended the run early.
	Stopped string `json:"stopped,omitempty"`
	Hooks   []Hook `json:"hooks,omitempty"`
}

// Good tells whether the run's figures may be used: it ended as planned, is
// not void, and at least one answer was whole.
func (r Run) Good() bool {
	return r.Void == "" && r.Error == "" && r.Result != nil && !r.Result.Interrupted && r.Result.Counts.Complete > 0
}

// CutShort tells that a signal ended the run before its time: what it holds is
// kept, and the run is still to be made. A run that stop_if ended, or whose
// worker failed, is over.
func (r Run) CutShort() bool {
	return r.Result != nil && r.Result.Interrupted && r.Stopped == "" && r.Error == ""
}

// Settle tells how long a run waited for the machine to be idle.
type Settle struct {
	WaitedNS int64 `json:"waited_ns"`
	// TimedOut is set when the limit ended the wait; Reason names what was
	// still busy.
	TimedOut bool   `json:"timed_out,omitempty"`
	Reason   string `json:"reason,omitempty"`
}

// Hook is one command that ran beside the measurement, and how it ended.
type Hook struct {
	Kind     string   `json:"kind"` // setup, prepare, conclude, cleanup
	Args     []string `json:"args"`
	TookNS   int64    `json:"took_ns"`
	ExitCode *int     `json:"exit_code,omitempty"`
	Error    string   `json:"error,omitempty"`
	// Output is the end of what it printed.
	Output string `json:"output,omitempty"`
}

// Warmup tells how one variant was warmed up.
type Warmup struct {
	Cell     Cell  `json:"cell"`
	TookNS   int64 `json:"took_ns"`
	Requests int64 `json:"requests"`
	Steady   bool  `json:"steady"`
	// Fixed tells that it was to last a given number of requests or seconds,
	// so that steadiness was not asked for.
	Fixed  bool   `json:"fixed,omitempty"`
	Reason string `json:"reason"`
	// WindowsPerS is the throughput of its windows, in order.
	WindowsPerS []float64 `json:"windows_per_s,omitempty"`
	Error       string    `json:"error,omitempty"`
}

// The states of a record.
const (
	StateRunning     = "running"     // being written, or the writer was killed
	StateComplete    = "complete"    // every planned run is there or was given up by rule
	StateInterrupted = "interrupted" // stopped by a signal
	StateFailed      = "failed"      // stopped by an error
)

// Manifest is record.json: the campaign's frame, rewritten as it goes on.
type Manifest struct {
	Schema        int       `json:"schema"`
	AbacusVersion string    `json:"abacus_version"`
	Campaign      string    `json:"campaign"`
	Title         string    `json:"title,omitempty"`
	Question      string    `json:"question,omitempty"`
	Author        string    `json:"author,omitempty"`
	Notes         string    `json:"notes,omitempty"`
	Caveats       []string  `json:"caveats,omitempty"`
	Goals         []string  `json:"goals,omitempty"`
	Seed          uint64    `json:"seed"`
	Quick         bool      `json:"quick,omitempty"`
	CreatedAt     time.Time `json:"created_at"`
	// TimeZone is the local zone in which the campaign ran (IANA name or
	// abbreviation), UTCOffsetS its distance from UTC then.
	TimeZone   string     `json:"time_zone,omitempty"`
	UTCOffsetS int        `json:"utc_offset_s"`
	EndedAt    *time.Time `json:"ended_at,omitempty"`
	State      string     `json:"state"`
	// Reason says why the record is not complete.
	Reason      string     `json:"reason,omitempty"`
	Rounds      int        `json:"rounds"`
	PlannedRuns int        `json:"planned_runs"`
	Scenarios   []Scenario `json:"scenarios"`
	Cells       []Cell     `json:"cells"`
	Warmups     []Warmup   `json:"warmups,omitempty"`
	Hooks       []Hook     `json:"hooks,omitempty"`
	// LabNotes are sentences about the lab: what serves the demo's memcached
	// page, say. StatusURLs maps labs (or targets) to the status page polled;
	// a lab without one is absent.
	LabNotes   []string          `json:"lab_notes,omitempty"`
	StatusURLs map[string]string `json:"status_urls,omitempty"`
	// Skipped lists planned runs given up by rule, with the reason.
	Skipped []SkippedRun `json:"skipped,omitempty"`
	// Differences lists what was not the same when a record was resumed by force.
	Differences []string `json:"differences,omitempty"`
	// Fingerprint identifies plan and configuration, so that resume can
	// refuse another one.
	Fingerprint string `json:"fingerprint"`
}

// SkippedRun is a planned run that was given up by rule.
type SkippedRun struct {
	Seq    int    `json:"seq"`
	Reason string `json:"reason"`
}

// Preflight is preflight.json.
type Preflight struct {
	Schema int               `json:"schema"`
	Checks []preflight.Check `json:"checks"`
	Pages  []preflight.Page  `json:"pages,omitempty"`
}

// IdleFile is idle.json.
type IdleFile struct {
	Schema int `json:"schema"`
	preflight.Idle
}
