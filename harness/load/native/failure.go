package native

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"regexp"
	"strings"

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

// address matches an IPv4 or a bracketed IPv6 address with its port.
var address = regexp.MustCompile(`(\d{1,3}(\.\d{1,3}){3}|\[[0-9a-fA-F:.%\w]+\]):\d{1,5}`)

// errorText is the message without what differs from one failure to the next:
// the addresses and ports.
func errorText(err error) string {
	var oe *net.OpError
	text := err.Error()
	if errors.As(err, &oe) && oe.Err != nil {
		// "dial tcp 127.0.0.1:80: connect: connection refused" without its front.
		if at := strings.Index(text, oe.Error()); at >= 0 {
			text = text[:at] + oe.Err.Error() + text[at+len(oe.Error()):]
		}
	}
	return address.ReplaceAllString(text, "(address)")
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
