package lab

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"abacus/scenarios"
)

// startDemo serves a demo in this process and returns its URL.
func startDemo(t *testing.T, c DemoConfig) (*Demo, string) {
	t.Helper()
	d, err := NewDemo(c)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- d.Serve(l) }()
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return d, "http://" + l.Addr().String()
}

// client follows no redirect and shares nothing with other tests.
func client(t *testing.T) *http.Client {
	tr := &http.Transport{DisableCompression: true}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr, Timeout: 20 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

type answer struct {
	code   int
	header http.Header
	body   string
}

func ask(t *testing.T, c *http.Client, method, url string, header ...string) answer {
	t.Helper()
	req, err := http.NewRequest(method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("%s %s: %v", method, url, err)
	}
	return answer{resp.StatusCode, resp.Header, string(body)}
}

func TestStatic(t *testing.T) {
	_, url := startDemo(t, DemoConfig{Version: "1.2.3"})
	c := client(t)
	page := url + "/static.html"
	get := ask(t, c, "GET", page)
	if get.code != 200 || get.body != scenarios.StaticPage() {
		t.Fatalf("GET: %d with %d bytes, want 200 with the page", get.code, len(get.body))
	}
	for key, want := range map[string]string{
		"Server": "abacus-demo/1.2.3", "Content-Length": "37519", "Vary": "Accept-Encoding",
		"Content-Type": "text/html; charset=utf-8", "Last-Modified": "Mon, 30 Nov 2026 12:00:00 GMT", "Accept-Ranges": "bytes",
	} {
		if got := get.header.Get(key); got != want {
			t.Errorf("GET: %s: %q, want %q", key, got, want)
		}
	}
	tag := get.header.Get("Etag")
	if !strings.HasPrefix(tag, `"928f-`) { // 37519 in hexadecimal
		t.Errorf("Etag %q", tag)
	}
	for _, tc := range []struct {
		name, method string
		header       []string
		code, length int
	}{
		{"HEAD", "HEAD", nil, 200, 0},
		{"tag matches", "GET", []string{"If-None-Match", tag}, 304, 0},
		{"tag differs", "GET", []string{"If-None-Match", `"other"`}, 200, 37519},
		{"not modified", "GET", []string{"If-Modified-Since", "Mon, 30 Nov 2026 12:00:00 GMT"}, 304, 0},
		{"modified", "GET", []string{"If-Modified-Since", "Sun, 29 Nov 2026 12:00:00 GMT"}, 200, 37519},
		{"range", "GET", []string{"Range", "bytes=0-99"}, 206, 100},
		{"POST", "POST", nil, 405, len("405 Method Not Allowed\n")},
	} {
		got := ask(t, c, tc.method, page, tc.header...)
		if got.code != tc.code || len(got.body) != tc.length {
			t.Errorf("%s: %d with %d bytes, want %d with %d", tc.name, got.code, len(got.body), tc.code, tc.length)
		}
		if tc.code < 400 && got.header.Get("Etag") != tag {
			t.Errorf("%s: Etag %q, want %q", tc.name, got.header.Get("Etag"), tag)
		}
	}
	if head := ask(t, c, "HEAD", page); head.header.Get("Content-Length") != "37519" {
		t.Errorf("HEAD: Content-Length %q", head.header.Get("Content-Length"))
	}
}

func TestCachePages(t *testing.T) {
	want, err := os.ReadFile("testdata/apcu-php-body.txt") // PHP's own rendering
	if err != nil {
		t.Fatal(err)
	}
	d, url := startDemo(t, DemoConfig{})
	c := client(t)
	connections := func() int64 { return d.own.total.Load() }
	for _, page := range []string{"/apcu", "/memcached"} {
		for i, cache := range []string{"miss", "hit", "hit"} {
			got := ask(t, c, "GET", url+page)
			if got.code != 200 || got.body != string(want) {
				t.Errorf("%s: %d %q, want 200 %q", page, got.code, got.body, want)
			}
			if got.header.Get("X-Cache") != cache {
				t.Errorf("%s, request %d: X-Cache %q, want %q", page, i, got.header.Get("X-Cache"), cache)
			}
			if timing := got.header.Get("Server-Timing"); !strings.HasPrefix(timing, "cache;dur=") {
				t.Errorf("%s: Server-Timing %q", page, timing)
			}
		}
	}
	if n := connections(); n != 3 {
		t.Errorf("3 requests made %d connections to memcached, want one each", n)
	}
	for range 5 {
		if got := ask(t, c, "GET", url+"/memcached?persistent=1"); got.header.Get("X-Cache") != "hit" || got.body != string(want) {
			t.Errorf("persistent: %+v", got)
		}
	}
	if n := connections(); n != 4 {
		t.Errorf("5 more requests, persistent, made %d connections more, want 1", n-3)
	}
}

// A kept connection that memcached closed meanwhile is replaced, and a
// memcached that is gone is an error of the page, not a miss.
func TestMemcachedGone(t *testing.T) {
	d, url := startDemo(t, DemoConfig{})
	c := client(t)
	ask(t, c, "GET", url+"/memcached?persistent=1")
	d.own.mu.Lock()
	for conn := range d.own.conns {
		_ = conn.Close()
	}
	d.own.mu.Unlock()
	if got := ask(t, c, "GET", url+"/memcached?persistent=1"); got.code != 200 || got.header.Get("X-Cache") != "hit" {
		t.Errorf("after a lost connection: %d %s", got.code, got.body)
	}
	if err := d.own.Close(); err != nil {
		t.Fatal(err)
	}
	for _, query := range []string{"", "?persistent=1"} {
		if got := ask(t, c, "GET", url+"/memcached"+query); got.code != 502 {
			t.Errorf("without memcached: %d, want 502", got.code)
		}
	}
}

func TestLocalCacheExpires(t *testing.T) {
	var c localCache
	c.set("k", []byte("v"), time.Hour)
	if v, ok := c.get("k"); !ok || string(v) != "v" {
		t.Errorf("get = %q %v, want v", v, ok)
	}
	c.set("k", []byte("v"), -time.Second)
	if _, ok := c.get("k"); ok {
		t.Error("a value out of date was given")
	}
}

func TestPages(t *testing.T) {
	_, url := startDemo(t, DemoConfig{Nonce: "word"})
	c := client(t)
	for _, tc := range []struct {
		path     string
		code     int
		body     string
		location string
	}{
		{"/nonce", 200, "word\n", ""},
		{"/status/503", 503, "503 Service Unavailable\n", ""},
		{"/status/200", 200, "200 OK\n", ""},
		{"/status/429", 429, "429 Too Many Requests\n", ""},
		{"/status/599", 599, "599\n", ""},
		{"/status/204", 204, "", ""},
		{"/status/100", 400, "400: the code must be a number from 200 to 599\n", ""},
		{"/status/600", 400, "400: the code must be a number from 200 to 599\n", ""},
		{"/status/x", 400, "400: the code must be a number from 200 to 599\n", ""},
		{"/redirect", 302, "302 Found\n", "/static.html"},
		{"/redirect?to=/apcu", 302, "302 Found\n", "/apcu"},
		{"/redirect?to=//other.example/", 400, "400: to must be a path of this host\n", ""},
		{"/redirect?to=https://other.example/", 400, "400: to must be a path of this host\n", ""},
		{`/redirect?to=/\other.example/`, 400, "400: to must be a path of this host\n", ""},
		{"/redirect?to=/a%0d%0aX-Evil:1", 400, "400: to must be a path of this host\n", ""},
		{"/delay?ms=0", 200, "waited\n", ""},
		{"/delay", 400, "400: ms must be a number from 0 to 60000\n", ""},
		{"/delay?ms=-1", 400, "400: ms must be a number from 0 to 60000\n", ""},
		{"/delay?ms=60001", 400, "400: ms must be a number from 0 to 60000\n", ""},
		{"/delay?ms=NaN", 400, "400: ms must be a number from 0 to 60000\n", ""},
		{"/nothing", 404, "404 Not Found\n", ""},
	} {
		got := ask(t, c, "GET", url+tc.path)
		if got.code != tc.code || got.body != tc.body || got.header.Get("Location") != tc.location {
			t.Errorf("%s: %d %q to %q, want %d %q to %q", tc.path, got.code, got.body, got.header.Get("Location"), tc.code, tc.body, tc.location)
		}
	}
	lengths := map[int]bool{}
	for range 10 {
		lengths[len(ask(t, c, "GET", url+"/vary").body)] = true
	}
	if len(lengths) != 10 {
		t.Errorf("/vary: %d lengths in 10 requests", len(lengths))
	}
}

func TestDelay(t *testing.T) {
	_, url := startDemo(t, DemoConfig{})
	c := client(t)
	var all []int64
	for range 3 {
		begin := time.Now()
		got := ask(t, c, "GET", url+"/delay?ms=20")
		outside := time.Since(begin)
		ns, err := strconv.ParseInt(got.header.Get("X-Delay-Ns"), 10, 64)
		if err != nil || ns < 20e6 || ns > int64(outside) {
			t.Fatalf("X-Delay-Ns %q: want from 20 ms to what the client saw, %v", got.header.Get("X-Delay-Ns"), outside)
		}
		all = append(all, ns)
	}
	median := max(min(all[0], all[1]), min(max(all[0], all[1]), all[2]))
	want := fmt.Sprintf(`{"count":3,"median_ns":%d,"min_ns":%d,"max_ns":%d}`+"\n", median, min(all[0], all[1], all[2]), max(all[0], all[1], all[2]))
	if got := ask(t, c, "GET", url+"/delay-stats"); got.body != want {
		t.Errorf("stats %s, want %s", got.body, want)
	}
	ask(t, c, "POST", url+"/delay-stats")
	if got := ask(t, c, "GET", url+"/delay-stats"); got.body != `{"count":0}`+"\n" {
		t.Errorf("after the reset: %s", got.body)
	}
}

// raw sends one request over a bare connection and returns all that comes
// back until the server closes.
func raw(t *testing.T, url, request string) string {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(conn)
	if err != nil {
		t.Fatalf("%q: %v", request, err)
	}
	return string(all)
}

func TestMisbehaviour(t *testing.T) {
	_, url := startDemo(t, DemoConfig{})
	if got := raw(t, url, "GET /close HTTP/1.1\r\nHost: x\r\n\r\n"); got != "" {
		t.Errorf("/close sent %q", got)
	}
	head, body, _ := strings.Cut(raw(t, url, "GET /truncate HTTP/1.1\r\nHost: x\r\n\r\n"), "\r\n\r\n")
	if !strings.Contains(head, "Content-Length: 37519\r\n") || body != scenarios.StaticPage()[:18759] {
		t.Errorf("/truncate: %d bytes after\n%s", len(body), head)
	}
	// HTTP/1.0 as ab speaks it: kept alive when asked, closed when not.
	got := raw(t, url, "GET /nonce HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET /nonce HTTP/1.0\r\n\r\n")
	if n := strings.Count(got, "HTTP/1.0 200 OK\r\n"); n != 2 || !strings.Contains(got, "Connection: keep-alive\r\n") {
		t.Errorf("two requests of HTTP/1.0 on one connection: %d answers in\n%s", n, got)
	}
}

// auto reads the status page; the poll is a request like any other.
func auto(t *testing.T, c *http.Client, url string) map[string]string {
	t.Helper()
	got := ask(t, c, "GET", url+"/server-status?auto")
	if got.code != 200 || got.header.Get("Content-Type") != "text/plain; charset=ISO-8859-1" {
		t.Fatalf("status: %d %s", got.code, got.header.Get("Content-Type"))
	}
	fields := map[string]string{}
	for line := range strings.Lines(got.body) {
		if key, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), ": "); ok {
			fields[key] = value
		}
	}
	return fields
}

