//go:build unix

package lab

import (
	"os"
	"syscall"
)

// ownDirectory tells whether path is a real folder of this user's. Anyone can
// make a folder of any name below /tmp.
func ownDirectory(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}

// askToEnd sends SIGTERM.
func askToEnd(pid int) error { return syscall.Kill(pid, syscall.SIGTERM) }
