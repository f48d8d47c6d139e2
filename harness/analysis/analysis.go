// Package analysis turns a record into what the numbers mean: summaries,
// comparisons, curves, timelines and findings. It is pure: the same record
// gives the same analysis, byte for byte.
package analysis

import (
	"time"

	"abacus/harness/preflight"
	"abacus/harness/record"
	"abacus/harness/stats"
)

// Schema is the version of the summary JSON.
const Schema = 1

// Analysis is everything that a reporter may show. Reporters compute no
// statistic of their own. Its JSON form is the summary of `report --format json`.
type Analysis struct {
	Schema   int      `json:"schema"`
	Campaign string   `json:"campaign"`
	Title    string   `json:"title,omitempty"`
	Question string   `json:"question,omitempty"`
	Author   string   `json:"author,omitempty"`
	Notes    string   `json:"notes,omitempty"`
	Caveats  []string `json:"caveats,omitempty"`
	// Record is the name of the record's folder (campaign/time), not a path.
	Record   string `json:"record"`
	Complete bool   `json:"complete"`
	// State and Reason are the record's; see package record.
	State        string `json:"state"`
	Reason       string `json:"reason,omitempty"`
	Quick        bool   `json:"quick,omitempty"`
	PlannedRuns  int    `json:"planned_runs"`
	FinishedRuns int    `json:"finished_runs"`
	Rounds       int    `json:"rounds"`
	// FinishedRuns leaves out the run that an interrupt cut off; LastRound is
	// the greatest round with a run, 0 without any.
	LastRound     int        `json:"last_round"`
	Seed          uint64     `json:"seed"`
	StartedAt     time.Time  `json:"started_at"`
	EndedAt       *time.Time `json:"ended_at,omitempty"`
	TimeZone      string     `json:"time_zone,omitempty"`
	UTCOffsetS    int        `json:"utc_offset_s"`
	AbacusVersion string     `json:"abacus_version"`

	Environment preflight.Environment `json:"environment"`
	Checks      []preflight.Check     `json:"checks,omitempty"`
	Pages       []preflight.Page      `json:"pages,omitempty"`
	Idle        *preflight.Idle       `json:"idle,omitempty"`
	Warmups     []record.Warmup       `json:"warmups,omitempty"`
	LabNotes    []string              `json:"lab_notes,omitempty"`
	StatusURLs  map[string]string     `json:"status_urls,omitempty"`

	// Verdict is the paragraph under the title: sentences in order, the
	// first is the main one. Never empty.
	Verdict []string `json:"verdict"`
	// Headline are up to four figures for the top of the page.
	Headline    []Headline   `json:"headline,omitempty"`
	Scenarios   []Scenario   `json:"scenarios"`
	Cells       []Cell       `json:"cells"`
	Comparisons []Comparison `json:"comparisons"`
	Curves      []Curve      `json:"curves"`
	Findings    []Finding    `json:"findings"`
	Goals       []GoalResult `json:"goals,omitempty"`
	Timelines   []Timeline   `json:"timelines,omitempty"`
	// CampaignYAML is the effective campaign file, as text.
	CampaignYAML string `json:"campaign_yaml,omitempty"`
}

// Resumable tells whether `abacus run --resume` would finish the record: it was
// interrupted, or its writer was killed after a run had ended. What an error
// stopped, such as a target that preflight refused, ends there again.
func (a *Analysis) Resumable() bool {
	switch a.State {
	case record.StateInterrupted:
		return true
	case record.StateRunning:
		return a.FinishedRuns > 0
	}
	return false
}

