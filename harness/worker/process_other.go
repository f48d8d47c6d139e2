//go:build !unix && !windows

package worker

import "os/exec"

// isolate changes nothing: this system has no process groups.
func isolate(*exec.Cmd) {}

func killGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
