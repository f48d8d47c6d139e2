package cli

import "github.com/spf13/cobra"

func newRunCommand(_ *Env) *cobra.Command {
	return &cobra.Command{Use: "run", RunE: func(*cobra.Command, []string) error { return exitStatus(ExitFailed) }}
}
