package abcompat

import (
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"abacus/harness/load"
)

// headers lists all request headers in ab's order and spelling. Nothing is
// left for the engine to add.
func (o *options) headers() []load.Header {
	var list []load.Header
	add := func(name, value string) { list = append(list, load.Header{Name: name, Value: value}) }
	if o.keepAlive {
		add("Connection", "Keep-Alive")
	}
	if len(o.cookies) > 0 {
		add("Cookie", strings.Join(o.cookies, "; "))
	}
	for _, c := range o.credentials {
		add("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(c)))
	}
	if o.sendBody {
		add("Content-length", strconv.Itoa(len(o.body)))
		typ := o.contentType
		if typ == "" {
			typ = "text/plain"
		}
		add("Content-type", typ)
	}
	own := []load.Header{{Name: "Host", Value: o.target.hostHeader()}, {Name: "User-Agent", Value: userAgent}, {Name: "Accept", Value: "*/*"}}
	given := map[string]bool{}
	for _, line := range o.headerLines {
		name, value, _ := strings.Cut(line, ":")
		add(name, strings.Trim(value, " \t"))
		given[strings.ToLower(name)] = true
	}
	for _, h := range own {
		if !given[strings.ToLower(h.Name)] {
			list = append(list, h)
		}
	}
	return list
}

// requestHead is the request line and headers as they go out.
func (o *options) requestHead() string {
	var b strings.Builder
	b.WriteString(o.methodName() + " " + o.target.requestTarget() + " HTTP/1.0\r\n")
	for _, h := range o.headers() {
		b.WriteString(h.Name + ": " + h.Value + "\r\n")
	}
	b.WriteString("\r\n")
	return b.String()
}

// job is the run that the options ask for.
func (o *options) job() load.Job {
	j := load.Job{
		Engine: "native", URL: o.target.url(),
		Method: o.methodName(), Headers: o.headers(), Protocol: "HTTP/1.0",
		KeepAlive: o.keepAlive, Concurrency: o.concurrency,
		Requests: int64(o.requests), Duration: time.Duration(o.timeLimit) * time.Second,
		Timeout: o.timeoutDuration(), InsecureTLS: true, AcceptVariableLength: o.variableLength,
	}
	if o.sendBody {
		j.Body = o.body
		if j.Body == nil {
			j.Body = []byte{}
		}
	}
	return j
}
