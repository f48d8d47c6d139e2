package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"abacus/harness/fault"
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
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c.Version, c.Built = Version, builtAt(env.Executable)
			return serveDemo(cmd.Context(), env, c)
		},
	}
	cmd.Flags().IntVar(&c.Workers, "workers", lab.DefaultWorkers, "size of the worker pool")
	cmd.Flags().StringVar(&c.Memcached, "memcached", "", "host:port of a memcached; none is served by the demo itself")
	cmd.Flags().StringVar(&c.Nonce, "nonce", "", "what /nonce answers")
	cmd.Flags().BoolVar(&c.ExtendedOff, "extended-off", false, "tell no totals in /server-status")
	return cmd
}

// serveDemo serves until the context or standard input ends, whichever is
// first.
func serveDemo(ctx context.Context, env *Env, c lab.DemoConfig) error {
	// A server's heap is small and its garbage short-lived: collecting less
	// often costs some megabytes and saves a tenth of its CPU.
	debug.SetGCPercent(400)
	demo, err := lab.NewDemo(c)
	if err != nil {
		return fault.Input(err, "")
	}
	defer demo.Close()
	l, err := lab.Listen()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, env.Stdin) // ends with whoever holds the other end
		cancel()
	}()
	context.AfterFunc(ctx, func() { _ = demo.Close() })
	ready := lab.Ready{URL: "http://" + l.Addr().String(), PID: os.Getpid(), Version: c.Version}
	if err := json.NewEncoder(env.Stdout).Encode(ready); err != nil {
		return fmt.Errorf("demo: say that it serves: %w", err)
	}
	return demo.Serve(l)
}

// builtAt is when the program file was written; zero is unknown.
func builtAt(executable string) time.Time {
	info, err := os.Stat(executable)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}
