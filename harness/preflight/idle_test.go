package preflight

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// Two readings of a machine, taken apart by hand: 100 ns of CPU time, 30 busy,
// of which 5 stolen, 10 waiting for disks.
func TestMeasureIdleTakesTheMachineApart(t *testing.T) {
	readings := []HostSeen{
		{BusyNS: 1000, TotalNS: 5000, StealNS: 10, IOWaitNS: 20, Load1: p(9.0), SwapMovedBytes: p[uint64](500)},
		{BusyNS: 1030, TotalNS: 5100, StealNS: 15, IOWaitNS: 30, Load1: p(0.5), MemAvailableBytes: 300, MemTotalBytes: 1000, SwapMovedBytes: p[uint64](4596), TimeWait: p[int64](7)},
	}
	n := 0
	got := MeasureIdle(t.Context(), IdleInput{
		Duration: time.Millisecond,
		Host: func(context.Context) (HostSeen, error) {
			n++
			return readings[n-1], nil
		},
		Machine: Machine{CPUs: 4, Ports: 1000},
	})
	if n != 2 {
		t.Errorf("the machine was read %d times, want 2", n)
	}
	if *got.CPUBusyShare != 0.3 || *got.CPUStealShare != 0.05 || *got.IOWaitShare != 0.1 || *got.Load1 != 0.5 ||
		*got.MemAvailable != 300 || *got.MemTotal != 1000 || *got.SwapMoved != 4096 || *got.TimeWait != 7 {
		t.Errorf("idle %+v", got)
	}
	if got.BusyWorkers != nil || got.ForeignRequests != nil || got.Singles != nil || got.SinglesURL != "" {
		t.Errorf("figures that nobody read: %+v", got)
	}
	if got.DurationNS < int64(time.Millisecond) || !got.MayStart || !strings.Contains(got.Reason, "30") {
		t.Errorf("duration %d, may start %v, reason %q", got.DurationNS, got.MayStart, got.Reason)
	}
}

// Between polls 1 and 2 the counter grew by 1, our own poll; then by 4, so 3
// were foreign; then the server was restarted; then by 2, 1 foreign.
func TestIdleCountsForeignRequests(t *testing.T) {
	var idle Idle
	seen := func(busy, free, accesses int64) WorkersSeen {
		return WorkersSeen{BusyWorkers: &busy, IdleWorkers: &free, TotalAccesses: &accesses}
	}
	idle.takeWorkers([]WorkersSeen{seen(1, 9, 100), seen(3, 7, 101), seen(2, 8, 105), seen(1, 4, 1), seen(1, 9, 3)})
	if *idle.BusyWorkers != 3 || *idle.IdleWorkers != 4 || *idle.ForeignRequests != 4 {
		t.Errorf("busy %d, idle %d, foreign %d; want 3, 4, 4", *idle.BusyWorkers, *idle.IdleWorkers, *idle.ForeignRequests)
	}
	idle = Idle{}
	idle.takeWorkers([]WorkersSeen{seen(1, 9, 100)})
	if idle.ForeignRequests != nil {
		t.Errorf("%d foreign requests from one reading", *idle.ForeignRequests)
	}
	idle = Idle{}
	idle.takeWorkers([]WorkersSeen{{IdleWorkers: p[int64](5)}, {IdleWorkers: p[int64](6)}})
	if idle.ForeignRequests != nil || idle.BusyWorkers != nil || *idle.IdleWorkers != 5 {
		t.Errorf("idle %+v", idle)
	}
}

