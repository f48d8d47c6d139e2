package observe

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const tick = int64(10_000_000) // 10 ms

// The figures stand in testdata/proc: ticks of 10 ms, pages of this system,
// kB of 1,024 bytes. Guest time (99 and 7 ticks) is part of user and nice.
func TestHostPollerReadsEveryFigure(t *testing.T) {
	r, err := newHostPoller("testdata/proc").Poll(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	page := uint64(os.Getpagesize())
	want := &Host{
		CPU: CPUTimes{UserNS: 4705 * tick, NiceNS: 356 * tick, SystemNS: 584 * tick, IdleNS: 3699176 * tick, IOWaitNS: 23060 * tick, IRQNS: 12 * tick, SoftIRQNS: 277 * tick, StealNS: 41 * tick},
		Cores: []CPUTimes{
			{UserNS: 2350 * tick, NiceNS: 178 * tick, SystemNS: 292 * tick, IdleNS: 1849588 * tick, IOWaitNS: 11530 * tick, IRQNS: 6 * tick, SoftIRQNS: 138 * tick, StealNS: 20 * tick},
			{UserNS: 2355 * tick, NiceNS: 178 * tick, SystemNS: 292 * tick, IdleNS: 1849588 * tick, IOWaitNS: 11530 * tick, IRQNS: 6 * tick, SoftIRQNS: 139 * tick, StealNS: 21 * tick},
		},
		Load1:             p(0.52),
		MemTotalBytes:     8000000 * 1024,
		MemAvailableBytes: 6000000 * 1024,
		SwapTotalBytes:    2000000 * 1024,
		SwapUsedBytes:     500000 * 1024,
		SwapInBytes:       p(25 * page),
		SwapOutBytes:      p(4 * page),
		NetRxBytes:        p[uint64](1234),
		NetTxBytes:        p[uint64](1500),
		ContextSwitches:   p[uint64](115315),
		TimeWait:          p[int64](4711),
	}
	if d := cmp.Diff(want, r.Host); d != "" {
		t.Errorf("want -, got +:\n%s", d)
	}
	if busy := r.Host.CPU.BusyNS(); busy != (4705+356+584+12+277+41)*tick {
		t.Errorf("busy %d", busy)
	}
}

func TestHostPollerLeavesOutWhatIsNotThere(t *testing.T) {
	r, err := newHostPoller("testdata/proc-old").Poll(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := &Host{
		CPU:           CPUTimes{UserNS: 10 * tick, NiceNS: 20 * tick, SystemNS: 30 * tick, IdleNS: 40 * tick},
		MemTotalBytes: 8000000 * 1024, MemAvailableBytes: 6000000 * 1024,
	}
	// gopsutil has a load average of its own where the file is missing.
	r.Host.Load1 = nil
	if d := cmp.Diff(want, r.Host); d != "" {
		t.Errorf("want -, got +:\n%s", d)
	}
}

func TestHostPollerFails(t *testing.T) {
	for name, stat := range map[string]string{
		"no file":         "",
		"no cpu line":     "ctxt 5\n",
		"too few columns": "cpu 1 2 3\n",
		"not numbers":     "cpu a b c d\n",
	} {
		dir := t.TempDir()
		if stat != "" {
			if err := os.WriteFile(filepath.Join(dir, "stat"), []byte(stat), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if r, err := newHostPoller(dir).Poll(t.Context()); err == nil || !strings.Contains(err.Error(), "host CPU times") {
			t.Errorf("%s: %+v, %v; want an error about CPU times", name, r, err)
		}
	}
}

func TestHostPollerOnThisMachine(t *testing.T) {
	poller := NewHostPoller()
	a, err := poller.Poll(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b, err := poller.Poll(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if a.Host.MemTotalBytes == 0 || a.Host.MemAvailableBytes > a.Host.MemTotalBytes || len(a.Host.Cores) == 0 {
		t.Errorf("host %+v", a.Host)
	}
	if b.Host.CPU.TotalNS() < a.Host.CPU.TotalNS() {
		t.Errorf("CPU time fell from %d to %d", a.Host.CPU.TotalNS(), b.Host.CPU.TotalNS())
	}
}

func TestParseSockstat(t *testing.T) {
	for _, tc := range []struct {
		text string
		want *int64
		bad  bool
	}{
		{"TCP: inuse 5 tw 3", p[int64](3), false},
		{"TCP6: inuse 5 tw 9\nTCP: inuse 5 orphan 0 tw 0", p[int64](0), false},
		{"TCP: inuse 5", nil, false},
		{"UDP: tw 5", nil, false},
		{"TCP: tw", nil, false},
		{"TCP: tw x", nil, true},
		{"", nil, false},
	} {
		got, err := parseSockstat(strings.NewReader(tc.text))
		if d := cmp.Diff(tc.want, got); d != "" || (err != nil) != tc.bad {
			t.Errorf("parseSockstat(%q): error %v, want -, got +:\n%s", tc.text, err, d)
		}
	}
}