// Headline is one figure at the top of the page.
type Headline struct {
	Label string  `json:"label"`
	Value float64 `json:"value"`
	// Unit is "×", "/s", "ns" or "" (a count).
	Unit string      `json:"unit"`
	CI95 *[2]float64 `json:"ci95,omitempty"`
	// SD is the standard deviation between runs; nil for a ratio or a count.
	SD   *float64 `json:"sd,omitempty"`
	Note string   `json:"note,omitempty"`
	// Warn marks a figure that must not be read as all well.
	Warn bool `json:"warn,omitempty"`
	// Points are the values run by run, in order of rounds.
	Points []float64 `json:"points,omitempty"`
}

// Scenario frames the cells that share its name.
type Scenario struct {
	Name     string   `json:"name"`
	Title    string   `json:"title,omitempty"`
	Question string   `json:"question,omitempty"`
	Baseline string   `json:"baseline,omitempty"`
	Primary  string   `json:"primary"`
	Margin   float64  `json:"margin"`
	Caveats  []string `json:"caveats,omitempty"`
	// Kind is "ladder" (steps that differ in load; drawn as curves) or
	// "comparison" (one step, several variants; drawn as bars).
	Kind string `json:"kind"`
	// Finding is the sentence that titles its chart: what the interval
	// allows, or the bare subject.
	Finding string `json:"finding"`
	// CellIndexes point into Analysis.Cells in the order of the tables: a
	// ladder ascending, a comparison by the primary metric, best first.
	CellIndexes []int `json:"cell_indexes"`
}

// Cell is one line of figures.
type Cell struct {
	Scenario string      `json:"scenario"`
	Variant  string      `json:"variant"`
	Page     string      `json:"page,omitempty"`
	Engine   string      `json:"engine"`
	Lab      string      `json:"lab"`
	URL      string      `json:"url,omitempty"`
	Baseline bool        `json:"baseline,omitempty"`
	Step     record.Step `json:"step"`
	// Label names the level in plain words: "50 connections, no keep-alive".
	Label string `json:"label"`
	// Runs are the good ones; void, failed and missing ones stand beside.
	// FailedRuns counts those that stop_if ended, too.
	Runs        int `json:"runs"`
	VoidRuns    int `json:"void_runs"`
	FailedRuns  int `json:"failed_runs"`
	PlannedRuns int `json:"planned_runs"`
	// Throughput is over the good runs; nil without any. Its interval, as those
	// of latencies, begins at 0 at the least.
	Throughput *stats.Spread `json:"throughput_per_s,omitempty"`
	Latency    Latency       `json:"latency_ns"`
	WithinRun  WithinRun     `json:"within_run_ns"`
	// The counts are sums over all runs that have a result, bad ones included.
	Complete   int64            `json:"complete"`
	Failed     int64            `json:"failed"`
	FailedBy   map[string]int64 `json:"failed_by"`
	Non2xx     int64            `json:"non_2xx"`
	Reconnects *int64           `json:"reconnects,omitempty"`
	// Bytes were received, headers and bodies; nil where the engine cannot tell.
	Bytes *int64 `json:"bytes,omitempty"`
	// DocumentBytes is the body length of the first whole answer.
	DocumentBytes *int64 `json:"document_bytes,omitempty"`

	// StatusSamples counts readings of the status page within the load of good
	// runs; nil when none was polled. Busy and idle workers are as the page
	// shows them: the worker that answers the poll is one of the busy ones.
	// WorkersLimit is the number of slots of the scoreboard.
	StatusSamples         *int     `json:"status_samples,omitempty"`
	BusyWorkersPeak       *int64   `json:"busy_workers_peak,omitempty"`
	IdleWorkersMin        *int64   `json:"idle_workers_min,omitempty"`
	WorkersLimit          *int64   `json:"workers_limit,omitempty"`
	ClientCPUNSPerRequest *float64 `json:"client_cpu_ns_per_request,omitempty"`
	ServerCPUNSPerRequest *float64 `json:"server_cpu_ns_per_request,omitempty"`
	// ClientCPUShare is the client's CPU time over the run's length and the
	// cores it may use, 0 to 1.
	ClientCPUShare *float64 `json:"client_cpu_share,omitempty"`

	// Points are the runs one by one, in order of rounds.
	Points []Point `json:"points"`
	// Percentiles is the merged histogram's quantile curve, rising.
	Percentiles []Percentile `json:"percentiles,omitempty"`
}