func number(t *testing.T, fields map[string]string, key string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(fields[key], 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", key, err)
	}
	return n
}

// settled polls until the count of accesses is that of the requests made. A
// request is counted when its answer is sent, which the client may see first.
func settled(t *testing.T, c *http.Client, url string, before, made int64) (polls int64, last map[string]string) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; {
		polls++
		last = auto(t, c, url)
		got := number(t, last, "Total Accesses") - before
		// The first poll is in it, the present one is not yet.
		if got == made+polls {
			return polls, last
		}
		if got > made+polls || time.Now().After(deadline) {
			t.Fatalf("%d accesses after %d requests and %d polls", got, made, polls)
		}
	}
}

func TestAccountingIsExact(t *testing.T) {
	_, url := startDemo(t, DemoConfig{})
	c := client(t)
	first := auto(t, c, url)
	before := number(t, first, "Total Accesses")
	if before != 0 {
		t.Errorf("the first poll counts itself: %d accesses", before)
	}
	const connections, each = 8, 50
	var wg sync.WaitGroup
	var sent [connections]int64
	for i := range connections {
		wg.Go(func() {
			conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			counter := &countReader{r: conn}
			in := bufio.NewReader(counter)
			for range each {
				if _, err := io.WriteString(conn, "GET /static.html HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
					t.Error(err)
					return
				}
				resp, err := http.ReadResponse(in, nil)
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := io.Copy(io.Discard, resp.Body); err != nil {
					t.Error(err)
					return
				}
			}
			sent[i] = counter.n
		})
	}
	wg.Wait()
	polls, last := settled(t, c, url, before, connections*each)
	var bytes int64
	for _, n := range sent {
		bytes += n
	}
	// The polls' answers are in it too: between 1 and 2 KiB each.
	kb := number(t, last, "Total kBytes") - number(t, first, "Total kBytes")
	if least, most := bytes/1024, (bytes+2048*(polls+1))/1024; kb < least || kb > most {
		t.Errorf("%d kBytes after %d bytes and %d polls", kb, bytes, polls)
	}
	if got, want := last["BusyWorkers"]+" "+last["IdleWorkers"], "1 149"; got != want {
		t.Errorf("busy and idle %q, want %q", got, want)
	}
	if board := last["Scoreboard"]; len(board) != 150 || strings.Count(board, "W") != 1 || strings.Count(board, "_") != 149 {
		t.Errorf("scoreboard %q", board)
	}
}

