//go:build unix

package record

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// takeLock holds an advisory lock that ends with the process.
func takeLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		if errors.Is(err, unix.EWOULDBLOCK) {
			err = errors.New("it is locked")
		}
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// syncDir makes a rename in dir durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync %s: %w", dir, err)
	}
	// Some file systems cannot sync a folder; the rename stands all the same.
	if err := d.Sync(); err != nil && !errors.Is(err, unix.EINVAL) {
		return errors.Join(fmt.Errorf("sync %s: %w", dir, err), d.Close())
	}
	return d.Close()
}
