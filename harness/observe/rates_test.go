package observe

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func statusAt(at, took time.Duration, s *Status) Sample {
	return Sample{AtNS: int64(at), TookNS: int64(took), Reading: Reading{Status: s}}
}

func near(t *testing.T, what string, got *float64, want float64) {
	t.Helper()
	if got == nil {
		t.Errorf("%s is absent, want %v", what, want)
		return
	}
	if math.Abs(*got-want) > 1e-9*math.Max(1, math.Abs(want)) {
		t.Errorf("%s = %v, want %v", what, *got, want)
	}
}

// The figures of this test were worked out by hand from the two fixtures:
// prefork idle (1 access, 0 KiB, 24 ms, 0.12 s CPU) and prefork load (45,407,
// 64,103 KiB, 122,926 ms, 10.52 s), put 10 s apart.
func TestRatesOfFixtures(t *testing.T) {
	a, b := parseFixture(t, "prefork-exton-idle"), parseFixture(t, "prefork-exton-load")
	b.PollBytes = p[int64](1800)
	// The second poll waited 2 s for a worker: its figures are of its end.
	r := Rates(statusAt(time.Second, 0, a), statusAt(9*time.Second, 2*time.Second, b), 6)
	if r.ElapsedNS != int64(10*time.Second) || r.Reset {
		t.Fatalf("elapsed %v, reset %v; want 10 s, no reset", time.Duration(r.ElapsedNS), r.Reset)
	}
	if r.Requests == nil || *r.Requests != 45400 {
		t.Errorf("requests %v, want 45,406 less 6 polls", r.Requests)
	}
	near(t, "requests/s", r.RequestsPerS, 4540)
	near(t, "bytes/s", r.BytesPerS, (64103*1024-6*1800)/10.0)
	near(t, "ms per request", r.MSPerRequest, 122902/45400.0)
	near(t, "CPU cores", r.CPUCores, 1.04)
}

// After a graceful restart CPUUser falls, the sum does not: no reset.
func TestRatesOverAGracefulRestart(t *testing.T) {
	a, b := parseFixture(t, "event-exton-busy"), parseFixture(t, "event-exton-graceful")
	r := Rates(statusAt(0, 0, a), statusAt(4*time.Second, 0, b), 1)
	if r.Reset {
		t.Fatal("a graceful restart was taken for a restart")
	}
	near(t, "requests/s", r.RequestsPerS, 71/4.0)
	near(t, "CPU cores", r.CPUCores, 0.1/4)
}

func TestRates(t *testing.T) {
	base := Status{UptimeS: p[int64](100), TotalAccesses: p[int64](1000), TotalKBytes: p[int64](500), TotalDurationMS: p[int64](50), CPUSeconds: p(2.0), ConfigGeneration: p[int64](2), ServerMPM: "event"}
	change := func(f func(*Status)) *Status {
		c := base
		f(&c)
		return &c
	}
	for _, tc := range []struct {
		name  string
		prev  *Status
		cur   *Status
		at    time.Duration
		polls int
		want  StatusRates
	}{
		{"nothing but our poll", &base, change(func(s *Status) { s.TotalAccesses = p[int64](1001) }), time.Second, 1,
			StatusRates{ElapsedNS: 1e9, Requests: p[int64](0), RequestsPerS: p(0.0), BytesPerS: p(0.0), CPUCores: p(0.0)}},
		{"the bytes of our own poll alone", &base, change(func(s *Status) { s.TotalAccesses = p[int64](1001); s.TotalKBytes = p[int64](502) }), time.Second, 1,
			StatusRates{ElapsedNS: 1e9, Requests: p[int64](0), RequestsPerS: p(0.0), BytesPerS: p(0.0), CPUCores: p(0.0)}},
		{"a poll not counted yet", &base, &base, time.Second, 1,
			StatusRates{ElapsedNS: 1e9, Requests: p[int64](0), RequestsPerS: p(0.0), BytesPerS: p(0.0), CPUCores: p(0.0)}},
		{"accesses fell", &base, change(func(s *Status) { s.TotalAccesses = p[int64](3) }), time.Second, 1, StatusRates{ElapsedNS: 1e9, Reset: true}},
		{"only uptime fell: more was served than before", &base, change(func(s *Status) { s.UptimeS = p[int64](1); s.TotalAccesses = p[int64](5000) }), time.Second, 1, StatusRates{ElapsedNS: 1e9, Reset: true}},
		{"kBytes fell", &base, change(func(s *Status) { s.TotalKBytes = p[int64](499) }), time.Second, 1, StatusRates{ElapsedNS: 1e9, Reset: true}},
		{"duration fell", &base, change(func(s *Status) { s.TotalDurationMS = p[int64](49) }), time.Second, 1, StatusRates{ElapsedNS: 1e9, Reset: true}},
		{"generation fell", &base, change(func(s *Status) { s.ConfigGeneration = p[int64](1) }), time.Second, 1, StatusRates{ElapsedNS: 1e9, Reset: true}},
		{"another MPM answers", &base, change(func(s *Status) { s.ServerMPM = "prefork" }), time.Second, 1, StatusRates{ElapsedNS: 1e9, Reset: true}},
		{"CPU sum fell a little", &base, change(func(s *Status) { s.CPUSeconds = p(1.99) }), time.Second, 0,
			StatusRates{ElapsedNS: 1e9, Requests: p[int64](0), RequestsPerS: p(0.0), BytesPerS: p(0.0)}},
		{"ExtendedStatus off", &Status{UptimeS: p[int64](1)}, &Status{UptimeS: p[int64](2)}, time.Second, 1, StatusRates{ElapsedNS: 1e9}},
		{"switched on in between", &Status{}, &Status{TotalAccesses: p[int64](7)}, time.Second, 1, StatusRates{ElapsedNS: 1e9}},
		{"no reading before", nil, &base, time.Second, 1, StatusRates{ElapsedNS: 1e9}},
		{"no reading after", &base, nil, time.Second, 1, StatusRates{ElapsedNS: 1e9}},
		{"no time between", &base, &base, 0, 1, StatusRates{}},
		{"out of order", &base, &base, -time.Second, 1, StatusRates{ElapsedNS: -1e9}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := Rates(statusAt(0, 0, tc.prev), statusAt(tc.at, 0, tc.cur), tc.polls)
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Errorf("want -, got +:\n%s", d)
			}
		})
	}
}

