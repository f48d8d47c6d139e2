package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
)

// Signal is the cause of a context that a signal has cancelled.
type Signal struct{ os.Signal }

func (s Signal) Error() string { return "stopped by " + s.Signal.String() }

// WithSignals cancels the context on the first SIGINT or SIGTERM, with the
// signal as the cause, so that the command can end in good order. From then on
// a second one has its default effect and ends the process.
func WithSignals(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case s := <-signals:
			signal.Stop(signals)
			cancel(Signal{s})
		case <-ctx.Done():
		}
	}()
	return ctx, func() { signal.Stop(signals); cancel(nil) }
}

// interruptedStatus is the exit status of a command that ctx's end stopped.
func interruptedStatus(ctx context.Context) exitStatus {
	var s Signal
	if errors.As(context.Cause(ctx), &s) && s.Signal == syscall.SIGTERM {
		return ExitTerminated
	}
	return ExitInterrupted
}
