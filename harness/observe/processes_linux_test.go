package observe

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The line's fields after the name are counted in proc(5): 14 utime, 15 stime,
// 20 num_threads, 22 starttime, 24 rss.
func TestParseProcStat(t *testing.T) {
	const line = "4711 (php) fpm: (x) 1) S 4700 4711 4711 0 -1 4194560 1 2 3 4 250 75 999 888 20 0 7 0 123456 10485760 321 18446744073709551615 1 1 0 0\n"
	want := processStat{
		id: processID{pid: 4711, start: 123456}, userNS: 2_500_000_000, systemNS: 750_000_000,
		threads: 7, rssBytes: 321 * uint64(os.Getpagesize()),
	}
	got, err := parseProcStat(line)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got, cmp.AllowUnexported(processStat{}, processID{})); d != "" {
		t.Errorf("want -, got +:\n%s", d)
	}
	zombie, err := parseProcStat(strings.Replace(line, ") S ", ") Z ", 1))
	if err != nil || !zombie.dead {
		t.Errorf("zombie: dead %v, %v; want true", zombie.dead, err)
	}
	for _, bad := range []string{
		"", "4711", "4711 (x)", "4711 (x) S 1 2 3", "x (y) " + strings.Repeat("1 ", 30),
		"4711 x) S " + strings.Repeat("1 ", 30), strings.Replace(line, " 250 ", " many ", 1),
	} {
		if s, err := parseProcStat(bad); err == nil {
			t.Errorf("parseProcStat(%q) = %+v, want an error", bad, s)
		}
	}
}

// Both ways to find children must find the same.
func TestChildren(t *testing.T) {
	root := t.TempDir()
	write := func(path, text string) {
		t.Helper()
		full := filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for pid, parent := range map[int]int{10: 1, 11: 10, 12: 10, 13: 12} {
		write(strconv.Itoa(pid)+"/stat", strconv.Itoa(pid)+" (a b) S "+strconv.Itoa(parent)+strings.Repeat(" 0", 30))
	}
	write("self/stat", "x")
	write("10/task/10/comm", "a")
	write("10/task/20/comm", "a")
	r := procReader{root}
	find := func(pid, threads int, named bool) []int {
		got := r.children(t.Context(), processStat{id: processID{pid: pid}, threads: threads}, named)
		slices.Sort(got)
		return got
	}
	if got := find(10, 2, true); !slices.Equal(got, []int{11, 12}) {
		t.Errorf("by scan: %v, want 11 and 12", got)
	}
	write("10/task/10/children", "11 ")
	write("10/task/20/children", "12 ")
	for _, tc := range []struct {
		threads int
		named   bool
		want    []int
	}{
		{1, true, []int{11}}, // one thread: the other is made up
		{2, true, []int{11, 12}},
		{2, false, []int{11, 12}},
		{manyThreads - 1, false, []int{11, 12}},
		{manyThreads, false, []int{11}},
		{manyThreads, true, []int{11, 12}},
	} {
		if got := find(10, tc.threads, tc.named); !slices.Equal(got, tc.want) {
			t.Errorf("by the kernel's list, %d threads, named %v: %v, want %v", tc.threads, tc.named, got, tc.want)
		}
	}
	if got := find(99, 1, true); got != nil {
		t.Errorf("children of nobody: %v", got)
	}
}

// A real process and its child, against what they are known to be.
func TestProcessPollerOnRealProcesses(t *testing.T) {
	cmd := exec.Command("sh", "-c", "sleep 60 & echo started; wait")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Skip("no shell here:", err)
	}
	var child int
	t.Cleanup(func() {
		if child != 0 {
			if p, err := os.FindProcess(child); err == nil {
				_ = p.Kill()
			}
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	if _, err := out.Read(make([]byte, 16)); err != nil {
		t.Fatal(err)
	}
	poller := NewProcessPoller(func() map[string][]int {
		return map[string][]int{"server": {cmd.Process.Pid}, "abacus": {os.Getpid()}}
	})
	deadline := time.Now().Add(10 * time.Second)
	for {
		list := mustPoll(t, poller)
		if kids := (procReader{"/proc"}).children(t.Context(), processStat{id: processID{pid: cmd.Process.Pid}, threads: 1}, true); len(kids) == 1 {
			child = kids[0]
		}
		if len(list) == 2 && list[1].Count == 2 {
			if list[1].Threads != 2 || list[1].RSSBytes == 0 {
				t.Errorf("sh and sleep: %+v, want two threads and some memory", list[1])
			}
			if list[0].Role != "abacus" || list[0].Count < 1 || list[0].Threads < 2 {
				t.Errorf("this program: %+v", list[0])
			}
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("processes %+v, want a server of two", list)
		}
		time.Sleep(time.Millisecond)
	}
}
