package abcompat

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"abacus/harness/load"
)

// timeoutMessage is how ab ends when nothing moves for -s seconds.
const timeoutMessage = "apr_pollset_poll: The timeout specified has expired (70007)"

// fatal is why a run was given up.
type fatal struct {
	text string // for stderr, with its newline
	code int
	// keepReport prints what was measured all the same.
	keepReport bool
}

// sighting is what a watch saw of a run.
type sighting struct {
	// done counts requests that ended, whole or not, before the fatal one.
	done int64
	// keptAlive counts whole answers after which the server kept the
	// connection; writeErrors requests that could not be sent.
	keptAlive, writeErrors int64
	fatal                  *fatal
}

// watch looks at every request as it ends: it prints progress and, with -v,
// what went over the wire, and ends the run by ab's rules.
type watch struct {
	o              *options
	stdout, stderr io.Writer
	cancel         func()
	now            func() time.Time

	mu     sync.Mutex
	seen   sighting
	failed int64
	// lastMove is when a request last ended otherwise than by timeout.
	lastMove time.Time
	stopped  bool
}

func newWatch(o *options, stdout, stderr io.Writer, cancel func()) *watch {
	return &watch{o: o, stdout: stdout, stderr: stderr, cancel: cancel, now: time.Now, lastMove: time.Now()}
}

// stop ends the watching; what comes later is not looked at.
func (w *watch) stop() sighting {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = true
	return w.seen
}

// see takes one ended request.
func (w *watch) see(x Exchange) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped || w.seen.fatal != nil {
		return
	}
	w.printExchange(x)
	if f := w.judge(x); f != nil {
		w.seen.fatal = f
		w.cancel()
		return
	}
	if x.Kind != load.FailTimeout {
		w.lastMove = w.now()
	}
	if whole := x.Kind == "" || x.Kind == load.FailLength; whole && x.KeepAlive {
		w.seen.keptAlive++
	}
	if x.Kind != "" {
		w.failed++
	}
	w.seen.done++
	if beat := int64(w.o.heartbeat()); beat > 0 && w.seen.done%beat == 0 {
		fmt.Fprintf(w.stderr, "Completed %d requests\n", w.seen.done)
	}
}

// judge tells whether a failed request ends the run.
func (w *watch) judge(x Exchange) *fatal {
	switch x.Kind {
	case load.FailTimeout:
		// A slow answer beside others that come is one failed request; that
		// nothing came at all is ab's timeout.
		if w.now().Sub(w.lastMove) >= w.o.timeoutDuration() {
			return &fatal{text: timeoutMessage + "\n", code: exitTimeout, keepReport: true}
		}
	case load.FailConnect:
		return w.judgeConnect(x.Err)
	case load.FailReceive:
		return w.judgeReceive(x.Err)
	}
	return nil
}

// judgeConnect sorts failed connects the way ab meets them: a refused one
// shows at the first read, a connect() that fails at once may come ten times,
// a socket that cannot be had never.
func (w *watch) judgeConnect(err error) *fatal {
	var errno syscall.Errno
	var op *net.OpError
	if !errors.As(err, &errno) || errors.As(err, &op) && op.Op != "dial" {
		// Connected, and then no TLS.
		fmt.Fprintf(w.stderr, "SSL handshake failed (1).\n%s\n", printable(messageOf(err)))
		return nil
	}
	switch errno {
	case syscall.EMFILE, syscall.ENFILE:
		return systemFailure("socket", errno)
	case syscall.EADDRNOTAVAIL, syscall.ENETUNREACH, syscall.EACCES, syscall.EPERM, syscall.EINVAL:
		if w.failed > 10 {
			f := systemFailure("apr_socket_connect()", errno)
			f.text = "\nTest aborted after 10 failures\n\n" + f.text
			return f
		}
		return nil
	}
	return w.judgeReceive(err)
}

// judgeReceive ends the run at the first socket error unless -r was given. A
// connection that was closed in order is none.
func (w *watch) judgeReceive(err error) *fatal {
	var errno syscall.Errno
	if !errors.As(err, &errno) {
		return nil
	}
	var op *net.OpError
	if errno == syscall.EPIPE || errors.As(err, &op) && op.Op == "write" {
		w.seen.writeErrors++
		fmt.Fprint(w.stdout, "Send request failed!\n")
		return nil
	}
	f := systemFailure("apr_socket_recv", errno)
	if !w.o.goOn {
		return f
	}
	if w.o.verbosity >= 1 {
		fmt.Fprint(w.stderr, f.text)
	}
	return nil
}

// systemFailure is ab's message and exit code for an errno.
func systemFailure(call string, errno syscall.Errno) *fatal {
	return &fatal{text: fmt.Sprintf("%s: %s (%d)\n", call, errorText(errno), int(errno)), code: int(errno) & 0xff}
}

func messageOf(err error) string {
	if err == nil {
		return "no reason given"
	}
	return err.Error()
}

// printExchange is -v 2 and above, on stdout as with ab.
func (w *watch) printExchange(x Exchange) {
	if w.o.verbosity < 2 || len(x.Head) == 0 {
		return
	}
	fmt.Fprintf(w.stdout, "LOG: header received:\n%s\n", printable(string(x.Head)+string(x.Body)))
	switch {
	case x.Status < 200 || x.Status > 299:
		fmt.Fprintf(w.stdout, "WARNING: Response code not 2xx (%03d)\n", x.Status)
	case w.o.verbosity >= 3:
		fmt.Fprintf(w.stdout, "LOG: Response code = %03d\n", x.Status)
	}
}

// printable shows control characters of a server's text as escapes, so that
// they cannot drive the terminal. Line ends and tabs stay.
func printable(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r == '\n' || r == '\r' || r == '\t' || strconv.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		q := strconv.QuoteRuneToASCII(r)
		b.WriteString(q[1 : len(q)-1])
	}
	return b.String()
}
