package preflight

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"abacus/harness/expect"
)

// Header is one request header, in its own case. "Host" replaces the URL's host.
type Header struct{ Name, Value string }

// Target is one page that is to be loaded, and what is asked of it.
type Target struct {
	// Scenario, Variant and Path only name it.
	Scenario, Variant, Path string
	// URL is absolute; ConnectTo is the host:port dialled instead of its own,
	// or "".
	URL, ConnectTo string
	// Method is the request method; "" is GET.
	Method  string
	Headers []Header
	Body    []byte
	// UserAgent is sent unless Headers name one; "" is "abacus".
	UserAgent string
	// Timeout bounds one fetch from connect to last byte; 0 is DefaultTimeout.
	Timeout time.Duration
	// InsecureTLS skips the verification of certificates.
	InsecureTLS bool
	Expect      expect.Rules
	// AcceptVariableLength tells that bodies of several lengths are meant.
	AcceptVariableLength bool
}

// DefaultTimeout bounds one fetch when the target names no timeout.
const DefaultTimeout = 30 * time.Second

func (t Target) timeout() time.Duration {
	if t.Timeout > 0 {
		return t.Timeout
	}
	return DefaultTimeout
}

// name is scenario/variant, as far as there is one.
func (t Target) name() string {
	if t.Scenario == "" || t.Variant == "" {
		return t.Scenario + t.Variant
	}
	return t.Scenario + "/" + t.Variant
}

// parse checks the URL.
func (t Target) parse() (*url.URL, error) {
	u, err := url.Parse(t.URL)
	if err != nil {
		return nil, plain(err)
	}
	if (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" {
		return nil, errors.New("must be http:// or https:// with a host")
	}
	return u, nil
}

// hostHeader is the Host that the request names.
func (t Target) hostHeader(u *url.URL) string {
	for _, h := range t.Headers {
		if strings.EqualFold(h.Name, "Host") {
			return h.Value
		}
	}
	return u.Host
}

// transport asks as the load will: HTTP/1.1, no proxy, bodies as they are
// sent. It is used without http.Client, which would refuse a redirect that
// points to no URL instead of showing it; so nothing is ever followed.
func (t Target) transport(keep bool) *http.Transport {
	dialer := &net.Dialer{Timeout: t.timeout()}
	return &http.Transport{
		Proxy: nil,
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			if t.ConnectTo != "" {
				addr = t.ConnectTo
			}
			return dialer.DialContext(ctx, network, addr)
		},
		// Asked for by the caller, for targets whose certificate cannot be verified.
		TLSClientConfig:        &tls.Config{InsecureSkipVerify: t.InsecureTLS, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    t.timeout(),
		DisableCompression:     true,
		DisableKeepAlives:      !keep,
		MaxIdleConnsPerHost:    1,
		MaxResponseHeaderBytes: 256 << 10,
	}
}

// request builds the request that the load will make.
func (t Target) request(ctx context.Context, u *url.URL) (*http.Request, error) {
	method := t.Method
	if method == "" {
		method = http.MethodGet
	}
	var body io.Reader
	if t.Body != nil {
		body = bytes.NewReader(t.Body)
	}
	req, err := http.NewRequestWithContext(ctx, method, u.String(), body)
	if err != nil {
		return nil, err
	}
	if u.User != nil {
		password, _ := u.User.Password()
		req.SetBasicAuth(u.User.Username(), password)
	}
	agent := t.UserAgent
	if agent == "" {
		agent = "abacus"
	}
	req.Header.Set("User-Agent", agent)
	own := map[string]bool{}
	for _, h := range t.Headers {
		if strings.EqualFold(h.Name, "Host") {
			req.Host = h.Value
			continue
		}
		// One of the target's own takes the place of a default of ours.
		if key := http.CanonicalHeaderKey(h.Name); !own[key] {
			own[key] = true
			req.Header.Del(key)
		}
		req.Header[h.Name] = append(req.Header[h.Name], h.Value)
	}
	return req, nil
}

// plain takes the method and URL, which may hold a secret, off an error.
func plain(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}

// tlsText names the version and cipher of a connection, "" without TLS.
func tlsText(s *tls.ConnectionState) string {
	if s == nil {
		return ""
	}
	return fmt.Sprintf("%s, %s", tls.VersionName(s.Version), tls.CipherSuiteName(s.CipherSuite))
}
