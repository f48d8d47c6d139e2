package heylib

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"abacus/harness/load"
)

// seen is a server's own record of what it was asked.
type seen struct {
	mu       sync.Mutex
	requests int64
	conns    int64
	under    int
	most     int // the most requests under way at once
}

func (s *seen) count() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests
}

func (s *seen) wrap(h http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.requests++
		s.under++
		s.most = max(s.most, s.under)
		s.mu.Unlock()
		h(w, r)
		s.mu.Lock()
		s.under--
		s.mu.Unlock()
	})
}

// serve starts a server that keeps a record.
func serve(t *testing.T, h http.HandlerFunc) (string, *seen) {
	t.Helper()
	s := &seen{}
	srv := httptest.NewUnstartedServer(s.wrap(h))
	srv.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.mu.Lock()
			s.conns++
			s.mu.Unlock()
		}
	}
	srv.Start()
	t.Cleanup(srv.Close)
	return srv.URL + "/page", s
}

func hello(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("hello\n")) }

// script starts a TCP server that hands each connection to f.
func script(t *testing.T, f func(c net.Conn, r *bufio.Reader)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(func() { cancel(); l.Close(); wg.Wait() })
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			stop := context.AfterFunc(ctx, func() { c.Close() })
			wg.Go(func() {
				defer c.Close()
				defer stop()
				f(c, bufio.NewReader(c))
			})
		}
	})
	return "http://" + l.Addr().String() + "/page"
}

// readHead reads one request without a body, false at the end.
func readHead(r *bufio.Reader) bool {
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return false
		}
		if line == "\r\n" {
			return true
		}
	}
}

func newJob(url string, n int64, c int) load.Job {
	return load.Job{
		Engine: "hey", URL: url, Requests: n, Concurrency: c, KeepAlive: true,
		Timeout: 10 * time.Second, Interval: 20 * time.Millisecond,
	}
}

func mustRun(t *testing.T, job load.Job) *load.Result {
	t.Helper()
	res, err := Run(t.Context(), job, nil)
	if err != nil {
		t.Fatalf("Run(%+v): %v", job, err)
	}
	return res
}
