//go:build !unix

package lab

import (
	"errors"
	"os"
)

// ownDirectory tells whether path is a folder. The temporary folder is the
// user's own on this system.
func ownDirectory(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}

// askToEnd has no gentle way on this system.
func askToEnd(int) error {
	return errors.New("not on this system: press Ctrl-C where the lab runs")
}
