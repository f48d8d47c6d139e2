package lab

import (
	"bytes"
	"crypto/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// marked lists the living processes that were started with a variable in
// their environment, which every child inherits.
func marked(t *testing.T, variable string) []string {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, path := range all {
		env, err := os.ReadFile(path) // a zombie's is empty
		if err != nil || !bytes.Contains(env, []byte(variable)) {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if !gone(pid) {
			cmd, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
			found = append(found, strconv.Itoa(pid)+" "+string(bytes.ReplaceAll(cmd, []byte{0}, []byte(" "))))
		}
	}
	return found
}

// The holder killed at any moment of its start and after: nothing is left,
// neither a process nor a folder.
func TestHolderKilledWhileStarting(t *testing.T) {
	temp := t.TempDir()
	variable := "ABACUS_TEST_MARK=" + rand.Text()
	seen, whole := 0, time.Duration(0)
	for i := range 10 {
		cmd := exec.Command(os.Args[0], "hold", temp)
		cmd.Env = append(os.Environ(), variable)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			// The first one may start, which tells how long that takes: the
			// moments of the others are spread over it.
			if _, err := out.Read(make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
			whole = time.Since(begin)
		}
		time.Sleep(whole*time.Duration(i)/9 - time.Since(begin))
		seen = max(seen, len(marked(t, variable)))
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		within(t, 3*time.Second, "all processes gone", func() bool { return len(marked(t, variable)) == 0 })
		within(t, 3*time.Second, "folder gone", func() bool {
			left, err := os.ReadDir(temp)
			return err == nil && len(left) == 0
		})
	}
	// The search would find nothing either if it did not work.
	if seen < 3 {
		t.Errorf("at most %d processes were seen at once; a running lab has 3 or 4", seen)
	}
}

func TestStartTicksOfOddNames(t *testing.T) {
	// Field 22 by proc(5); the name is what a program likes to be called.
	behind := " S 1 7 7 0 -1 4194560 100 0 0 0 1 2 0 0 20 0 5 0 424242 1000 10"
	for _, name := range []string{"(abacus)", "(a b)", "(a) S 1 (b)", "())", "(()"} {
		got, err := startTicks("7 " + name + behind)
		if err != nil || got != 424242 {
			t.Errorf("%s: %d, %v; want 424242", name, got, err)
		}
	}
	for _, bad := range []string{"", "7 (abacus", "7 (abacus) S 1", "7 (abacus) S 1 7 7 0 -1 4194560 100 0 0 0 1 2 0 0 20 0 5 0 soon"} {
		if got, err := startTicks(bad); err == nil {
			t.Errorf("%q: %d, want an error", bad, got)
		}
	}
}
