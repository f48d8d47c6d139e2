package preflight

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestSameBody(t *testing.T) {
	page := func(scenario, variant, path, hash string, stable bool) Page {
		pg := Page{Scenario: scenario, Variant: variant, Path: path, SHA256: hash, Stable: stable}
		if hash != "" {
			pg.Bytes = p[int64](1560)
		}
		return pg
	}
	same, other := strings.Repeat("a", 64), strings.Repeat("b", 64)
	checks := SameBody([]Page{
		page("cache", "apcu", "", same, true), page("cache", "memcached", "", same, true),
		page("mpm", "prefork", "/a", same, true), page("mpm", "prefork", "/b", same, true),
		page("mpm", "event", "/a", other, true), page("mpm", "event", "/b", same, true),
		page("lone", "only", "", same, true),
		page("dead", "x", "", same, true), page("dead", "y", "", "", false),
		page("moving", "x", "", same, true), page("moving", "y", "", same, false),
	})
	var got []string
	for _, c := range checks {
		got = append(got, c.Target+" "+string(c.Severity))
	}
	if want := []string{"cache ok", "mpm critical", "mpm ok", "dead not_seen", "moving not_seen"}; !slices.Equal(got, want) {
		t.Fatalf("checks %v, want %v", got, want)
	}
	if c := checks[1]; c.Finding != "the 2 variants gave 2 different bodies" || c.Advice == "" ||
		!slices.Equal(c.Evidence, []string{"page /a", "prefork: 1,560 bytes, sha256 aaaaaaaaaaaa…", "event: 1,560 bytes, sha256 bbbbbbbbbbbb…"}) {
		t.Errorf("check %+v", c)
	}
	if e := checks[3].Evidence[1]; e != "y: no body seen" {
		t.Errorf("evidence %q", e)
	}
	if SameBody(nil) != nil {
		t.Error("checks of no pages")
	}
}

func TestCheckStatus(t *testing.T) {
	full := StatusSeen{
		Wanted: true, URL: "http://u:secret@127.0.0.1/server-status", Version: "Apache/2.4.71", MPM: "event", Extended: true,
		BusyWorkers: p[int64](1), IdleWorkers: p[int64](74), Slots: 150, Took: 312456 * time.Nanosecond,
	}
	with := func(f func(*StatusSeen)) StatusSeen {
		s := full
		f(&s)
		return s
	}
	for _, tc := range []struct {
		name string
		seen StatusSeen
		want want
	}{
		{"all there", full, want{"status.page", OK, "workers, requests, bytes and CPU are observed", "Apache/2.4.71\nMPM event\n1 busy (this poll is one), 74 idle\n150 slots: the effective worker limit\nanswered in 310µs"}},
		{"extended off", with(func(s *StatusSeen) { s.Extended = false }), want{"status.page", Info, "ExtendedStatus is off", ""}},
		{"refused", with(func(s *StatusSeen) { s.Error = "answered 403" }), want{"status.page", Warning, "not observed: answered 403", ""}},
		{"refused, found by guess", with(func(s *StatusSeen) { s.Error, s.Wanted = "answered 403", false }), want{"status.page", Info, "answered 403", ""}},
		{"none named", StatusSeen{}, want{"status.page", NotSeen, "no status page is known", ""}},
		{"hostile", with(func(s *StatusSeen) { s.Version = "</script>\x1b[2J" + strings.Repeat("x", 999) }), want{"status.page", OK, "", "</script> [2Jxxx"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := CheckStatus(tc.seen)
			check(t, []Check{c}, tc.want)
			if all := strings.Join(c.Evidence, ""); strings.Contains(all, "secret") || len(all) > 500 || strings.Contains(all, "\x1b") {
				t.Errorf("evidence %q", all)
			}
		})
	}
}

func TestClassify(t *testing.T) {
	for _, tc := range []struct {
		host              string
		addr              string
		loopback, private bool
	}{
		{"127.0.0.1", "127.0.0.1", true, true},
		{"127.8.9.10", "127.8.9.10", true, true},
		{"::1", "::1", true, true},
		{"[::1]", "::1", true, true},
		{"0.0.0.0", "0.0.0.0", true, true},
		{"::ffff:127.0.0.1", "127.0.0.1", true, true},
		{"10.1.2.3", "10.1.2.3", false, true},
		{"172.16.0.1", "172.16.0.1", false, true},
		{"172.32.0.1", "172.32.0.1", false, false},
		{"192.168.1.1", "192.168.1.1", false, true},
		{"::ffff:192.168.1.1", "192.168.1.1", false, true},
		{"fd00::1", "fd00::1", false, true},
		{"169.254.169.254", "169.254.169.254", false, false},
		{"fe80::1", "fe80::1", false, false},
		{"100.64.0.1", "100.64.0.1", false, false},
		{"8.8.8.8", "8.8.8.8", false, false},
		{"2001:db8::1", "2001:db8::1", false, false},
	} {
		addrs, loopback, private, err := Classify(t.Context(), tc.host)
		if err != nil || !slices.Equal(addrs, []string{tc.addr}) || loopback != tc.loopback || private != tc.private {
			t.Errorf("Classify(%q) = %v, %v, %v, %v; want %s, %v, %v", tc.host, addrs, loopback, private, err, tc.addr, tc.loopback, tc.private)
		}
		if IsLocal(t.Context(), tc.host) != tc.loopback {
			t.Errorf("IsLocal(%q) is %v", tc.host, !tc.loopback)
		}
	}
	for _, bad := range []string{"", "no-such-host.invalid"} {
		if addrs, _, _, err := Classify(t.Context(), bad); err == nil {
			t.Errorf("Classify(%q) = %v, want an error", bad, addrs)
		}
	}
	addrs, loopback, _, err := Classify(t.Context(), "localhost")
	if err != nil || !loopback || len(addrs) == 0 {
		t.Errorf("Classify(localhost) = %v, %v, %v", addrs, loopback, err)
	}
}

func TestPortCount(t *testing.T) {
	for in, want := range map[string]int{"32768-60999": 28232, "1-65535": 65535, "5-5": 1, "": 0, "5": 0, "9-5": 0, "0-5": 0, "1-70000": 0, "a-b": 0} {
		if got := PortCount(in); got != want {
			t.Errorf("PortCount(%q) = %d, want %d", in, got, want)
		}
	}
}
