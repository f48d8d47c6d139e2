package worker

import (
	"os/exec"
	"syscall"
)

// isolate gives the child a process group of its own, so that a Ctrl-C in the
// console goes to the parent only.
func isolate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

func killGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
