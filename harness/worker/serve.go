package worker

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"abacus/harness/load"
)

// Func runs one job: an engine. It must return soon after ctx ends, with what
// was done until then.
type Func func(ctx context.Context, job load.Job, progress func(load.Progress)) (*load.Result, error)

// probeEvery is how often the child, once its input has ended, looks whether
// somebody still reads its output.
const probeEvery = 100 * time.Millisecond

// queued is how many progress records may wait for a parent that is slow to
// read; what comes on top is dropped, because the load must not wait.
const queued = 256

// errNoReader ends a child whose parent is gone.
var errNoReader = errors.New("nobody reads the results any more")

// Serve is the child's side: it reads one job from stdin, runs it, and writes
// its progress and its result, with Usage filled in, to stdout. The end of
// stdin, like the end of ctx, cancels the job; what it returns is still
// written. When writing fails the parent is gone, and Serve returns at once
// without waiting for run: the process should then exit. An error of run is
// written as a record and returned too.
func Serve(ctx context.Context, stdin io.Reader, stdout io.Writer, run Func) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	out := &output{w: stdout}
	in := bufio.NewReader(stdin)
	job, err := readJob(in)
	if err != nil {
		err = fmt.Errorf("read the job: %w", err)
		return errors.Join(err, out.write(record{Type: typeError, Error: newRecordError(err)}))
	}
	gone := make(chan error, 1)
	lost := func(err error) {
		select {
		case gone <- fmt.Errorf("%w: %w", errNoReader, err):
		default:
		}
		cancel()
	}
	go func() {
		// Nothing but the end is expected; whatever comes is thrown away.
		_, _ = io.Copy(io.Discard, in)
		cancel()
		probe(out, lost)
	}()

	reports := make(chan load.Progress, queued)
	var reporting sync.WaitGroup
	reporting.Go(func() {
		for p := range reports {
			if err := out.write(record{Type: typeProgress, Progress: &p}); err != nil {
				lost(err)
				return
			}
		}
	})

	ended := make(chan record, 1)
	go func() { ended <- runJob(ctx, job, run, reports) }()
	var last record
	select {
	case err := <-gone:
		return err
	case last = <-ended:
	}
	// The engine has returned, so nobody sends any more.
	close(reports)
	reporting.Wait()
	if err := out.last(last); err != nil {
		return fmt.Errorf("%w: %w", errNoReader, err)
	}
	if last.Error != nil {
		return last.Error.err()
	}
	return nil
}

// runJob runs the engine with its costs measured and makes the last record.
func runJob(ctx context.Context, job load.Job, run Func, reports chan<- load.Progress) record {
	m := startMeter()
	res, err := contain(run)(ctx, job, func(p load.Progress) {
		select {
		case reports <- p:
		default:
		}
	})
	if res != nil {
		res.Usage = m.stop()
	}
	if err != nil {
		return record{Type: typeError, Error: newRecordError(err), Result: res}
	}
	return record{Type: typeResult, Result: res}
}

// contain turns a panic of run, and a result that is missing, into an error.
func contain(run Func) Func {
	return func(ctx context.Context, job load.Job, progress func(load.Progress)) (res *load.Result, err error) {
		defer func() {
			if v := recover(); v != nil {
				res, err = nil, fmt.Errorf("the %s engine panicked: %v", job.Engine, v)
			}
		}()
		res, err = run(ctx, job, progress)
		if res == nil && err == nil {
			err = fmt.Errorf("the %s engine returned no result", job.Engine)
		}
		return res, err
	}
}

// probe writes empty lines until the last record is out or nobody reads.
func probe(out *output, lost func(error)) {
	t := time.NewTicker(probeEvery)
	defer t.Stop()
	for {
		more, err := out.blank()
		if err != nil {
			lost(err)
			return
		}
		if !more {
			return
		}
		<-t.C
	}
}

// output writes whole records, one at a time.
type output struct {
	mu     sync.Mutex
	w      io.Writer
	closed bool
}

func (o *output) write(rec record) error {
	rec.Version = Version
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(rec); err != nil {
		return fmt.Errorf("encode the %s: %w", rec.Type, err)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	_, err := o.w.Write(b.Bytes())
	return err
}

// last writes the last record.
func (o *output) last(rec record) error {
	err := o.write(rec)
	o.mu.Lock()
	o.closed = true
	o.mu.Unlock()
	return err
}

// blank writes an empty line, unless the last record is out.
func (o *output) blank() (more bool, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return false, nil
	}
	_, err = o.w.Write([]byte("\n"))
	return true, err
}
