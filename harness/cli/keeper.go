package cli

import "github.com/spf13/cobra"

func newKeeperCommand(_ *Env) *cobra.Command {
	return &cobra.Command{Use: "keeper", Hidden: true, RunE: func(*cobra.Command, []string) error { return exitStatus(ExitFailed) }}
}
