package cli

import "github.com/spf13/cobra"

func newLabCommand(_ *Env) *cobra.Command {
	return &cobra.Command{Use: "lab", RunE: func(*cobra.Command, []string) error { return exitStatus(ExitFailed) }}
}
