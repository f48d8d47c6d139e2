package abcompat

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"

	"abacus/harness/load"
)

// Engine runs one load job. It calls trace.Each once for every request that
// has ended, from any goroutine, before it returns. A cancelled context ends
// the run early: the result then holds what was measured.
type Engine func(ctx context.Context, job load.Job, trace Trace) (*load.Result, error)

// Trace is how an engine shows the requests of a run as they end.
type Trace struct {
	Each func(Exchange)
	// Bytes tells whether Head and Body of the exchanges are looked at.
	Bytes bool
}

// Exchange is one request that has ended.
type Exchange struct {
	// Head and Body are the answer as far as it came; Body is what is left
	// after chunk framing is taken off. They are valid during the call only.
	Head, Body []byte
	// Status is the answer's status code; 0 when none came.
	Status int
	// Kind is "" for a whole answer of the expected length, else Err may say
	// what went wrong.
	Kind load.FailureKind
	Err  error
	// KeepAlive tells that the answer leaves the connection open.
	KeepAlive bool
}

// Exit codes that are not the errno of a fatal error.
const (
	exitDone    = 0
	exitFailed  = 1
	exitUsage   = 22
	exitTimeout = 119 // 70007 mod 256: APR's "the timeout specified has expired"
	exitLookup  = 50  // 670002 mod 256: APR's "name or service not known"
)

// Main runs one ab command line, without the program's name, and returns its
// exit code. The report goes to stdout, progress and messages to stderr.
func Main(ctx context.Context, args []string, stdout, stderr io.Writer, engine Engine) int {
	return mainWith(ctx, args, stdout, stderr, engine, net.DefaultResolver.LookupHost)
}

func mainWith(ctx context.Context, args []string, stdout, stderr io.Writer, engine Engine, look lookup) int {
	out := &output{w: stdout}
	code := run(ctx, args, out, stderr, engine, look)
	if out.err != nil {
		fmt.Fprintf(stderr, "ab: write the report: %v\n", out.err)
		return exitFailed
	}
	return code
}

// output remembers the first error of a writer, so that a report that could
// not be written is not passed off as done.
type output struct {
	w   io.Writer
	err error
}

func (o *output) Write(p []byte) (int, error) {
	if o.err != nil {
		return len(p), nil
	}
	_, o.err = o.w.Write(p)
	return len(p), nil
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer, engine Engine, look lookup) int {
	o, stop := parse(args)
	if stop != nil {
		return stop.print(stdout, stderr)
	}
	fmt.Fprint(stdout, banner)
	tail := "..."
	if o.heartbeat() > 0 {
		tail = "\n"
	}
	fmt.Fprintf(stdout, "Benchmarking %s (be patient)%s", o.target.host, tail)
	if o.verbosity >= 2 {
		fmt.Fprintf(stdout, "INFO: %s header == \n---\n%s\n---\n", o.methodName(), o.requestHead())
	}
	// These two pass ab's checks and die at its first poll.
	if o.concurrency == 0 {
		fmt.Fprintln(stderr, "apr_pollset_poll: Invalid argument (22)")
		return exitUsage
	}
	if o.timeout == 0 {
		fmt.Fprintln(stderr, timeoutMessage)
		return exitTimeout
	}
	addrs, err := look.addresses(ctx, o.target.host)
	if err != nil {
		if ctx.Err() != nil {
			return exitFailed
		}
		fmt.Fprintf(stderr, "apr_sockaddr_info_get() for %s: Name or service not known (670002)\n", o.target.host)
		return exitLookup
	}
	if far := firstFar(addrs); far != "" {
		fmt.Fprintf(stderr, "abacus: warning: %s (%s) is neither on this machine nor in a private network; load only servers that you may load\n", o.target.host, far)
	}
	return drive(ctx, o, o.job(), stdout, stderr, engine)
}

// drive runs the job and prints what came of it.
func drive(ctx context.Context, o *options, job load.Job, stdout, stderr io.Writer, engine Engine) int {
	runCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	w := newWatch(o, stdout, stderr, cancel)
	res, err := engine(runCtx, job, Trace{Each: w.see, Bytes: o.verbosity >= 2})
	seen := w.stop()
	if f := seen.fatal; f != nil && !f.keepReport {
		fmt.Fprint(stderr, f.text)
		if seen.done > 0 {
			fmt.Fprintf(stdout, "Total of %d requests completed\n", seen.done)
		}
		return f.code
	}
	stopped := seen.fatal != nil || ctx.Err() != nil
	if err != nil && !(stopped && errors.Is(err, context.Canceled)) {
		fmt.Fprintf(stderr, "ab: %v\n", err)
		return exitFailed
	}
	if res == nil {
		// Stopped before anything was measured.
		res = &load.Result{}
	}
	code := exitDone
	switch {
	case seen.fatal != nil:
		fmt.Fprint(stderr, seen.fatal.text)
		code = seen.fatal.code
	case ctx.Err() != nil:
		code = exitFailed
	case o.heartbeat() > 0:
		fmt.Fprintf(stderr, "Finished %d requests\n", res.Counts.Requests())
	default:
		fmt.Fprint(stdout, "..done\n")
	}
	writeReport(stdout, o, res, seen)
	if n := res.Counts.Timeout; n > 0 && seen.fatal == nil {
		fmt.Fprintf(stderr, "ab: %d requests took longer than %d seconds (-s); they are counted under Receive\n", n, o.timeout)
	}
	return code
}
