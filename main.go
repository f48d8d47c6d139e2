// Command abacus is a scripted HTTP benchmark harness with report generation.
package main

import (
	"context"
	"os"

	"abacus/harness/cli"
)

func main() { os.Exit(run()) }

// run gives the command line the world that it lives in.
func run() int {
	ctx, stop := cli.WithSignals(context.Background())
	defer stop()
	return cli.Run(ctx, cli.System())
}
