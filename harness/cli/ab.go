package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"abacus/harness/abcompat"
	"abacus/harness/load"
	"abacus/harness/load/native"
)

// newABCommand only shows what ab can do: Run hands ab's command lines to
// runAB before cobra sees them.
func newABCommand(env *Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "ab [ab's options] [http[s]://]hostname[:port]/path",
		Short: "ApacheBench's options, accounting and report",
		Long: `ab takes ApacheBench's options, drives the native engine and prints ApacheBench's
report, so that scripts that call ab and read its output go on working. It also
answers to the name ab: a link or copy of this program that is called ab is ab.

The numbers count each failed request once; docs/ab-differences.md lists every
place where they differ from ApacheBench's, and why.`,
		Example: `  abacus ab -n 1000 -c 10 http://127.0.0.1:8080/
  abacus ab -k -t 10 -c 50 http://127.0.0.1:8080/page
  abacus ab -n 200 -c 4 -p body.json -T application/json http://127.0.0.1:8080/api`,
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			return exitStatus(runAB(cmd.Context(), env, args))
		},
	}
	cmd.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		w := cmd.OutOrStdout()
		fmt.Fprintf(w, "%s\n\n", cmd.Long)
		abcompat.WriteUsage(w)
		fmt.Fprintf(w, "\nExamples:\n%s\n", cmd.Example)
	})
	return cmd
}

// runAB runs one command line of ab with the native engine. --help, which ab
// does not know, shows what `abacus help ab` shows.
func runAB(ctx context.Context, env *Env, args []string) int {
	if slices.Equal(args, []string{"--help"}) {
		cmd := newABCommand(env)
		cmd.SetOut(env.Stdout)
		_ = cmd.Help() // prints and never fails
		return ExitDone
	}
	return abcompat.Main(ctx, args, env.Stdout, env.Stderr, runNativeForAB)
}

// runNativeForAB is the native engine as abcompat asks for it.
func runNativeForAB(ctx context.Context, job load.Job, trace abcompat.Trace) (*load.Result, error) {
	e := &native.Engine{TraceBody: -1}
	if trace.Bytes {
		e.TraceBody = 0
	}
	if trace.Each != nil {
		e.Trace = func(x native.Exchange) {
			trace.Each(abcompat.Exchange{
				Head: x.Head, Body: x.Body, Status: x.Status,
				Kind: x.Kind, Err: x.Err, KeepAlive: x.KeepAlive,
			})
		}
	}
	return e.Run(ctx, job, nil)
}