// Figure is one latency figure of a cell in nanoseconds.
type Figure struct {
	// Value is of the merged histogram of all good runs.
	Value *float64 `json:"value,omitempty"`
	// Runs describes the spread of the per-run figures.
	Runs *stats.Spread `json:"runs,omitempty"`
}

// Latency is total latency: mean, percentiles, greatest.
type Latency struct {
	Mean Figure `json:"mean"`
	P50  Figure `json:"p50"`
	P75  Figure `json:"p75"`
	P90  Figure `json:"p90"`
	P95  Figure `json:"p95"`
	P99  Figure `json:"p99"`
	P999 Figure `json:"p999"`
	Max  Figure `json:"max"`
}

// Within is the spread within runs of one phase, over all requests of all
// good runs, in nanoseconds.
type Within struct {
	Count  int64    `json:"count"`
	Mean   float64  `json:"mean"`
	SD     *float64 `json:"sd,omitempty"`
	Min    int64    `json:"min"`
	Median int64    `json:"median"`
	Max    int64    `json:"max"`
}

// WithinRun has the four phases; nil where none was recorded.
type WithinRun struct {
	Connect    *Within `json:"connect,omitempty"`
	Waiting    *Within `json:"waiting,omitempty"`
	Processing *Within `json:"processing,omitempty"`
	Total      *Within `json:"total,omitempty"`
}

// Point is one run on a chart.
type Point struct {
	Seq   int `json:"seq"`
	Round int `json:"round"`
	// Throughput and the latencies are nil when the run has none.
	Throughput *float64 `json:"throughput_per_s,omitempty"`
	MeanNS     *float64 `json:"mean_ns,omitempty"`
	P50NS      *float64 `json:"p50_ns,omitempty"`
	P95NS      *float64 `json:"p95_ns,omitempty"`
	P99NS      *float64 `json:"p99_ns,omitempty"`
	// Complete and Failed are nil when the run gave no result.
	Complete *int64 `json:"complete,omitempty"`
	Failed   *int64 `json:"failed,omitempty"`
	// Bad says why the run is in no figure: its void reason or error.
	Bad string `json:"bad,omitempty"`
	// State of a bad run is void, failed, stopped (by stop_if) or interrupted;
	// empty for a good one.
	State string `json:"state,omitempty"`
}

// Percentile is one point of a quantile curve.
type Percentile struct {
	// Q is the share of answers within NS, 0 to 1; Beyond is how many took longer.
	Q      float64 `json:"q"`
	NS     int64   `json:"ns"`
	Beyond int64   `json:"beyond"`
}

// Comparison is one variant against another on one metric, paired by block.
type Comparison struct {
	Scenario string      `json:"scenario"`
	Page     string      `json:"page,omitempty"`
	Step     record.Step `json:"step"`
	Metric   string      `json:"metric"`
	A        string      `json:"a"`
	B        string      `json:"b"`
	// Baseline is the variant (A or B) that is the reference, Primary tells
	// that the metric is the one a verdict rests on.
	Baseline string `json:"baseline"`
	Primary  bool   `json:"primary"`
	// N is the number of complete blocks.
	N int `json:"n"`
	// Ratio is the geometric mean over blocks of A ÷ B; nil without a block.
	Ratio *float64 `json:"ratio,omitempty"`
	// CI95 is its 95 % interval: t interval on the log ratios, exponentiated;
	// nil under two blocks.
	CI95   *[2]float64 `json:"ci95,omitempty"`
	PValue *float64    `json:"p_value,omitempty"`
	PHolm  *float64    `json:"p_holm,omitempty"`
	PMWU   *float64    `json:"p_mann_whitney,omitempty"`
	Margin float64     `json:"margin"`
	// Verdict is faster, slower, equivalent, no_difference_shown or
	// not_enough_runs; empty for an exploratory comparison (Primary false).
	Verdict string `json:"verdict"`
	// Sentence says it in plain words that the interval allows.
	Sentence string `json:"sentence"`
	// BlockRatios are the ratios block by block, in order of rounds.
	BlockRatios []float64 `json:"block_ratios,omitempty"`
}