type countReader struct {
	r io.Reader
	n int64
}

func (c *countReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// The traffic of a request is all that was sent for it, status line and
// headers included, to the byte.
func TestBytesAreCounted(t *testing.T) {
	d, url := startDemo(t, DemoConfig{})
	var want int64
	for i, path := range []string{"/nonce", "/apcu", "/static.html", "/truncate", "/close"} {
		want += int64(len(raw(t, url, "GET "+path+" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")))
		deadline := time.Now().Add(10 * time.Second)
		for d.pool.state().accesses != int64(i+1) && time.Now().Before(deadline) {
			time.Sleep(time.Millisecond)
		}
		if got := d.pool.state().bytes; got != want {
			t.Errorf("after %s: %d bytes counted, %d received", path, got, want)
		}
	}
}

// A demo process ends with its standard input, and says where it serves.
func TestServeDemoEndsWithItsInput(t *testing.T) {
	in, hold := io.Pipe()
	out, said := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- ServeDemo(t.Context(), DemoConfig{Version: "v", Nonce: "n"}, in, said) }()
	var ready Ready
	if err := json.NewDecoder(out).Decode(&ready); err != nil {
		t.Fatal(err)
	}
	if ready.PID != os.Getpid() || ready.Version != "v" || ask(t, client(t), "GET", ready.URL+"/nonce").body != "n\n" {
		t.Errorf("ready line %+v", ready)
	}
	if err := hold.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("it goes on without its input")
	}
}

