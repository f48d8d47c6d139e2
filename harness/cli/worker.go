package cli

import "github.com/spf13/cobra"

func newWorkerCommand(_ *Env) *cobra.Command {
	return &cobra.Command{Use: "worker", Hidden: true, RunE: func(*cobra.Command, []string) error { return exitStatus(ExitFailed) }}
}
