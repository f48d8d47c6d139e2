package native

import (
	"bufio"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// A server that closes kept connections without a word costs reconnects, and
// no request is lost, doubled or failed.
func TestServerClosesKeptConnections(t *testing.T) {
	for name, rude := range map[string]bool{"close": false, "reset": true} {
		var answered atomic.Int64
		url := serve(t, func(_ int, conn net.Conn, r *bufio.Reader) {
			for range 7 {
				if !readRequest(r) {
					return
				}
				answered.Add(1)
				if _, err := conn.Write([]byte(hello)); err != nil {
					return
				}
			}
			if rude {
				// The next request is read and then answered by a reset.
				if readRequest(r) {
					reset(conn)
				}
			}
		})
		res := runJob(t, job(url, 100, 1))
		n := res.Counts
		// 100 = 14 connections of 7 and one of 2: 14 times one is replaced.
		if n.Complete != 100 || n.Failed != 0 || answered.Load() != 100 {
			t.Errorf("%s: counts %+v, %d answered, errors %v", name, n, answered.Load(), res.Errors)
		}
		if *n.Reconnects != 14 || *n.KeptAlive != 85 || res.Connect.Count() != 15 {
			t.Errorf("%s: %d reconnects, %d kept alive, %d connects; want 14, 85, 15", name, *n.Reconnects, *n.KeptAlive, res.Connect.Count())
		}
	}
}

// One that says so beforehand costs none.
func TestServerAnnouncesClose(t *testing.T) {
	url := serve(t, func(_ int, conn net.Conn, r *bufio.Reader) {
		for i := range 5 {
			if !readRequest(r) {
				return
			}
			answer := hello
			if i == 4 {
				answer = strings.Replace(hello, "\r\n\r\n", "\r\nConnection: Upgrade, CLOSE\r\n\r\n", 1)
			}
			if _, err := conn.Write([]byte(answer)); err != nil {
				return
			}
		}
	})
	n := runJob(t, job(url, 50, 1)).Counts
	if n.Complete != 50 || n.Failed != 0 || *n.Reconnects != 0 || *n.KeptAlive != 40 {
		t.Errorf("counts %+v, reconnects %d, kept alive %d", n, *n.Reconnects, *n.KeptAlive)
	}
}

// The second try on a new connection is the last: each request fails once.
func TestReconnectOnlyOnce(t *testing.T) {
	var conns atomic.Int64
	url := serve(t, func(n int, conn net.Conn, r *bufio.Reader) {
		conns.Add(1)
		if n == 1 && readRequest(r) {
			_, _ = conn.Write([]byte(hello))
		}
		readRequest(r) // every other one is closed unanswered
	})
	res := runJob(t, job(url, 4, 1))
	n := res.Counts
	// Request 1 is answered; 2 finds the connection closed, tries a new one and
	// fails; 3 and 4 fail on their own first connection.
	if n.Complete != 1 || n.Receive != 3 || n.Failed != 3 || *n.Reconnects != 1 || conns.Load() != 4 {
		t.Errorf("counts %+v, reconnects %d, connections %d", n, *n.Reconnects, conns.Load())
	}
}

// Only what was really sent again is a reconnect: where the server is gone, the
// request failed to connect and was not.
func TestReconnectRefused(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	go func() {
		conn, err := ln.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		if readRequest(bufio.NewReader(conn)) {
			_ = ln.Close()
			_, _ = conn.Write([]byte(hello))
		}
	}()
	var connects []int64
	e := &Engine{Trace: func(x Exchange) { connects = append(connects, x.ConnectNS) }}
	res, err := e.Run(t.Context(), job("http://"+ln.Addr().String()+"/", 2, 1), nil)
	if err != nil {
		t.Fatal(err)
	}
	if n := res.Counts; n.Complete != 1 || n.Connect != 1 || n.Failed != 1 || *n.Reconnects != 0 {
		t.Errorf("counts %+v, reconnects %d", n, *n.Reconnects)
	}
	if len(connects) != 2 || connects[0] <= 0 || connects[1] != 0 {
		t.Errorf("connect times %v, want one above 0 and then 0: there was no second connection", connects)
	}
}

// Bytes after an answer are not taken for the next one.
func TestSurplusBytes(t *testing.T) {
	res := runJob(t, job(serve(t, say(hello+"HTTP/1.1 500 No\r\n\r\n")), 10, 1))
	n := res.Counts
	if len(res.Notes) != 1 || !strings.HasPrefix(res.Notes[0], "10 answers were followed by bytes") {
		t.Errorf("notes %v", res.Notes)
	}
	if n.Complete != 10 || n.Failed != 0 || n.Non2xx != 0 || *n.KeptAlive != 0 {
		t.Errorf("counts %+v, kept alive %d", n, *n.KeptAlive)
	}
}

// Bodies of every framing come whole and leave the connection as they should.
func TestBodies(t *testing.T) {
	big := strings.Repeat("0123456789abcdef", 20_000)
	for name, c := range map[string]struct {
		server script
		method string
		body   int64
		kept   int64
		status int
		non2xx int64
	}{
		"sized":       {server: say(hello), body: 5, kept: 9, status: 200},
		"chunked":     {server: say(ok11 + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n3;x=y\r\ndef\r\n0\r\nA: b\r\n\r\n"), body: 6, kept: 9, status: 200},
		"until close": {server: sayAndClose("HTTP/1.0 200 OK\r\n\r\n" + big), body: 320_000, status: 200},
		"large":       {server: say(ok11 + "Content-Length: 320000\r\n\r\n" + big), body: 320_000, kept: 9, status: 200},
		"head":        {server: say(ok11 + "Content-Length: 320000\r\n\r\n"), method: "HEAD", kept: 9, status: 200},
		"304":         {server: say("HTTP/1.1 304 Not Modified\r\nContent-Length: 99\r\n\r\n"), kept: 9, status: 304, non2xx: 10},
		"204":         {server: say("HTTP/1.1 204 No Content\r\n\r\n"), kept: 9, status: 204},
		"1xx first":   {server: say("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + hello), body: 5, kept: 9, status: 200},
		"404":         {server: say("HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno"), body: 2, kept: 9, status: 404, non2xx: 10},
	} {
		j := job(serve(t, c.server), 10, 1)
		j.Method = c.method
		res := runJob(t, j)
		n := res.Counts
		if n.Complete != 10 || n.Failed != 0 || n.Non2xx != c.non2xx || *n.BodyBytes != 10*c.body || *n.KeptAlive != c.kept {
			t.Errorf("%s: counts %+v, body bytes %d, kept alive %d, errors %v", name, n, *n.BodyBytes, *n.KeptAlive, res.Errors)
		}
		if len(res.StatusCodes) != 1 || res.StatusCodes[c.status] != 10 || *res.DocumentBytes != c.body {
			t.Errorf("%s: codes %v, document of %d", name, res.StatusCodes, *res.DocumentBytes)
		}
	}
}

// net/http's server as a peer: chunked by flushing, HTTP/1.0, POST with body.
func TestAgainstNetHTTP(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := make([]byte, 10)
		n, _ := r.Body.Read(body)
		w.Header().Set("Server", "testd/1.0")
		_, _ = w.Write([]byte(r.Method + " " + r.Proto + " "))
		w.(http.Flusher).Flush()
		_, _ = w.Write(body[:n])
	}))
	defer srv.Close()
	for _, protocol := range []string{"HTTP/1.0", "HTTP/1.1"} {
		for _, keepAlive := range []bool{false, true} {
			j := job(srv.URL, 40, 3)
			j.Method, j.Body, j.Protocol, j.KeepAlive = "POST", []byte("payload"), protocol, keepAlive
			res := runJob(t, j)
			n := res.Counts
			// "POST HTTP/1.x payload" are 21 bytes.
			if n.Complete != 40 || n.Failed != 0 || *n.BodyBytes != 40*21 || res.Server != "testd/1.0" {
				t.Errorf("%s, keep-alive %v: %+v, %d body bytes, server %q, errors %v", protocol, keepAlive, n, *n.BodyBytes, res.Server, res.Errors)
			}
			// A body without a length cannot be kept alive in HTTP/1.0.
			if kept := *n.KeptAlive > 0; kept != (keepAlive && protocol == "HTTP/1.1") {
				t.Errorf("%s, keep-alive %v: %d kept alive", protocol, keepAlive, *n.KeptAlive)
			}
			if res.Protocol != protocol {
				t.Errorf("asked in %s, answered in %q", protocol, res.Protocol)
			}
		}
	}
}

// HTTP/1.0 keeps a connection when both sides say so and the length is known.
func TestKeepAliveInHTTP10(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("hello"))
	}))
	defer srv.Close()
	j := job(srv.URL, 20, 1)
	j.Protocol = "HTTP/1.0"
	res := runJob(t, j)
	if n := res.Counts; n.Complete != 20 || *n.KeptAlive != 19 || res.Connect.Count() != 1 || res.Protocol != "HTTP/1.0" {
		t.Errorf("counts %+v, kept alive %d, protocol %q", n, *n.KeptAlive, res.Protocol)
	}
}
