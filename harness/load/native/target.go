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
	// userInfo is the value for Authorization from user:password@ in the
	// URL, "" without.
	userInfo string
}

// newTarget reads the URL and ConnectTo of a valid job.
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
	if t.port == "" {
		t.port = defaultPort
	}
	t.requestTarget = u.RequestURI()
	t.authority = authority(t.host, t.port, defaultPort)
	if u.User != nil {
		t.userInfo = "Basic " + base64.StdEncoding.EncodeToString([]byte(userInfo(u.User)))
	}
	if job.ConnectTo != "" {
		if t.host, t.port, err = net.SplitHostPort(job.ConnectTo); err != nil {
			return target{}, fmt.Errorf("connect_to %q: %w", job.ConnectTo, err)
		}
	}
	return t, nil
}

// authority is the value of the Host header: brackets around IPv6, no zone,
// no port when it is the scheme's own.
func authority(host, port, defaultPort string) string {
	if strings.Contains(host, ":") {
		host, _, _ = strings.Cut(host, "%") // a zone means something on this machine only
	}
	switch {
	case port != defaultPort:
		return net.JoinHostPort(host, port)
	case strings.Contains(host, ":"):
		return "[" + host + "]"
	}
	return host
}

func userInfo(u *url.Userinfo) string {
	password, _ := u.Password()
	return u.Username() + ":" + password
}