// Curve is a ladder's course over its load levels.
type Curve struct {
	Scenario string `json:"scenario"`
	Variant  string `json:"variant"`
	Page     string `json:"page,omitempty"`
	Engine   string `json:"engine"`
	// CellIndexes are the joined levels ascending; Apart those that differ in
	// more than load and stand as marks of their own.
	CellIndexes []int `json:"points"`
	Apart       []int `json:"apart,omitempty"`
}

// Scope says what a finding is about; empty fields mean all.
type Scope struct {
	Scenario string       `json:"scenario,omitempty"`
	Variant  string       `json:"variant,omitempty"`
	Page     string       `json:"page,omitempty"`
	Step     *record.Step `json:"step,omitempty"`
	// Run is the run's Seq.
	Run int `json:"run,omitempty"`
}

// Finding is one judgement with its evidence.
type Finding struct {
	ID       string             `json:"id"`
	Severity preflight.Severity `json:"severity"`
	Title    string             `json:"title"`
	Evidence string             `json:"evidence"`
	// Advice is one act; empty when there is none to take.
	Advice string `json:"advice,omitempty"`
	Scope  Scope  `json:"scope"`
	AtNS   *int64 `json:"at_ns,omitempty"`
	// Confidence is high, medium or low.
	Confidence string `json:"confidence"`
}

// GoalResult is one goal, judged on one cell.
type GoalResult struct {
	Goal  string `json:"goal"`
	Scope Scope  `json:"scope"`
	// Outcome is met, missed or undecided.
	Outcome  string `json:"outcome"`
	Evidence string `json:"evidence"`
}

// Timeline is one round of one scenario on one axis: load, workers, CPU and
// memory as they went. Times are seconds from the first segment's start.
type Timeline struct {
	Scenario string `json:"scenario"`
	Round    int    `json:"round"`
	// Title says what is drawn.
	Title    string    `json:"title"`
	Segments []Segment `json:"segments"`
	Panels   []Panel   `json:"panels"`
	// Scoreboard is nil when no status page was read.
	Scoreboard *Heat `json:"scoreboard,omitempty"`
	// Missing are sentences on what was not observed, and why.
	Missing []string `json:"missing,omitempty"`
}

// Segment is one run on a timeline's axis.
type Segment struct {
	Label  string  `json:"label"`
	StartS float64 `json:"start_s"`
	EndS   float64 `json:"end_s"`
}

// Panel is one strip of a timeline.
type Panel struct {
	// ID is throughput, latency, workers, cpu, memory, swap or network.
	ID    string `json:"id"`
	Title string `json:"title"`
	Unit  string `json:"unit"`
	// AllZero tells that nothing moved: the strip may shrink.
	AllZero bool    `json:"all_zero,omitempty"`
	Lines   []Line  `json:"lines"`
	Max     float64 `json:"max,omitempty"`
}

// Line is one series of a panel. A gap in the samples is a new Line entry in
// Parts, never a joined line.
type Line struct {
	Name  string         `json:"name"`
	Parts [][][2]float64 `json:"parts"` // parts of [seconds, value]
}

// Heat is the scoreboard over time: for each letter, slots per sample.
type Heat struct {
	Letters []string          `json:"letters"`
	AtS     []float64         `json:"at_s"`
	Counts  [][]int           `json:"counts"` // [letter][sample]
	Slots   int               `json:"slots"`
	Meaning map[string]string `json:"meaning"`
}