func TestMeasureIdleWithBrokenSources(t *testing.T) {
	bad := errors.New("broken")
	got := MeasureIdle(t.Context(), IdleInput{
		Duration: 5 * time.Millisecond, Interval: time.Millisecond,
		Host:    func(context.Context) (HostSeen, error) { return HostSeen{}, bad },
		Workers: func(context.Context) (WorkersSeen, error) { return WorkersSeen{}, bad },
		Singles: 20, Target: Target{URL: "http://127.0.0.1:1/x"},
	})
	if got.CPUBusyShare != nil || got.IdleWorkers != nil {
		t.Errorf("figures from sources that failed: %+v", got)
	}
	// Nothing listens on port 1: three failures end the singles.
	if len(got.Singles) != 3 || got.MayStart || !strings.Contains(got.Reason, "no single request was answered") {
		t.Errorf("%d singles, may start %v, reason %q", len(got.Singles), got.MayStart, got.Reason)
	}
}

func TestMeasureIdleEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	done := make(chan Idle)
	go func() { done <- MeasureIdle(ctx, IdleInput{Duration: time.Hour}) }()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Error("it went on after its context was done")
	}
	ctx, cancel = context.WithCancel(t.Context())
	go func() {
		done <- MeasureIdle(ctx, IdleInput{Duration: time.Hour, Workers: func(ctx context.Context) (WorkersSeen, error) {
			cancel()
			return WorkersSeen{}, ctx.Err()
		}})
	}()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Error("it went on polling after its context was done")
	}
}

func TestSingleRequestPhases(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/503" {
			w.WriteHeader(503)
		}
		fmt.Fprint(w, r.RemoteAddr)
	}))
	defer srv.Close()
	got := SingleRequest(t.Context(), Target{URL: srv.URL})
	if got.Error != "" || got.Status != 200 || got.DNSNS != nil || got.TLSNS != nil || got.ConnectNS == nil || got.FirstByteNS == nil {
		t.Fatalf("phases %+v; want connect and first byte, no DNS and no TLS", got)
	}
	if sum := *got.ConnectNS + *got.FirstByteNS; sum <= 0 || sum > got.TotalNS {
		t.Errorf("connect %d and first byte %d do not fit into total %d", *got.ConnectNS, *got.FirstByteNS, got.TotalNS)
	}
	if got := SingleRequest(t.Context(), Target{URL: srv.URL + "/503"}); got.Status != 503 || got.Error != "" {
		t.Errorf("phases %+v; an error page is an answer", got)
	}

	secure := httptest.NewTLSServer(http.NotFoundHandler())
	secure.Config.ErrorLog = nil
	defer secure.Close()
	if got := SingleRequest(t.Context(), Target{URL: secure.URL, InsecureTLS: true}); got.TLSNS == nil || *got.TLSNS <= 0 || got.Status != 404 {
		t.Errorf("phases %+v, want a TLS part", got)
	}
	byName := strings.Replace(srv.URL, "127.0.0.1", "localhost", 1)
	if got := SingleRequest(t.Context(), Target{URL: byName}); got.Error == "" && got.DNSNS == nil {
		t.Errorf("phases %+v, want a DNS part for a name", got)
	}
}

func TestSingleRequestUsesAFreshConnection(t *testing.T) {
	conns := map[string]bool{}
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { conns[r.RemoteAddr] = true }))
	made := singles(t.Context(), Target{URL: srv.URL}, 5)
	srv.Close()
	if len(made) != 5 || len(conns) != 5 {
		t.Errorf("%d requests on %d connections, want 5 on 5", len(made), len(conns))
	}
}

func TestSingleRequestFails(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "50")
		fmt.Fprint(w, "short")
	}))
	defer srv.Close()
	for _, tc := range []struct {
		url, want string
		status    int
	}{
		{"http://127.0.0.1:1/", "refused", 0},
		{"nonsense", "must be http", 0},
		{srv.URL, "broke off after 5 of 50 bytes", 200},
	} {
		got := SingleRequest(t.Context(), Target{URL: tc.url})
		if !strings.Contains(got.Error, tc.want) || got.Status != tc.status {
			t.Errorf("%s: %+v, want status %d and an error with %q", tc.url, got, tc.status, tc.want)
		}
	}
}
