package cli

import (
	"context"

	"github.com/spf13/cobra"
)

func newABCommand(_ *Env) *cobra.Command {
	return &cobra.Command{Use: "ab", RunE: func(*cobra.Command, []string) error { return exitStatus(ExitFailed) }}
}

func runAB(ctx context.Context, env *Env, args []string) int { return 22 }
