package lab

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
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
