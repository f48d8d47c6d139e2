package cli

import "github.com/spf13/cobra"

func newInitCommand(_ *Env) *cobra.Command {
	return &cobra.Command{Use: "init", RunE: func(*cobra.Command, []string) error { return exitStatus(ExitFailed) }}
}
