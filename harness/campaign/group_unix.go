//go:build unix

package campaign

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// ownGroup puts the command into a process group of its own, so that Ctrl-C
// at the terminal does not reach it, and ends the whole group on
// cancellation.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error {
		err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		if errors.Is(err, syscall.ESRCH) {
			return os.ErrProcessDone
		}
		return err
	}
}
