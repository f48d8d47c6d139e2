package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"abacus/harness/clock"
	"abacus/harness/observe"
)

// watchServer is a status page whose counter grows by ten requests a poll, the
// poll itself included. fails tells which polls (from 1) it refuses.
func watchServer(t *testing.T, fails func(n int64) bool) (*httptest.Server, *atomic.Int64) {
	t.Helper()
	n := &atomic.Int64{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i := n.Add(1)
		if r.URL.String() != "/server-status?auto" || r.UserAgent() != "abacus/"+Version+" (watch)" {
			t.Errorf("request %s by %q", r.URL, r.UserAgent())
		}
		if fails != nil && fails(i) {
			w.WriteHeader(403)
			return
		}
		fmt.Fprintf(w, "127.0.0.1\nServerVersion: Apache/2.4.71\nServerMPM: event\nServerUptimeSeconds: 90\nTotal Accesses: %d\nTotal kBytes: %d\nTotal Duration: %d\nBusyWorkers: %d\nIdleWorkers: %d\nScoreboard: WK__....\n",
			1000+10*i, 40*i, 27*i, 2+i%2, 2-i%2)
	}))
	t.Cleanup(srv.Close)
	return srv, n
}

// runWatchCommand runs the command as main would.
func runWatchCommand(ctx context.Context, args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = Run(ctx, &Env{
		Args: append([]string{"abacus", "watch"}, args...), Stdout: &out, Stderr: &errs,
		Getenv: func(string) string { return "" }, Environ: func() []string { return nil },
	})
	return code, out.String(), errs.String()
}

func TestWatchJSON(t *testing.T) {
	srv, polls := watchServer(t, nil)
	file := filepath.Join(t.TempDir(), "load.ndjson")
	begun := clock.Now()
	code, stdout, stderr := runWatchCommand(t.Context(), srv.URL, "--json", "--count", "3", "--interval", "20ms", "--record", file)
	if code != ExitDone || stderr != "" || polls.Load() != 3 {
		t.Fatalf("exit %d, stderr %q, %d polls; want 0, nothing, 3", code, stderr, polls.Load())
	}
	recorded, err := os.ReadFile(file)
	if err != nil || string(recorded) != stdout {
		t.Errorf("the file differs from what was printed (%v)", err)
	}
	var status []watchLine
	last := int64(-1)
	for line := range strings.Lines(stdout) {
		var l watchLine
		d := json.NewDecoder(strings.NewReader(line))
		d.DisallowUnknownFields()
		if err := d.Decode(&l); err != nil {
			t.Fatalf("line %q: %v", line, err)
		}
		if l.AtNS < 0 || l.AtNS > clock.Now()-begun || time.Since(l.Time) > time.Hour || (l.Source == "status") != (l.Status != nil) {
			t.Errorf("line %s", line)
		}
		if l.Source == "status" {
			if l.AtNS <= last {
				t.Errorf("time went from %d to %d", last, l.AtNS)
			}
			last = l.AtNS
			status = append(status, l)
		}
	}
	if len(status) != 3 {
		t.Fatalf("%d status lines, want 3", len(status))
	}
	if status[0].Rates != nil || *status[0].Status.TotalAccesses != 1010 || status[0].Status.Scoreboard != "WK__...." {
		t.Errorf("first line %+v", status[0])
	}
	for _, l := range status[1:] {
		// Ten more, one of them the poll; 27 ms for nine requests.
		if l.Rates == nil || *l.Rates.Requests != 9 || *l.Rates.MSPerRequest != 3 || l.Rates.Reset {
			t.Errorf("rates %+v, want nine requests of 3 ms", l.Rates)
		}
	}
}

func TestWatchPiped(t *testing.T) {
	srv, _ := watchServer(t, nil)
	code, stdout, stderr := runWatchCommand(t.Context(), srv.URL+"/server-status?auto", "--count", "3", "--interval", "20ms")
	if code != ExitDone || stderr != "" {
		t.Fatalf("exit %d, stderr %q", code, stderr)
	}
	lines := strings.Split(strings.TrimSuffix(stdout, "\n"), "\n")
	// The first at once, the newest at the end, and what it was in all. On a
	// slow machine there may be others, a second apart.
	if len(lines) < 3 {
		t.Fatalf("output %q, want three lines", stdout)
	}
	lines = append(lines[:1], lines[len(lines)-2:]...)
	for i, want := range []string{
		`^\d\d:\d\d:\d\d  workers 3 busy 1 idle of 8  –`,
		`^\d\d:\d\d:\d\d  workers 3 busy 1 idle of 8  [0-9,]+/s  .*B/s  3\.00.ms each`,
		`^watched [0-9.]+m?s: 3 polls answered(, \d+ skipped)?; at most 3 busy, at least 1 idle; 18 requests, [0-9,]+/s on average$`,
	} {
		if !regexp.MustCompile(want).MatchString(lines[i]) {
			t.Errorf("line %d is %q, want %s", i+1, lines[i], want)
		}
	}
	if strings.Contains(stdout, "\x1b") {
		t.Errorf("terminal codes in a pipe: %q", stdout)
	}
}

