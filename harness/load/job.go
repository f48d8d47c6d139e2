// Package load holds what every load engine agrees on: the job that it is
// given, the result that it returns, and the distributions that carry latency
// without growing with the number of requests. It starts no request itself;
// the engines live in the packages below it.
package load

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"abacus/harness/expect"
)

// Header is one request header as it goes out, in order and in its own case.
type Header struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Validate refuses what would break out of its line. The value, which may be a
// secret, is not repeated.
func (h Header) Validate() error {
	switch {
	case !IsToken(h.Name):
		return fmt.Errorf("header name %q: must be a word without spaces or separators", h.Name)
	case strings.ContainsFunc(h.Value, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }):
		return fmt.Errorf("header %s: its value must not hold control characters", h.Name)
	}
	return nil
}

// Job asks an engine for one run of load. It is a plain value and travels as
// JSON to the worker process that runs it.
type Job struct {
	// Engine names who runs it: native or hey.
	Engine string `json:"engine"`
	// URL is the absolute target, http or https.
	URL string `json:"url"`
	// ConnectTo is the host:port that is dialled instead of the URL's, "" to
	// dial the URL's own.
	ConnectTo string `json:"connect_to,omitempty"`
	// Method is the request method; "" is GET.
	Method string `json:"method,omitempty"`
	// Headers go out in order. A "Host" entry replaces the URL's host.
	Headers []Header `json:"headers,omitempty"`
	// Body is sent with every request; nil sends none.
	Body []byte `json:"body,omitempty"`
	// Protocol is "HTTP/1.1" or "HTTP/1.0"; "" is HTTP/1.1.
	Protocol string `json:"protocol,omitempty"`
	// KeepAlive reuses connections; without it every request opens its own.
	KeepAlive bool `json:"keepalive"`
	// Concurrency is the number of connections that are driven at once.
	Concurrency int `json:"concurrency"`
	// Requests is the exact number to make; 0 goes on until Duration is over.
	// With both set, whichever comes first ends the run.
	Requests int64         `json:"requests,omitempty"`
	Duration time.Duration `json:"duration_ns,omitempty"`
	// Timeout bounds one request from connect to last byte.
	Timeout time.Duration `json:"timeout_ns"`
	// Interval is the length of one Interval of the result and the rhythm of
	// progress; 0 is DefaultInterval. Every tells what becomes of it.
	Interval time.Duration `json:"interval_ns,omitempty"`
	// InsecureTLS skips the verification of certificates.
	InsecureTLS bool `json:"insecure_tls,omitempty"`
	// AcceptVariableLength does not count a body whose length differs from
	// the first one as a length failure (ab's -l).
	AcceptVariableLength bool `json:"accept_variable_length,omitempty"`
	// Expect is checked on about one answer in SampleEvery (0: none).
	Expect      expect.Rules `json:"expect,omitzero"`
	SampleEvery int          `json:"sample_every,omitempty"`
}

// DefaultInterval is the length of one Interval when the job names none.
const DefaultInterval = 200 * time.Millisecond

// MaxIntervals is the most intervals that a run by duration is cut into, so
// that the result of a whole day can still be handed over: some 20 MB.
const MaxIntervals = 100_000

// Every is how long an interval really is: Interval, or DefaultInterval when
// the job names none, but longer where Duration would come to more than
// MaxIntervals of them.
func (j Job) Every() time.Duration {
	every := j.Interval
	if every <= 0 {
		every = DefaultInterval
	}
	return max(every, j.Duration/MaxIntervals)
}

// Grace is how long requests that are under way when Duration is over may still
// take: the shorter of Timeout and one second.
func (j Job) Grace() time.Duration { return min(j.Timeout, time.Second) }

// Header returns the value of the first header of that name, in any case.
func (j Job) Header(name string) (value string, ok bool) {
	for _, h := range j.Headers {
		if strings.EqualFold(h.Name, name) {
			return h.Value, true
		}
	}
	return "", false
}

// ServerName is the name that TLS asks for and that the certificate must have:
// that of the Host header, else of the URL, without port, brackets and the
// zone of an IPv6 address.
func (j Job) ServerName() string {
	host, ok := j.Header("Host")
	if !ok || host == "" {
		if u, err := url.Parse(j.URL); err == nil {
			host = u.Host
		}
	}
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if strings.Contains(host, ":") {
		host, _, _ = strings.Cut(host, "%")
	}
	return host
}

// Validate returns what is wrong with the job, nil when it can be run.
func (j Job) Validate() error {
	errs := []error{j.checkURL(), j.checkRequest()}
	if j.Concurrency < 1 {
		errs = append(errs, fmt.Errorf("concurrency %d: must be at least 1", j.Concurrency))
	}
	if j.Requests < 0 || j.Duration < 0 || (j.Requests == 0 && j.Duration == 0) {
		errs = append(errs, errors.New("requests or duration: one must be positive, none negative"))
	}
	if j.Timeout <= 0 {
		errs = append(errs, fmt.Errorf("timeout %v: must be positive", j.Timeout))
	}
	if j.Protocol != "" && j.Protocol != "HTTP/1.1" && j.Protocol != "HTTP/1.0" {
		errs = append(errs, fmt.Errorf("protocol %q: must be HTTP/1.1 or HTTP/1.0", j.Protocol))
	}
	return errors.Join(errs...)
}

func (j Job) checkURL() error {
	var errs []error
	u, err := url.Parse(j.URL)
	switch {
	case err != nil:
		errs = append(errs, fmt.Errorf("url: %w", err))
	case u.Scheme != "http" && u.Scheme != "https":
		errs = append(errs, fmt.Errorf("url %q: scheme must be http or https", j.URL))
	case u.Hostname() == "":
		errs = append(errs, fmt.Errorf("url %q: has no host", j.URL))
	case u.Port() != "" && !isPort(u.Port()):
		errs = append(errs, fmt.Errorf("url %q: port must be 1 to 65535", j.URL))
	}
	if j.ConnectTo != "" {
		if _, port, err := net.SplitHostPort(j.ConnectTo); err != nil || !isPort(port) {
			errs = append(errs, fmt.Errorf("connect_to %q: must be host:port, the port 1 to 65535", j.ConnectTo))
		}
	}
	return errors.Join(errs...)
}

// checkRequest refuses what would break out of its place in the request.
func (j Job) checkRequest() error {
	var errs []error
	if j.Method != "" && !IsToken(j.Method) {
		errs = append(errs, fmt.Errorf("method %q: must be a word without spaces or separators", j.Method))
	}
	for _, h := range j.Headers {
		errs = append(errs, h.Validate())
	}
	return errors.Join(errs...)
}

func isPort(s string) bool {
	n, err := strconv.ParseUint(s, 10, 16)
	return err == nil && n > 0
}

// IsToken tells whether s is a token of RFC 9110, which the names of methods and
// headers are.
func IsToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(c rune) bool {
		alnum := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		return !alnum && !strings.ContainsRune("!#$%&'*+-.^_`|~", c)
	})
}
