package preflight

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unicode"

	"abacus/harness/expect"
)

func p[T any](v T) *T { return &v }

// byID finds the one check with an id.
func byID(t *testing.T, checks []Check, id string) Check {
	t.Helper()
	var found []Check
	for _, c := range checks {
		if c.ID == id {
			found = append(found, c)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d checks %s in %+v, want one", len(found), id, checks)
	}
	return found[0]
}

// want is a check's severity and a part of its finding; evidence is a part of
// all its evidence together.
type want struct {
	id       string
	severity Severity
	finding  string
	evidence string
}

func check(t *testing.T, checks []Check, w want) {
	t.Helper()
	c := byID(t, checks, w.id)
	if c.Severity != w.severity || !strings.Contains(c.Finding, w.finding) {
		t.Errorf("%s: %s, %q; want %s, %q", w.id, c.Severity, c.Finding, w.severity, w.finding)
	}
	if all := strings.Join(c.Evidence, "\n"); !strings.Contains(all, w.evidence) {
		t.Errorf("%s: evidence %q does not hold %q", w.id, all, w.evidence)
	}
	if c.Question == "" || c.Method == "" {
		t.Errorf("%s: question %q, method %q", w.id, c.Question, c.Method)
	}
	if (c.Severity == Warning || c.Severity == Critical) && c.Advice == "" {
		t.Errorf("%s: a %s without advice: %q", w.id, c.Severity, c.Finding)
	}
}

// numbered serves with the number of the request, from 1.
func numbered(t *testing.T, serve func(n int64, w http.ResponseWriter, r *http.Request)) *httptest.Server {
	t.Helper()
	var n atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { serve(n.Add(1), w, r) }))
	t.Cleanup(srv.Close)
	return srv
}

func TestCheckTargetOfAStablePage(t *testing.T) {
	body := strings.Repeat("static\n", 100)
	var seen atomic.Int64
	srv := numbered(t, func(_ int64, w http.ResponseWriter, r *http.Request) {
		seen.Add(1)
		if r.Method != "POST" || r.Host != "www.example.test" || r.UserAgent() != "abacus/1 (c)" || r.Header.Get("X-Mine") != "a" || r.ContentLength != 3 {
			t.Errorf("request %s, Host %q, headers %v, %d bytes", r.Method, r.Host, r.Header, r.ContentLength)
		}
		h := w.Header()
		h.Set("Server", "Test/1")
		h.Set("ETag", `"abc"`)
		h.Set("Vary", "Accept-Encoding")
		h.Set("Set-Cookie", "session=secret")
		fmt.Fprint(w, body)
	})
	page, checks := CheckTarget(t.Context(), Target{
		Scenario: "s", Variant: "v", Path: "/x", URL: srv.URL + "/x", Method: "POST", Body: []byte("abc"), UserAgent: "abacus/1 (c)",
		Headers: []Header{{"host", "www.example.test"}, {"x-mine", "a"}},
		Expect:  expect.Rules{Status: 200, Contains: []string{"static"}, Bytes: p[int64](700)},
	}, 0)
	if n := seen.Load(); n != 20 || page.Fetches != 20 {
		t.Errorf("%d requests, page says %d; want 20", n, page.Fetches)
	}
	sum := sha256.Sum256([]byte(body))
	if page.SHA256 != hex.EncodeToString(sum[:]) || page.Bytes == nil || *page.Bytes != 700 || !page.Stable || page.Status != 200 {
		t.Errorf("page %+v", page)
	}
	if page.Protocol != "HTTP/1.1" || page.Error != "" || page.Scenario != "s" || page.Variant != "v" || page.Path != "/x" {
		t.Errorf("page %+v", page)
	}
	if len(page.Addresses) != 1 || page.Addresses[0] != "127.0.0.1" {
		t.Errorf("addresses %v", page.Addresses)
	}
	for name, value := range map[string]string{"Server": "Test/1", "Etag": `"abc"`, "Vary": "Accept-Encoding", "Content-Length": "700"} {
		if page.Headers[name] != value {
			t.Errorf("header %s is %q, want %q", name, page.Headers[name], value)
		}
	}
	if _, kept := page.Headers["Set-Cookie"]; kept {
		t.Error("a cookie was kept")
	}
	check(t, checks, want{"page.reachable", OK, "all 20 fetches were answered", "addresses: 127.0.0.1"})
	check(t, checks, want{"page.status", OK, "status 200", "20 × status 200"})
	check(t, checks, want{"page.stable", OK, "the same 700 bytes", "20 × 700 bytes"})
	check(t, checks, want{"page.expect", OK, "all 20 answers keep them", ""})
	if len(checks) != 4 {
		t.Errorf("%d checks, want 4: %+v", len(checks), checks)
	}
	for _, c := range checks {
		if c.Target != "s/v" {
			t.Errorf("%s: target %q, want s/v", c.ID, c.Target)
		}
	}
}

