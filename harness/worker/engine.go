package worker

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"abacus/harness/clock"
	"abacus/harness/load"
)

// DefaultGrace is how long a stopped child may take to give its result.
const DefaultGrace = 2 * time.Second

// linger is how long the output of a child that has ended is still read: no
// more than a pipe holds.
const linger = 2 * time.Second

// Engine runs each job in a child process of its own, in its own process
// group, so that a Ctrl-C at the terminal reaches the parent only. It can be
// used by several goroutines at once.
type Engine struct {
	// Command is the executable and its arguments: a program that calls
	// Serve. Required.
	Command []string
	// Env is the child's environment as KEY=value; nil inherits ours.
	Env []string
	// Started, when set, is told the child's pid before the job is handed
	// over, so that the child can be observed from its first request on.
	Started func(pid int)
	// Grace is how long the child may take to give its result and to end
	// once it was stopped, before it is killed; 0 is DefaultGrace.
	Grace time.Duration
}

// ExitError says that the child ended without giving a result.
type ExitError struct {
	// Status is how it ended: "exit status 2", "signal: killed".
	Status string
	// Stderr is the beginning and the end of what it printed there, at most
	// a few KiB, without control characters.
	Stderr string
}

// Error names the status and what the child said last.
func (e *ExitError) Error() string {
	s := "the worker process ended without a result: " + e.Status
	if e.Stderr != "" {
		s += ": " + gist(e.Stderr)
	}
	return s
}

// Run runs the job in a child and returns its result. progress may be nil; it
// is called from Run's goroutine. When ctx ends the child is stopped, and Run
// returns the result of what was done, marked Interrupted by the engine.
//
// When the child gives no result (ExitError: it crashed or was killed) or
// breaks the protocol, the error comes together with a partial result made
// from the last progress, if that had counts: Interrupted is set, only
// Counts, the times and a note are filled in.
func (e *Engine) Run(ctx context.Context, job load.Job, progress func(load.Progress)) (*load.Result, error) {
	if len(e.Command) == 0 {
		return nil, errors.New("start the worker process: no command")
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	line, err := json.Marshal(request{Version: Version, Job: job})
	if err != nil {
		return nil, fmt.Errorf("encode the job: %w", err)
	}
	c, err := e.start()
	if err != nil {
		return nil, fmt.Errorf("start the worker process %s: %w", e.Command[0], err)
	}
	if e.Started != nil {
		e.Started(c.cmd.Process.Pid)
	}
	go func() {
		// When the child does not take its job, its end says why.
		_, _ = c.stdin.Write(append(line, '\n'))
	}()
	stopWatch := context.AfterFunc(ctx, c.stop)
	defer stopWatch()
	var t talk
	readErr := t.read(bufio.NewReader(c.stdout), progress, c.stop)
	if readErr != nil {
		c.kill()
	}
	if errors.Is(readErr, os.ErrDeadlineExceeded) {
		readErr = nil // it has ended, and left its output to somebody else
	}
	exitErr := c.wait()
	if errors.Is(exitErr, exec.ErrWaitDelay) {
		exitErr = nil // it ended well, and left stderr to somebody else
	}
	res, err := t.verdict(job, readErr, exitErr, c)
	if err != nil && res == nil && ctx.Err() != nil {
		// Stopped before there was anything to tell.
		err = fmt.Errorf("%w: %w", ctx.Err(), err)
	}
	return res, err
}

// child is one process and the ways to end it.
type child struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout io.ReadCloser
	stderr lastWords
	grace  time.Duration
	exited <-chan error

	stopOnce sync.Once
	mu       sync.Mutex
	done     bool
	killer   *time.Timer
	overdue  bool // killed because the grace was over
}

func (e *Engine) start() (*child, error) {
	c := &child{grace: e.Grace}
	if c.grace <= 0 {
		c.grace = DefaultGrace
	}
	c.cmd = exec.Command(e.Command[0], e.Command[1:]...)
	c.cmd.Env = e.Env
	c.cmd.Stderr = &c.stderr
	// Should a process of the child hold stderr open, it is not waited for.
	c.cmd.WaitDelay = time.Second
	isolate(c.cmd)
	var err error
	if c.stdin, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	// Not StdoutPipe: Wait, which runs beside the reading, would close it.
	r, w, err := os.Pipe()
	if err != nil {
		c.stdin.Close()
		return nil, err
	}
	c.cmd.Stdout = w
	ended, err := startAndWait(c.cmd)
	w.Close()
	if err != nil {
		r.Close()
		c.stdin.Close()
		return nil, err
	}
	c.stdout = r
	exited := make(chan error, 1)
	go func() {
		err := <-ended
		// What is in the pipe can still be read; a process that the child
		// left behind must not hold it open for ever.
		_ = r.SetReadDeadline(time.Now().Add(linger))
		exited <- err
	}()
	c.exited = exited
	return c, nil
}

