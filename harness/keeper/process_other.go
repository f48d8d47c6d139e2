//go:build !unix

package keeper

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

// terminate asks a process to end; here there is only the end.
var terminate = os.Kill

// detach has no other user to offer on this system.
func detach(_ *exec.Cmd, spec Spec) error {
	if spec.UID != nil || spec.GID != nil {
		return errors.New("starting as another user is not done on this system")
	}
	return nil
}

// signalGroup ends the one process: this system has no process groups to
// signal.
func signalGroup(pid int, _ os.Signal) error {
	p, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	return p.Kill()
}

// blockUntilExited cannot wait without reaping on this system.
func blockUntilExited(int) bool { return false }

// DeafToSignals makes this process take no notice of Ctrl-C.
func DeafToSignals() { signal.Notify(make(chan os.Signal, 1), os.Interrupt) }

func ownSession() *syscall.SysProcAttr { return nil }

func signalName(*os.ProcessState) string { return "" }
