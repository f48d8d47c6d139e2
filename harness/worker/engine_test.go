//go:build unix

package worker

import (
	"context"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"abacus/harness/fault"
	"abacus/harness/load"
)

func TestResultAndProgress(t *testing.T) {
	e := as(t, "serve=counting")
	var pids []int
	e.Started = func(pid int) { pids = append(pids, pid) }
	var elapsed []int64
	res, err := e.Run(t.Context(), fakeJob(200), func(p load.Progress) { elapsed = append(elapsed, p.ElapsedNS) })
	if err != nil {
		t.Fatal(err)
	}
	if res.Engine != "fake" || res.Counts.Complete != 200 || res.ElapsedNS != 5 || res.Interrupted {
		t.Errorf("result %+v", res)
	}
	// 1 + 2 + … + 200 = 20,100
	if mean, ok := res.Total.Mean(); !ok || res.Total.Count() != 200 || mean != 100.5 {
		t.Errorf("total of %d values with the mean %v, want 200 and 100.5", res.Total.Count(), mean)
	}
	if len(elapsed) == 0 || !slices.IsSorted(elapsed) {
		t.Errorf("progress %v, want some, in order", elapsed)
	}
	if len(pids) != 1 || pids[0] <= 0 || pids[0] == os.Getpid() {
		t.Errorf("told the pids %v, want one, the child's", pids)
	}
	if res.Usage == nil || res.Usage.Cores < 1 || res.Usage.GCPauseNS == nil {
		t.Errorf("usage %+v", res.Usage)
	}
}

func TestUsageIsTheChilds(t *testing.T) {
	res, err := as(t, "serve=burns").Run(t.Context(), fakeJob(1), nil)
	if err != nil {
		t.Fatal(err)
	}
	// The engine goes on until it has used 50 ms of user time.
	if got := res.Usage.CPUUserNS; got < 50e6 {
		t.Errorf("user time %d ns, want at least 50 ms", got)
	}
	if rss := res.Usage.MaxRSSBytes; rss < 1<<20 || rss > 1<<30 {
		t.Errorf("most memory %d bytes", rss)
	}
}

func TestErrors(t *testing.T) {
	for _, tt := range []struct {
		role string
		want []string // all in the error
		res  *load.Result
	}{
		{"serve=error", []string{`url "gopher://x": scheme must be http or https`}, nil},
		{"serve=error with part", []string{"broke off"}, &load.Result{Counts: load.Counts{Complete: 3}}},
		{"serve=nothing", []string{"the fake engine returned no result"}, nil},
		{"serve=panic", []string{"the fake engine panicked: boom"}, nil},
		{"serve=panic elsewhere", []string{"exit status 2", "panic: boom in a goroutine"},
			&load.Result{Interrupted: true, ElapsedNS: 3e9, Counts: load.Counts{Complete: 12, Failed: 1, Timeout: 1}}},
		{"serve=exit", []string{"exit status 4"}, nil},
		{"exit=0", []string{"ended without a result: exit status 0", "said before�[31m it went"}, nil},
		{"exit=9", []string{"exit status 9", "said before"}, nil},
		{"raw=" + strconv.Quote("hello\n"), []string{"broke the protocol", `"hello" is no record`}, nil},
		{"raw=" + strconv.Quote(`{"version":2,"type":"result","result":{}}`+"\n"), []string{"version 2", "speaks 1"}, nil},
		{"raw=" + strconv.Quote(`{"version":1,"type":"result"}`+"\n"), []string{"no record of a known type"}, nil},
		{"raw=" + strconv.Quote(`{"version":1,"type":"rumour"}`+"\n"), []string{"no record of a known type"}, nil},
		{"raw=" + strconv.Quote(`{"version":1,"type":"progress","progress":{"elapsed_ns":1,"counts":{"complete":5,"failed":0,"failed_connect":0,"failed_receive":0,"failed_timeout":0,"failed_exception":0,"non_2xx":0}}}`+"\n"+`{"version":1,"ty`),
			[]string{"exit status 0", "cut off"}, &load.Result{Interrupted: true, ElapsedNS: 1, Counts: load.Counts{Complete: 5}}},
		{"endless line", []string{"a line of more than 33554432 bytes"}, nil},
		{"after result=", []string{"after its result", "exit status 3"}, &load.Result{Counts: load.Counts{Complete: 7}}},
		{"after result=twice", []string{"a result after its result"}, nil},
	} {
		t.Run(tt.role[:min(len(tt.role), 40)], func(t *testing.T) {
			res, err := as(t, tt.role).Run(t.Context(), fakeJob(1), nil)
			if err == nil {
				t.Fatalf("no error, result %+v", res)
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not contain %q", err, want)
				}
			}
			if (res == nil) != (tt.res == nil) {
				t.Fatalf("result %+v, want %+v", res, tt.res)
			}
			if res != nil && (res.Counts != tt.res.Counts || res.Interrupted != tt.res.Interrupted || res.ElapsedNS != tt.res.ElapsedNS) {
				t.Errorf("result %+v, want %+v", res, tt.res)
			}
		})
	}
}

