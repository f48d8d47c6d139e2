package heylib

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/textproto"

	"abacus/harness/load"
)

// request is what a job's requests are made from.
type request struct {
	template *http.Request
	body     []byte
	// serverName is sent as SNI.
	serverName string
	// notes tells what could not be sent as asked.
	notes []string
}

// own lists the headers that net/http writes or interprets itself. Under any
// other spelling they would go out twice, so their name is canonical here.
var own = map[string]bool{
	"Host": true, "User-Agent": true, "Content-Length": true, "Transfer-Encoding": true,
	"Trailer": true, "Connection": true, "Authorization": true, "Accept-Encoding": true,
}

// newRequest builds the template of all requests.
func newRequest(job load.Job) (*request, error) {
	method := job.Method
	if method == "" {
		method = http.MethodGet
	}
	t, err := http.NewRequest(method, job.URL, nil)
	if err != nil {
		return nil, err
	}
	r := &request{template: t, body: job.Body, serverName: job.ServerName()}
	// The Host header and the SNI are the URL's even when another address is
	// dialled.
	if job.ConnectTo != "" {
		t.URL.Host = job.ConnectTo
	}
	r.addHeaders(job.Headers)
	if len(r.body) > 0 {
		// Without it the body would be sent in chunks.
		t.ContentLength = int64(len(r.body))
	}
	return r, nil
}

// addHeaders takes over the job's headers.
func (r *request) addHeaders(headers []load.Header) {
	// net/http would name itself; an empty entry keeps it from that.
	r.template.Header["User-Agent"] = []string{""}
	for _, h := range headers {
		name := h.Name
		if c := textproto.CanonicalMIMEHeaderKey(name); own[c] {
			name = c
		}
		switch name {
		case "Host":
			if h.Value != "" {
				r.template.Host = h.Value
			}
		case "User-Agent":
			r.template.Header[name] = []string{h.Value}
		case "Content-Length", "Transfer-Encoding", "Trailer":
			r.notes = append(r.notes, fmt.Sprintf("The header %s was not sent as given: hey's library frames bodies itself.", name))
		default:
			r.template.Header[name] = append(r.template.Header[name], h.Value)
		}
	}
}

// make returns one request with a body of its own.
func (r *request) make(ctx context.Context) *http.Request {
	req := r.template.Clone(ctx)
	if len(r.body) > 0 {
		body := r.body
		req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
		req.Body = io.NopCloser(bytes.NewReader(body))
	}
	return req
}
