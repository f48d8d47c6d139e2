//go:build !unix

package campaign

import "os/exec"

// ownGroup changes nothing: process groups are not used on this system, and
// only the command itself is ended on cancellation.
func ownGroup(*exec.Cmd) {}
