//go:build !unix

package record

import "os"

// takeLock only makes the file: this system has no advisory lock that we use.
func takeLock(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
}

// syncDir does nothing: folders cannot be synced here.
func syncDir(string) error { return nil }
