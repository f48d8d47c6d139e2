package native

import (
	"encoding/base64"
	"fmt"
	"net"
	"net/url"
	"strings"

	"abacus/harness/load"
)

// target is where a job's requests go and how they name it.
type target struct {
	tls bool
	// host and port are dialled: the URL's, or those of Job.ConnectTo.
	host, port string
	// requestTarget is path and query for the request line, authority the
	// URL's value for the Host header.
	requestTarget, authority string
	// serverName is the name for SNI and for the certificate's check: the
	// Host header's when the job has one, else the URL's.
	serverName string
	// userInfo is the value for Authorization from user:password@ in the
	// URL, "" without.
	userInfo string
}

// newTarget reads the job's URL, ConnectTo and Host header.
func newTarget(job load.Job) (target, error) {
	u, err := url.Parse(job.URL)
	if err != nil {
		return target{}, fmt.Errorf("url: %w", err)
	}
	t := target{tls: u.Scheme == "https", host: u.Hostname(), port: u.Port()}
	defaultPort := "80"
	if t.tls {
		defaultPort = "443"
	}
	if t.host == "" {
		return target{}, fmt.Errorf("url %q: has no host", job.URL)
	}
	if t.port == "" {
		t.port = defaultPort
	}
	if err := checkPort(t.port); err != nil {
		return target{}, fmt.Errorf("url %q: %w", job.URL, err)
	}
	t.requestTarget = u.RequestURI()
	t.authority = authority(t.host, t.port, defaultPort)
	t.serverName = nameOnly(t.host)
	if v, ok := headerValue(job.Headers, "Host"); ok && v != "" {
		t.serverName = nameOnly(hostOf(v))
	}
	if u.User != nil {
		t.userInfo = "Basic " + base64.StdEncoding.EncodeToString([]byte(userInfo(u.User)))
	}
	if job.ConnectTo != "" {
		t.host, t.port, err = net.SplitHostPort(job.ConnectTo)
		if err != nil {
			return target{}, fmt.Errorf("connect_to %q: must be host:port: %w", job.ConnectTo, err)
		}
		if err := checkPort(t.port); err != nil {
			return target{}, fmt.Errorf("connect_to %q: %w", job.ConnectTo, err)
		}
	}
	return t, nil
}

func checkPort(port string) error {
	n, err := net.LookupPort("tcp", port)
	if err != nil || n < 1 {
		return fmt.Errorf("port %q: must be 1 to 65535", port)
	}
	return nil
}

// authority is the value of the Host header: brackets around IPv6, no zone,
// no port when it is the scheme's own.
func authority(host, port, defaultPort string) string {
	host = nameOnly(host)
	switch {
	case port != defaultPort:
		return net.JoinHostPort(host, port)
	case strings.Contains(host, ":"):
		return "[" + host + "]"
	}
	return host
}

// nameOnly takes the zone off an IPv6 address; it means something on this
// machine only.
func nameOnly(host string) string {
	if strings.Contains(host, ":") {
		host, _, _ = strings.Cut(host, "%")
	}
	return host
}

// hostOf is the host of a Host header's value.
func hostOf(v string) string {
	if h, _, err := net.SplitHostPort(v); err == nil {
		return h
	}
	return strings.TrimSuffix(strings.TrimPrefix(v, "["), "]")
}

func userInfo(u *url.Userinfo) string {
	password, _ := u.Password()
	return u.Username() + ":" + password
}

// headerValue finds the first header of that name in any case.
func headerValue(headers []load.Header, name string) (value string, ok bool) {
	for _, h := range headers {
		if strings.EqualFold(h.Name, name) {
			return h.Value, true
		}
	}
	return "", false
}
