package heylib

import (
	"bufio"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"abacus/harness/expect"
	"abacus/harness/fault"
	"abacus/harness/load"
)

// TestRequestOnTheWire looks at the bytes that are sent.
func TestRequestOnTheWire(t *testing.T) {
	var mu sync.Mutex
	var heads []string
	url := script(t, func(c net.Conn, r *bufio.Reader) {
		for {
			var head strings.Builder
			for {
				line, err := r.ReadString('\n')
				if err != nil {
					return
				}
				if head.WriteString(line); line == "\r\n" {
					break
				}
			}
			body := make([]byte, 5)
			if strings.HasPrefix(head.String(), "POST") {
				if _, err := io.ReadFull(r, body); err != nil {
					return
				}
				head.Write(body)
			}
			mu.Lock()
			heads = append(heads, head.String())
			mu.Unlock()
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
		}
	})
	host := strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/page")
	for _, tt := range []struct {
		name string
		edit func(*load.Job)
		want string
	}{
		{"plain", func(*load.Job) {}, "GET /page HTTP/1.1\r\nHost: " + host + "\r\n\r\n"},
		{"no keep-alive", func(j *load.Job) { j.KeepAlive = false }, "GET /page HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n"},
		{"headers", func(j *load.Job) {
			j.Headers = []load.Header{{Name: "user-agent", Value: "abacus/1 (c)"}, {Name: "x-Case", Value: "a"}, {Name: "x-Case", Value: "b"}, {Name: "host", Value: "shop.test"}}
		}, "GET /page HTTP/1.1\r\nHost: shop.test\r\nUser-Agent: abacus/1 (c)\r\nx-Case: a\r\nx-Case: b\r\n\r\n"},
		{"body", func(j *load.Job) { j.Method, j.Body = "POST", []byte("a=b&c") },
			"POST /page HTTP/1.1\r\nHost: " + host + "\r\nContent-Length: 5\r\n\r\na=b&c"},
		{"connect to", func(j *load.Job) { j.URL, j.ConnectTo = "http://shop.test:81/page?q=1", host },
			"GET /page?q=1 HTTP/1.1\r\nHost: shop.test:81\r\n\r\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			heads = nil
			job := newJob(url, 4, 2)
			tt.edit(&job)
			res := mustRun(t, job)
			if res.Counts.Complete != 4 {
				t.Fatalf("counts %+v, errors %v", res.Counts, res.Errors)
			}
			mu.Lock()
			defer mu.Unlock()
			for _, head := range heads {
				if head != tt.want {
					t.Errorf("sent %q, want %q", head, tt.want)
				}
			}
			if len(heads) != 4 {
				t.Errorf("%d requests, want 4", len(heads))
			}
		})
	}
}

func TestTLS(t *testing.T) {
	var mu sync.Mutex
	var names, hosts []string
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		hosts = append(hosts, r.Host)
		mu.Unlock()
		hello(w, r)
	}))
	srv.TLS = &tls.Config{GetConfigForClient: func(h *tls.ClientHelloInfo) (*tls.Config, error) {
		mu.Lock()
		names = append(names, h.ServerName)
		mu.Unlock()
		return nil, nil
	}}
	srv.StartTLS()
	defer srv.Close()
	addr := srv.Listener.Addr().String()
	job := newJob("https://shop.test:4433/page", 6, 2)
	job.ConnectTo, job.InsecureTLS = addr, true
	res := mustRun(t, job)
	if res.Counts.Complete != 6 {
		t.Fatalf("counts %+v, errors %v", res.Counts, res.Errors)
	}
	mu.Lock()
	defer mu.Unlock()
	for _, n := range names {
		if n != "shop.test" {
			t.Errorf("server name %q sent, want shop.test without a port", n)
		}
	}
	for _, h := range hosts {
		if h != "shop.test:4433" {
			t.Errorf("Host %q, want shop.test:4433", h)
		}
	}
	if res.TLS == nil || res.TLS.Version != "TLSv1.3" || res.TLS.KeyBits != 2048 || res.TLS.ServerName != "shop.test" || !strings.HasPrefix(res.TLS.Cipher, "TLS_") {
		t.Errorf("TLS %+v", res.TLS)
	}
}

