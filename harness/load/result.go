package load

import (
	"cmp"
	"slices"
	"time"
)

// FailureKind says in which way a request went wrong. Each failed request is
// of exactly one kind.
type FailureKind string

// The kinds of failure. A Length failure is a whole answer whose body has
// another length than the first one; all others have no whole answer.
const (
	FailConnect   FailureKind = "connect"   // no connection, or no TLS on it
	FailReceive   FailureKind = "receive"   // the connection broke or closed before the answer was whole
	FailLength    FailureKind = "length"    // whole answer, other length than the first
	FailTimeout   FailureKind = "timeout"   // not whole within Job.Timeout
	FailException FailureKind = "exception" // not HTTP, or an error of no other kind
)

// Kinds lists all failure kinds in the order in which they are printed.
func Kinds() []FailureKind {
	return []FailureKind{FailConnect, FailReceive, FailLength, FailTimeout, FailException}
}

// Counts is the engine's bookkeeping. Requests made = Complete + Failed −
// Length, since a length failure is a whole answer too. A pointer that is nil
// means that the engine cannot know the figure.
type Counts struct {
	// Complete counts whole answers, of any status and length.
	Complete int64 `json:"complete"`
	// Failed is the sum of the five kinds.
	Failed    int64  `json:"failed"`
	Connect   int64  `json:"failed_connect"`
	Receive   int64  `json:"failed_receive"`
	Length    *int64 `json:"failed_length,omitempty"`
	Timeout   int64  `json:"failed_timeout"`
	Exception int64  `json:"failed_exception"`
	// Non2xx counts whole answers whose status is not 2xx; they are no failures.
	Non2xx int64 `json:"non_2xx"`
	// Reconnects counts requests that were sent again on a new connection
	// because a kept one had been closed between two requests.
	Reconnects *int64 `json:"reconnects,omitempty"`
	// KeptAlive counts whole answers that came on a reused connection.
	KeptAlive *int64 `json:"kept_alive,omitempty"`
	// HeaderBytes and BodyBytes were received (failed answers included),
	// SentBytes were written. BodyBytes counts what is left after chunk
	// framing is taken off.
	HeaderBytes *int64 `json:"header_bytes,omitempty"`
	BodyBytes   *int64 `json:"body_bytes,omitempty"`
	SentBytes   *int64 `json:"sent_bytes,omitempty"`
}

// Requests is the number of requests that were made and ended.
func (c Counts) Requests() int64 {
	n := c.Complete + c.Failed
	if c.Length != nil {
		n -= *c.Length
	}
	return n
}

// ByKind returns the count of one failure kind and whether it is known.
func (c Counts) ByKind(k FailureKind) (int64, bool) {
	switch k {
	case FailConnect:
		return c.Connect, true
	case FailReceive:
		return c.Receive, true
	case FailLength:
		if c.Length == nil {
			return 0, false
		}
		return *c.Length, true
	case FailTimeout:
		return c.Timeout, true
	case FailException:
		return c.Exception, true
	}
	return 0, false
}

// Add counts one failure of kind k.
func (c *Counts) Add(k FailureKind) { c.AddN(k, 1) }

// AddN counts n failures of kind k.
func (c *Counts) AddN(k FailureKind, n int64) {
	c.Failed += n
	switch k {
	case FailConnect:
		c.Connect += n
	case FailReceive:
		c.Receive += n
	case FailLength:
		if c.Length == nil {
			c.Length = new(int64)
		}
		*c.Length += n
	case FailTimeout:
		c.Timeout += n
	default:
		c.Exception += n
	}
}

// Merge adds the counts of o. A figure that either side does not know stays
// known by the other.
func (c *Counts) Merge(o Counts) {
	c.Complete += o.Complete
	c.Failed += o.Failed
	c.Connect += o.Connect
	c.Receive += o.Receive
	c.Timeout += o.Timeout
	c.Exception += o.Exception
	c.Non2xx += o.Non2xx
	for _, p := range []struct{ to, from **int64 }{
		{&c.Length, &o.Length}, {&c.Reconnects, &o.Reconnects}, {&c.KeptAlive, &o.KeptAlive},
		{&c.HeaderBytes, &o.HeaderBytes}, {&c.BodyBytes, &o.BodyBytes}, {&c.SentBytes, &o.SentBytes},
	} {
		switch {
		case *p.from == nil:
		case *p.to == nil:
			v := **p.from
			*p.to = &v
		default:
			**p.to += **p.from
		}
	}
}

// Interval is what happened in one slice of a run.
type Interval struct {
	// StartNS and LengthNS lay the slice on the run's axis, from its load start.
	StartNS  int64 `json:"start_ns"`
	LengthNS int64 `json:"length_ns"`
	// The counts are those of Counts, of the requests that ended in the slice.
	Complete  int64 `json:"complete"`
	Failed    int64 `json:"failed"`
	Timeouts  int64 `json:"timeouts,omitempty"`
	Status429 int64 `json:"status_429,omitempty"`
	// Bytes is body bytes received; nil where the engine cannot tell.
	Bytes *int64 `json:"bytes,omitempty"`
	// Percentiles of the total latency of the answers that ended in the
	// slice; nil when none did.
	P50NS *int64 `json:"p50_ns,omitempty"`
	P95NS *int64 `json:"p95_ns,omitempty"`
	P99NS *int64 `json:"p99_ns,omitempty"`
	MaxNS *int64 `json:"max_ns,omitempty"`
}

