package heylib

import (
	"context"
	"fmt"
	"time"

	"abacus/harness/clock"
	"abacus/harness/fault"
	"abacus/harness/load"
)

// run is one job: its parts and what they gave.
type run struct {
	job          load.Job
	request      *request
	zero         time.Time // of the library's offsets
	partRequests int64
	maxHeap      uint64
	progress     func(load.Progress)

	tracer      tracer
	startedAt   time.Time
	startNS     int64
	lastEnd     time.Time     // of the part before
	loaded      time.Duration // without the pauses
	paused      time.Duration
	parts       int
	begun       int64
	over        bool // the job's duration is
	interrupted bool
	sum         sum
}

// do makes the parts one after the other.
func (r *run) do(ctx context.Context) error {
	r.tracer.serverName = r.request.serverName
	r.sum.init()
	left := int64(-1)
	if r.job.Requests > 0 {
		left = r.job.Requests
	}
	for left != 0 && !r.over {
		if ctx.Err() != nil {
			r.interrupted = true
			break
		}
		limit := time.Duration(0)
		if r.job.Duration > 0 {
			if limit = r.job.Duration - r.loaded; limit <= 0 {
				break
			}
		}
		n := r.partRequests
		if left > 0 {
			n = min(n, left)
		}
		if err := r.part(ctx, n, limit); err != nil {
			return err
		}
		if left > 0 {
			left -= n
		}
	}
	return nil
}

// part makes up to n requests and adds up their rows.
func (r *run) part(ctx context.Context, n int64, limit time.Duration) error {
	hard, giveUp := context.WithCancel(context.WithoutCancel(ctx))
	defer giveUp()
	p, err := newPart(hard, r.job, r.request, &r.tracer, n)
	if err != nil {
		return err
	}
	tick := func() error {
		select {
		case <-p.loading:
		default:
			return nil // the load has not begun
		}
		begun := r.begun + p.begun()
		r.progress(load.Progress{ElapsedNS: int64(r.loaded + time.Since(p.first)), Begun: &begun})
		if heapOver(r.maxHeap) {
			return fault.Hint(fmt.Errorf("given up after %d requests: more than %d MiB are held, which only the error texts that hey's library keeps, or the headers, of this server can be", begun, r.maxHeap>>20),
				"use the native engine, whose memory does not depend on the server")
		}
		return nil
	}
	err = p.run(ctx, giveUp, limit, tick)
	r.tracer.closeAll()
	if err != nil {
		return err
	}
	if p.begun() == 0 {
		r.interrupted = true // stopped before the first request
		return nil
	}
	if r.parts == 0 {
		r.startedAt, r.startNS = p.first, p.firstNS
	} else {
		r.paused += p.first.Sub(r.lastEnd)
	}
	r.parts++
	r.begun += p.begun()
	axis := partAxis{
		zero: r.zero, first: p.first, stopped: p.stopped, cut: p.cut, end: p.end,
		offset: r.loaded + r.paused, interval: r.job.Every(),
	}
	end, counted := r.sum.add(p, axis)
	r.lastEnd = end
	r.loaded += end.Sub(p.first)
	r.over = p.over
	if ctx.Err() != nil && !p.over && counted < n {
		r.interrupted = true
	}
	return nil
}

// result gathers what the parts gave.
func (r *run) result() *load.Result {
	res := &load.Result{
		Engine: "hey", EngineVersion: linkedVersion(), Protocol: "HTTP/1.1",
		StartedAt: r.startedAt, StartMonoNS: r.startNS, ElapsedNS: int64(r.loaded),
		Interrupted: r.interrupted,
		TLS:         r.tracer.tls,
	}
	if r.parts == 0 {
		res.StartedAt, res.StartMonoNS = time.Now(), clock.Now()
	}
	r.sum.fill(res)
	res.Notes = append(res.Notes, r.notes()...)
	return res
}

// notes are the sentences about what the library could not do as asked.
func (r *run) notes() []string {
	notes := append([]string(nil), r.request.notes...)
	add := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	add("hey's library counts an answer whose body broke off or ran into the timeout as whole, and it does not know the length of bodies; the CPU time of the client includes the writing of its report.")
	if s := wholeSeconds(r.job.Timeout); time.Duration(s)*time.Second != r.job.Timeout {
		add("The timeout of %v was rounded up to %d s: hey's library only knows whole seconds.", r.job.Timeout, s)
	}
	if r.job.SampleEvery > 0 && !r.job.Expect.Empty() {
		add("The expected content was not checked during the load: hey's library does not show its answers.")
	}
	if r.parts > 1 {
		add("The job was done in %d parts of at most %d requests, with new connections each; between them no load ran for %v in all, which the elapsed time leaves out.",
			r.parts, r.partRequests, r.paused.Round(time.Millisecond))
	}
	if r.sum.counts.Failed > 0 {
		add("hey's library keeps no time for failures: the intervals hold whole answers only.")
	}
	if r.sum.unknownPhases > 0 {
		add("%d answers came before their request was written; only their total time is used.", r.sum.unknownPhases)
	}
	if r.sum.dropped > 0 {
		add("%d requests were still under way when the run was ended, and are not counted.", r.sum.dropped)
	}
	return notes
}
