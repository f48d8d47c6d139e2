//go:build unix && !linux

package keeper

import (
	"errors"
	"os/exec"
	"syscall"
)

// detach gives the command a session of its own and the user asked for. There
// is no parent-death signal on this system: a child that does not read its
// standard input outlives a keeper that was killed.
func detach(cmd *exec.Cmd, spec Spec) error {
	if (spec.UID == nil) != (spec.GID == nil) {
		return errors.New("uid and gid go together")
	}
	attr := &syscall.SysProcAttr{Setsid: true}
	if spec.UID != nil {
		attr.Credential = &syscall.Credential{Uid: *spec.UID, Gid: *spec.GID}
	}
	cmd.SysProcAttr = attr
	return nil
}

// blockUntilExited cannot wait without reaping on this system.
func blockUntilExited(int) bool { return false }
