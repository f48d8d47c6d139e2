package heylib

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rakyll/hey/requester"

	"abacus/harness/clock"
	"abacus/harness/load"
)

// errVoid is what a request that is one too many fails with, before anything
// is sent. It is counted by the library only.
var errVoid = errors.New("abacus: no request is left")

// voidContext has ended from the start, with errVoid.
type voidContext struct {
	context.Context
	done <-chan struct{}
}

func newVoidContext(parent context.Context) voidContext {
	done := make(chan struct{})
	close(done)
	return voidContext{Context: context.WithoutCancel(parent), done: done}
}

// Done is closed.
func (c voidContext) Done() <-chan struct{} { return c.done }

// Err is errVoid.
func (voidContext) Err() error { return errVoid }

// part is one set of Works that run side by side, one for each worker. A Work
// can run once only.
type part struct {
	job   load.Job
	works []*partWork
	// requests is how many the part makes; drawn counts what the workers
	// have taken of them, and one too many each.
	requests int64
	drawn    atomic.Int64
	// halt stops all Works. A second Stop of the library would block for
	// ever.
	halt func()

	// first is set by the first request that is begun, which closes loading.
	loading chan struct{}
	first   time.Time
	firstNS int64
	// over tells that the limit ended the part, stopped is when that or ctx
	// did, cut when the requests under way were given up; zero times when it
	// did not come to that. end is when the last worker ended.
	over         bool
	stopped, cut time.Time
	end          time.Time
}

type partWork struct {
	work   *requester.Work
	parser *parser
	// startedAt is when Run was called; the library counts its Total from
	// the same moment.
	startedAt time.Time
	report    *report
	err       error
}

// newPart prepares the Works for n requests. hard is cancelled to give up what
// is under way.
func newPart(hard context.Context, job load.Job, req *request, tr *tracer, n int64) (*part, error) {
	p := &part{job: job, requests: n, loading: make(chan struct{})}
	// In front of the message stands the URL, quoted.
	runes := 4*len(job.URL) + 4*len(job.ConnectTo) + 1000
	text := reportTemplate(runes)
	if err := checkTemplate(text); err != nil {
		return nil, fmt.Errorf("template for hey's report: %w", err)
	}
	ctx := httptrace.WithClientTrace(hard, tr.trace(job.KeepAlive))
	void := newVoidContext(hard)
	next := func() *http.Request {
		switch k := p.drawn.Add(1); {
		case k > p.requests:
			p.halt()
			return req.make(void)
		case k == 1:
			p.first, p.firstNS = time.Now(), clock.Now()
			close(p.loading)
		}
		return req.make(ctx)
	}
	// Of this request the library only takes Host, for the SNI, where it
	// must not have a port. The requests that are sent come from next.
	sni := req.template.Clone(hard)
	sni.Host = req.serverName
	workers := int(min(n, int64(job.Concurrency)))
	for range workers {
		w := &partWork{parser: newParser(room(n, workers), runes)}
		w.work = &requester.Work{
			Request: sni, RequestFunc: next,
			N: room(n, workers), C: 1,
			Timeout:            wholeSeconds(job.Timeout),
			DisableCompression: true,
			DisableKeepAlives:  !job.KeepAlive,
			DisableRedirects:   true,
			Output:             text,
			Writer:             w.parser,
		}
		// Stop blocks for ever before Init.
		w.work.Init()
		p.works = append(p.works, w)
	}
	p.halt = sync.OnceFunc(func() {
		for _, w := range p.works {
			w.work.Stop()
		}
	})
	return p, nil
}

// room is how many requests one of the workers may make of n: twice its share
// and some, for all draw from the same number and the faster ones make more.
// Together they have room for all.
func room(n int64, workers int) int {
	share := (n + int64(workers) - 1) / int64(workers)
	return int(min(n, 2*share+100))
}

// begun is how many requests the workers have begun.
func (p *part) begun() int64 { return min(p.drawn.Load(), p.requests) }

// wholeSeconds rounds up to what the library can keep.
func wholeSeconds(d time.Duration) int {
	return int((d + time.Second - 1) / time.Second)
}

// run makes the part's requests until all are made, limit is over (0: none)
// or ctx ends. giveUp cancels the requests under way. tick is called at every
// interval; its error ends the part.
func (p *part) run(ctx context.Context, giveUp context.CancelFunc, limit time.Duration, tick func() error) error {
	var wg sync.WaitGroup
	for _, w := range p.works {
		wg.Go(func() {
			w.startedAt = time.Now()
			w.err = runWork(w.work)
			if w.err == nil {
				w.report, w.err = w.parser.finish()
			}
		})
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()

	ticker := time.NewTicker(p.job.Every())
	defer ticker.Stop()
	var over, late <-chan time.Time
	loading := p.loading
	stop := func() {
		if p.stopped.IsZero() {
			p.stopped = time.Now()
		}
		p.halt()
	}
	cut := func() {
		if p.cut.IsZero() {
			p.cut = time.Now()
			giveUp()
		}
	}
	cancelled := ctx.Done()
	var failed error
	for {
		select {
		case <-done:
			return errors.Join(failed, p.close())
		case <-loading:
			loading = nil
			if limit > 0 {
				t := time.NewTimer(limit - time.Since(p.first))
				defer t.Stop()
				over = t.C
			}
		case <-cancelled:
			cancelled = nil
			stop()
			cut()
		case <-over:
			p.over = p.stopped.IsZero()
			stop()
			t := time.NewTimer(p.job.Grace())
			defer t.Stop()
			late = t.C
		case <-late:
			cut()
		case <-ticker.C:
			if failed == nil {
				if failed = tick(); failed != nil {
					stop()
					cut()
				}
			}
		}
	}
}

// close joins the Works' errors and finds the part's end: the library's own
// Total ends with the last worker, before the report is written.
func (p *part) close() error {
	var errs []error
	for _, w := range p.works {
		if w.err != nil {
			errs = append(errs, w.err)
			continue
		}
		if end := w.startedAt.Add(time.Duration(w.report.totalNS)); end.After(p.end) {
			p.end = end
		}
	}
	return errors.Join(errs...)
}