func TestCheckTargetJudges(t *testing.T) {
	text := func(status int, body string) func(int64, http.ResponseWriter, *http.Request) {
		return func(_ int64, w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			fmt.Fprint(w, body)
		}
	}
	for _, tc := range []struct {
		name   string
		target Target
		serve  func(n int64, w http.ResponseWriter, r *http.Request)
		page   func(Page) bool
		want   []want
	}{
		{"an error page", Target{}, text(503, "busy"), func(p Page) bool { return p.Status == 503 && p.Stable },
			[]want{{"page.status", Critical, "answers 503 Service Unavailable: an error page would be measured", "20 × status 503"}}},
		{"an error page that is meant", Target{Expect: expect.Rules{Status: 503}}, text(503, "busy"), nil,
			[]want{{"page.status", OK, "status 503, as expected", ""}, {"page.expect", OK, "all 20", ""}}},
		{"errors now and then", Target{}, func(n int64, w http.ResponseWriter, _ *http.Request) {
			if n%4 == 0 {
				w.WriteHeader(500)
			}
			fmt.Fprint(w, "x")
		}, nil, []want{{"page.status", Warning, "5 of 20 fetches were no success", "15 × status 200\n5 × status 500"}}},
		{"a body of two lengths", Target{}, func(n int64, w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, strings.Repeat("x", 10+int(n%2)))
		}, func(p Page) bool { return !p.Stable && *p.Bytes == 11 },
			[]want{{"page.stable", Warning, "2 lengths in 20 fetches", "10 × 10 bytes\n10 × 11 bytes"}}},
		{"a body of two lengths that is accepted", Target{AcceptVariableLength: true}, func(n int64, w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, strings.Repeat("x", 10+int(n%2)))
		}, nil, []want{{"page.stable", Info, "which is accepted", ""}}},
		{"other bytes in the same length", Target{}, func(n int64, w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, "generated at %02d o'clock", n)
		}, func(p Page) bool { return !p.Stable },
			[]want{{"page.stable", Info, "20 different bodies in 20 fetches", `first difference within one length at byte 14: "ted at 01 o'clock", later "ted at 02 o'clock"`}}},
		{"same_body on a page that changes", Target{Expect: expect.Rules{SameBody: true}}, func(n int64, w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, "%02d", n)
		}, nil, []want{{"page.stable", Warning, "changes within its length", ""}}},
		{"expectations that are not met", Target{Expect: expect.Rules{Contains: []string{"hello"}, NotContains: []string{"Deprecated"}}}, text(200, "Deprecated: x"), nil,
			[]want{{"page.expect", Critical, "20 of 20 answers break", `20 × body contains "Deprecated"` + "\n" + `20 × body does not contain "hello"`}}},
		{"a cache that fills", Target{}, func(n int64, w http.ResponseWriter, _ *http.Request) {
			state := "HIT from cache-7"
			if n == 1 {
				state = "MISS from cache-7"
			}
			w.Header().Set("X-Cache", state)
		}, nil, []want{{"page.cache", Info, "the first fetch missed and filled the cache", "19 × hit\n1 × miss"}}},
		{"a cache that never hits", Target{}, func(_ int64, w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Cache", "miss")
		}, nil, []want{{"page.cache", Warning, "every one of 20 fetches missed", "20 × miss"}}},
		{"a cache that was warm", Target{}, func(_ int64, w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Cache", "hit")
		}, nil, []want{{"page.cache", OK, "every fetch was a hit", ""}}},
		{"two caches", Target{}, func(n int64, w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Cache", []string{"hit", "miss"}[n%2])
		}, nil, []want{{"page.cache", Warning, "alternate without load: 10 hits, 10 misses", ""}}},
		{"something in between", Target{}, func(_ int64, w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Via", "1.1 varnish")
			w.Header().Set("Age", "17")
		}, nil, []want{{"page.intermediary", Info, "a proxy or cache", "Via: 1.1 varnish\nAge: 17"}}},
		{"compressed", Target{}, func(_ int64, w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "br")
			w.Header().Set("Vary", "Accept-Encoding")
		}, nil, []want{{"page.encoding", Info, `compressed ("br")`, "Vary: Accept-Encoding"}}},
		{"one connection in two is closed", Target{}, func(n int64, w http.ResponseWriter, _ *http.Request) {
			// Only requests on a fresh connection fail for good: net/http makes
			// those on a kept one again.
			w.Header().Set("Connection", "close")
			if n%2 == 0 {
				panic(http.ErrAbortHandler)
			}
			fmt.Fprint(w, "x")
		}, func(p Page) bool { return p.Error == "" && p.Fetches == 20 },
			[]want{{"page.reachable", Warning, "10 of 20 fetches failed although there was no load", "10 × the connection was closed without an answer"}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			srv := numbered(t, tc.serve)
			srv.Config.ErrorLog = nil
			tc.target.URL = srv.URL + "/page"
			page, checks := CheckTarget(t.Context(), tc.target, 20)
			for _, w := range tc.want {
				check(t, checks, w)
			}
			if tc.page != nil && !tc.page(page) {
				t.Errorf("page %+v", page)
			}
		})
	}
}

