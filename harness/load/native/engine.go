package native

import (
	"context"

	"abacus/harness/fault"
	"abacus/harness/load"
)

// Version is the version of the engine's accounting. It changes when a figure
// of the same run would come out differently.
const Version = "1"

// DefaultTraceBody is the number of body bytes kept for Trace when
// Engine.TraceBody is 0.
const DefaultTraceBody = 64 << 10

// Engine runs load jobs with abacus's own HTTP/1 client. The zero value is
// ready to use, also by several runs at once.
type Engine struct {
	// Trace, when set, is called after every exchange that is counted, one
	// call at a time within a run. It delays the connection that called.
	// Optional.
	Trace func(Exchange)
	// TraceBody is the most body bytes kept for Trace: 0 is
	// DefaultTraceBody, negative keeps none. Optional.
	TraceBody int
}

// Exchange is one request with its answer, or with what went wrong. Its
// slices are valid during the call only.
type Exchange struct {
	// Conn numbers the connection's goroutine, from 0; Seq the request, from 1.
	Conn int
	Seq  int64
	// Request is what was written, Head the final answer's head with its
	// empty line (as much as came), Body its first TraceBody bytes.
	Request, Head, Body []byte
	// Status is the status of the answer, 0 when none came.
	Status int
	// BodyBytes is the length of the body received, after chunk framing.
	BodyBytes int64
	// Kind is "" for a whole answer of the expected length. A FailLength has
	// no Err.
	Kind load.FailureKind
	Err  error
	// Reused tells that the connection had carried a request before,
	// Reconnected that the request was sent again on a new one, KeepAlive
	// that the answer leaves the connection open.
	Reused, Reconnected, KeepAlive bool
	// StartNS lies on the run's axis. ConnectNS is 0 where no connection was
	// made for the request; the other three are set for whole answers only.
	StartNS, ConnectNS, WaitingNS, ProcessingNS, TotalNS int64
}

// Run makes the job's requests and returns what they were like. Failed
// requests are part of the result and no error; an error means that nothing
// was measured: the job is wrong (fault.Input) or the host has no address.
// progress, when not nil, is called from one goroutine at the end of every
// interval. When ctx ends, Run returns within a second with what was counted
// until then, marked Interrupted.
func (e *Engine) Run(ctx context.Context, job load.Job, progress func(load.Progress)) (*load.Result, error) {
	if err := job.Validate(); err != nil {
		return nil, fault.Input(err, "")
	}
	t, err := newTarget(job)
	if err != nil {
		return nil, fault.Input(err, "")
	}
	dial, err := newDialer(ctx, job, t)
	if err != nil && ctx.Err() == nil {
		return nil, err
	}
	// Without a dialer ctx has ended, and no request will be started.
	return newRun(e, job, buildRequest(job, t), dial).do(ctx, progress), nil
}
