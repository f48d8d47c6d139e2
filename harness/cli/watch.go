package cli

import "github.com/spf13/cobra"

func newWatchCommand(_ *Env) *cobra.Command {
	return &cobra.Command{Use: "watch", RunE: func(*cobra.Command, []string) error { return exitStatus(ExitFailed) }}
}