// stop asks the child to end, by the end of its input, and kills it when it
// takes longer than the grace.
func (c *child) stop() {
	c.stopOnce.Do(func() {
		c.stdin.Close()
		c.mu.Lock()
		defer c.mu.Unlock()
		if !c.done {
			c.killer = time.AfterFunc(c.grace, func() {
				c.mu.Lock()
				c.overdue = true
				c.mu.Unlock()
				c.kill()
			})
		}
	})
}

// kill ends the child and what it may have started.
func (c *child) kill() {
	c.mu.Lock()
	defer c.mu.Unlock()
	// After Wait the pid may belong to somebody else.
	if !c.done {
		killGroup(c.cmd)
	}
}

// wait takes the end of the child, whose output has ended or is given up.
func (c *child) wait() error {
	c.stop()
	err := <-c.exited
	c.mu.Lock()
	c.done = true
	if c.killer != nil {
		c.killer.Stop()
	}
	c.mu.Unlock()
	c.stdout.Close()
	return err
}

func (c *child) wasOverdue() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.overdue
}

// talk is what the child said.
type talk struct {
	progress   *load.Progress
	receivedAt time.Time // of progress
	receivedNS int64
	last       *record
}

// read takes records until the output ends; an error is a broken protocol.
// done is called at the last record, after which the child has only to end.
func (t *talk) read(r *bufio.Reader, progress func(load.Progress), done func()) error {
	for {
		rec, err := readRecord(r)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("the worker process broke the protocol: %w", err)
		case t.last != nil:
			return fmt.Errorf("the worker process broke the protocol: a %s after its %s", rec.Type, t.last.Type)
		case rec.Type == typeProgress:
			t.progress = rec.Progress
			t.receivedAt, t.receivedNS = time.Now(), clock.Now()
			if progress != nil {
				progress(*rec.Progress)
			}
		default:
			t.last = &rec
			done()
		}
	}
}

// verdict joins what the child said with how it ended.
func (t *talk) verdict(job load.Job, readErr, exitErr error, c *child) (*load.Result, error) {
	exit := func() *ExitError {
		e := &ExitError{Status: "exit status 0", Stderr: c.stderr.text()}
		if exitErr != nil {
			e.Status = exitErr.Error()
		}
		return e
	}
	switch {
	case readErr != nil:
		// A child that died in the middle of a record did not break the
		// protocol of its own will.
		if errors.Is(readErr, io.ErrUnexpectedEOF) {
			readErr = fmt.Errorf("%w (%w)", exit(), readErr)
		} else if s := c.stderr.text(); s != "" {
			readErr = fmt.Errorf("%w; it said: %s", readErr, gist(s))
		}
		return t.partial(job), readErr
	case t.last == nil && c.wasOverdue():
		return t.partial(job), fmt.Errorf("the worker process gave no result within %v of being stopped and was killed: %w", c.grace, exit())
	case t.last == nil:
		return t.partial(job), exit()
	case t.last.Type == typeError:
		res := t.last.Result
		if res == nil {
			res = t.partial(job)
		}
		return res, t.last.Error.err()
	case exitErr != nil && !c.wasOverdue():
		return t.last.Result, fmt.Errorf("after its result: %w", exit())
	}
	// Killed only because it would not end: the result was whole before.
	return t.last.Result, nil
}

// partial makes a result of the last progress, nil when there was none or when
// it had no counts.
func (t *talk) partial(job load.Job) *load.Result {
	p := t.progress
	if p == nil || p.Begun != nil {
		return nil
	}
	return &load.Result{
		Engine:      job.Engine,
		StartedAt:   t.receivedAt.Add(-time.Duration(p.ElapsedNS)),
		StartMonoNS: t.receivedNS - p.ElapsedNS,
		ElapsedNS:   p.ElapsedNS,
		Interrupted: true,
		Counts:      p.Counts,
		Notes:       []string{"The worker process ended before its result: counts and times are those of its last report."},
	}
}
