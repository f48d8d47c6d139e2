package abcompat

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"abacus/harness/load"
)

func dialError(errno syscall.Errno) error {
	return fmt.Errorf("connecting: %w", &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", errno)})
}

func readError(errno syscall.Errno) error {
	return &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", errno)}
}

func writeError(errno syscall.Errno) error {
	return &net.OpError{Op: "write", Net: "tcp", Err: os.NewSyscallError("write", errno)}
}

var (
	good     = Exchange{Status: 200}
	refused  = Exchange{Kind: load.FailConnect, Err: dialError(syscall.ECONNREFUSED)}
	noPort   = Exchange{Kind: load.FailConnect, Err: dialError(syscall.EADDRNOTAVAIL)}
	noFile   = Exchange{Kind: load.FailConnect, Err: dialError(syscall.EMFILE)}
	broken   = Exchange{Kind: load.FailReceive, Err: readError(syscall.ECONNRESET)}
	closed   = Exchange{Kind: load.FailReceive, Err: fmt.Errorf("closed: %w", io.ErrUnexpectedEOF)}
	unsent   = Exchange{Kind: load.FailReceive, Err: writeError(syscall.EPIPE)}
	unsent2  = Exchange{Kind: load.FailReceive, Err: writeError(syscall.ECONNRESET)}
	noTLS    = Exchange{Kind: load.FailConnect, Err: fmt.Errorf("TLS handshake: %w", tls.RecordHeaderError{Msg: "no TLS"})}
	brokeTLS = Exchange{Kind: load.FailConnect, Err: fmt.Errorf("TLS handshake: %w", readError(syscall.ECONNRESET))}
	strange  = Exchange{Kind: load.FailException, Err: errors.New("not HTTP")}
	slow     = Exchange{Kind: load.FailTimeout, Err: os.ErrDeadlineExceeded}
)

func times(n int, x Exchange) []Exchange {
	list := make([]Exchange, n)
	for i := range list {
		list[i] = x
	}
	return list
}

// TestGivingUp: which exchanges end a run, and how. The numbers are Linux's.
func TestGivingUp(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the error numbers of the table are Linux's")
	}
	const refusedText = "apr_socket_recv: Connection refused (111)\n"
	const resetText = "apr_socket_recv: Connection reset by peer (104)\n"
	for _, c := range []struct {
		name   string
		args   string
		seen   []Exchange
		done   int64
		fatal  *fatal
		stdout string
		stderr string
	}{
		{name: "refused", seen: []Exchange{refused}, fatal: &fatal{text: refusedText, code: 111}},
		{name: "refused with -r", args: "-r", seen: times(20, refused), done: 20},
		{name: "refused with -r -v 1", args: "-r -v 1", seen: times(2, refused), done: 2, stderr: refusedText + refusedText},
		{name: "reset", seen: []Exchange{good, broken, good}, done: 1, fatal: &fatal{text: resetText, code: 104}},
		{name: "reset with -r", args: "-r", seen: []Exchange{good, broken, good}, done: 3},
		{name: "reset with -r -v 1", args: "-r -v 1", seen: []Exchange{broken}, done: 1, stderr: resetText},
		{name: "closed in order", seen: times(30, closed), done: 30},
		{name: "not HTTP", seen: times(30, strange), done: 30},
		{name: "no port left, eleven times", seen: times(11, noPort), done: 11},
		{name: "no port left, twelve times", seen: times(12, noPort), done: 11,
			fatal: &fatal{text: "\nTest aborted after 10 failures\n\napr_socket_connect(): Cannot assign requested address (99)\n", code: 99}},
		{name: "other failures count for the limit too", args: "-r", seen: append(times(11, broken), noPort), done: 11,
			fatal: &fatal{text: "\nTest aborted after 10 failures\n\napr_socket_connect(): Cannot assign requested address (99)\n", code: 99}},
		{name: "open files", args: "-r", seen: []Exchange{good, noFile}, done: 1,
			fatal: &fatal{text: "socket: Too many open files (24)\n", code: 24}},
		{name: "no TLS", seen: []Exchange{noTLS}, done: 1, stderr: "SSL handshake failed (1).\nTLS handshake: tls: no TLS\n"},
		{name: "reset within the handshake", seen: []Exchange{brokeTLS}, done: 1,
			stderr: "SSL handshake failed (1).\nTLS handshake: read tcp: read: connection reset by peer\n"},
		{name: "unsent", seen: []Exchange{unsent, unsent2, good}, done: 3, stdout: "Send request failed!\nSend request failed!\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := mustParse(t, strings.Fields("-q "+c.args+" -n 1000 "+anyURL)...)
			var stdout, stderr bytes.Buffer
			cancelled := false
			w := newWatch(o, &stdout, &stderr, func() { cancelled = true })
			for _, x := range c.seen {
				w.see(x)
			}
			got := w.stop()
			if got.done != c.done || cancelled != (c.fatal != nil) || stdout.String() != c.stdout || stderr.String() != c.stderr {
				t.Errorf("done %d, cancelled %v, stdout %q, stderr %q; want %d, %v, %q, %q",
					got.done, cancelled, &stdout, &stderr, c.done, c.fatal != nil, c.stdout, c.stderr)
			}
			if (got.fatal == nil) != (c.fatal == nil) || got.fatal != nil && *got.fatal != *c.fatal {
				t.Errorf("fatal %+v, want %+v", got.fatal, c.fatal)
			}
		})
	}
}