// Progress is what an engine says while it runs: counts so far and the
// interval that has just ended.
type Progress struct {
	ElapsedNS int64     `json:"elapsed_ns"`
	Counts    Counts    `json:"counts"`
	Interval  *Interval `json:"interval,omitempty"`
	// Begun counts the requests begun so far, from an engine that learns only
	// at its end which of them succeeded: Counts is then zero without meaning
	// anything. nil from an engine that counts as it goes.
	Begun *int64 `json:"begun,omitempty"`
}

// Usage is what the client process itself spent on the run.
type Usage struct {
	CPUUserNS   int64 `json:"cpu_user_ns"`
	CPUSystemNS int64 `json:"cpu_system_ns"`
	MaxRSSBytes int64 `json:"max_rss_bytes,omitempty"`
	// SchedP99NS is the 99th percentile of the time that goroutines waited
	// for a processor (runtime/metrics /sched/latencies), GCPauseNS the sum
	// of the stops of the garbage collector; nil when not measured.
	SchedP99NS *int64 `json:"sched_p99_ns,omitempty"`
	GCPauseNS  *int64 `json:"gc_pause_ns,omitempty"`
	Cores      int    `json:"cores,omitempty"`
}

// ExpectChecks is what sampled answers said of the expect rules.
type ExpectChecks struct {
	Checked int64 `json:"checked"`
	Unmet   int64 `json:"unmet"`
	// Examples holds at most five sentences of rules that were broken.
	Examples []string `json:"examples,omitempty"`
}

// LengthCount is one body length with the number of answers that had it.
type LengthCount struct {
	Bytes int64 `json:"bytes"`
	Count int64 `json:"count"`
}

// TLSInfo is what the first handshake agreed on.
type TLSInfo struct {
	Version string `json:"version"` // TLSv1.3
	Cipher  string `json:"cipher"`  // TLS_AES_128_GCM_SHA256, ECDHE-RSA-AES128-GCM-SHA256
	// CipherBits and KeyBits are the strength of the cipher and of the
	// certificate's key; TempKey names the key exchange, as ab prints it.
	CipherBits int    `json:"cipher_bits,omitempty"`
	KeyBits    int    `json:"key_bits,omitempty"`
	TempKey    string `json:"temp_key,omitempty"`
	// ServerName is the name sent (SNI); empty when none was.
	ServerName string `json:"server_name,omitempty"`
}

// Result is what one run of load was like. All times are nanoseconds.
type Result struct {
	Engine        string `json:"engine"`
	EngineVersion string `json:"engine_version,omitempty"`
	// StartedAt is the wall clock and StartMonoNS the machine's monotonic
	// clock (package clock) when the first connection was begun; ElapsedNS
	// counts from there to the end of the last request, or to the end of
	// Job.Duration, or the stop, where that came later.
	StartedAt   time.Time `json:"started_at"`
	StartMonoNS int64     `json:"start_mono_ns"`
	ElapsedNS   int64     `json:"elapsed_ns"`
	// Interrupted is set when the run was stopped before its end was reached.
	Interrupted bool   `json:"interrupted,omitempty"`
	Counts      Counts `json:"counts"`
	// StatusCodes counts whole answers by their status.
	StatusCodes map[int]int64 `json:"status_codes,omitempty"`
	// Connect holds real connects only (TLS included), Waiting runs from the
	// request's last byte written to the answer's first byte, Processing from
	// connected to the answer's end, Total from before connect to the end.
	// Only whole answers are in them. nil where the engine cannot tell.
	Connect    *Distribution `json:"connect,omitempty"`
	Waiting    *Distribution `json:"waiting,omitempty"`
	Processing *Distribution `json:"processing,omitempty"`
	Total      *Distribution `json:"total,omitempty"`
	// Intervals follow each other and end with the run.
	Intervals []Interval  `json:"intervals,omitempty"`
	Errors    []ErrorText `json:"errors,omitempty"`
	// DocumentBytes is the body length of the first whole answer, Lengths the
	// lengths that came (at most ten, the most frequent first).
	DocumentBytes *int64        `json:"document_bytes,omitempty"`
	Lengths       []LengthCount `json:"lengths,omitempty"`
	Server        string        `json:"server,omitempty"`
	Protocol      string        `json:"protocol,omitempty"`
	TLS           *TLSInfo      `json:"tls,omitempty"`
	Expect        *ExpectChecks `json:"expect,omitempty"`
	Usage         *Usage        `json:"usage,omitempty"`
	// Notes are sentences about what the engine could not do as asked.
	Notes []string `json:"notes,omitempty"`
}

// ThroughputPerS is whole answers per second of the run; ok is false for a
// run without a positive length.
func (r *Result) ThroughputPerS() (v float64, ok bool) {
	if r.ElapsedNS <= 0 {
		return 0, false
	}
	return float64(r.Counts.Complete) / (float64(r.ElapsedNS) / 1e9), true
}

// TopLengths turns counts by length into the list of a Result: the most
// frequent first, then the shorter, at most ten.
func TopLengths(counts map[int64]int64) []LengthCount {
	list := make([]LengthCount, 0, len(counts))
	for bytes, n := range counts {
		list = append(list, LengthCount{Bytes: bytes, Count: n})
	}
	slices.SortFunc(list, func(a, b LengthCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Bytes, b.Bytes))
	})
	return list[:min(len(list), 10)]
}
