//go:build linux || darwin

package cli

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
)

// On a terminal the picture is redrawn in its place: each later one begins by
// going up by as many lines as the one before had.
func TestWatchOnATerminal(t *testing.T) {
	for _, tc := range []struct {
		name    string
		vars    map[string]string
		live    bool
		colours bool
	}{
		{"colours", map[string]string{"TERM": "xterm"}, true, true},
		{"NO_COLOR", map[string]string{"TERM": "xterm", "NO_COLOR": "1"}, true, false},
		{"dumb", map[string]string{"TERM": "dumb"}, false, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			master, slave, err := pty.Open()
			if err != nil {
				t.Skip("no terminals here:", err)
			}
			defer master.Close()
			if err := pty.Setsize(slave, &pty.Winsize{Rows: 40, Cols: 90}); err != nil {
				t.Fatal(err)
			}
			read := make(chan string)
			go func() {
				var all bytes.Buffer
				_, _ = all.ReadFrom(master) // ends with an error when the slave is closed
				read <- all.String()
			}()
			srv, _ := watchServer(t, nil)
			var errs bytes.Buffer
			code := Run(t.Context(), &Env{
				Args: []string{"abacus", "watch", srv.URL, "--count", "3", "--interval", "20ms"}, Stdout: slave, Stderr: &errs,
				Getenv: func(k string) string { return tc.vars[k] }, Environ: func() []string { return nil },
			})
			slave.Close()
			var out string
			select {
			case out = <-read:
			case <-time.After(10 * time.Second):
				t.Fatal("the terminal was not closed")
			}
			if code != ExitDone || errs.Len() > 0 {
				t.Errorf("exit %d, stderr %q", code, errs.String())
			}
			if got := strings.Contains(out, "\x1b[2m"); got != tc.colours {
				t.Errorf("dim text %v, want %v: %q", got, tc.colours, out)
			}
			pictures := strings.Split(out, "\x1b[J")
			if !tc.live {
				if strings.Contains(out, "\x1b") {
					t.Errorf("terminal codes on a dumb terminal: %q", out)
				}
				return
			}
			if len(pictures) != 4 { // three, and what comes after the last
				t.Fatalf("%d pictures, want 3: %q", len(pictures)-1, out)
			}
			for i, pic := range pictures[1:3] {
				up := regexp.MustCompile(`^\x1b\[(\d+)A`).FindStringSubmatch(pic)
				lines := strings.Count(pictures[i], "\n")
				if up == nil || up[1] != strconv.Itoa(lines) {
					t.Errorf("picture %d begins %.10q after one of %d lines", i+2, pic, lines)
				}
			}
			if !strings.Contains(pictures[2], "3 busy · 1 idle · 8 slots") || !strings.Contains(pictures[3], "watched ") {
				t.Errorf("last picture %q, then %q", pictures[2], pictures[3])
			}
		})
	}
}