func TestAdviceCrossesTheProcess(t *testing.T) {
	_, err := as(t, "serve=error").Run(t.Context(), fakeJob(1), nil)
	if !fault.IsInput(err) || fault.HintOf(err) != "use http" {
		t.Errorf("error %v: input %v, hint %q", err, fault.IsInput(err), fault.HintOf(err))
	}
}

func TestExitErrorIsOne(t *testing.T) {
	_, err := as(t, "exit=9").Run(t.Context(), fakeJob(1), nil)
	var exit *ExitError
	if !errors.As(err, &exit) || exit.Status != "exit status 9" {
		t.Errorf("error %#v", err)
	}
}

// TestCancelledAtTheStart: the child may be stopped before it has its job.
func TestCancelledAtTheStart(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	e := as(t, "serve=until stopped")
	e.Started = func(int) { cancel() }
	res, err := e.Run(ctx, fakeJob(1), nil)
	if res == nil && !errors.Is(err, context.Canceled) {
		t.Errorf("no result, and the error %v", err)
	}
}

func TestMissingCommand(t *testing.T) {
	for _, e := range []*Engine{{}, {Command: []string{t.TempDir() + "/none"}}} {
		if _, err := e.Run(t.Context(), fakeJob(1), nil); err == nil || !strings.Contains(err.Error(), "start the worker process") {
			t.Errorf("%v: %v", e.Command, err)
		}
	}
}

func TestCancelGivesThePartialResult(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	res, err := as(t, "serve=until stopped").Run(ctx, fakeJob(1), func(p load.Progress) {
		if p.Counts.Complete >= 3 {
			cancel()
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if !res.Interrupted || res.Counts.Complete < 3 || res.Usage == nil {
		t.Errorf("result %+v, want an interrupted one with at least 3", res)
	}
}

func TestCancelledBefore(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	e := as(t, "serve=counting")
	e.Started = func(int) { t.Error("a child was started") }
	if _, err := e.Run(ctx, fakeJob(1), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestDeafChildIsKilled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	e := as(t, "deaf")
	e.Grace = 50 * time.Millisecond
	var pid int
	e.Started = func(p int) { pid = p }
	res, err := e.Run(ctx, fakeJob(1), func(load.Progress) { cancel() })
	if err == nil || !strings.Contains(err.Error(), "gave no result within 50ms") || !strings.Contains(err.Error(), "signal: killed") {
		t.Errorf("error %v", err)
	}
	if res == nil || res.Counts.Complete != 41 || !res.Interrupted || res.StartedAt.IsZero() {
		t.Errorf("result %+v, want what the progress told", res)
	}
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("child %d is still there: %v", pid, err)
	}
}

func TestHangAfterResultKeepsIt(t *testing.T) {
	e := as(t, "after result=hang")
	e.Grace = 50 * time.Millisecond
	res, err := e.Run(t.Context(), fakeJob(1), nil)
	if err != nil || res == nil || res.Counts.Complete != 7 {
		t.Errorf("result %+v, error %v", res, err)
	}
}

// TestOrphanAfterResult: what the child leaves behind with its output does not
// spoil the result, and does not live on.
func TestOrphanAfterResult(t *testing.T) {
	t.Parallel()
	e := as(t, "orphan")
	e.Grace = time.Minute
	res, err := e.Run(t.Context(), fakeJob(1), nil)
	if err != nil || res == nil || len(res.Notes) != 1 {
		t.Fatalf("result %+v, error %v", res, err)
	}
	pid, err := strconv.Atoi(res.Notes[0])
	if err != nil {
		t.Fatal(err)
	}
	if !endsWithin(pid, 3*time.Second) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
		t.Errorf("process %d was left behind", pid)
	}
}

func TestKilledChild(t *testing.T) {
	e := as(t, "serve=until stopped")
	var pid int
	e.Started = func(p int) { pid = p }
	res, err := e.Run(t.Context(), fakeJob(1), func(p load.Progress) {
		if p.Counts.Complete == 5 {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	if err == nil || !strings.Contains(err.Error(), "signal: killed") {
		t.Errorf("error %v", err)
	}
	if res == nil || res.Counts.Complete < 5 || !res.Interrupted {
		t.Errorf("result %+v", res)
	}
}

// TestOwnGroup checks that a signal to the parent's group, as Ctrl-C is, does
// not reach the child.
func TestOwnGroup(t *testing.T) {
	e := as(t, "serve=until stopped")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	e.Started = func(pid int) {
		pgid, err := syscall.Getpgid(pid)
		if err != nil || pgid != pid {
			t.Errorf("child %d is in group %d (%v), want its own", pid, pgid, err)
		}
	}
	if _, err := e.Run(ctx, fakeJob(1), func(load.Progress) { cancel() }); err != nil {
		t.Error(err)
	}
}
