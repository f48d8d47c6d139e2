package native

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"abacus/harness/load"
)

func TestExactCounts(t *testing.T) {
	var asked atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		_, _ = w.Write([]byte("hello"))
	}))
	defer srv.Close()
	for _, c := range []struct {
		requests    int64
		concurrency int
		keepAlive   bool
		leastKept   int64
	}{
		{1000, 30, true, 970},
		{1000, 30, false, 0},
		{7, 30, true, 0},
		{1, 1, false, 0},
	} {
		asked.Store(0)
		j := job(srv.URL, c.requests, c.concurrency)
		j.KeepAlive = c.keepAlive
		res := runJob(t, j)
		n := res.Counts
		if got := asked.Load(); got != c.requests {
			t.Errorf("%+v: the server saw %d requests", c, got)
		}
		if n.Complete != c.requests || n.Failed != 0 || n.Requests() != c.requests || *n.KeptAlive < c.leastKept || *n.Reconnects != 0 {
			t.Errorf("%+v: counts %+v, kept alive %d", c, n, *n.KeptAlive)
		}
		if !c.keepAlive && *n.KeptAlive != 0 {
			t.Errorf("%+v: %d kept alive", c, *n.KeptAlive)
		}
		if res.Connect.Count() != c.requests-*n.KeptAlive || *n.BodyBytes != 5*c.requests || res.StatusCodes[200] != c.requests {
			t.Errorf("%+v: %d connects, %d body bytes, codes %v", c, res.Connect.Count(), *n.BodyBytes, res.StatusCodes)
		}
		for name, d := range map[string]*load.Distribution{"total": res.Total, "waiting": res.Waiting, "processing": res.Processing} {
			if d.Count() != c.requests {
				t.Errorf("%+v: %d %s times", c, d.Count(), name)
			}
		}
		// Without reconnects the parts add up exactly.
		if total, parts := sum(res.Total), sum(res.Connect)+sum(res.Processing); math.Abs(total-parts) > 1e-9*total {
			t.Errorf("%+v: total times add up to %v, connect and processing to %v", c, total, parts)
		}
		if res.Engine != "native" || res.EngineVersion != Version || res.Interrupted || res.Protocol != "HTTP/1.1" || len(res.Notes) != 0 {
			t.Errorf("%+v: result %+v", c, res)
		}
	}
}

// sum is the sum of a distribution's durations in ns.
func sum(d *load.Distribution) float64 {
	mean, _ := d.Mean()
	return mean * float64(d.Count())
}

// Waiting begins when the request has gone out, however long that took: the
// server lets a body that no socket buffer can hold wait before it reads it.
func TestWaitingBeginsAfterTheRequest(t *testing.T) {
	t.Parallel()
	const pause = 60 * time.Millisecond
	body := make([]byte, 32<<20)
	url := serve(t, func(_ int, conn net.Conn, r *bufio.Reader) {
		req, err := http.ReadRequest(r)
		if err != nil {
			return
		}
		time.Sleep(pause)
		if _, err := io.Copy(io.Discard, req.Body); err == nil {
			fmt.Fprint(conn, hello)
		}
	})
	j := job(url, 3, 1)
	j.Method, j.Body, j.KeepAlive = "POST", body, false
	res := runJob(t, j)
	if res.Counts.Complete != 3 || *res.Counts.SentBytes < 3*int64(len(body)) {
		t.Fatalf("counts %+v, errors %v", res.Counts, res.Errors)
	}
	if gap := sum(res.Processing) - sum(res.Waiting); gap < 3*float64(pause) {
		t.Errorf("processing is only %v longer than waiting in all", time.Duration(gap))
	}
}

