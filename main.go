// Command abacus is a scripted HTTP benchmark harness with report generation.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"abacus/harness/cli"
)

func main() {
	ctx, stop := withSignals(context.Background())
	defer stop()
	exe, err := os.Executable()
	if err != nil {
		fmt.Fprintln(os.Stderr, "abacus: find this program's path:", err)
		os.Exit(cli.ExitFailed)
	}
	os.Exit(cli.Run(ctx, &cli.Env{
		Args: os.Args, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Getenv: os.Getenv, Environ: os.Environ, Executable: exe,
	}))
}

// withSignals cancels the context on the first SIGINT or SIGTERM, with the
// signal as the cause, so that the command can end in good order. From then on
// a second one has its default effect and ends the process.
func withSignals(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case s := <-signals:
			signal.Stop(signals)
			cancel(cli.Signal{Signal: s})
		case <-ctx.Done():
		}
	}()
	return ctx, func() { signal.Stop(signals); cancel(nil) }
}
