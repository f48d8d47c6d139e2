package worker

import (
	"os/exec"
	"runtime"
	"syscall"
)

// startAndWait starts the child with SIGKILL as its parent-death signal: a
// second belt beside the pipe. The signal is sent when the THREAD that started
// the child ends, so that thread is kept for the child until it has ended.
func startAndWait(cmd *exec.Cmd) (<-chan error, error) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	started, exited := make(chan error), make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			exited <- cmd.Wait()
		}
	}()
	return exited, <-started
}
