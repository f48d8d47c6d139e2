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