func TestWatchOfAPageThatFails(t *testing.T) {
	for _, tc := range []struct {
		name         string
		fails        func(int64) bool
		count        string
		code         int
		polls        int64
		out, err     string
		summaryFails string
	}{
		{"always", func(int64) bool { return true }, "9", ExitFailed, 3, "no reading: status page: answered 403", "the first 3 polls all failed: status page: answered 403", ""},
		{"as often as asked", func(int64) bool { return true }, "2", ExitFailed, 2, "no reading: status page: answered 403", "the first 2 polls all failed: status page: answered 403", ""},
		{"until the third", func(n int64) bool { return n < 3 }, "4", ExitDone, 4, "no reading: status page: answered 403", "", ": 2 polls answered, 2 failed"},
		{"later", func(n int64) bool { return n > 1 }, "6", ExitDone, 6, "no reading: status page: answered 403", "", ": 1 poll answered, 5 failed"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			srv, polls := watchServer(t, tc.fails)
			code, stdout, stderr := runWatchCommand(t.Context(), srv.URL, "--count", tc.count, "--interval", "20ms")
			if code != tc.code || polls.Load() != tc.polls {
				t.Errorf("exit %d after %d polls, want %d after %d", code, polls.Load(), tc.code, tc.polls)
			}
			if !strings.Contains(stdout, tc.out) || !strings.Contains(stdout, tc.summaryFails) {
				t.Errorf("stdout %q, want %q and %q", stdout, tc.out, tc.summaryFails)
			}
			if (tc.err == "") != (stderr == "") || !strings.Contains(stderr, tc.err) {
				t.Errorf("stderr %q, want %q", stderr, tc.err)
			}
			if tc.err != "" && !strings.Contains(stderr, "\nhint: ") {
				t.Errorf("stderr %q has no hint", stderr)
			}
		})
	}
}

// A page that does not answer holds up neither the host's figures nor the end.
func TestWatchOfASlowPage(t *testing.T) {
	release := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}))
	defer srv.Close()
	defer close(release)
	ctx, cancel := context.WithCancelCause(t.Context())
	hosts := 0
	w := &watching{
		flags:  watchFlags{interval: time.Millisecond, json: true},
		status: observe.NewStatusPoller(srv.URL, "", time.Hour).Poll,
		machine: func(context.Context) (observe.Reading, error) {
			if hosts++; hosts == 20 {
				cancel(Signal{os.Interrupt})
			}
			return observe.Reading{Host: &observe.Host{}}, nil
		},
		out: &bytes.Buffer{},
	}
	ended := make(chan error)
	go func() { ended <- w.run(ctx) }()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("error %v", err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the watch did not end")
	}
	if w.polls != 1 || w.view.skipped < 19 {
		t.Errorf("%d polls, %d skipped; want 1 and at least 19", w.polls, w.view.skipped)
	}
}

func TestWatchEndsBySignal(t *testing.T) {
	for _, tc := range []struct {
		signal os.Signal
		want   int
	}{{os.Interrupt, ExitDone}, {syscall.SIGTERM, ExitTerminated}} {
		ctx, cancel := context.WithCancelCause(t.Context())
		srv, _ := watchServer(t, func(n int64) bool {
			if n == 4 {
				cancel(Signal{tc.signal})
			}
			return false
		})
		code, stdout, stderr := runWatchCommand(ctx, srv.URL, "--interval", "20ms")
		if code != tc.want || stderr != "" || !strings.Contains(stdout, "watched ") {
			t.Errorf("%v: exit %d, stdout %q, stderr %q; want %d and a summary", tc.signal, code, stdout, stderr, tc.want)
		}
	}
}

