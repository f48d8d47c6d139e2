package observe

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestStatusURL(t *testing.T) {
	for _, tc := range []struct{ in, want string }{
		{"http://127.0.0.1:80/server-status", "http://127.0.0.1:80/server-status?auto"},
		{"http://h/s?auto", "http://h/s?auto"},
		{"http://h/s?auto=1&x=2", "http://h/s?auto=1&x=2"},
		{"https://h/s?refresh=1", "https://h/s?refresh=1&auto"},
		{"http://h/s?automatic", "http://h/s?automatic&auto"},
		{"http://h/s#part", "http://h/s?auto"},
		{"http://[::1]:8080/s", "http://[::1]:8080/s?auto"},
	} {
		got, err := StatusURL(tc.in)
		if err != nil || got != tc.want {
			t.Errorf("StatusURL(%q) = %q, %v; want %q", tc.in, got, err, tc.want)
		}
	}
	for _, bad := range []string{"", "server-status", "127.0.0.1:80/s", "ftp://h/s", "http:///s", "http://h:x/", "http://\x7f/"} {
		if got, err := StatusURL(bad); err == nil {
			t.Errorf("StatusURL(%q) = %q, want an error", bad, got)
		}
		// A poller with such a URL says so at each poll and asks nobody.
		if _, err := NewStatusPoller(bad, "", time.Second).Poll(t.Context()); err == nil || !strings.Contains(err.Error(), "status URL") {
			t.Errorf("poll of %q: %v, want an error about the URL", bad, err)
		}
	}
}

func TestStatusPollerAsksAsItShould(t *testing.T) {
	page, err := os.ReadFile("testdata/status/server-status-auto-prefork-exton-busy.txt")
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	conns := map[string]int{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		conns[r.RemoteAddr]++
		mu.Unlock()
		if r.Host != "www.example.test" || r.UserAgent() != "abacus/1 (x)" || r.URL.String() != "/server-status?auto" || r.Method != "GET" {
			t.Errorf("request %s %s, Host %q, User-Agent %q", r.Method, r.URL, r.Host, r.UserAgent())
		}
		w.Write(page)
	}))
	defer srv.Close()
	poller := NewStatusPoller(srv.URL+"/server-status", "www.example.test", 10*time.Second)
	// net/http never asks a proxy for loopback, so this can only be looked at.
	if poller.client.Transport.(*http.Transport).Proxy != nil {
		t.Error("the poller would use a proxy")
	}
	poller.UserAgent = "abacus/1 (x)"
	defer poller.Close()
	for range 3 {
		r, err := poller.Poll(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if r.Status == nil || *r.Status.BusyWorkers != 64 || r.Host != nil {
			t.Errorf("reading %+v", r)
		}
		// The body, and a head of between 50 and 400 bytes.
		if n := *r.Status.PollBytes - int64(len(page)); n < 50 || n > 400 {
			t.Errorf("poll of %d bytes for a body of %d", *r.Status.PollBytes, len(page))
		}
	}
	if len(conns) != 1 {
		t.Errorf("three polls used %d connections, want 1", len(conns))
	}
}

func TestStatusPollerOnHostileServers(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	var elsewhere atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	defer other.Close()
	flood := func(w http.ResponseWriter, line string) {
		for {
			if _, err := fmt.Fprint(w, strings.Repeat(line, 500)); err != nil {
				return
			}
		}
	}
	for _, tc := range []struct {
		name    string
		timeout time.Duration
		serve   http.HandlerFunc
		want    string
		is      error
	}{
		{"forbidden", 10 * time.Second, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(403)
			fmt.Fprint(w, "IdleWorkers: 3\n")
		}, "answered 403", nil},
		{"not found", 10 * time.Second, http.NotFound, "answered 404", nil},
		{"unavailable, without end", 10 * time.Second, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(503)
			flood(w, "x\n")
		}, "answered 503", nil},
		{"redirect", 10 * time.Second, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other.URL+"/</script><script>", http.StatusFound)
		}, "answered 302, a redirect to", nil},
		{"garbage", 10 * time.Second, func(w http.ResponseWriter, _ *http.Request) {
			w.Write([]byte{0, 1, 2, 0xff, '<', '/'})
		}, "not a mod_status ?auto page", ErrNotStatus},
		{"endless", 10 * time.Second, func(w http.ResponseWriter, _ *http.Request) {
			flood(w, "IdleWorkers: 3\n")
		}, "longer than", ErrNotStatus},
		{"an endless line", 10 * time.Second, func(w http.ResponseWriter, _ *http.Request) {
			flood(w, "WWWWWWWW")
		}, "longer than", ErrNotStatus},
		{"no answer", 30 * time.Millisecond, func(_ http.ResponseWriter, r *http.Request) {
			select {
			case <-release:
			case <-r.Context().Done():
			}
		}, "no whole answer within 30ms", context.DeadlineExceeded},
		{"a body that stops", 30 * time.Millisecond, func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, "IdleWorkers: 3\n")
			w.(http.Flusher).Flush()
			select {
			case <-release:
			case <-r.Context().Done():
			}
		}, "no whole answer within 30ms", context.DeadlineExceeded},
		{"a body that breaks off", 10 * time.Second, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "500")
			fmt.Fprint(w, "IdleWorkers: 3\n")
		}, "unexpected EOF", nil},
		{"a header without end", 10 * time.Second, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X", strings.Repeat("x", 200<<10))
			fmt.Fprint(w, "IdleWorkers: 3\n")
		}, "exceeded", nil},
		{"not HTTP", 10 * time.Second, func(w http.ResponseWriter, _ *http.Request) {
			c, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				fmt.Fprint(c, "+PONG\r\n")
				c.Close()
			}
		}, "malformed HTTP", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			srv := httptest.NewServer(tc.serve)
			defer srv.Close()
			poller := NewStatusPoller(srv.URL+"/server-status", "", tc.timeout)
			defer poller.Close()
			r, err := poller.Poll(t.Context())
			if err == nil || r.Status != nil {
				t.Fatalf("reading %+v, error %v; want an error alone", r, err)
			}
			if !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %q does not say %q", err, tc.want)
			}
			if tc.is != nil && !errors.Is(err, tc.is) {
				t.Errorf("error %q is not %v", err, tc.is)
			}
			if strings.Contains(err.Error(), "context") {
				t.Errorf("error %q speaks Go", err)
			}
			if strings.Contains(err.Error(), srv.URL) {
				t.Errorf("error %q repeats the URL", err)
			}
		})
	}
	if n := elsewhere.Load(); n != 0 {
		t.Errorf("the redirect was followed %d times", n)
	}
}

func TestStatusPollerIsCancelled(t *testing.T) {
	asked := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(asked)
		<-r.Context().Done()
	}))
	defer srv.Close()
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-asked; cancel() }()
	poller := NewStatusPoller(srv.URL, "", time.Hour)
	defer poller.Close()
	if _, err := poller.Poll(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
}

// The connection is the body of a 101: reading it would never end.
func TestStatusPollerOnSwitchingProtocols(t *testing.T) {
	gone := make(chan error, 1)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		_, _ = fmt.Fprint(conn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n")
		_ = conn.SetReadDeadline(time.Now().Add(5 * time.Second))
		_, err = conn.Read(make([]byte, 1))
		gone <- err
	}))
	defer srv.Close()
	p := NewStatusPoller(srv.URL, "", time.Second)
	defer p.Close()
	_, err := p.Poll(t.Context())
	if want := "status page: 101 Switching Protocols: not an answer"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	if err := <-gone; errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("the connection was not closed")
	}
}
