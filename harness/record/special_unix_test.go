//go:build unix

package record

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Files that block or never end are refused unread, and large ones by their
// size, which here is all holes.
func TestFilesThatMustNotBeRead(t *testing.T) {
	w := create(t, t.TempDir())
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r := &Reader{dir: w.Dir()}
	for name, read := range map[string]func() error{
		EnvironmentFile: func() error { _, err := r.Environment(); return err },
		PreflightFile:   func() error { _, err := r.Preflight(); return err },
		IdleName:        func() error { _, err := r.Idle(); return err },
		CampaignFile:    func() error { _, err := r.CampaignYAML(); return err },
		filepath.Join(RunsDir, "0001-a.json"): func() error {
			for _, err := range r.Runs() {
				return err
			}
			return nil
		},
		ManifestFile: func() error { _, err := Open(w.Dir()); return err },
	} {
		path := filepath.Join(r.Dir(), name)
		for _, tt := range []struct {
			what, want string
			make       func() error
		}{
			{"FIFO", " is no regular file", func() error { return syscall.Mkfifo(path, 0o644) }},
			{"device", " is no regular file", func() error { return os.Symlink("/dev/zero", path) }},
			{"folder", " is no regular file", func() error { return os.Mkdir(path, 0o755) }},
			{"large", " has 268435457 bytes; at most 268435456 (256 MiB) are read", func() error {
				if err := os.WriteFile(path, nil, 0o644); err != nil {
					return err
				}
				return os.Truncate(path, 256<<20+1)
			}},
		} {
			if err := os.RemoveAll(path); err != nil {
				t.Fatal(err)
			}
			if err := tt.make(); err != nil {
				t.Fatal(err)
			}
			done := make(chan error, 1)
			go func() { done <- read() }()
			select {
			case err := <-done:
				if err == nil || !strings.HasSuffix(err.Error(), path+tt.want) {
					t.Errorf("%s as a %s: %v, want %s%s", name, tt.what, err, path, tt.want)
				}
			case <-time.After(10 * time.Second):
				t.Fatalf("%s as a %s: it blocks", name, tt.what)
			}
		}
	}
}
