package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"abacus/harness/fault"
	"abacus/harness/load"
	"abacus/harness/load/heylib"
	"abacus/harness/load/native"
	"abacus/harness/worker"
)

// newWorkerCommand is the child's side of every run: abacus starts itself
// with it.
func newWorkerCommand(env *Env) *cobra.Command {
	return &cobra.Command{
		Use:    "worker",
		Short:  "Run one load job, given as JSON on stdin",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return worker.Serve(cmd.Context(), env.Stdin, env.Stdout, runEngine)
		},
	}
}

// runEngine gives the job to the engine that it names.
func runEngine(ctx context.Context, job load.Job, progress func(load.Progress)) (*load.Result, error) {
	switch job.Engine {
	case "native":
		return (&native.Engine{}).Run(ctx, job, progress)
	case "hey":
		return heylib.Run(ctx, job, progress)
	}
	return nil, fault.Input(fmt.Errorf("engine %q: no worker can run it", job.Engine), "engines: native, hey")
}