// 10 s on two cores: 20 s of CPU time, of which 4 user, 1 nice, 3 system, 1
// softirq, 1 steal are busy (10 = half), 2 iowait, 8 idle.
func TestHostRates(t *testing.T) {
	const s = int64(time.Second)
	a := &Host{
		CPU:             CPUTimes{UserNS: 100 * s, NiceNS: 5 * s, SystemNS: 50 * s, IdleNS: 1000 * s, IOWaitNS: 7 * s, SoftIRQNS: 3 * s, StealNS: 2 * s},
		Cores:           []CPUTimes{{UserNS: 50 * s, IdleNS: 500 * s}, {UserNS: 50 * s, IdleNS: 500 * s}},
		SwapInBytes:     p[uint64](4096),
		SwapOutBytes:    p[uint64](0),
		NetRxBytes:      p[uint64](1000),
		NetTxBytes:      p[uint64](5000),
		ContextSwitches: p[uint64](10),
	}
	b := &Host{
		CPU:             CPUTimes{UserNS: 104 * s, NiceNS: 6 * s, SystemNS: 53 * s, IdleNS: 1008 * s, IOWaitNS: 9 * s, SoftIRQNS: 4 * s, StealNS: 3 * s},
		Cores:           []CPUTimes{{UserNS: 60 * s, IdleNS: 500 * s}, {UserNS: 50 * s, IdleNS: 510 * s}},
		SwapInBytes:     p[uint64](4096 + 40960),
		SwapOutBytes:    p[uint64](0),
		NetRxBytes:      p[uint64](21000),
		NetTxBytes:      p[uint64](4000), // an interface went away: no rate
		ContextSwitches: p[uint64](1010),
	}
	got := HostRates(Sample{AtNS: 1 * s, Reading: Reading{Host: a}}, Sample{AtNS: 11 * s, Reading: Reading{Host: b}})
	want := HostUse{
		ElapsedNS: 10 * s, BusyShare: p(0.5), UserShare: p(0.25), SystemShare: p(0.15), IOWaitShare: p(0.1), IRQShare: p(0.05), StealShare: p(0.05),
		CoreBusyShares: []float64{1, 0}, SwapInBytesPerS: p(4096.0), SwapOutBytesPerS: p(0.0), NetRxBytesPerS: p(2000.0), ContextSwitchesPerS: p(100.0),
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("want -, got +:\n%s", d)
	}
}

func TestHostRatesAbsent(t *testing.T) {
	h := &Host{CPU: CPUTimes{UserNS: 5, IdleNS: 5}}
	for _, tc := range []struct {
		name      string
		prev, cur Sample
		want      HostUse
	}{
		{"no tick in between", Sample{Reading: Reading{Host: h}}, Sample{AtNS: 5, Reading: Reading{Host: h}}, HostUse{ElapsedNS: 5}},
		{"a failed poll", Sample{Error: "x"}, Sample{AtNS: 5, Reading: Reading{Host: h}}, HostUse{ElapsedNS: 5}},
		{"not in order", Sample{AtNS: 9, Reading: Reading{Host: h}}, Sample{AtNS: 5, Reading: Reading{Host: h}}, HostUse{ElapsedNS: -4}},
		// iowait fell by 2, idle grew by 8, user by 2: a fifth was busy.
		{"iowait that falls", Sample{Reading: Reading{Host: &Host{CPU: CPUTimes{IOWaitNS: 10}}}}, Sample{AtNS: 5, Reading: Reading{Host: &Host{CPU: CPUTimes{IOWaitNS: 8, IdleNS: 8, UserNS: 2}}}},
			HostUse{ElapsedNS: 5, BusyShare: p(0.2), UserShare: p(0.2), SystemShare: p(0.0), IOWaitShare: p(0.0), IRQShare: p(0.0), StealShare: p(0.0)}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if d := cmp.Diff(tc.want, HostRates(tc.prev, tc.cur)); d != "" {
				t.Errorf("want -, got +:\n%s", d)
			}
		})
	}
}
