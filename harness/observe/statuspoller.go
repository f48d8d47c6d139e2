package observe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"abacus/harness/oneline"
)

// StatusPoller reads a mod_status page over a connection of its own, which it
// keeps. It uses no proxy, follows no redirect and reads at most 1 MiB. It is
// safe for one poll at a time.
type StatusPoller struct {
	// UserAgent is sent with each poll; empty is "abacus". Set it before the
	// first poll.
	UserAgent string

	url     string
	host    string
	timeout time.Duration
	client  *http.Client
	err     error
}

// NewStatusPoller returns a poller of the status page at rawURL; ?auto is
// added when it is missing. A hostHeader replaces the URL's host in the
// request ("" leaves it). Each poll gives up after timeout. What is wrong with
// the URL is said by every Poll.
func NewStatusPoller(rawURL, hostHeader string, timeout time.Duration) *StatusPoller {
	p := &StatusPoller{host: hostHeader, timeout: timeout}
	p.url, p.err = StatusURL(rawURL)
	p.client = &http.Client{
		Transport: &http.Transport{
			Proxy:                  nil,
			DialContext:            (&net.Dialer{Timeout: timeout}).DialContext,
			MaxIdleConnsPerHost:    1,
			IdleConnTimeout:        3 * time.Second, // a kept connection holds a worker of a prefork server
			DisableCompression:     true,
			MaxResponseHeaderBytes: 64 << 10,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return p
}

// StatusURL checks the URL of a status page and adds ?auto when it is missing.
func StatusURL(rawURL string) (string, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		var parse *url.Error
		if errors.As(err, &parse) {
			err = parse.Err
		}
		return "", fmt.Errorf("status URL %s: %w", oneline.Quote(rawURL, mostQuoted), err)
	}
	if (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" {
		return "", fmt.Errorf("status URL %s: must be http:// or https:// with a host", oneline.Quote(rawURL, mostQuoted))
	}
	if !u.Query().Has("auto") {
		if u.RawQuery != "" {
			u.RawQuery += "&"
		}
		u.RawQuery += "auto"
	}
	u.Fragment = ""
	return u.String(), nil
}

// Name is "status".
func (p *StatusPoller) Name() string { return "status" }

// URL is what is polled.
func (p *StatusPoller) URL() string { return p.url }

// Close lets go of the kept connection.
func (p *StatusPoller) Close() { p.client.CloseIdleConnections() }

// Poll takes one reading. The error says in one sentence why there is none.
func (p *StatusPoller) Poll(ctx context.Context) (Reading, error) {
	if p.err != nil {
		return Reading{}, p.err
	}
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url, nil)
	if err != nil {
		return Reading{}, fmt.Errorf("status page: %w", err)
	}
	if p.host != "" {
		req.Host = p.host
	}
	req.Header.Set("User-Agent", "abacus")
	if p.UserAgent != "" {
		req.Header.Set("User-Agent", p.UserAgent)
	}
	resp, err := p.client.Do(req)
	if err != nil {
		return Reading{}, p.explain(ctx, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusSwitchingProtocols {
		// Its body is the connection itself, whose reads no timeout reaches.
		return Reading{}, errors.New("status page: 101 Switching Protocols: not an answer")
	}
	if resp.StatusCode != http.StatusOK {
		// So that the connection can be kept; a longer body costs it.
		_, _ = io.CopyN(io.Discard, resp.Body, 16<<10)
		return Reading{}, refused(resp)
	}
	counter := &countingReader{r: resp.Body}
	status, err := ParseStatus(counter)
	if err != nil {
		return Reading{}, p.explain(ctx, err)
	}
	size := counter.n + headerBytes(resp)
	status.PollBytes = &size
	return Reading{Status: status}, nil
}

// explain turns an error of the client into a sentence without the URL.
func (p *StatusPoller) explain(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return timedOut{p.timeout}
	}
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return fmt.Errorf("status page: %w", wrapped.Err)
	}
	return err
}

// timedOut is a poll that was given up; its text does without Go's words for it.
type timedOut struct{ after time.Duration }

func (t timedOut) Error() string {
	return fmt.Sprintf("status page: no whole answer within %v", t.after)
}

func (t timedOut) Unwrap() error { return context.DeadlineExceeded }

// refused says what an answer other than 200 means.
func refused(resp *http.Response) error {
	switch code := resp.StatusCode; {
	case code >= 300 && code < 400:
		return fmt.Errorf("status page: answered %d, a redirect to %s, which is not followed", code, oneline.Quote(resp.Header.Get("Location"), mostQuoted))
	case code == http.StatusForbidden:
		return errors.New("status page: answered 403: this address may not see it (Require local, or Require ip)")
	case code == http.StatusNotFound:
		return errors.New("status page: answered 404: no status page there (mod_status not loaded, or another path)")
	default:
		return fmt.Errorf("status page: answered %d", code)
	}
}

// headerBytes is about what the answer's head took on the wire.
func headerBytes(resp *http.Response) int64 {
	n := len("HTTP/1.1 ") + len(resp.Status) + 4
	for name, values := range resp.Header {
		for _, v := range values {
			n += len(name) + len(v) + 4
		}
	}
	// net/http takes these two off the header.
	if resp.ContentLength >= 0 && resp.Header.Get("Content-Length") == "" {
		n += len(fmt.Sprintf("Content-Length: %d\r\n", resp.ContentLength))
	}
	n += len(strings.Join(resp.TransferEncoding, ","))
	return int64(n)
}

// countingReader counts the bytes that went through.
type countingReader struct {
	r io.Reader
	n int64
}

func (c *countingReader) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n += int64(n)
	return n, err
}
