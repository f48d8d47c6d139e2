//go:build unix

package config

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Files that block or never end are refused unread, and large ones by their
// size, which here is all holes.
func TestFilesThatMustNotBeRead(t *testing.T) {
	const scenario = "scenario: s\nurl: http://h/\nsteps: [{concurrency: 1, duration: 1s}]\n"
	dir := folder(t, map[string]string{
		"fifo-body.yaml":   scenario + "body_file: fifo\n",
		"device-body.yaml": scenario + "body_file: /dev/zero\n",
		"folder-body.yaml": scenario + "body_file: .\n",
		"large-body.yaml":  scenario + "body_file: large\n",
		"most-body.yaml":   scenario + "body_file: most\n",
		"campaign.yaml":    "campaign: c\nscenarios: [./fifo]\n",
		"large":            "", "most": "",
	})
	for name, size := range map[string]int64{"large": 16<<20 + 1, "most": 16 << 20} {
		if err := os.Truncate(filepath.Join(dir, name), size); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ file, want string }{
		{"./fifo", "./fifo: is no regular file"},
		{"/dev/zero", "/dev/zero: is no regular file"},
		{"campaign.yaml", "./fifo: is no regular file"},
		{"fifo-body.yaml", `fifo-body.yaml:4: body_file: value "fifo": is no regular file`},
		{"device-body.yaml", `device-body.yaml:4: body_file: value "/dev/zero": is no regular file`},
		{"folder-body.yaml", `folder-body.yaml:4: body_file: value ".": is no regular file`},
		{"large-body.yaml", `large-body.yaml:4: body_file: value "large": has 16777217 bytes; at most 16777216 (16 MiB) are read`},
		{"most-body.yaml", ""},
	} {
		done := make(chan struct{})
		go func() {
			defer close(done)
			in := Input{Args: []string{tt.file}, Dir: dir}
			if tt.want == "" {
				mustLoad(t, in)
				return
			}
			if diff := cmp.Diff([]string{tt.want}, problemsOf(t, in)); diff != "" {
				t.Errorf("%s:\n%s", tt.file, diff)
			}
		}()
		select {
		case <-done:
		case <-time.After(10 * time.Second):
			t.Fatalf("%s: it blocks", tt.file)
		}
	}
	for name, want := range map[string]string{"fifo": " is no regular file", "large": " has 16777217 bytes; at most 16777216 (16 MiB) are read"} {
		path := filepath.Join(dir, name)
		if _, err := ReadBody(path); err == nil || err.Error() != path+want {
			t.Errorf("ReadBody: %v, want %s%s", err, path, want)
		}
	}
	if data, err := ReadBody(filepath.Join(dir, "most")); err != nil || len(data) != 16<<20 {
		t.Errorf("ReadBody of 16 MiB: %d bytes, %v", len(data), err)
	}
}
