package native

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"abacus/harness/load"
)

func TestDurationEndsTheRun(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		time.Sleep(30 * time.Millisecond)
		_, _ = w.Write([]byte("hello"))
	}))
	defer srv.Close()
	j := job(srv.URL, 0, 3)
	j.Duration = 200 * time.Millisecond
	res := runJob(t, j)
	// What was under way at the end was waited for and counted.
	if res.Counts.Complete != asked.Load() || res.Counts.Failed != 0 || res.Interrupted || len(res.Notes) != 0 {
		t.Errorf("counts %+v, the server saw %d, notes %v", res.Counts, asked.Load(), res.Notes)
	}
	if e := time.Duration(res.ElapsedNS); e < j.Duration || e > j.Duration+j.Grace() {
		t.Errorf("elapsed %v", e)
	}
	// With requests too, whichever comes first.
	j.Requests, j.Duration = 5, time.Hour
	if res := runJob(t, j); res.Counts.Complete != 5 || time.Duration(res.ElapsedNS) > time.Minute {
		t.Errorf("counts %+v, elapsed %d", res.Counts, res.ElapsedNS)
	}
}

// A server that hangs does not hold a run by duration, and it is said.
func TestDurationDropsWhatHangs(t *testing.T) {
	t.Parallel()
	url := serve(t, func(n int, conn net.Conn, r *bufio.Reader) {
		if n == 1 {
			sayAndClose(hello)(n, conn, r)
			return
		}
		readRequest(r)
		readRequest(r)
	})
	j := job(url, 0, 2)
	j.Duration = 500 * time.Millisecond // enough for two connections on a busy machine
	began := time.Now()
	res := runJob(t, j)
	if took := time.Since(began); took < j.Duration || took > j.Duration+j.Grace()+5*time.Second {
		t.Errorf("took %v", took)
	}
	if res.Counts.Complete != 1 || res.Counts.Failed != 0 || res.ElapsedNS < int64(j.Duration) {
		t.Errorf("counts %+v, elapsed %d", res.Counts, res.ElapsedNS)
	}
	if len(res.Notes) != 1 || !strings.HasPrefix(res.Notes[0], "2 requests were still under way") {
		t.Errorf("notes %v", res.Notes)
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	for name, url := range map[string]string{
		"waiting for answers": serve(t, func(n int, conn net.Conn, r *bufio.Reader) {
			if n <= 3 {
				sayAndClose(hello)(n, conn, r)
				return
			}
			readRequest(r)
			readRequest(r)
		}),
		"in a handshake": strings.Replace(serve(t, func(_ int, _ net.Conn, r *bufio.Reader) { _, _ = r.WriteTo(discard{}) }), "http", "https", 1),
		"refused":        closedPort(t),
	} {
		ctx, cancel := context.WithCancel(context.Background())
		j := job(url, 1_000_000, 4)
		j.Interval = 10 * time.Millisecond
		var once sync.Once
		var cancelled time.Time
		ticks := 0
		res, err := new(Engine).Run(ctx, j, func(load.Progress) {
			if ticks++; ticks == 5 {
				once.Do(func() { cancelled = time.Now(); cancel() })
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(cancelled); took > time.Second {
			t.Errorf("%s: it took %v to stop", name, took)
		}
		if !res.Interrupted || res.Counts.Timeout != 0 || res.ElapsedNS < int64(40*time.Millisecond) {
			t.Errorf("%s: interrupted %v, counts %+v, elapsed %d", name, res.Interrupted, res.Counts, res.ElapsedNS)
		}
		if name == "waiting for answers" && (res.Counts.Complete != 3 || res.Counts.Failed != 0) {
			t.Errorf("%s: counts %+v", name, res.Counts)
		}
		cancel()
	}
}

func TestCancelledBefore(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, url := range []string{serve(t, say(hello)), "http://a..b/"} {
		res, err := new(Engine).Run(ctx, job(url, 10, 2), nil)
		if err != nil || !res.Interrupted || res.Counts.Requests() != 0 {
			t.Errorf("%s: %+v, %v", url, res, err)
		}
	}
}

// ours are the stacks of the goroutines that run this package's code, the
// scripted servers' among it; the runtime and the libraries may have others,
// and the one that keeps a closed port closed begins when it likes.
func ours() []string {
	buf := make([]byte, 1<<20)
	for {
		n := runtime.Stack(buf, true)
		if n < len(buf) {
			buf = buf[:n]
			break
		}
		buf = make([]byte, 2*len(buf))
	}
	return slices.DeleteFunc(strings.Split(string(buf), "\n\n"), func(stack string) bool {
		return !strings.Contains(stack, "abacus/harness/load/native.") || strings.Contains(stack, "closedPort")
	})
}

// However a run ends, no goroutine and no connection of it is left.
func TestNothingOutlivesARun(t *testing.T) {
	// The collector closes connections that were only forgotten, which would
	// hide what this test looks for.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	hangs := serve(t, func(_ int, _ net.Conn, r *bufio.Reader) { _, _ = r.WriteTo(discard{}) })
	answers := serve(t, say(hello))
	for name, c := range map[string]struct {
		url    string
		change func(*load.Job)
	}{
		"by requests":    {answers, func(*load.Job) {}},
		"by duration":    {answers, func(j *load.Job) { j.Requests, j.Duration = 0, 50*time.Millisecond }},
		"stopped":        {hangs, func(j *load.Job) { j.Requests = 1000 }},
		"in a handshake": {strings.Replace(hangs, "http", "https", 1), func(j *load.Job) { j.Requests = 1000 }},
		"failing":        {closedPort(t), func(*load.Job) {}},
	} {
		before := len(ours())
		ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
		j := job(c.url, 100, 10)
		c.change(&j)
		if _, err := new(Engine).Run(ctx, j, nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		cancel()
		// The server's side of each connection is in the count too, so it
		// falls back only when all are closed.
		for deadline := time.Now().Add(5 * time.Second); len(ours()) > before; time.Sleep(20 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Errorf("%s: %d goroutines before, %d after:\n%s", name, before, len(ours()), strings.Join(ours(), "\n\n"))
				break
			}
		}
	}
}
