package heylib

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"abacus/harness/fault"
	"abacus/harness/load"
)

// closedPort is the URL of a loopback port on which nobody listens: the near
// end of a connection, so that nobody else gets it meanwhile.
func closedPort(t *testing.T) string {
	t.Helper()
	url := script(t, func(_ net.Conn, r *bufio.Reader) { _, _ = r.WriteTo(io.Discard) })
	conn, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/page"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return "http://" + conn.LocalAddr().String() + "/page"
}

func TestFailuresByKind(t *testing.T) {
	const n = 6
	for _, tt := range []struct {
		name string
		url  func(t *testing.T) string
		kind load.FailureKind
		text string
	}{
		{"refused", closedPort, load.FailConnect, "dial tcp: connect: connection refused"},
		{"closed", func(t *testing.T) string {
			return script(t, func(_ net.Conn, r *bufio.Reader) { readHead(r) })
		}, load.FailReceive, "EOF"},
		{"reset", func(t *testing.T) string {
			return script(t, func(c net.Conn, r *bufio.Reader) {
				readHead(r)
				_ = c.(*net.TCPConn).SetLinger(0)
			})
		}, load.FailReceive, "read tcp: read: connection reset by peer"},
		{"silent", func(t *testing.T) string {
			return script(t, func(_ net.Conn, r *bufio.Reader) {
				readHead(r)
				_, _ = r.ReadByte() // until the client goes
			})
		}, load.FailTimeout, "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"},
		{"not HTTP", func(t *testing.T) string {
			return script(t, func(c net.Conn, r *bufio.Reader) {
				readHead(r)
				_, _ = io.WriteString(c, "HTTP/1.1 Client.Timeout\r\n\r\n")
			})
		}, load.FailException, `net/http: HTTP/1.x transport connection broken: malformed HTTP status code "Client.Timeout"`},
		{"no TLS", func(t *testing.T) string {
			url, _ := serve(t, hello)
			return strings.Replace(url, "http:", "https:", 1)
		}, load.FailConnect, "http: server gave HTTP response to HTTPS client"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			job := newJob(tt.url(t), n, 3)
			job.Timeout = time.Second
			job.InsecureTLS = true
			res := mustRun(t, job)
			if res.Counts.Complete != 0 || res.Counts.Failed != n || res.Counts.Requests() != n {
				t.Errorf("counts %+v, want %d failed of %d", res.Counts, n, n)
			}
			if got, ok := res.Counts.ByKind(tt.kind); !ok || got != n {
				t.Errorf("%s: %d, want %d; errors %v", tt.kind, got, n, res.Errors)
			}
			if len(res.Errors) != 1 || res.Errors[0] != (load.ErrorText{Kind: tt.kind, Text: tt.text, Count: n}) {
				t.Errorf("errors %+v, want %d × %s %q", res.Errors, n, tt.kind, tt.text)
			}
			// Nothing succeeded, so nothing has a time, and nothing is NaN.
			if _, ok := res.Total.Mean(); ok || res.Total.Count() != 0 {
				t.Errorf("total has %d values", res.Total.Count())
			}
			if res.ElapsedNS <= 0 {
				t.Errorf("elapsed %d ns", res.ElapsedNS)
			}
		})
	}
}

// TestErrorsDoNotFillTheMemory: the library keeps every different error text
// whole, and a server can put megabytes of its own into one.
func TestErrorsDoNotFillTheMemory(t *testing.T) {
	var n atomic.Int64
	filler := strings.Repeat("x", 64<<10)
	url := script(t, func(c net.Conn, r *bufio.Reader) {
		for readHead(r) {
			if _, err := fmt.Fprintf(c, "HTTP/1.1 %d%s\r\n\r\n", n.Add(1), filler); err != nil {
				return
			}
		}
	})
	const spare, requests = 20 << 20, 2500
	runtime.GC()
	res, err := engine{partRequests: PartRequests, maxHeap: heapBytes() + spare}.run(t.Context(), newJob(url, requests, 4), nil)
	if err == nil || !strings.Contains(err.Error(), "error texts") || !strings.Contains(fault.HintOf(err), "native") || res != nil {
		t.Errorf("result %+v, error %v", res, err)
	}
	if seen := n.Load(); seen >= requests {
		t.Errorf("the run went on to its end, over %d errors of 64 KiB", seen)
	}
}

func TestStatusIsNoFailure(t *testing.T) {
	url, server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	res := mustRun(t, newJob(url, 20, 4))
	if c := res.Counts; c.Complete != 20 || c.Failed != 0 || c.Non2xx != 20 || res.StatusCodes[503] != 20 {
		t.Errorf("counts %+v, status codes %v, want 20 complete, all 503", c, res.StatusCodes)
	}
	if server.count() != 20 {
		t.Errorf("the server saw %d requests", server.count())
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	url, server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/elsewhere", http.StatusFound)
	})
	res := mustRun(t, newJob(url, 10, 2))
	if server.count() != 10 || res.StatusCodes[302] != 10 || res.Counts.Non2xx != 10 {
		t.Errorf("server saw %d, status codes %v, non-2xx %d", server.count(), res.StatusCodes, res.Counts.Non2xx)
	}
}

// TestTruncatedBodyIsSaid holds the library to what the notes say of it: a
// body that broke off is whole to it.
func TestTruncatedBodyIsSaid(t *testing.T) {
	url := script(t, func(c net.Conn, r *bufio.Reader) {
		if readHead(r) {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhello")
		}
	})
	res := mustRun(t, newJob(url, 4, 2))
	if res.Counts.Complete != 4 {
		t.Errorf("complete %d, want 4", res.Counts.Complete)
	}
	if res.Counts.Length != nil || res.Counts.BodyBytes != nil || res.DocumentBytes != nil || res.Lengths != nil {
		t.Errorf("length figures are there although the library cannot know them: %+v", res.Counts)
	}
	if !strings.Contains(strings.Join(res.Notes, "\n"), "whose body broke off") {
		t.Errorf("no note about bodies that broke off: %q", res.Notes)
	}
}
