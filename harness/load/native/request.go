package native

import (
	"fmt"
	"strconv"
	"strings"

	"abacus/harness/load"
)

// request is what every exchange of a run sends and what it must know of it.
type request struct {
	bytes []byte
	// head tells that the answer has no body whatever its header says.
	head bool
}

// buildRequest writes the request once. The job's headers keep their order
// and case; Host (first), Authorization (from the URL's user), Connection and
// Content-Length are added where the job does not bring its own. Texts that
// would break out of their line are errors.
func buildRequest(job load.Job, t target) (request, error) {
	method := job.Method
	if method == "" {
		method = "GET"
	}
	if !isToken(method) {
		return request{}, fmt.Errorf("method %q: must be a word without spaces or separators", method)
	}
	protocol := job.Protocol
	if protocol == "" {
		protocol = "HTTP/1.1"
	}
	var b []byte
	b = fmt.Appendf(b, "%s %s %s\r\n", method, t.requestTarget, protocol)
	add := func(name, value string) {
		if _, ok := headerValue(job.Headers, name); !ok {
			b = fmt.Appendf(b, "%s: %s\r\n", name, value)
		}
	}
	add("Host", t.authority)
	for _, h := range job.Headers {
		if !isToken(h.Name) {
			return request{}, fmt.Errorf("header name %q: must be a word without spaces or separators", h.Name)
		}
		// The value may be a secret, so it is not repeated.
		if strings.ContainsAny(h.Value, "\r\n\x00") {
			return request{}, fmt.Errorf("header %s: its value must not hold line breaks or NUL", h.Name)
		}
		b = fmt.Appendf(b, "%s: %s\r\n", h.Name, h.Value)
	}
	if t.userInfo != "" {
		add("Authorization", t.userInfo)
	}
	switch {
	case protocol == "HTTP/1.1" && !job.KeepAlive:
		add("Connection", "close")
	case protocol == "HTTP/1.0" && job.KeepAlive:
		add("Connection", "Keep-Alive")
	}
	if job.Body != nil {
		if _, ok := headerValue(job.Headers, "Transfer-Encoding"); !ok {
			add("Content-Length", strconv.Itoa(len(job.Body)))
		}
	}
	b = append(b, "\r\n"...)
	b = append(b, job.Body...)
	return request{bytes: b, head: method == "HEAD"}, nil
}

// isToken tells whether s is a token of RFC 9110.
func isToken(s string) bool {
	for i := 0; i < len(s); i++ {
		if !tokenByte(s[i]) {
			return false
		}
	}
	return s != ""
}

func tokenByte(c byte) bool {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		return true
	}
	return strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0
}
