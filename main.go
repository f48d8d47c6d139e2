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
	// The first signal ends the command cleanly; from then on the second
	// one has its default effect and ends the process.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
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
