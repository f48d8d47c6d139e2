package heylib

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/rakyll/hey/requester"
)

// zeroTries is how many requests find the zero: the shortest way from the
// library's reading of its clock to ours is the best.
const zeroTries = 3

// zeroRunes is how much of an error is kept that spoils such a request.
const zeroRunes = 200

// findZero returns the moment from which the library counts its offsets. The
// library calls RequestFunc right after it has read its clock, so one request
// that succeeds gives both readings of the same moment. It goes to a listener
// of our own on the loopback interface. The result is late by less than a
// microsecond, as a rule.
func findZero(ctx context.Context) (time.Time, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return time.Time{}, err
	}
	defer l.Close()
	go answerAll(l)

	tmpl, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+l.Addr().String()+"/", nil)
	if err != nil {
		return time.Time{}, err
	}
	var begun []time.Time
	p := newParser(zeroTries, zeroRunes)
	work := &requester.Work{
		Request: tmpl, N: zeroTries, C: 1, Timeout: 5,
		DisableKeepAlives: true, DisableRedirects: true, DisableCompression: true,
		Output: reportTemplate(zeroRunes), Writer: p,
		RequestFunc: func() *http.Request {
			begun = append(begun, time.Now())
			return tmpl.Clone(ctx)
		},
	}
	if err := runWork(work); err != nil {
		return time.Time{}, err
	}
	rep, err := p.finish()
	if err != nil {
		return time.Time{}, err
	}
	if len(rep.errors) > 0 || len(begun) != zeroTries {
		return time.Time{}, fmt.Errorf("%d of %d requests to our own listener failed: %v", len(rep.errors), zeroTries, rep.errors)
	}
	zero := begun[0].Add(-time.Duration(rep.cols[colOffset][0]))
	for i, at := range begun {
		if z := at.Add(-time.Duration(rep.cols[colOffset][i])); z.Before(zero) {
			zero = z
		}
	}
	return zero, nil
}

// answerAll gives an empty answer to one request on each connection.
func answerAll(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		_ = c.SetDeadline(time.Now().Add(5 * time.Second))
		if req, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
			_ = req.Body.Close()
			_, _ = io.WriteString(c, "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
		}
		c.Close()
	}
}

// runWork runs a Work and turns a panic of the library in this goroutine into
// an error.
func runWork(w *requester.Work) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("hey's library panicked: %v", v)
		}
	}()
	w.Run()
	return nil
}
