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

// knownCommand refuses the name of a command that there is not.
func knownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := "see `abacus --help`"
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		hint = "did you mean `abacus " + near[0] + "`?"
	}
	return fault.Input(fmt.Errorf("unknown command %q", args[0]), hint)
}
