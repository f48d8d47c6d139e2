package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"abacus/harness/keeper"
)

// newKeeperCommand is the process that holds a lab. It is started by abacus
// itself, never by a person.
func newKeeperCommand(env *Env) *cobra.Command {
	return &cobra.Command{
		Use:    "keeper",
		Short:  "Hold what a lab started until standard input ends",
		Hidden: true,
		Args:   noArgs,
		RunE: func(*cobra.Command, []string) error {
			keeper.DeafToSignals()
			if err := keeper.Serve(env.Stdin, env.Stdout); err != nil {
				return fmt.Errorf("keeper: %w", err)
			}
			return nil
		},
	}
}
