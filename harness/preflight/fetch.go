package preflight

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"time"

	"abacus/harness/expect"
)

const (
	// maxBody is how much of a body is read; longer ones are judged by it.
	maxBody = 64 << 20
	// maxSurvey bounds all fetches of one target together.
	maxSurvey = time.Minute
	// giveUpAfter is the number of failures in a row after which no more
	// fetches are made.
	giveUpAfter = 3
)

// fetched is one fetch: an answer or an error.
type fetched struct {
	err    error
	status int
	proto  string
	tls    string
	header http.Header
	// length is what was read of the body, cut when there was more.
	length int64
	cut    bool
	sha256 string
	unmet  []string
}

// survey is what the fetches of one target gave.
type survey struct {
	asked   int
	fetches []fetched
	// first is the body of the first whole answer, for comparing.
	first []byte
	// differs says where the first body of the same length but other bytes
	// went apart: an offset, and a piece of each.
	differs *difference
	// outOfTime tells that maxSurvey ended it.
	outOfTime bool
}

type difference struct {
	offset     int
	was, later string
}

// fetchAll makes up to n fetches, one after another on a kept connection. A
// redirect is fetched once: it is never the page that was meant.
func fetchAll(ctx context.Context, t Target, u *url.URL, n int) survey {
	s := survey{asked: n}
	ctx, cancel := context.WithTimeout(ctx, maxSurvey)
	defer cancel()
	transport := t.transport(true)
	defer transport.CloseIdleConnections()
	failures := 0
	for range n {
		f, body := fetchOne(ctx, transport, t, u)
		if f.err != nil && ctx.Err() != nil && len(s.fetches) > 0 {
			s.outOfTime = errors.Is(ctx.Err(), context.DeadlineExceeded)
			break
		}
		s.fetches = append(s.fetches, f)
		if f.err != nil {
			if failures++; failures == giveUpAfter {
				break
			}
			continue
		}
		failures = 0
		s.compare(f, body)
		if f.status >= 300 && f.status < 400 {
			break
		}
	}
	return s
}

// compare keeps the first body and finds where a later one goes apart.
func (s *survey) compare(f fetched, body []byte) {
	if s.first == nil {
		s.first = bytes.Clone(body)
		if s.first == nil {
			s.first = []byte{}
		}
		return
	}
	if s.differs != nil || len(body) != len(s.first) || bytes.Equal(body, s.first) {
		return
	}
	at := 0
	for s.first[at] == body[at] {
		at++
	}
	piece := func(b []byte) string { return string(b[max(at-8, 0):min(at+24, len(b))]) }
	s.differs = &difference{offset: at, was: piece(s.first), later: piece(body)}
}

// fetchOne makes one request and reads its answer whole, up to maxBody.
func fetchOne(ctx context.Context, transport *http.Transport, t Target, u *url.URL) (fetched, []byte) {
	ctx, cancel := context.WithTimeout(ctx, t.timeout())
	defer cancel()
	req, err := t.request(ctx, u)
	if err != nil {
		return fetched{err: plain(err)}, nil
	}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return fetched{err: plain(err)}, nil
	}
	defer resp.Body.Close()
	if err := answers(resp); err != nil {
		return fetched{err: err}, nil
	}
	f := fetched{status: resp.StatusCode, proto: resp.Proto, tls: tlsText(resp.TLS), header: resp.Header}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	if err != nil {
		f.err = &brokenBody{status: resp.StatusCode, got: int64(len(body)), want: resp.ContentLength, err: err}
		return f, nil
	}
	if len(body) > maxBody {
		body, f.cut = body[:maxBody], true
	}
	f.length = int64(len(body))
	f.sha256 = expect.Hash(body)
	if !f.cut {
		f.unmet = t.Expect.Check(expect.Answer{Status: f.status, Header: f.header, Body: body})
	}
	// net/http takes the length off the header of some answers.
	if resp.ContentLength >= 0 && f.header.Get("Content-Length") == "" {
		f.header.Set("Content-Length", itoa(resp.ContentLength))
	}
	return f, body
}

// errSwitching is a 101. No timeout reaches the reads of its body, which is
// the connection itself.
var errSwitching = errors.New("101 Switching Protocols: not an answer")

// answers tells whether a response is one to the request that was made.
func answers(resp *http.Response) error {
	if resp.StatusCode == http.StatusSwitchingProtocols {
		return errSwitching
	}
	return nil
}

// good returns the whole answers.
func (s *survey) good() []fetched {
	var g []fetched
	for _, f := range s.fetches {
		if f.err == nil {
			g = append(g, f)
		}
	}
	return g
}