// All bytes in both directions are counted.
func TestByteCounts(t *testing.T) {
	chunks := ok11 + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
	j := job(serve(t, say(chunks)), 10, 2)
	j.Headers = []load.Header{{Name: "Host", Value: "h"}}
	n := runJob(t, j).Counts
	sent := int64(10 * len("GET / HTTP/1.1\r\nHost: h\r\n\r\n"))
	if *n.SentBytes != sent || *n.BodyBytes != 50 || *n.HeaderBytes+*n.BodyBytes != int64(10*len(chunks)) {
		t.Errorf("sent %d (want %d), header %d and body %d (want %d together)", *n.SentBytes, sent, *n.HeaderBytes, *n.BodyBytes, 10*len(chunks))
	}
}

// The engine's times against those that the server takes itself.
func TestTimesAgreeWithServer(t *testing.T) {
	const delay = 20 * time.Millisecond
	var off time.Duration
	for range 3 { // a busy machine may spoil one try
		var mu sync.Mutex
		var own []int64
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			began := time.Now()
			time.Sleep(delay)
			_, _ = w.Write([]byte("hello"))
			took := int64(time.Since(began))
			mu.Lock()
			own = append(own, took)
			mu.Unlock()
		}))
		res := runJob(t, job(srv.URL, 300, 10))
		srv.Close()
		slices.Sort(own)
		total, _ := res.Total.Quantile(0.5)
		waiting, _ := res.Waiting.Quantile(0.5)
		processing, _ := res.Processing.Quantile(0.5)
		off = time.Duration(total - own[len(own)/2]).Abs()
		// Not so Waiting: the server may be at work before the clock is read
		// that says that all is written.
		if least, _ := res.Processing.Min(); least < int64(delay) {
			t.Fatalf("an answer came after %v, before the server gave it", time.Duration(least))
		}
		if waiting > total || processing > total || waiting > processing {
			t.Fatalf("medians: waiting %d, processing %d, total %d", waiting, processing, total)
		}
		if off < time.Millisecond {
			return
		}
	}
	t.Errorf("the median is %v off the server's own", off)
}

func TestTrace(t *testing.T) {
	url := serve(t, func(n int, conn net.Conn, r *bufio.Reader) {
		if n == 2 {
			readRequest(r)
			fmt.Fprint(conn, "garbage\r\n")
			return
		}
		for i := range 2 {
			if readRequest(r) && i == 0 {
				fmt.Fprint(conn, hello)
			}
		}
	})
	type seen struct {
		seq                    int64
		head, body, kind       string
		reused, again, kept    bool
		status                 int
		connected, whole, fail bool
	}
	var got []seen
	busy := false
	e := &Engine{TraceBody: 3, Trace: func(x Exchange) {
		if busy {
			t.Error("two calls at once")
		}
		busy = true
		defer func() { busy = false }()
		if !strings.HasPrefix(string(x.Request), "GET / HTTP/1.1\r\n") {
			t.Errorf("request %q", x.Request)
		}
		got = append(got, seen{x.Seq, string(x.Head), string(x.Body), string(x.Kind), x.Reused, x.Reconnected, x.KeepAlive, x.Status,
			x.ConnectNS > 0, x.TotalNS > 0 && x.WaitingNS > 0 && x.ProcessingNS > 0 && x.TotalNS >= x.ProcessingNS, x.Err != nil})
	}}
	res, err := e.Run(context.Background(), job(url, 3, 1), nil)
	if err != nil {
		t.Fatal(err)
	}
	head := ok11 + "Content-Length: 5\r\n\r\n"
	want := []seen{
		{1, head, "hel", "", false, false, true, 200, true, true, false},
		{2, "garbage\r\n", "", "exception", false, true, false, 0, true, false, true},
		{3, head, "hel", "", false, false, true, 200, true, true, false},
	}
	if !slices.Equal(got, want) {
		t.Errorf("\n got %+v\nwant %+v\ncounts %+v", got, want, res.Counts)
	}
}

func TestServerHeaderIsBounded(t *testing.T) {
	res := runJob(t, job(serve(t, say(ok11+"Server: "+strings.Repeat("s", 5000)+"\r\nContent-Length: 0\r\n\r\n")), 3, 1))
	if res.Server != strings.Repeat("s", 200) {
		t.Errorf("server header of %d bytes kept", len(res.Server))
	}
}