// TestAddressIsNoServerName: for an address no SNI is sent.
func TestAddressIsNoServerName(t *testing.T) {
	srv := httptest.NewUnstartedServer(http.HandlerFunc(hello))
	var bad sync.Map
	srv.TLS = &tls.Config{GetConfigForClient: func(h *tls.ClientHelloInfo) (*tls.Config, error) {
		if h.ServerName != "" {
			bad.Store(h.ServerName, true)
		}
		return nil, nil
	}}
	srv.StartTLS()
	defer srv.Close()
	job := newJob(srv.URL+"/page", 4, 2)
	job.InsecureTLS = true
	res := mustRun(t, job)
	if res.Counts.Complete != 4 || res.TLS == nil || res.TLS.ServerName != "" {
		t.Errorf("counts %+v, TLS %+v, errors %v", res.Counts, res.TLS, res.Errors)
	}
	bad.Range(func(name, _ any) bool { t.Errorf("server name %q sent", name); return true })
}

func TestRefused(t *testing.T) {
	url, server := serve(t, hello)
	for _, tt := range []struct {
		name string
		edit func(*load.Job)
		want string
		hint string
	}{
		{"unverified TLS", func(j *load.Job) { j.URL = "https://127.0.0.1:1/" }, "never verifies certificates", "native"},
		{"HTTP/1.0", func(j *load.Job) { j.Protocol = "HTTP/1.0" }, "only speaks HTTP/1.1", "native"},
		{"invalid job", func(j *load.Job) { j.Concurrency = 0 }, "concurrency 0", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			job := newJob(url, 4, 2)
			tt.edit(&job)
			_, err := Run(t.Context(), job, nil)
			if err == nil || !strings.Contains(err.Error(), tt.want) || !fault.IsInput(err) || !strings.Contains(fault.HintOf(err), tt.hint) {
				t.Errorf("error %v (hint %q), want %q", err, fault.HintOf(err), tt.want)
			}
		})
	}
	if server.count() != 0 {
		t.Errorf("the server saw %d requests", server.count())
	}
}

func TestNotes(t *testing.T) {
	url, _ := serve(t, hello)
	job := newJob(url, 2, 1)
	job.Timeout = 1500e6
	job.SampleEvery, job.Expect = 10, expect.Rules{Status: 200}
	job.Headers = []load.Header{{Name: "transfer-encoding", Value: "chunked"}}
	notes := strings.Join(mustRun(t, job).Notes, "\n")
	for _, want := range []string{"1.5s was rounded up to 2 s", "expected content was not checked", "Transfer-Encoding was not sent"} {
		if !strings.Contains(notes, want) {
			t.Errorf("no note %q in %q", want, notes)
		}
	}
}

func TestChunkedAndManyWorkers(t *testing.T) {
	url, server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		for range 3 {
			_, _ = io.WriteString(w, strings.Repeat("x", 100))
			w.(http.Flusher).Flush()
		}
	})
	res := mustRun(t, newJob(url, 60, 6))
	if res.Counts.Complete != 60 || server.count() != 60 || res.Counts.BodyBytes != nil {
		t.Errorf("counts %+v, the server saw %d", res.Counts, server.count())
	}
}

// TestPanicIsAnError: what panics where Run was called must not end us.
func TestPanicIsAnError(t *testing.T) {
	req, err := newRequest(newJob("http://127.0.0.1:1/", 1, 1))
	if err != nil {
		t.Fatal(err)
	}
	p, err := newPart(context.Background(), newJob("http://127.0.0.1:1/", 1, 1), req, &tracer{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	p.works[0].work.Request = nil // the library's own trap
	if err := runWork(p.works[0].work); err == nil || !strings.Contains(err.Error(), "panicked") {
		t.Errorf("error %v", err)
	}
}

// TestPhasesUnknown: phases that add up to more than the latency are not
// believed, the latency is.
func TestPhasesUnknown(t *testing.T) {
	var s sum
	s.init()
	cols := [columns][]int64{
		colLatency: {100, 100, 100, 100}, colConnect: {10, 0, 101, 0}, colWrite: {20, 0, 0, -1},
		colDelay: {30, 99, 0, 1}, colRead: {40, 2, 0, 1}, colOffset: {0, 0, 0, 0}, colStatus: {200, 404, 200, 302},
	}
	for i := range 4 {
		s.row(&cols, i)
	}
	if s.total.Count() != 4 || s.waiting.Count() != 1 || s.processing.Count() != 1 || s.connect.Count() != 1 || s.unknownPhases != 3 {
		t.Errorf("total %d, waiting %d, processing %d, connect %d, unknown %d: want 4, 1, 1, 1, 3",
			s.total.Count(), s.waiting.Count(), s.processing.Count(), s.connect.Count(), s.unknownPhases)
	}
	if p, _ := s.processing.Max(); p != 90 {
		t.Errorf("processing %d, want latency 100 less connect 10", p)
	}
	if s.counts.Complete != 4 || s.counts.Non2xx != 2 {
		t.Errorf("counts %+v, want 4 complete, 2 of them not 2xx", s.counts)
	}
}
