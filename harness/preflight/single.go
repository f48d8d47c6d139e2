package preflight

import (
	"context"
	"crypto/tls"
	"io"
	"net/http/httptrace"
	"time"

	"abacus/harness/oneline"
)

// SingleRequest makes one request on a fresh connection and splits it into
// its parts. Each part is the time of that part alone; FirstByteNS runs from
// the request being written to the first byte of the answer. A target given by
// address has no DNS part.
func SingleRequest(ctx context.Context, t Target) Phases {
	u, err := t.parse()
	if err != nil {
		return Phases{Error: oneline.Shorten(err.Error(), 200)}
	}
	ctx, cancel := context.WithTimeout(ctx, t.timeout())
	defer cancel()
	var marks phaseMarks
	req, err := t.request(httptrace.WithClientTrace(ctx, marks.trace()), u)
	if err != nil {
		return Phases{Error: oneline.Shorten(plain(err).Error(), 200)}
	}
	transport := t.transport(false)
	defer transport.CloseIdleConnections()
	begun := time.Now()
	fail := func(err error, status int) Phases {
		finding, _ := explain(plain(err), t)
		return marks.phases(Phases{TotalNS: time.Since(begun).Nanoseconds(), Status: status, Error: finding})
	}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return fail(err, 0)
	}
	defer resp.Body.Close()
	if err := answers(resp); err != nil {
		return fail(err, resp.StatusCode)
	}
	got, err := io.Copy(io.Discard, io.LimitReader(resp.Body, maxBody))
	if err != nil {
		return fail(&brokenBody{status: resp.StatusCode, got: got, want: resp.ContentLength, err: err}, resp.StatusCode)
	}
	return marks.phases(Phases{TotalNS: time.Since(begun).Nanoseconds(), Status: resp.StatusCode})
}

// phaseMarks are the moments of one request. With several addresses the
// dialler may race two connects: the span is from the first begun to the
// first that succeeded.
type phaseMarks struct {
	ch chan mark
}

type mark struct {
	what int
	at   time.Time
}

const (
	dnsBegun = iota
	dnsDone
	connectBegun
	connectDone
	tlsBegun
	tlsDone
	wroteRequest
	firstByte
)

// trace notes moments through a channel: the dialler's goroutines may outlive
// the request.
func (m *phaseMarks) trace() *httptrace.ClientTrace {
	ch := make(chan mark, 64)
	m.ch = ch
	note := func(what int) {
		select {
		case ch <- mark{what, time.Now()}:
		default: // more than 64 moments: a dialler with very many addresses
		}
	}
	return &httptrace.ClientTrace{
		DNSStart:     func(httptrace.DNSStartInfo) { note(dnsBegun) },
		DNSDone:      func(i httptrace.DNSDoneInfo) { noteIf(i.Err == nil, note, dnsDone) },
		ConnectStart: func(string, string) { note(connectBegun) },
		ConnectDone:  func(_, _ string, err error) { noteIf(err == nil, note, connectDone) },
		TLSHandshakeStart: func() {
			note(tlsBegun)
		},
		TLSHandshakeDone:     func(_ tls.ConnectionState, err error) { noteIf(err == nil, note, tlsDone) },
		WroteRequest:         func(i httptrace.WroteRequestInfo) { noteIf(i.Err == nil, note, wroteRequest) },
		GotFirstResponseByte: func() { note(firstByte) },
	}
}

func noteIf(ok bool, note func(int), what int) {
	if ok {
		note(what)
	}
}

// phases fills in the parts whose both ends were seen.
func (m *phaseMarks) phases(p Phases) Phases {
	first := map[int]time.Time{}
	for range len(m.ch) {
		k := <-m.ch
		if _, seen := first[k.what]; !seen {
			first[k.what] = k.at
		}
	}
	span := func(from, to int) *int64 {
		a, okA := first[from]
		b, okB := first[to]
		if !okA || !okB {
			return nil
		}
		ns := max(b.Sub(a).Nanoseconds(), 0)
		return &ns
	}
	p.DNSNS = span(dnsBegun, dnsDone)
	p.ConnectNS = span(connectBegun, connectDone)
	p.TLSNS = span(tlsBegun, tlsDone)
	p.FirstByteNS = span(wroteRequest, firstByte)
	return p
}
