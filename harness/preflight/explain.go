package preflight

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"syscall"

	"abacus/harness/number"
	"abacus/harness/oneline"
)

// brokenBody is an answer that began well and did not come whole.
type brokenBody struct {
	status    int
	got, want int64 // want is -1 when the length was not announced
	err       error
}

func (b *brokenBody) Error() string {
	if b.want >= 0 {
		return fmt.Sprintf("the answer (status %d) broke off after %s of %s bytes of body", b.status, number.Count(b.got), number.Count(b.want))
	}
	return fmt.Sprintf("the answer (status %d) broke off after %s bytes of body", b.status, number.Count(b.got))
}

func (b *brokenBody) Unwrap() error { return b.err }

// explain says in one sentence why there is no answer, and what to do.
func explain(err error, t Target) (finding, advice string) {
	var broken *brokenBody
	var dns *net.DNSError
	var unverified *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	var notTLS tls.RecordHeaderError
	switch {
	case errors.As(err, &dns):
		return fmt.Sprintf("the host %s was not found", oneline.Quote(dns.Name, mostQuoted)), "Check the host's name, or pin an address with connect_to."
	case errors.Is(err, syscall.ECONNREFUSED):
		return "the connection was refused: nothing listens there", "Start the server, or correct host and port."
	case errors.As(err, &unverified), errors.As(err, &authority):
		return "its certificate is not valid for it: " + oneline.Shorten(err.Error(), 160), "Correct the certificate: a host is measured only when it is the one that was meant."
	case errors.As(err, &notTLS), strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		return "it does not speak TLS", "Use http:// instead of https://."
	case errors.As(err, &broken) && !isTimeout(err):
		return broken.Error(), "Look at the server's error log: a process may have died, or a limit cut the answer."
	case isTimeout(err):
		return fmt.Sprintf("no whole answer came within %v", t.timeout()), "Find out why it is slow before loading it, or raise timeout."
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET):
		return "the connection was closed without an answer", "Look at the server's error log; a port that speaks TLS wants https://."
	case errors.Is(err, errSwitching):
		return err.Error(), "Name a page that answers over HTTP; a WebSocket cannot be measured."
	case errors.Is(err, context.Canceled):
		return "the check was interrupted", ""
	}
	return oneline.Shorten(err.Error(), 200), "Fetch the page once by hand (curl -v) and look at what comes."
}

func isTimeout(err error) bool {
	var timed net.Error
	return errors.Is(err, context.DeadlineExceeded) || (errors.As(err, &timed) && timed.Timeout())
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }
