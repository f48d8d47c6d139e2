package observe

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// table is a machine of made-up processes.
type table struct {
	procs  map[int]processStat
	parent map[int]int
}

func (t *table) read(_ context.Context, pid int) (processStat, bool) {
	s, ok := t.procs[pid]
	return s, ok
}

func (t *table) children(_ context.Context, s processStat, _ bool) []int {
	var list []int
	for child := range 100 {
		if parent, ok := t.parent[child]; ok && parent == s.id.pid {
			list = append(list, child)
		}
	}
	return list
}

func proc(pid int, start, user, system int64) processStat {
	return processStat{id: processID{pid, start}, userNS: user, systemNS: system, rssBytes: 100, threads: 2}
}

func mustPoll(t *testing.T, poller *ProcessPoller) []Process {
	t.Helper()
	r, err := poller.Poll(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r.Processes
}

// abacus (1) started a worker (2), a keeper (3), which started the server (4)
// with two children (5, 6). The worker and the server have roles of their own.
func TestProcessPollerSumsARoleWithItsDescendants(t *testing.T) {
	m := &table{
		procs: map[int]processStat{
			1: proc(1, 1, 10, 1), 2: proc(2, 2, 200, 20), 3: proc(3, 3, 3, 3),
			4: proc(4, 4, 1000, 100), 5: proc(5, 5, 2000, 200), 6: proc(6, 6, 4000, 400),
		},
		parent: map[int]int{2: 1, 3: 1, 4: 3, 5: 4, 6: 4},
	}
	poller := newProcessPoller(func() map[string][]int {
		return map[string][]int{"abacus": {1}, "client": {2}, "server": {4}, "memcached": {99}}
	}, m)
	want := []Process{
		{Role: "abacus", Count: 2, CPUUserNS: 13, CPUSystemNS: 4, RSSBytes: 200, Threads: 4},
		{Role: "client", Count: 1, CPUUserNS: 200, CPUSystemNS: 20, RSSBytes: 100, Threads: 2},
		{Role: "server", Count: 3, CPUUserNS: 7000, CPUSystemNS: 700, RSSBytes: 300, Threads: 6},
	}
	if d := cmp.Diff(want, mustPoll(t, poller)); d != "" {
		t.Errorf("want -, got +:\n%s", d)
	}
}

func TestProcessPollerNeverLosesTimeThatWasSeen(t *testing.T) {
	m := &table{procs: map[int]processStat{4: proc(4, 4, 10, 1), 5: proc(5, 5, 20, 2)}, parent: map[int]int{5: 4}}
	pids := []int{4}
	poller := newProcessPoller(func() map[string][]int { return map[string][]int{"server": pids} }, m)
	check := func(step string, want Process) {
		t.Helper()
		got := mustPoll(t, poller)
		if d := cmp.Diff([]Process{want}, got); d != "" {
			t.Errorf("%s: want -, got +:\n%s", step, d)
		}
	}
	check("two processes", Process{Role: "server", Count: 2, CPUUserNS: 30, CPUSystemNS: 3, RSSBytes: 200, Threads: 4})
	zombie := proc(5, 5, 25, 2)
	zombie.dead = true
	m.procs[5] = zombie
	check("the child ended and was not waited for", Process{Role: "server", Count: 1, CPUUserNS: 35, CPUSystemNS: 3, RSSBytes: 100, Threads: 2})
	delete(m.procs, 5)
	check("it is gone", Process{Role: "server", Count: 1, CPUUserNS: 35, CPUSystemNS: 3, RSSBytes: 100, Threads: 2})
	// Its pid is used again by another child: that is another process.
	m.procs[5] = proc(5, 50, 7, 0)
	check("the pid is used again", Process{Role: "server", Count: 2, CPUUserNS: 42, CPUSystemNS: 3, RSSBytes: 200, Threads: 4})
	m.procs = nil
	check("all are gone", Process{Role: "server", CPUUserNS: 42, CPUSystemNS: 3})
	pids = nil
	check("the role has no pids any more", Process{Role: "server", CPUUserNS: 42, CPUSystemNS: 3})
	// The worker of the next run is a new process of the same role.
	m.procs, pids = map[int]processStat{8: proc(8, 8, 1, 1)}, []int{8}
	check("the next worker", Process{Role: "server", Count: 1, CPUUserNS: 43, CPUSystemNS: 4, RSSBytes: 100, Threads: 2})
}

func TestProcessPollerLeavesTheCallersMapAlone(t *testing.T) {
	m := &table{procs: map[int]processStat{4: proc(4, 4, 10, 1)}}
	first := map[string][]int{"client": {4}}
	second := map[string][]int{"server": {4}}
	roles := first
	poller := newProcessPoller(func() map[string][]int { return roles }, m)
	mustPoll(t, poller)
	roles = second
	mustPoll(t, poller)
	if len(second) != 1 {
		t.Errorf("the caller's map was changed: %v", second)
	}
}

func TestProcessPollerIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	poller := newProcessPoller(func() map[string][]int { return map[string][]int{"x": {1}} }, &table{})
	if _, err := poller.Poll(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
}
