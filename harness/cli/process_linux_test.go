package cli

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// program is one abacus process of a test, in a folder of its own.
type program struct {
	t              *testing.T
	dir, tmp       string
	cmd            *exec.Cmd
	stdout, stderr bytes.Buffer
	waited         chan struct{}
}

// start starts abacus in dir with a TMPDIR of its own, by which everything
// that it starts can be told from other processes.
func start(t *testing.T, dir string, args ...string) *program {
	t.Helper()
	p := &program{t: t, dir: dir, tmp: t.TempDir(), waited: make(chan struct{})}
	p.cmd = exec.Command("abacus", args...)
	p.cmd.Dir = dir
	p.cmd.Env = append(os.Environ(), "TMPDIR="+p.tmp, "NO_COLOR=1")
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait() // the state tells
		close(p.waited)
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.waited
		eventually(t, 10*time.Second, "everything that the test started has ended", func() bool { return len(p.family()) == 0 })
	})
	return p
}

// wait waits for the end and returns the exit status.
func (p *program) wait(limit time.Duration) int {
	p.t.Helper()
	select {
	case <-p.waited:
	case <-time.After(limit):
		p.t.Fatalf("abacus has not ended after %v\nstderr:\n%s", limit, p.stderr.String())
	}
	return p.cmd.ProcessState.ExitCode()
}

// runAbacus runs abacus to its end.
func runAbacus(t *testing.T, dir string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	p := start(t, dir, args...)
	code = p.wait(2 * time.Minute)
	return code, p.stdout.String(), p.stderr.String()
}

// family lists the living processes that carry the test's TMPDIR: abacus
// itself and everything below it, whoever their parent is now.
func (p *program) family() []int {
	var pids []int
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		p.t.Fatal(err)
	}
	for _, f := range files {
		env, err := os.ReadFile(f)
		if err != nil || !bytes.Contains(env, []byte("TMPDIR="+p.tmp+"\x00")) {
			continue
		}
		dir := filepath.Dir(f)
		// A zombie has ended; it only waits to be told of.
		if stat, err := os.ReadFile(filepath.Join(dir, "stat")); err != nil || strings.Contains(string(stat), ") Z ") {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(dir)); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// kill ends one process by its number.
func kill(t *testing.T, pid int, s syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(pid, s); err != nil && !errors.Is(err, syscall.ESRCH) {
		t.Fatal(err)
	}
}

// eventually polls until ok holds.
func eventually(t *testing.T, limit time.Duration, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(limit); !ok(); {
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", limit, what)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// recordDir is the only record below dir/results.
func recordDir(t *testing.T, dir string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "results", "*", "2*", "record.json"))
	if err != nil || len(found) != 1 {
		t.Fatalf("records below %s: %v, %v; want one", dir, found, err)
	}
	return filepath.Dir(found[0])
}

// runFiles counts the run files of the record below dir, 0 before there is one.
func runFiles(dir string) int {
	found, _ := filepath.Glob(filepath.Join(dir, "results", "*", "2*", "runs", "[0-9]*.json"))
	return len(found)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