// Answers cut short and connections closed without one are served requests.
func TestAccountingOfMisbehaviour(t *testing.T) {
	_, url := startDemo(t, DemoConfig{})
	c := client(t)
	before := number(t, auto(t, c, url), "Total Accesses")
	for _, path := range []string{"/close", "/truncate", "/status/503"} {
		raw(t, url, "GET "+path+" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
	}
	settled(t, c, url, before, 3)
}

func TestDurationIsCounted(t *testing.T) {
	_, url := startDemo(t, DemoConfig{})
	c := client(t)
	before := number(t, auto(t, c, url), "Total Accesses")
	ask(t, c, "GET", url+"/delay?ms=60")
	_, last := settled(t, c, url, before, 1)
	if ms := number(t, last, "Total Duration"); ms < 60 {
		t.Errorf("Total Duration %d ms after a request of 60 ms", ms)
	}
}

// waitStatus polls until the condition holds.
func waitStatus(t *testing.T, c *http.Client, url, what string, ok func(map[string]string) bool) map[string]string {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; {
		fields := auto(t, c, url)
		if ok(fields) {
			return fields
		}
		if time.Now().After(deadline) {
			t.Fatalf("never: %s; at last %v", what, fields)
		}
	}
}

func TestWorkersAreBounded(t *testing.T) {
	d, url := startDemo(t, DemoConfig{Workers: 3})
	c := client(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	hold := func() context.CancelFunc {
		ctx, cancel := context.WithCancel(ctx)
		req, err := http.NewRequestWithContext(ctx, "GET", url+"/delay?ms=60000", nil)
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			if resp, err := c.Do(req); err == nil {
				resp.Body.Close()
			}
		}()
		return cancel
	}
	hold()
	hold()
	full := waitStatus(t, c, url, "all workers busy", func(f map[string]string) bool { return f["BusyWorkers"] == "3" })
	if full["IdleWorkers"] != "0" || full["Scoreboard"] != "WWW" {
		t.Errorf("idle %q, scoreboard %q; want 0 and WWW", full["IdleWorkers"], full["Scoreboard"])
	}
	release := hold()
	// With the third one held a poll has no worker to be served by.
	polled := make(chan map[string]string, 1)
	held := func() (n int) {
		for _, s := range d.pool.state().slots {
			if s.busy && s.request.uri == "/delay?ms=60000" {
				n++
			}
		}
		return n
	}
	for deadline := time.Now().Add(10 * time.Second); held() < 3; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the third request gets no worker")
		}
	}
	go func() { polled <- auto(t, c, url) }()
	select {
	case f := <-polled:
		t.Fatalf("a poll was answered by a worker that is held: %v", f)
	case <-time.After(50 * time.Millisecond):
	}
	release()
	select {
	case f := <-polled:
		if f["BusyWorkers"] != "3" || f["Scoreboard"] != "WWW" {
			t.Errorf("busy %q, scoreboard %q; want 3 and WWW", f["BusyWorkers"], f["Scoreboard"])
		}
	case <-time.After(10 * time.Second):
		t.Fatal("a poll is not answered although a worker is free")
	}
}

