package cli

import "github.com/spf13/cobra"

func newVersionCommand(_ *Env) *cobra.Command {
	return &cobra.Command{Use: "version", RunE: func(*cobra.Command, []string) error { return exitStatus(ExitFailed) }}
}
