package lab

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

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