func mustParse(t *testing.T, args ...string) *options {
	t.Helper()
	o, stop := parse(args)
	if stop != nil {
		t.Fatalf("%q: %s", args, stop.text)
	}
	return o
}

// TestStall: a timeout ends the run when nothing else has moved for as long,
// and is one failed request beside others when something has.
func TestStall(t *testing.T) {
	now := time.Unix(0, 0)
	o := mustParse(t, "-r", "-s", "2", "-n", "10", anyURL)
	w := newWatch(o, io.Discard, io.Discard, func() {})
	w.now, w.lastMove = func() time.Time { return now }, now
	now = now.Add(1900 * time.Millisecond)
	w.see(good)
	now = now.Add(1900 * time.Millisecond)
	w.see(slow)
	if w.seen.fatal != nil {
		t.Fatal("a slow request beside a good one ended the run")
	}
	now = now.Add(100 * time.Millisecond)
	w.see(slow)
	want := fatal{text: "apr_pollset_poll: The timeout specified has expired (70007)\n", code: 119, keepReport: true}
	if w.seen.fatal == nil || *w.seen.fatal != want {
		t.Errorf("fatal %+v, want %+v", w.seen.fatal, want)
	}
}

// TestProgress: every max(100, n/10) requests, with -t every 5,000.
func TestProgress(t *testing.T) {
	for _, c := range []struct {
		args  string
		seen  int
		lines string
	}{
		{"-n 150", 150, ""},
		{"-n 151", 151, "Completed 100 requests\n"},
		{"-n 2009", 402, "Completed 200 requests\nCompleted 400 requests\n"},
		{"-t 1", 10001, "Completed 5000 requests\nCompleted 10000 requests\n"},
		{"-q -n 1000", 1000, ""},
	} {
		var stderr bytes.Buffer
		w := newWatch(mustParse(t, append(strings.Fields(c.args), anyURL)...), io.Discard, &stderr, func() {})
		for range c.seen {
			w.see(good)
		}
		if stderr.String() != c.lines {
			t.Errorf("%s: %q, want %q", c.args, &stderr, c.lines)
		}
	}
}

// TestVerbose: what a server says is shown, and cannot drive the terminal.
func TestVerbose(t *testing.T) {
	var stdout bytes.Buffer
	w := newWatch(mustParse(t, "-v", "2", anyURL), &stdout, io.Discard, func() {})
	w.see(Exchange{Head: []byte("HTTP/1.0 404 No\r\nX: \x1b[2J\r\n\r\n"), Body: []byte("a\tb\x00\xff"), Status: 404})
	want := "LOG: header received:\nHTTP/1.0 404 No\r\nX: \\x1b[2J\r\n\r\na\tb\\x00\ufffd\nWARNING: Response code not 2xx (404)\n"
	if stdout.String() != want {
		t.Errorf("%q, want %q", &stdout, want)
	}
}

// TestKeptAlive counts whole answers that leave the connection open.
func TestKeptAlive(t *testing.T) {
	w := newWatch(mustParse(t, "-k", "-n", "10", anyURL), io.Discard, io.Discard, func() {})
	w.see(Exchange{Status: 200, KeepAlive: true})
	w.see(Exchange{Status: 200, KeepAlive: true, Kind: load.FailLength})
	w.see(Exchange{Status: 200})
	if got := w.stop().keptAlive; got != 2 {
		t.Errorf("%d, want 2", got)
	}
}

