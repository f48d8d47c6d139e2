package keeper

import (
	"errors"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// detach gives the command a session of its own, the user asked for, and the
// parent-death signal. The signal survives because Go sets it after the user;
// a program that changes its user later (memcached -u) would lose it.
func detach(cmd *exec.Cmd, spec Spec) error {
	if (spec.UID == nil) != (spec.GID == nil) {
		return errors.New("uid and gid go together")
	}
	attr := &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	if spec.DeathSignal != 0 {
		attr.Pdeathsig = syscall.Signal(spec.DeathSignal)
	}
	if spec.UID != nil {
		attr.Credential = &syscall.Credential{Uid: *spec.UID, Gid: *spec.GID}
	}
	cmd.SysProcAttr = attr
	return nil
}

// blockUntilExited waits for the end of a child without reaping it, and tells
// whether it could.
func blockUntilExited(pid int) bool {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return err == nil
		}
	}
}
