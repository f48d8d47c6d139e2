package preflight

import (
	"strings"
	"testing"
	"time"
)

// calm is a baseline with nothing to find fault with.
func calm() Idle {
	return Idle{
		DurationNS: int64(5 * time.Second), CPUBusyShare: p(0.02), CPUStealShare: p(0.0), IOWaitShare: p(0.0), Load1: p(0.3),
		MemAvailable: p[uint64](6 << 30), MemTotal: p[uint64](8 << 30), SwapMoved: p[uint64](0), TimeWait: p[int64](12),
		BusyWorkers: p[int64](1), IdleWorkers: p[int64](74), ForeignRequests: p[int64](0),
		Singles: []Phases{{TotalNS: 2e6, Status: 200}, {TotalNS: 3e6, Status: 200}, {TotalNS: 1e6, Status: 200}},
	}
}

func TestJudgeIdleOfACalmMachine(t *testing.T) {
	got := JudgeIdle(calm(), Machine{CPUs: 2, Ports: 28232})
	if !got.MayStart || got.Reason != "CPU 2\u202f%, 74 workers idle, no swap moved: ready" {
		t.Errorf("may start %v, reason %q", got.MayStart, got.Reason)
	}
	for _, c := range got.Checks {
		if c.Severity != OK || c.Finding == "" || c.Question == "" || c.Method == "" {
			t.Errorf("check %+v, want all passed", c)
		}
	}
	check(t, got.Checks, want{"idle.single", OK, "took 2.00\u00a0ms (median of 3)", "fastest 1.00\u00a0ms, slowest 3.00\u00a0ms"})
	if len(got.Checks) != 9 {
		t.Errorf("%d checks, want 9", len(got.Checks))
	}
}

