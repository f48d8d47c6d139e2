package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// Signal is the cause of a context that a signal has cancelled.
type Signal struct{ os.Signal }

func (s Signal) Error() string { return "stopped by " + s.Signal.String() }

// echo is how long a second signal counts as the first one's echo: a shell or
// timeout(1) signals the process and then its group.
const echo = 200 * time.Millisecond

// WithSignals cancels the context on the first SIGINT, SIGTERM or SIGHUP,
// with the signal as the cause, so that the command can end in good order. Soon after
// it, a second one has its default effect and ends the process.
func WithSignals(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	// A closed pipe behind stdout or stderr is an error of that write, not the
	// end of a campaign that has yet to clean up.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	go func() {
		select {
		case s := <-signals:
			cancel(Signal{s})
			time.AfterFunc(echo, func() { signal.Stop(signals) })
		case <-ctx.Done():
		}
	}()
	return ctx, func() { signal.Stop(signals); cancel(nil) }
}

// interruptedStatus is the exit status of a command that ctx's end stopped.
func interruptedStatus(ctx context.Context) exitStatus {
	var s Signal
	if !errors.As(context.Cause(ctx), &s) {
		return ExitInterrupted
	}
	switch s.Signal {
	case syscall.SIGTERM:
		return ExitTerminated
	case syscall.SIGHUP:
		return ExitHungUp
	}
	return ExitInterrupted
}