func TestCheckTargetThatCannotBeReached(t *testing.T) {
	hold := make(chan struct{})
	defer close(hold)
	raw := func(t *testing.T, answer string) string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				go func() {
					defer c.Close()
					c.Read(make([]byte, 4096))
					fmt.Fprint(c, answer)
				}()
			}
		}()
		return "http://" + l.Addr().String()
	}
	free := func(t *testing.T) string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		return l.Addr().String()
	}
	for _, tc := range []struct {
		name    string
		url     func(t *testing.T) string
		timeout time.Duration
		want    string
		fetches int
	}{
		{"nothing listens", func(t *testing.T) string { return "http://" + free(t) + "/x" }, 0, "the connection was refused: nothing listens there", 3},
		{"no such host", func(*testing.T) string { return "http://no-such-host.invalid/" }, 0, `the host "no-such-host.invalid" was not found`, 3},
		{"truncated", func(t *testing.T) string { return raw(t, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhello") }, 0, "the answer (status 200) broke off after 5 of 1,000 bytes of body", 3},
		{"truncated chunks", func(t *testing.T) string {
			return raw(t, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
		}, 0, "the answer (status 200) broke off after 5 bytes of body", 3},
		{"closed", func(t *testing.T) string { return raw(t, "") }, 0, "the connection was closed without an answer", 3},
		{"not HTTP", func(t *testing.T) string { return raw(t, "+PONG\r\n\x1b[2J") }, 0, "malformed HTTP", 3},
		{"not TLS", func(t *testing.T) string {
			return "https" + strings.TrimPrefix(raw(t, "HTTP/1.1 400 Bad Request\r\n\r\n"), "http")
		}, 0, "it does not speak TLS", 3},
		{"slow", func(t *testing.T) string {
			return numbered(t, func(_ int64, _ http.ResponseWriter, r *http.Request) {
				select {
				case <-hold:
				case <-r.Context().Done():
				}
			}).URL
		}, 20 * time.Millisecond, "no whole answer came within 20ms", 3},
		{"a certificate of its own", func(t *testing.T) string {
			srv := httptest.NewTLSServer(http.NotFoundHandler())
			srv.Config.ErrorLog = nil
			t.Cleanup(srv.Close)
			return srv.URL
		}, 0, "its certificate is not valid for it", 3},
		{"no URL", func(*testing.T) string { return "/page" }, 0, "the URL is not usable", 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			page, checks := CheckTarget(t.Context(), Target{URL: tc.url(t), Timeout: tc.timeout}, 20)
			check(t, checks, want{"page.reachable", Critical, tc.want, ""})
			if len(checks) != 1 || !strings.Contains(page.Error, tc.want) || page.Stable || page.Status != 0 || page.Bytes != nil {
				t.Errorf("page %+v, %d checks", page, len(checks))
			}
			if page.Fetches != tc.fetches {
				t.Errorf("%d fetches, want %d", page.Fetches, tc.fetches)
			}
			for _, r := range page.Error {
				if !unicode.IsPrint(r) {
					t.Errorf("error %q holds %q", page.Error, r)
				}
			}
		})
	}
}

func TestCheckTargetRedirects(t *testing.T) {
	var elsewhere atomic.Int64
	other := numbered(t, func(int64, http.ResponseWriter, *http.Request) { elsewhere.Add(1) })
	otherPort := strings.TrimPrefix(other.URL, "http://127.0.0.1:")
	for _, tc := range []struct {
		name, location string
		expected       int
		elsewhere      bool
		severity       Severity
		finding        string
	}{
		{"another page", "/new", 0, false, Warning, "you would measure the redirect"},
		{"to https of the same host", "https://127.0.0.1/new", 0, false, Warning, "you would measure the redirect"},
		{"expected", "/new", 302, false, Info, "as expected"},
		{"another host", "http://www.example.test/", 0, true, Critical, `another host, "www.example.test", which is never loaded`},
		{"another host without scheme", "//www.example.test/x", 0, true, Critical, "another host"},
		{"another host that is expected", "http://www.example.test/", 302, true, Critical, "another host"},
		{"another server on this host", "http://127.0.0.1:" + otherPort + "/", 0, true, Critical, "another host"},
		{"another scheme", "ftp://127.0.0.1/", 0, true, Critical, "another host"},
		{"no URL", "http://[::1/x", 0, false, Warning, "no URL"},
		{"hostile", "http://x.test/</script><script>alert(1)", 0, true, Critical, "another host"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var asked atomic.Int64
			srv := numbered(t, func(_ int64, w http.ResponseWriter, _ *http.Request) {
				asked.Add(1)
				w.Header()["Location"] = []string{tc.location}
				w.WriteHeader(302)
			})
			page, checks := CheckTarget(t.Context(), Target{URL: srv.URL + "/old", Expect: expect.Rules{Status: tc.expected}}, 20)
			check(t, checks, want{"page.redirect", tc.severity, tc.finding, "status 302, Location: "})
			if page.RedirectElsewhere != tc.elsewhere || page.Redirect == "" || page.Status != 302 {
				t.Errorf("page %+v, want elsewhere %v", page, tc.elsewhere)
			}
			if asked.Load() != 1 {
				t.Errorf("%d requests, want 1", asked.Load())
			}
		})
	}
	if n := elsewhere.Load(); n != 0 {
		t.Errorf("a redirect was followed %d times", n)
	}
}

func TestElsewhereKnowsTheHostHeader(t *testing.T) {
	asked := Target{URL: "http://127.0.0.1:8080/", Headers: []Header{{"Host", "www.example.test"}}}
	u, err := asked.parse()
	if err != nil {
		t.Fatal(err)
	}
	for to, want := range map[string]bool{
		"http://www.example.test/x":      false,
		"https://www.example.test/x":     false,
		"http://WWW.example.test/x":      false,
		"http://example.test/x":          true,
		"http://127.0.0.1:8080/x":        false,
		"http://127.0.0.1:9090/x":        true,
		"http://www.example.test:8080/x": false,
	} {
		target, err := u.Parse(to)
		if err != nil {
			t.Fatal(err)
		}
		if got := elsewhere(asked, u, target); got != want {
			t.Errorf("from www.example.test at 127.0.0.1:8080 to %s: elsewhere %v, want %v", to, got, want)
		}
	}
}

// What a server says may not inject into a page or a terminal: no check and no
// page may hold a control character, and nothing may be of unbounded length.
func TestCheckTargetBoundsWhatAServerSays(t *testing.T) {
	evil := "</script><script>alert(1)</script>\x1b[2J" + strings.Repeat("A", 5000)
	srv := numbered(t, func(n int64, w http.ResponseWriter, _ *http.Request) {
		for _, name := range []string{"Server", "ETag", "Via", "Age", "X-Cache", "Vary", "Cache-Control", "Content-Encoding", "Last-Modified", "CF-Ray", "X-Powered-By", "Content-Type"} {
			w.Header().Set(name, strings.ReplaceAll(evil, "\x1b", "\t"))
		}
		fmt.Fprintf(w, "%s%04d", evil, n)
	})
	page, checks := CheckTarget(t.Context(), Target{URL: srv.URL, Expect: expect.Rules{Contains: []string{"hello"}, Header: map[string]string{"Server": "x"}}}, 5)
	all, err := json.Marshal(map[string]any{"page": page, "checks": checks})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) > 20000 {
		t.Errorf("%d bytes of JSON", len(all))
	}
	var texts []string
	for _, c := range checks {
		texts = append(append(texts, c.Finding, c.Advice), c.Evidence...)
	}
	for name, v := range page.Headers {
		texts = append(texts, name, v)
	}
	for _, s := range texts {
		for _, r := range s {
			if !unicode.IsPrint(r) && r != '\u202f' && r != '\u00a0' {
				t.Errorf("text %.80q holds %q", s, r)
				break
			}
		}
		if len([]rune(s)) > 600 {
			t.Errorf("text of %d runes: %.80q", len([]rune(s)), s)
		}
	}
}