// Both sides of every limit: at the limit the milder verdict holds.
func TestJudgeIdleLimits(t *testing.T) {
	m := Machine{CPUs: 2, Ports: 1000}
	for _, tc := range []struct {
		name   string
		change func(*Idle)
		want   want
	}{
		{"CPU at 20 %", func(i *Idle) { i.CPUBusyShare = p(0.20) }, want{"idle.cpu", OK, "20", ""}},
		{"CPU above 20 %", func(i *Idle) { i.CPUBusyShare = p(0.2001) }, want{"idle.cpu", Warning, "busy without load", "watched for 5s"}},
		{"CPU at 50 %", func(i *Idle) { i.CPUBusyShare = p(0.50) }, want{"idle.cpu", Warning, "50", ""}},
		{"CPU above 50 %", func(i *Idle) { i.CPUBusyShare = p(0.5001) }, want{"idle.cpu", Critical, "busy without load", ""}},
		{"disks at 20 %", func(i *Idle) { i.IOWaitShare = p(0.20) }, want{"idle.cpu", OK, "busy", ""}},
		{"disks above 20 %", func(i *Idle) { i.IOWaitShare = p(0.21) }, want{"idle.cpu", Warning, "waited for disks", ""}},
		{"steal at 2 %", func(i *Idle) { i.CPUStealShare = p(0.02) }, want{"idle.steal", OK, "2", ""}},
		{"steal above 2 %", func(i *Idle) { i.CPUStealShare = p(0.021) }, want{"idle.steal", Warning, "other guests", ""}},
		{"steal at 20 %", func(i *Idle) { i.CPUStealShare = p(0.2) }, want{"idle.steal", Warning, "other guests", ""}},
		{"steal above 20 %", func(i *Idle) { i.CPUStealShare = p(0.21) }, want{"idle.steal", Critical, "other guests", ""}},
		{"load at 2 a core", func(i *Idle) { i.Load1 = p(4.0) }, want{"idle.load", OK, "4.00 on 2 cores", ""}},
		{"load above 2 a core", func(i *Idle) { i.Load1 = p(4.01) }, want{"idle.load", Warning, "4.01 on 2 cores", ""}},
		{"memory at 5 %", func(i *Idle) { i.MemAvailable, i.MemTotal = p[uint64](50), p[uint64](1000) }, want{"idle.memory", OK, "5", ""}},
		{"memory below 5 %", func(i *Idle) { i.MemAvailable, i.MemTotal = p[uint64](49), p[uint64](1000) }, want{"idle.memory", Warning, "4.9", ""}},
		{"memory at 2 %", func(i *Idle) { i.MemAvailable, i.MemTotal = p[uint64](20), p[uint64](1000) }, want{"idle.memory", Warning, "2", ""}},
		{"memory below 2 %", func(i *Idle) { i.MemAvailable, i.MemTotal = p[uint64](19), p[uint64](1000) }, want{"idle.memory", Critical, "1.9", ""}},
		{"one page swapped", func(i *Idle) { i.SwapMoved = p[uint64](4096) }, want{"idle.swap", Warning, "4 KiB of swap moved", ""}},
		{"ports at a quarter", func(i *Idle) { i.TimeWait = p[int64](250) }, want{"idle.ports", OK, "250 of 1,000", ""}},
		{"ports above a quarter", func(i *Idle) { i.TimeWait = p[int64](251) }, want{"idle.ports", Warning, "251 of 1,000", ""}},
		{"ports at 90 %", func(i *Idle) { i.TimeWait = p[int64](900) }, want{"idle.ports", Warning, "900", ""}},
		{"ports above 90 %", func(i *Idle) { i.TimeWait = p[int64](901) }, want{"idle.ports", Critical, "901", ""}},
		{"one worker idle", func(i *Idle) { i.IdleWorkers = p[int64](1) }, want{"idle.workers", OK, "at least 1 worker idle", "at most 1 busy"}},
		{"no worker idle", func(i *Idle) { i.IdleWorkers = p[int64](0) }, want{"idle.workers", Critical, "no worker was idle", ""}},
		{"as many busy as idle", func(i *Idle) { i.BusyWorkers, i.IdleWorkers = p[int64](4), p[int64](4) }, want{"idle.workers", OK, "", ""}},
		{"more busy than idle", func(i *Idle) { i.BusyWorkers, i.IdleWorkers = p[int64](5), p[int64](4) }, want{"idle.workers", Warning, "5 workers busy", ""}},
		{"2 foreign requests a second", func(i *Idle) { i.ForeignRequests = p[int64](10) }, want{"idle.foreign", OK, "10 requests came from elsewhere in 5s", ""}},
		{"more than 2", func(i *Idle) { i.ForeignRequests = p[int64](11) }, want{"idle.foreign", Warning, "11 requests", ""}},
		{"50 a second", func(i *Idle) { i.ForeignRequests = p[int64](250) }, want{"idle.foreign", Warning, "250 requests", ""}},
		{"more than 50", func(i *Idle) { i.ForeignRequests = p[int64](251) }, want{"idle.foreign", Critical, "251 requests", ""}},
		{"one single failed", func(i *Idle) { i.Singles[1].Error = "refused" }, want{"idle.single", Warning, "1 of 3 single requests failed", ""}},
		{"all singles failed", func(i *Idle) {
			i.Singles = []Phases{{Error: "the connection was refused"}, {Error: "x"}}
		}, want{"idle.single", Critical, "no single request was answered", "the connection was refused"}},
		{"singles that vary", func(i *Idle) {
			i.Singles = []Phases{{TotalNS: 2e6}, {TotalNS: 2e6}, {TotalNS: 2e6}, {TotalNS: 2e6}, {TotalNS: 21e6}}
		}, want{"idle.single", Info, "median 2.00\u00a0ms, slowest 21.0\u00a0ms", ""}},
		{"singles that vary by ten", func(i *Idle) {
			i.Singles = []Phases{{TotalNS: 2e6}, {TotalNS: 2e6}, {TotalNS: 2e6}, {TotalNS: 2e6}, {TotalNS: 20e6}}
		}, want{"idle.single", OK, "median of 5", ""}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			i := calm()
			tc.change(&i)
			got := JudgeIdle(i, m)
			check(t, got.Checks, tc.want)
			if may := tc.want.severity != Critical; got.MayStart != may {
				t.Errorf("may start %v, want %v: %s", got.MayStart, may, got.Reason)
			}
			begins := map[Severity]string{Critical: "not ready: ", Warning: "ready, but "}[tc.want.severity]
			if !strings.HasPrefix(got.Reason, begins) || (begins != "" && !strings.Contains(got.Reason, byID(t, got.Checks, tc.want.id).Finding)) {
				t.Errorf("reason %q, want it to begin %q and name the finding", got.Reason, begins)
			}
		})
	}
}

func TestJudgeIdleWithoutFigures(t *testing.T) {
	got := JudgeIdle(Idle{}, Machine{})
	if !got.MayStart || got.Reason != "ready, as far as could be seen" {
		t.Errorf("may start %v, reason %q", got.MayStart, got.Reason)
	}
	for _, c := range got.Checks {
		if c.Severity != NotSeen || c.Finding == "" {
			t.Errorf("check %+v, want one that was not made", c)
		}
	}
	// Judging twice does not pile up checks.
	if again := JudgeIdle(got, Machine{}); len(again.Checks) != len(got.Checks) {
		t.Errorf("%d checks after the second judging, %d after the first", len(again.Checks), len(got.Checks))
	}
}