func TestConnectToAndIPv6(t *testing.T) {
	var host atomic.Value
	h := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { host.Store(r.Host) })
	srv := httptest.NewServer(h)
	defer srv.Close()
	j := job("http://site.example/", 5, 2)
	j.ConnectTo = srv.Listener.Addr().String()
	if n := runJob(t, j).Counts; n.Complete != 5 || host.Load() != "site.example" {
		t.Errorf("connect_to: %+v, host %v", n, host.Load())
	}
	ln, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Skip("no IPv6 on this machine:", err)
	}
	six := httptest.NewUnstartedServer(h)
	_ = six.Listener.Close()
	six.Listener = ln
	six.Start()
	defer six.Close()
	addr := ln.Addr().String()
	if n := runJob(t, job("http://"+addr+"/", 5, 2)).Counts; n.Complete != 5 || host.Load() != addr {
		t.Errorf("IPv6: %+v, host %v, want %s", n, host.Load(), addr)
	}
}

// A name with several addresses goes to the one that answers.
func TestFallsBackToNextAddress(t *testing.T) {
	refused := strings.TrimSuffix(strings.TrimPrefix(closedPort(t), "http://"), "/")
	open := strings.TrimSuffix(strings.TrimPrefix(serve(t, say(hello)), "http://"), "/")
	d := &dialer{addrs: []string{refused, open}}
	d.chosen.Store(-1)
	for range 2 {
		conn, err := d.dial(context.Background(), time.Now().Add(5*time.Second))
		if err != nil {
			t.Fatal(err)
		}
		if got := conn.RemoteAddr().String(); got != open || d.chosen.Load() != 1 {
			t.Errorf("connected to %s, chosen %d", got, d.chosen.Load())
		}
		conn.Close()
	}
	d = &dialer{addrs: []string{refused, refused}}
	d.chosen.Store(-1)
	var op *net.OpError
	if _, err := d.dial(context.Background(), time.Now().Add(5*time.Second)); !errors.As(err, &op) {
		t.Errorf("error %v", err)
	}
}

// rawServer answers requests of exactly size bytes without allocating.
func rawServer(t testing.TB, size int) string {
	return serve(t, func(_ int, conn net.Conn, _ *bufio.Reader) {
		in, out := make([]byte, size), []byte(ok11+"Server: raw\r\nContent-Length: 5\r\n\r\nhello")
		for have := 0; ; have = 0 {
			for have < size {
				n, err := conn.Read(in[have:])
				if err != nil {
					return
				}
				have += n
			}
			if _, err := conn.Write(out); err != nil {
				return
			}
		}
	})
}

// Kept connections cost no allocation per request: what a longer run
// allocates more must be far below one per request.
func TestAllocations(t *testing.T) {
	j := job("", 0, 4)
	j.Headers = []load.Header{{Name: "Host", Value: "h"}}
	j.URL = rawServer(t, len("GET / HTTP/1.1\r\nHost: h\r\n\r\n"))
	j.Interval = time.Hour
	mallocs := func(requests int64) uint64 {
		j.Requests = requests
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if n := runJob(t, j).Counts; n.Complete != requests {
			t.Fatalf("counts %+v", n)
		}
		runtime.ReadMemStats(&after)
		return after.Mallocs - before.Mallocs
	}
	mallocs(100)
	short, long := mallocs(1000), mallocs(21_000)
	if per := (float64(long) - float64(short)) / 20_000; per > 0.05 {
		t.Errorf("%.3f allocations per request", per)
	}
}

func BenchmarkKeepAlive(b *testing.B) {
	j := job(rawServer(b, len("GET / HTTP/1.1\r\nHost: h\r\n\r\n")), int64(b.N), 10)
	j.Headers = []load.Header{{Name: "Host", Value: "h"}}
	b.ReportAllocs()
	runJob(b, j)
}