func TestWatchRefuses(t *testing.T) {
	there := filepath.Join(t.TempDir(), "there")
	if err := os.WriteFile(there, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	const good = "http://127.0.0.1:1/server-status"
	for _, tc := range []struct {
		args      []string
		err, hint string
	}{
		{nil, "watch takes one status URL, got 0", "for example"},
		{[]string{good, good}, "got 2 arguments", "for example"},
		{[]string{"127.0.0.1:8080/server-status"}, `"127.0.0.1:8080/server-status" is not a URL`, "did you mean http://127.0.0.1:8080/server-status ?"},
		{[]string{"localhost"}, `"localhost" is not a URL`, "did you mean http://localhost ?"},
		{[]string{"ftp://h/x"}, "is not a URL with http://", "write it like"},
		{[]string{"http://"}, "is not a URL", "write it like"},
		{[]string{""}, `"" is not a URL`, "write it like"},
		{[]string{good, "--interval", "1ms"}, "--interval 1ms: must be at least 20ms", "200ms"},
		{[]string{good, "--interval", "fast"}, "invalid argument", "--help"},
		{[]string{good, "--count", "-1"}, "--count -1", ""},
		{[]string{good, "--duration", "-1s"}, "--duration -1s", ""},
		{[]string{good, "--timeout", "0s"}, "--timeout 0s", ""},
		{[]string{good, "--record", there}, "the file is there already", "another file"},
		{[]string{good, "--record", filepath.Join(there, "x")}, "--record", ""},
		{[]string{good, "--colour"}, "unknown flag", "--help"},
	} {
		code, stdout, stderr := runWatchCommand(t.Context(), tc.args...)
		if code != ExitInput || stdout != "" || !strings.Contains(stderr, tc.err) || !strings.Contains(stderr, tc.hint) {
			t.Errorf("watch %q: exit %d, stdout %q, stderr %q; want 2, nothing, %q, %q", tc.args, code, stdout, stderr, tc.err, tc.hint)
		}
	}
	if data, _ := os.ReadFile(there); string(data) != "mine" {
		t.Errorf("the file was written over: %q", data)
	}
}

// failingWriter takes some bytes and then no more, as a full disk does.
type failingWriter struct{ left int }

func (f *failingWriter) Write(b []byte) (int, error) {
	if f.left -= len(b); f.left < 0 {
		return 0, errors.New("no space left")
	}
	return len(b), nil
}

func TestWatchSaysThatItsFileIsFull(t *testing.T) {
	w := &watching{
		flags:   watchFlags{interval: time.Millisecond},
		status:  func(context.Context) (observe.Reading, error) { return observe.Reading{Status: &observe.Status{}}, nil },
		machine: func(context.Context) (observe.Reading, error) { return observe.Reading{Host: &observe.Host{}}, nil },
		out:     &bytes.Buffer{}, file: &failingWriter{2000},
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := w.run(ctx); err == nil || !strings.Contains(err.Error(), "--record: no space left") {
		t.Errorf("error %v, want that the file is full", err)
	}
}

func watchPtr[T any](v T) *T { return &v }

// watchedView is a server and a machine at 1 s and 2 s.
func watchedView() *watchView {
	v := &watchView{}
	const s = int64(time.Second)
	status := func(accesses, kb, duration, busy, idle int64, cpu float64) observe.Reading {
		return observe.Reading{Status: &observe.Status{
			ServerVersion: "Apache/2.4.71 (Debian)", ServerMPM: "event", UptimeS: watchPtr[int64](3725),
			TotalAccesses: &accesses, TotalKBytes: &kb, TotalDurationMS: &duration, CPUSeconds: &cpu,
			BusyWorkers: &busy, IdleWorkers: &idle,
			Scoreboard: strings.Repeat("W", 45) + strings.Repeat("K", 5) + strings.Repeat("_", 25) + strings.Repeat(".", 75),
		}}
	}
	host := func(busy, idle int64, in uint64) observe.Reading {
		return observe.Reading{Host: &observe.Host{
			CPU: observe.CPUTimes{UserNS: busy, SystemNS: busy / 2, IdleNS: idle, IOWaitNS: 0}, Load1: watchPtr(1.5),
			MemTotalBytes: 8 << 30, MemAvailableBytes: 6 << 30, SwapTotalBytes: 1 << 30, SwapUsedBytes: 1 << 20,
			SwapInBytes: &in, SwapOutBytes: watchPtr[uint64](0), NetRxBytes: watchPtr[uint64](0), NetTxBytes: watchPtr[uint64](0), TimeWait: watchPtr[int64](4711),
		}}
	}
	v.addHost(observe.Sample{AtNS: 1 * s, Reading: host(0, 0, 0)})
	v.addHost(observe.Sample{AtNS: 2 * s, Reading: host(8e8, 8e8, 4<<20)})
	v.addStatus(observe.Sample{AtNS: 1 * s, TookNS: 1e6, Reading: status(1000, 0, 0, 60, 15, 1)}, 1)
	v.addStatus(observe.Sample{AtNS: 2 * s, TookNS: 1e6, Reading: status(4001, 3072, 39000, 50, 25, 2.25)}, 2)
	return v
}

func TestWatchPicture(t *testing.T) {
	spaces := strings.NewReplacer("\u202f", " ", "\u00a0", " ")
	board := strings.Repeat("W", 45) + "KKKKK" + strings.Repeat("_", 25)
	want := []string{
		"http://127.0.0.1/server-status",
		"server      Apache/2.4.71 (Debian) · event · up 1h2m5s",
		"requests    3,000/s · 3.00 MiB/s · 13.0 ms a request · 1.25 cores of server CPU",
		"workers     50 busy · 25 idle · 150 slots   (at most 60 busy, at least 15 idle so far)",
		"            ████████████████████▒▒▒▒▒▒▒▒▒▒······························",
		"scoreboard  _ 25 waiting   W 45 writing   K 5 keep-alive   . 75 open slot",
		"            " + board + strings.Repeat(".", 13),
		"            " + strings.Repeat(".", 62),
		"host        CPU 60 % busy (user 40 %, system 20 %, waiting 0 %) · load 1.50",
		"memory      2.00 GiB of 8.00 GiB used · swap 1.00 MiB of 1.00 GiB, in 4.00 MiB/s out 0 B/s",
		"network     in 0 B/s · out 0 B/s · 4,711 sockets in TIME_WAIT",
		"polls       2 answered, the last in 1.00 ms",
		"Ctrl-C ends",
	}
	var got []string
	for _, l := range watchedView().picture("http://127.0.0.1/server-status", terminal{live: true, width: 100}) {
		got = append(got, spaces.Replace(l))
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("want -, got +:\n%s", d)
	}
}

// No line may be wider than the terminal: it would wrap and spoil the redraw.
func TestWatchPictureFits(t *testing.T) {
	codes := regexp.MustCompile(`\x1b\[[0-9;]*m`)
	for _, width := range []int{40, 60, 80, 100} {
		v := watchedView()
		v.window[1].Status.Scoreboard = strings.Repeat("_", 4000)
		v.failed, v.skipped, v.errText = 3, 4, strings.Repeat("x", 200)
		lines := v.picture("http://127.0.0.1/"+strings.Repeat("long", 50), terminal{live: true, colour: true, width: width})
		for _, l := range lines {
			if n := len([]rune(codes.ReplaceAllString(l, ""))); n > width {
				t.Errorf("%d columns at width %d: %q", n, width, l)
			}
		}
		if len(lines) > 30 {
			t.Errorf("%d lines at width %d", len(lines), width)
		}
	}
}

func TestWatchSaysARestart(t *testing.T) {
	v := watchedView()
	before := v.total
	s := observe.Sample{AtNS: int64(3 * time.Second), Reading: observe.Reading{Status: &observe.Status{UptimeS: watchPtr[int64](1), TotalAccesses: watchPtr[int64](5)}}}
	v.addStatus(s, 3)
	if !v.justReset(time.Now()) || len(v.window) != 1 || v.total != before {
		t.Errorf("reset %v, window of %d, total %d; want a restart, one sample, no requests more", v.justReset(time.Now()), len(v.window), v.total)
	}
	if line := v.line(time.Now()); !strings.Contains(line, "server restarted") {
		t.Errorf("line %q", line)
	}
	if all := strings.Join(v.picture("u", terminal{width: 100}), "\n"); !strings.Contains(all, "restarted") {
		t.Errorf("picture %q", all)
	}
}

func TestWorkerBar(t *testing.T) {
	for _, tc := range []struct{ board, want string }{
		{"WWWWWWWWWW", "██████████"},
		{"__________", "▒▒▒▒▒▒▒▒▒▒"},
		{"..........", "··········"},
		{"WW___.....", "██▒▒▒·····"},
		{"W" + strings.Repeat("_", 99), "█▒▒▒▒▒▒▒▒▒"},
		{"W" + strings.Repeat(".", 99), "█·········"},
	} {
		if got := workerBar(tc.board, 10); got != tc.want {
			t.Errorf("workerBar(%q) = %s, want %s", tc.board, got, tc.want)
		}
	}
}