func TestCheckTargetOverTLS(t *testing.T) {
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "x") }))
	defer srv.Close()
	page, checks := CheckTarget(t.Context(), Target{URL: srv.URL, InsecureTLS: true}, 2)
	check(t, checks, want{"page.tls", Warning, "it was not looked at", "TLS 1.3"})
	if !strings.HasPrefix(page.TLS, "TLS 1.3, TLS_") {
		t.Errorf("TLS %q", page.TLS)
	}
}

func TestCheckTargetConnectsToAPinnedAddress(t *testing.T) {
	srv := numbered(t, func(_ int64, w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Host) })
	page, checks := CheckTarget(t.Context(), Target{
		URL: "http://no-such-host.invalid/", ConnectTo: strings.TrimPrefix(srv.URL, "http://"),
		Expect: expect.Rules{Contains: []string{"no-such-host.invalid"}},
	}, 2)
	check(t, checks, want{"page.expect", OK, "all 2", ""})
	if len(page.Addresses) != 1 || page.Addresses[0] != "127.0.0.1" {
		t.Errorf("addresses %v, want the pinned one", page.Addresses)
	}
}

func TestCheckTargetHidesPasswords(t *testing.T) {
	srv := numbered(t, func(_ int64, w http.ResponseWriter, r *http.Request) {
		if user, pass, ok := r.BasicAuth(); !ok || user != "me" || pass != "hunter2" {
			w.WriteHeader(401)
		}
	})
	page, checks := CheckTarget(t.Context(), Target{URL: strings.Replace(srv.URL, "http://", "http://me:hunter2@", 1)}, 2)
	all, err := json.Marshal(map[string]any{"page": page, "checks": checks})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(all), "hunter2") || page.Status != 200 {
		t.Errorf("status %d, %s", page.Status, all)
	}
}

func TestCheckTargetIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	srv := numbered(t, func(n int64, w http.ResponseWriter, _ *http.Request) {
		if n == 3 {
			cancel()
			return
		}
		fmt.Fprint(w, "x")
	})
	page, _ := CheckTarget(ctx, Target{URL: srv.URL}, 20)
	if page.Fetches > 3 || page.Fetches < 2 || page.Error != "" {
		t.Errorf("page %+v, want the two or three fetches before the end", page)
	}
}

func TestBodyLongerThanIsRead(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 64 MiB")
	}
	chunk := make([]byte, 1<<20)
	srv := numbered(t, func(_ int64, w http.ResponseWriter, _ *http.Request) {
		for range 65 {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	})
	page, checks := CheckTarget(t.Context(), Target{URL: srv.URL, Expect: expect.Rules{Bytes: p[int64](5)}}, 1)
	check(t, checks, want{"page.stable", NotSeen, "longer than the 64 MiB", ""})
	check(t, checks, want{"page.expect", NotSeen, "longer than the 64 MiB", ""})
	if page.Bytes != nil || page.SHA256 != "" || page.Stable {
		t.Errorf("page %+v: nothing is known of the whole body", page)
	}
}

// The connection is the body of a 101: reading it would never end.
func TestSwitchingProtocolsIsNoAnswer(t *testing.T) {
	hold := make(chan struct{})
	gone := make(chan error, 8)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n")
		_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second))
		_, err = conn.Read(make([]byte, 1))
		gone <- err
	}))
	defer srv.Close()
	target := Target{URL: srv.URL + "/", Timeout: time.Second}
	const says = "101 Switching Protocols: not an answer"
	go func() {
		defer close(hold)
		page, checks := CheckTarget(t.Context(), target, 20)
		check(t, checks, want{"page.reachable", Critical, says, ""})
		if page.Error != says || page.Fetches != 3 {
			t.Errorf("page %+v", page)
		}
		if p := SingleRequest(t.Context(), target); p.Status != 101 || p.Error != says {
			t.Errorf("single request: %+v", p)
		}
	}()
	select {
	case <-hold:
	case <-time.After(8 * time.Second):
		srv.CloseClientConnections()
		t.Fatal("it hangs")
	}
	if err := <-gone; !errors.Is(err, io.EOF) && !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the connection was not closed: %v", err)
	}
}
