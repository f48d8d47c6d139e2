package native

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"

	"abacus/harness/load"
)

// failure is what ended an exchange without a whole answer.
type failure struct {
	kind load.FailureKind
	err  error
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// errStopped ends an exchange that the run's end has cut off; it is not
// counted.
var errStopped = errors.New("the run has ended")

// isTimeout tells whether err comes from the request's deadline. A server or
// kernel timeout (ETIMEDOUT) within it is one too: nothing came in time.
func isTimeout(err error) bool {
	var ne net.Error
	return errors.Is(err, os.ErrDeadlineExceeded) || (errors.As(err, &ne) && ne.Timeout())
}

// errorTable counts failures by text. It is for all connections: failures
// are rare, and a storm of them is slowed down by its backoff.
type errorTable struct {
	mu      sync.Mutex
	counts  map[errorKey]int64
	address *regexp.Regexp
}

type errorKey struct {
	kind load.FailureKind
	text string
}

const (
	maxErrorTexts = 20
	maxErrorText  = 200
	otherErrors   = "other errors"
)

func newErrorTable() *errorTable {
	return &errorTable{
		counts: map[errorKey]int64{},
		// IPv4 or bracketed IPv6, with its port.
		address: regexp.MustCompile(`(\d{1,3}(\.\d{1,3}){3}|\[[0-9a-fA-F:.%\w]+\]):\d{1,5}`),
	}
}

// add counts one failure. Beyond twenty different texts the rest of each kind
// is counted together.
func (t *errorTable) add(kind load.FailureKind, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	k := errorKey{kind, t.text(err)}
	if _, known := t.counts[k]; !known && len(t.counts) >= maxErrorTexts {
		k.text = otherErrors
	}
	t.counts[k]++
}

// text is the message without what differs from one failure to the next: the
// addresses and ports.
func (t *errorTable) text(err error) string {
	var oe *net.OpError
	text := err.Error()
	if errors.As(err, &oe) && oe.Err != nil {
		// "dial tcp 127.0.0.1:80: connect: connection refused" without its front.
		if at := strings.Index(text, oe.Error()); at >= 0 {
			text = text[:at] + oe.Err.Error() + text[at+len(oe.Error()):]
		}
	}
	text = t.address.ReplaceAllString(text, "(address)")
	if len(text) > maxErrorText {
		text = strings.ToValidUTF8(text[:maxErrorText], "") + "…"
	}
	return text
}

// list returns the texts, the most frequent first.
func (t *errorTable) list() []load.ErrorText {
	t.mu.Lock()
	defer t.mu.Unlock()
	var list []load.ErrorText
	for k, n := range t.counts {
		list = append(list, load.ErrorText{Kind: k.kind, Text: k.text, Count: n})
	}
	slices.SortFunc(list, func(a, b load.ErrorText) int {
		if a.Count != b.Count {
			return int(min(max(b.Count-a.Count, -1), 1))
		}
		return strings.Compare(string(a.Kind)+a.Text, string(b.Kind)+b.Text)
	})
	return list
}

// connectFailure weighs what a dial or a TLS handshake returned.
func connectFailure(doing string, err error) *failure {
	if isTimeout(err) {
		return &failure{load.FailTimeout, fmt.Errorf("no connection in time (%s)", doing)}
	}
	if doing != "" {
		err = fmt.Errorf("%s: %w", doing, err)
	}
	return &failure{load.FailConnect, err}
}

// receiveFailure weighs what a read or write returned, of an answer of which
// nothing or a part has come.
func receiveFailure(started bool, err error) *failure {
	where := "before the answer"
	if started {
		where = "within the answer"
	}
	switch {
	case isTimeout(err) && started:
		return &failure{load.FailTimeout, errors.New("the answer was not whole in time")}
	case isTimeout(err):
		return &failure{load.FailTimeout, errors.New("no answer in time")}
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return &failure{load.FailReceive, fmt.Errorf("connection closed %s", where)}
	}
	return &failure{load.FailReceive, fmt.Errorf("connection broken %s: %w", where, err)}
}
