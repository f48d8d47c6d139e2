package native

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"abacus/harness/clock"
	"abacus/harness/load"
)

const (
	// maxShards bounds the memory for histograms on machines with many cores.
	maxShards = 8
	// bufferBudget is shared out among the connections as read buffers of
	// leastBuffer to mostBuffer bytes.
	bufferBudget = 8 << 20
	leastBuffer  = 4 << 10
	mostBuffer   = 64 << 10
)

// run is one job under way.
type run struct {
	engine *Engine
	job    load.Job
	req    request
	dialer *dialer
	check  *checker // nil when no answer is checked

	base     time.Time // zero of the run's axis
	shards   []*shard
	clients  []*client
	errors   load.ErrorTable // failures are rare, and a storm of them is slowed down by backoff
	tickets  atomic.Int64
	firstLen atomic.Int64 // body length of the first whole answer, -1 before
	closing  atomic.Bool  // start no more requests
	stopped  atomic.Bool  // drop what is under way
	halt     chan struct{}
	dropped  atomic.Int64 // requests that the end cut off
	surplus  atomic.Int64 // answers with bytes after their end

	trace sync.Mutex
	seen  firstSeen
}

// firstSeen is what the first answer and the first handshake tell of the
// server.
type firstSeen struct {
	mu               sync.Mutex
	server, protocol string
	tls              *load.TLSInfo
}

func newRun(e *Engine, job load.Job, req request, d *dialer) *run {
	r := &run{engine: e, job: job, req: req, dialer: d, check: newChecker(job),
		halt: make(chan struct{})}
	r.firstLen.Store(-1)
	n := job.Concurrency
	if job.Requests > 0 {
		n = int(min(int64(n), job.Requests))
	}
	for range min(n, runtime.GOMAXPROCS(0), maxShards) {
		r.shards = append(r.shards, newShard())
	}
	size := min(max(bufferBudget/n, leastBuffer), mostBuffer)
	for i := range n {
		r.clients = append(r.clients, newClient(r, i, r.shards[i%len(r.shards)], size))
	}
	return r
}

// now is the time on the run's axis.
func (r *run) now() int64 { return int64(time.Since(r.base)) }

// do runs the job to its end and returns the result.
func (r *run) do(ctx context.Context, progress func(load.Progress)) *load.Result {
	// Not ended by ctx itself: stopped must be seen first, or a connect that
	// the end cuts off would look like one that the server refused.
	dialCtx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	iv := newIntervals(r, progress)
	monoNS := clock.Now()
	r.base = time.Now()
	r.closing.Store(ctx.Err() != nil)

	finished := make(chan struct{})
	var side sync.WaitGroup
	side.Go(func() { iv.loop(finished) })
	var cause stopCause
	side.Go(func() { cause = r.watch(ctx, cancel, finished) })
	var work sync.WaitGroup
	for _, c := range r.clients {
		work.Go(func() { c.loop(dialCtx) })
	}
	work.Wait()
	ended := r.now()
	close(finished)
	side.Wait()
	res := r.result(monoNS, ended, cause)
	res.Intervals = endWith(iv.list, res.ElapsedNS)
	return res
}

// stopCause is what ended a run before its requests were made.
type stopCause int

const (
	notStopped stopCause = iota
	byDuration
	byContext
)

// watch ends the run when its duration is over or its context ends.
func (r *run) watch(ctx context.Context, cancelDials func(), finished <-chan struct{}) stopCause {
	var over <-chan time.Time
	if r.job.Duration > 0 {
		t := time.NewTimer(time.Until(r.base.Add(r.job.Duration)))
		defer t.Stop()
		over = t.C
	}
	cause := notStopped
	select {
	case <-finished:
		if ctx.Err() != nil { // both at once
			return byContext
		}
		return notStopped
	case <-ctx.Done():
		cause = byContext
	case <-over:
		cause = byDuration
		r.closing.Store(true)
		grace := time.NewTimer(r.job.Grace())
		defer grace.Stop()
		select {
		case <-finished:
			return cause
		case <-ctx.Done():
		case <-grace.C:
		}
	}
	r.closing.Store(true)
	r.stopped.Store(true)
	close(r.halt)
	cancelDials()
	for _, c := range r.clients {
		c.interrupt()
	}
	return cause
}

// ticket returns the number of the next request to make, from 1; false when
// there is none. Each number is given out once.
func (r *run) ticket() (int64, bool) {
	if r.closing.Load() {
		return 0, false
	}
	if d := int64(r.job.Duration); d > 0 && r.now() >= d {
		return 0, false
	}
	n := r.tickets.Add(1)
	return n, r.job.Requests == 0 || n <= r.job.Requests
}

// result adds the shards up.
func (r *run) result(monoNS, ended int64, cause stopCause) *load.Result {
	res := &load.Result{
		Engine: "native", EngineVersion: Version,
		StartedAt: r.base.Round(0), StartMonoNS: monoNS,
		Connect: load.NewDistribution(), Waiting: load.NewDistribution(),
		Processing: load.NewDistribution(), Total: load.NewDistribution(),
		StatusCodes: map[int]int64{}, Errors: r.errors.List(),
		Server: r.seen.server, Protocol: r.seen.protocol, TLS: r.seen.tls,
	}
	var total tally
	lengths := map[int64]int64{}
	lengthsCut := false
	for _, s := range r.shards {
		total.add(s.total)
		res.ElapsedNS = max(res.ElapsedNS, s.last)
		res.Connect.Merge(s.connect)
		res.Waiting.Merge(s.waiting)
		res.Processing.Merge(s.processing)
		res.Total.Merge(s.all)
		for code, n := range s.codes {
			if n > 0 {
				res.StatusCodes[code] += n
			}
		}
		if s.firstCount > 0 {
			lengths[s.firstLength] += s.firstCount
		}
		for n, count := range s.lengths {
			lengths[n] += count
		}
		lengthsCut = lengthsCut || s.lengthsCut
	}
	res.Counts = total.counts()
	res.Lengths = load.TopLengths(lengths)
	if n := r.firstLen.Load(); n >= 0 {
		res.DocumentBytes = &n
	}
	if r.check != nil {
		res.Expect = r.check.result()
		res.Notes = append(res.Notes, r.check.notes()...)
	}
	if lengthsCut {
		res.Notes = append(res.Notes, fmt.Sprintf("there were more than %d different body lengths; the list of lengths is incomplete", maxLengths))
	}
	if n := r.surplus.Load(); n > 0 {
		res.Notes = append(res.Notes, fmt.Sprintf("%d answers were followed by bytes beyond the end that they announced; their connections were not used again", n))
	}
	r.close(res, ended, cause)
	return res
}

// close settles the run's length, and says what the end has cut off.
func (r *run) close(res *load.Result, ended int64, cause stopCause) {
	made := r.job.Requests > 0 && res.Counts.Requests() == r.job.Requests
	switch {
	case made || cause == notStopped && r.job.Duration == 0:
	case cause == byContext:
		// Load was on until the stop, answered or not.
		res.Interrupted = true
		res.ElapsedNS = max(res.ElapsedNS, ended)
	default:
		res.ElapsedNS = max(res.ElapsedNS, int64(r.job.Duration))
	}
	if n := r.dropped.Load(); n > 0 {
		res.Notes = append(res.Notes, fmt.Sprintf("%d requests were still under way when the run ended; they are not counted", n))
	}
}