// mainOn runs a command line on a fake engine.
func mainOn(ctx context.Context, engine Engine, args ...string) (code int, stdout, stderr string) {
	var o, e bytes.Buffer
	look := func(_ context.Context, host string) ([]string, error) {
		switch host {
		case "far.test":
			return []string{"203.0.113.9"}, nil
		case "near.test":
			return []string{"::1", "192.168.1.9"}, nil
		}
		return nil, errors.New("no such host")
	}
	code = mainWith(ctx, args, &o, &e, engine, look)
	return code, o.String(), e.String()
}

func nothing(context.Context, load.Job, Trace) (*load.Result, error) { return &load.Result{}, nil }

func TestBeforeLoad(t *testing.T) {
	for _, c := range []struct {
		args   string
		code   int
		stderr string
	}{
		{"-c 0 " + anyURL, 22, "apr_pollset_poll: Invalid argument (22)\n"},
		{"-s 0 " + anyURL, 119, "apr_pollset_poll: The timeout specified has expired (70007)\n"},
		{"http://none.test/", 50, "apr_sockaddr_info_get() for none.test: Name or service not known (670002)\n"},
		{"ftp://none.test/", 50, "apr_sockaddr_info_get() for ftp:: Name or service not known (670002)\n"},
		{"http://user@127.0.0.1/", 50, "apr_sockaddr_info_get() for user@127.0.0.1: Name or service not known (670002)\n"},
	} {
		code, stdout, stderr := mainOn(t.Context(), noEngine(t), strings.Fields(c.args)...)
		if code != c.code || stderr != c.stderr || !strings.HasSuffix(stdout, "(be patient)...") {
			t.Errorf("ab %s: exit code %d, stderr %q, stdout %q; want %d, %q", c.args, code, stderr, stdout, c.code, c.stderr)
		}
	}
}

// TestFarTargets are warned about and loaded.
func TestFarTargets(t *testing.T) {
	for url, far := range map[string]bool{
		"http://far.test/": true, "http://203.0.113.9/": true, "http://[2001:db8::1]/": true,
		"http://near.test/": false, "http://10.1.2.3/": false, "http://[::1]/": false, "http://127.9.9.9/": false,
	} {
		code, _, stderr := mainOn(t.Context(), nothing, url)
		if code != 0 || strings.Contains(stderr, "abacus: warning: ") != far {
			t.Errorf("%s: exit code %d, stderr %q; a warning is due: %v", url, code, stderr, far)
		}
	}
}

// TestInterrupt: what there is is printed, without a Finished line.
func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	code, stdout, stderr := mainOn(ctx, func(ctx context.Context, _ load.Job, trace Trace) (*load.Result, error) {
		trace.Each(good)
		cancel()
		<-ctx.Done()
		r := &load.Result{ElapsedNS: 2e9, Interrupted: true, Counts: load.Counts{Complete: 1}, Total: distribution(5 * ms)}
		return r, nil
	}, "-n", "1000", anyURL)
	if code != 1 || strings.Contains(stderr, "Finished") || !strings.Contains(stdout, "\nComplete requests:      1\nFailed requests:        0\n") ||
		!strings.Contains(stdout, "\nRequests per second:    0.50 [#/sec] (mean)\n") {
		t.Errorf("exit code %d, stderr %q, stdout:\n%s", code, stderr, stdout)
	}
}

func TestEngineError(t *testing.T) {
	code, _, stderr := mainOn(t.Context(), func(context.Context, load.Job, Trace) (*load.Result, error) {
		return nil, errors.New("no such thing")
	}, anyURL)
	if code != 1 || stderr != "ab: no such thing\n" {
		t.Errorf("exit code %d, stderr %q", code, stderr)
	}
}

// full is a writer on a full disk.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

func TestUnwritableReport(t *testing.T) {
	var stderr bytes.Buffer
	code := mainWith(t.Context(), []string{anyURL}, full{}, &stderr, nothing, nil)
	if code != 1 || stderr.String() != "ab: write the report: no space left on device\n" {
		t.Errorf("exit code %d, stderr %q", code, &stderr)
	}
}
