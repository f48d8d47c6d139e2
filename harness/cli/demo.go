package cli

import (
	"os"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"abacus/harness/lab"
)

// newDemoCommand is the demo's server process. It is started by the keeper,
// never by a person: `abacus lab up demo` is for them.
func newDemoCommand(env *Env) *cobra.Command {
	var c lab.DemoConfig
	cmd := &cobra.Command{
		Use:    "demo",
		Short:  "Serve the demo until standard input ends",
		Hidden: true,
		Args:   noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c.Version, c.Built = Version, builtAt(env.Executable)
			// A server's heap is small and its garbage short-lived: collecting
			// less often costs some megabytes and saves much of its CPU.
			debug.SetGCPercent(400)
			return lab.ServeDemo(cmd.Context(), c, env.Stdin, env.Stdout)
		},
	}
	cmd.Flags().IntVar(&c.Workers, "workers", lab.DefaultWorkers, "size of the worker pool")
	cmd.Flags().StringVar(&c.Memcached, "memcached", "", "host:port of a memcached; none is served by the demo itself")
	cmd.Flags().StringVar(&c.Nonce, "nonce", "", "what /nonce answers")
	cmd.Flags().BoolVar(&c.ExtendedOff, "extended-off", false, "tell no totals in /server-status")
	return cmd
}

// builtAt is when the program file was written; zero is unknown.
func builtAt(executable string) time.Time {
	info, err := os.Stat(executable)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}
