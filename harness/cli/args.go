package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"abacus/harness/fault"
)

// noArgs refuses arguments with a hint.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return fault.Input(fmt.Errorf("%s takes no arguments, got %q", cmd.CommandPath(), strings.Join(args, " ")), fmt.Sprintf("see `%s --help`", cmd.CommandPath()))
}