func TestExtendedOff(t *testing.T) {
	_, url := startDemo(t, DemoConfig{ExtendedOff: true, Built: time.Now()})
	c := client(t)
	got := ask(t, c, "GET", url+"/server-status?auto").body
	keys := func(lines []string) string {
		var all []string
		for _, l := range lines {
			key, _, _ := strings.Cut(l, ":")
			all = append(all, key)
		}
		return strings.Join(all, "\n")
	}
	want := keys(fixtureLines(t, "server-status-auto-event-extoff-load.txt"))
	if g := keys(strings.Split(strings.TrimSuffix(got, "\n"), "\n")); g != want {
		t.Errorf("keys\n%s\nwant\n%s", g, want)
	}
	if page := ask(t, c, "GET", url+"/server-status").body; !strings.Contains(page, "ExtendedStatus On") {
		t.Errorf("the page does not say that it is short:\n%s", page)
	}
}

func TestStatusPageForPeople(t *testing.T) {
	_, url := startDemo(t, DemoConfig{})
	c := client(t)
	ask(t, c, "GET", url+"/apcu?who=me")
	got := ask(t, c, "GET", url+"/server-status?refresh=5")
	if got.header.Get("Refresh") != "5" || got.header.Get("Content-Type") != "text/html; charset=ISO-8859-1" {
		t.Errorf("headers %v", got.header)
	}
	if !strings.Contains(got.body, "GET /apcu?who=me HTTP/1.1") || !strings.Contains(got.body, "1 requests currently being processed, 0 workers gracefully restarting, 149 idle workers") {
		t.Errorf("the page does not tell of the request before it:\n%s", got.body)
	}
}

func TestConnectionsAreCounted(t *testing.T) {
	_, url := startDemo(t, DemoConfig{})
	c := client(t)
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "GET /nonce HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	waitStatus(t, c, url, "one idle connection beside the poll's", func(f map[string]string) bool {
		return f["ConnsTotal"] == "2" && f["ConnsAsyncKeepAlive"] == "1"
	})
	conn.Close()
	waitStatus(t, c, url, "the poll's connection alone", func(f map[string]string) bool {
		return f["ConnsTotal"] == "1" && f["ConnsAsyncKeepAlive"] == "0"
	})
}

func TestWorkersOutOfRange(t *testing.T) {
	for _, n := range []int{-1, MaxWorkers + 1} {
		if d, err := NewDemo(DemoConfig{Workers: n}); err == nil {
			d.Close()
			t.Errorf("%d workers were accepted", n)
		}
	}
}

func TestRender(t *testing.T) {
	want, err := os.ReadFile("testdata/apcu-php-body.txt")
	if err != nil {
		t.Fatal(err)
	}
	if got := makeObject().render(); !bytes.Equal(got, want) {
		t.Errorf("%q, want PHP's %q", got, want)
	}
}
