//go:build !linux

package preflight

import "context"

// readMachine finds out nothing more: the sources are Linux's. What is not
// known is left out.
func readMachine(context.Context, string, *Environment) {}
