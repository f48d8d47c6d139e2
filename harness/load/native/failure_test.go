package native

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"abacus/harness/load"
)

const hello = ok11 + "Content-Length: 5\r\n\r\nhello"

// closedPort is the URL of a loopback port on which nobody listens: the near
// end of a connection, so that nobody else gets it meanwhile.
func closedPort(t *testing.T) string {
	t.Helper()
	far := strings.TrimSuffix(strings.TrimPrefix(serve(t, func(_ int, _ net.Conn, r *bufio.Reader) { _, _ = r.WriteTo(discard{}) }), "http://"), "/")
	conn, err := net.Dial("tcp", far)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return "http://" + conn.LocalAddr().String() + "/"
}

// Every way to fail is one failure of one kind, with one text.
func TestFailureKinds(t *testing.T) {
	t.Parallel()
	endless := func(_ int, conn net.Conn, r *bufio.Reader) {
		readRequest(r)
		_, err := conn.Write([]byte(ok11))
		for err == nil {
			_, err = conn.Write([]byte("X-More: and more\r\n"))
		}
	}
	for name, c := range map[string]struct {
		server script // nil: nobody listens
		kind   load.FailureKind
		text   string
	}{
		"refused":                 {nil, load.FailConnect, "connecting: connect: connection refused"},
		"closed unread":           {func(int, net.Conn, *bufio.Reader) {}, load.FailReceive, ""},
		"closed before answer":    {sayAndClose(""), load.FailReceive, "connection closed before the answer"},
		"closed within head":      {sayAndClose(ok11), load.FailReceive, "connection closed within the answer"},
		"closed within body":      {sayAndClose(ok11 + "Content-Length: 6\r\n\r\nhello"), load.FailReceive, "connection closed within the answer"},
		"closed within chunks":    {sayAndClose(ok11 + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"), load.FailReceive, "connection closed within the answer"},
		"reset before answer":     {func(_ int, conn net.Conn, r *bufio.Reader) { readRequest(r); reset(conn) }, load.FailReceive, "connection broken before the answer: read: connection reset by peer"},
		"not HTTP":                {sayAndClose("SSH-2.0-OpenSSH_9.2\r\n"), load.FailException, errNotHTTP.Error()},
		"not HTTP and stays open": {say("ERR"), load.FailException, errNotHTTP.Error()},
		"endless head":            {endless, load.FailException, "head larger than 64 KiB"},
		"two lengths":             {say(ok11 + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n"), load.FailException, "content-length is given twice, with two values"},
	} {
		for _, keepAlive := range []bool{true, false} {
			url := closedPort(t)
			if c.server != nil {
				url = serve(t, c.server)
			}
			j := job(url, 25, 4)
			j.KeepAlive = keepAlive
			res := runJob(t, j)
			n := res.Counts
			want := load.Counts{Failed: 25}
			got, _ := n.ByKind(c.kind)
			if got != 25 || n.Failed != want.Failed || n.Complete != 0 || n.Requests() != 25 {
				t.Errorf("%s: counts %+v, want 25 of %s", name, n, c.kind)
			}
			if c.text != "" && (len(res.Errors) != 1 || res.Errors[0] != load.ErrorText{Kind: c.kind, Text: c.text, Count: 25}) {
				t.Errorf("%s: errors %+v, want %q 25 times", name, res.Errors, c.text)
			}
			if res.Total.Count() != 0 || res.Connect.Count() != 0 || len(res.StatusCodes) != 0 || res.DocumentBytes != nil {
				t.Errorf("%s: failed requests left times or codes: %+v", name, res)
			}
			if res.ElapsedNS <= 0 || res.Interrupted {
				t.Errorf("%s: elapsed %d, interrupted %v", name, res.ElapsedNS, res.Interrupted)
			}
		}
	}
}

// A thousand refused connects are all counted, and end soon.
func TestRefusedEndsSoon(t *testing.T) {
	t.Parallel()
	for _, concurrency := range []int{1, 30} {
		began := time.Now()
		res := runJob(t, job(closedPort(t), 1000, concurrency))
		if res.Counts.Connect != 1000 || res.Counts.Requests() != 1000 {
			t.Errorf("concurrency %d: counts %+v", concurrency, res.Counts)
		}
		if took := time.Since(began); took > 8*time.Second {
			t.Errorf("concurrency %d: took %v", concurrency, took)
		}
	}
}

// Requests that hang fail by the timeout while the others go on.
func TestTimeoutsDoNotHoldOthers(t *testing.T) {
	for name, hang := range map[string]script{
		"no answer":   func(_ int, _ net.Conn, r *bufio.Reader) { readRequest(r); readRequest(r) },
		"half a head": func(_ int, conn net.Conn, r *bufio.Reader) { readRequest(r); fmt.Fprint(conn, ok11); readRequest(r) },
		"dripping body": func(_ int, conn net.Conn, r *bufio.Reader) {
			readRequest(r)
			fmt.Fprint(conn, ok11+"\r\n")
			for {
				time.Sleep(20 * time.Millisecond)
				if _, err := conn.Write([]byte("x")); err != nil {
					return
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := serve(t, func(n int, conn net.Conn, r *bufio.Reader) {
				if n%5 == 0 {
					hang(n, conn, r)
					return
				}
				sayAndClose(hello)(n, conn, r)
			})
			j := job(url, 40, 4)
			j.KeepAlive, j.Timeout = false, 500*time.Millisecond
			res := runJob(t, j)
			n := res.Counts
			// Each request has its own connection; every fifth one hangs.
			if n.Timeout != 8 || n.Failed != 8 || n.Complete != 32 || n.Requests() != 40 {
				t.Errorf("counts %+v, errors %+v", n, res.Errors)
			}
			if most, _ := res.Total.Max(); time.Duration(most) > j.Timeout {
				t.Errorf("a whole answer took %v, beyond its timeout", time.Duration(most))
			}
			var inIntervals int64
			for _, iv := range res.Intervals {
				inIntervals += iv.Timeouts
			}
			if inIntervals != 8 {
				t.Errorf("%d timeouts in the intervals", inIntervals)
			}
		})
	}
}

// A server may answer and close before it has read the whole body.
func TestAnswerBeforeTheBodyIsRead(t *testing.T) {
	url := serve(t, func(_ int, conn net.Conn, r *bufio.Reader) {
		if readRequest(r) {
			fmt.Fprint(conn, "HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno")
			// Unread bytes in the socket make the close a reset.
		}
	})
	j := job(url, 6, 1)
	j.Method, j.Body, j.KeepAlive = "POST", make([]byte, 32<<20), false
	res := runJob(t, j)
	if runtime.GOOS != "linux" { // elsewhere a reset may throw the answer away
		if res.Counts.Requests() != 6 {
			t.Errorf("counts %+v", res.Counts)
		}
		return
	}
	if res.Counts.Complete != 6 || res.StatusCodes[413] != 6 || res.Counts.Failed != 0 {
		t.Errorf("counts %+v, codes %v, errors %v", res.Counts, res.StatusCodes, res.Errors)
	}
}

// With its budget used up a client does not wait any more, in a run by
// requests; halt is closed here, so a wait would say so.
func TestBackoffBudget(t *testing.T) {
	for _, c := range []struct {
		requests int64
		refused  int
		rested   time.Duration
		want     bool
	}{
		{100, backoffAfter - 1, 0, true},
		{100, backoffAfter, 0, false},
		{100, backoffAfter, backoffBudget, true},
		{0, backoffAfter, backoffBudget, false}, // by duration: as long as it lasts
	} {
		j := job("http://h/", c.requests, 500)
		j.Duration = time.Second
		r := newRun(&Engine{}, j, request{}, nil)
		close(r.halt)
		client := r.clients[0]
		client.refused, client.rested = c.refused, c.rested
		if got := client.rest(); got != c.want {
			t.Errorf("%+v: goes on %v", c, got)
		}
	}
}

// The whole request is bounded: a listener whose queue is never served
// accepts the connection but not a TLS handshake.
func TestTimeoutInHandshake(t *testing.T) {
	t.Parallel()
	url := serve(t, func(_ int, _ net.Conn, r *bufio.Reader) { _, _ = r.WriteTo(discard{}) })
	j := job(strings.Replace(url, "http", "https", 1), 2, 2)
	j.Timeout = 100 * time.Millisecond
	res := runJob(t, j)
	if res.Counts.Timeout != 2 || res.Counts.Failed != 2 || len(res.Errors) != 1 || res.Errors[0].Text != "no connection in time (TLS handshake)" {
		t.Errorf("counts %+v, errors %+v", res.Counts, res.Errors)
	}
}

type discard struct{}

func (discard) Write(b []byte) (int, error) { return len(b), nil }

func TestLengthFailures(t *testing.T) {
	var n atomic.Int64
	varying := func(_ int, conn net.Conn, r *bufio.Reader) {
		for readRequest(r) {
			body := "12345"
			if n.Add(1)%4 == 0 {
				body = "1234567"
			}
			fmt.Fprintf(conn, "%sContent-Length: %d\r\n\r\n%s", ok11, len(body), body)
		}
	}
	url := serve(t, varying)
	// One connection: answers 4, 8, 12, 16 and 20 are the longer ones.
	res := runJob(t, job(url, 20, 1))
	c := res.Counts
	if *c.Length != 5 || c.Failed != 5 || c.Complete != 20 || c.Requests() != 20 || *res.DocumentBytes != 5 {
		t.Errorf("counts %+v (length %d), document %d", c, *c.Length, *res.DocumentBytes)
	}
	if res.Total.Count() != 20 {
		t.Errorf("%d times recorded; a whole answer of another length has one too", res.Total.Count())
	}
	want := []load.LengthCount{{Bytes: 5, Count: 15}, {Bytes: 7, Count: 5}}
	if len(res.Lengths) != 2 || res.Lengths[0] != want[0] || res.Lengths[1] != want[1] {
		t.Errorf("lengths %v, want %v", res.Lengths, want)
	}
	if len(res.Errors) != 0 {
		t.Errorf("errors %v", res.Errors)
	}
	n.Store(0)
	j := job(url, 20, 1)
	j.AcceptVariableLength = true
	if c := runJob(t, j).Counts; *c.Length != 0 || c.Failed != 0 || c.Complete != 20 {
		t.Errorf("with variable length accepted: %+v", c)
	}
}

func TestErrorTexts(t *testing.T) {
	dialled := &net.OpError{Op: "dial", Net: "tcp", Addr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 40123}, Err: errors.New("connect: refused")}
	for err, want := range map[error]string{
		dialled:                                 "connect: refused",
		fmt.Errorf("doing: %w", error(dialled)): "doing: connect: refused",
		errors.New("read 10.0.0.1:80->10.0.0.2:40123: gone"): "read (address)->(address): gone",
		errors.New("write [fe80::1%eth0]:80: gone"):          "write (address): gone",
	} {
		if got := errorText(err); got != want {
			t.Errorf("%v: %q, want %q", err, got, want)
		}
	}
}
