//go:build unix

package keeper

import (
	"os"
	"os/signal"
	"syscall"
)

// terminate asks a process to end.
const terminate = syscall.SIGTERM

// signalGroup signals the process group that pid leads.
func signalGroup(pid int, s os.Signal) error {
	return syscall.Kill(-pid, s.(syscall.Signal))
}

// DeafToSignals makes this process take no notice of the signals that a
// terminal or a closed pipe sends. They are caught, not ignored: an ignored
// signal stays ignored in every process started later.
func DeafToSignals() {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGPIPE)
}

// ownSession keeps a terminal's signals away from a process to be started.
func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// signalName is the name of the signal that ended a process, or empty.
func signalName(s *os.ProcessState) string {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return w.Signal().String()
	}
	return ""
}
