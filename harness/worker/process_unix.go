//go:build unix

package worker

import (
	"os/exec"
	"syscall"
)

// isolate gives the child a process group of its own, so that signals of the
// terminal go to the parent only.
func isolate(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
}

// killGroup kills the child's process group, which has the child's pid.
func killGroup(cmd *exec.Cmd) {
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
}
