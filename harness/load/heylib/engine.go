package heylib

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"runtime/debug"

	"abacus/harness/fault"
	"abacus/harness/load"
)

// Version is the version of the library that the engine was written against.
// The version that was really linked is in Result.EngineVersion.
const Version = "0.1.5"

// PartRequests is the most requests made by one set of Works. The library's
// own limit is a million; a quarter of it keeps the memory, and the time in
// which the report is written (half a second), within what a stopped run may
// take.
const PartRequests = 250_000

// Run makes the job's requests with hey's library. Failed requests are part of
// the result and no error; an error means that nothing was measured or that
// the library's report could not be read. progress may be nil; it is called
// from Run's own goroutine. When ctx ends, the result holds what was done
// until then and is marked Interrupted.
func Run(ctx context.Context, job load.Job, progress func(load.Progress)) (*load.Result, error) {
	return engine{partRequests: PartRequests, maxHeap: mostHeap}.run(ctx, job, progress)
}

// engine holds what tests make smaller.
type engine struct {
	partRequests int64
	maxHeap      uint64
}

func (e engine) run(ctx context.Context, job load.Job, progress func(load.Progress)) (*load.Result, error) {
	if err := check(job); err != nil {
		return nil, err
	}
	req, err := newRequest(job)
	if err != nil {
		return nil, fault.Input(err, "")
	}
	zero, err := findZero(ctx)
	if err != nil && ctx.Err() == nil {
		return nil, fmt.Errorf("find the zero of hey's clock: %w", err)
	}
	// Without a zero ctx has ended, and no request will be made.
	if progress == nil {
		progress = func(load.Progress) {}
	}
	r := &run{job: job, request: req, zero: zero, partRequests: e.partRequests, maxHeap: e.maxHeap, progress: progress}
	if err := r.do(ctx); err != nil {
		return nil, err
	}
	return r.result(), nil
}

// check refuses what the library cannot do as asked.
func check(job load.Job) error {
	if err := job.Validate(); err != nil {
		return fault.Input(err, "")
	}
	u, err := url.Parse(job.URL)
	if err != nil {
		return fault.Input(err, "")
	}
	if u.Scheme == "https" && !job.InsecureTLS {
		return fault.Input(fmt.Errorf("url %q: hey's library never verifies certificates, and this job asks for it", job.URL),
			"use the native engine, or allow unverified certificates for this target")
	}
	if job.Protocol == "HTTP/1.0" {
		return fault.Input(errors.New("protocol HTTP/1.0: hey's library only speaks HTTP/1.1"), "use the native engine")
	}
	return nil
}

// linkedVersion is the library's version from the build information, without
// the "v"; Version when the program carries none (a test binary, say).
func linkedVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return Version
	}
	for _, m := range info.Deps {
		if m.Path != "github.com/rakyll/hey" {
			continue
		}
		if m.Replace != nil {
			m = m.Replace
		}
		if len(m.Version) > 1 && m.Version[0] == 'v' {
			return m.Version[1:]
		}
	}
	return Version
}
