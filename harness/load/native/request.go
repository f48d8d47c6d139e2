package native

import (
	"fmt"
	"strconv"

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
// Content-Length are added where the job, which is valid, does not bring its
// own.
func buildRequest(job load.Job, t target) request {
	method := job.Method
	if method == "" {
		method = "GET"
	}
	protocol := job.Protocol
	if protocol == "" {
		protocol = "HTTP/1.1"
	}
	var b []byte
	b = fmt.Appendf(b, "%s %s %s\r\n", method, t.requestTarget, protocol)
	add := func(name, value string) {
		if _, ok := job.Header(name); !ok {
			b = fmt.Appendf(b, "%s: %s\r\n", name, value)
		}
	}
	add("Host", t.authority)
	for _, h := range job.Headers {
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
		if _, ok := job.Header("Transfer-Encoding"); !ok {
			add("Content-Length", strconv.Itoa(len(job.Body)))
		}
	}
	b = append(b, "\r\n"...)
	b = append(b, job.Body...)
	return request{bytes: b, head: method == "HEAD"}
}
