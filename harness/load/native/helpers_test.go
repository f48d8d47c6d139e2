package native

import (
	"bufio"
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"testing"
	"time"

	"abacus/harness/load"
)

// script serves one accepted connection; n numbers it from 1.
type script func(n int, conn net.Conn, r *bufio.Reader)

// serve starts a TCP server on a free loopback port that runs the script on
// every connection, and returns its URL.
func serve(t testing.TB, s script) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	go func() {
		for n := 1; ; n++ {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				s(n, conn, bufio.NewReader(conn))
			}()
		}
	}()
	return "http://" + ln.Addr().String() + "/"
}

// readRequest reads one request without a body; false at the end.
func readRequest(r *bufio.Reader) bool {
	req, err := http.ReadRequest(r)
	return err == nil && req != nil
}

// say answers every request on a connection with the same bytes.
func say(answer string) script {
	return func(_ int, conn net.Conn, r *bufio.Reader) {
		for readRequest(r) {
			if _, err := conn.Write([]byte(answer)); err != nil {
				return
			}
		}
	}
}

// sayAndClose answers one request and closes.
func sayAndClose(answer string) script {
	return func(_ int, conn net.Conn, r *bufio.Reader) {
		if readRequest(r) {
			_, _ = conn.Write([]byte(answer))
		}
	}
}

// reset makes the close of conn an RST.
func reset(conn net.Conn) {
	_ = conn.(*net.TCPConn).SetLinger(0)
	_ = conn.Close()
}

// job is a small job on url.
func job(url string, requests int64, concurrency int) load.Job {
	return load.Job{URL: url, Requests: requests, Concurrency: concurrency, KeepAlive: true, Timeout: 10 * time.Second}
}

// runJob runs the job and fails the test on an error.
func runJob(t testing.TB, j load.Job) *load.Result {
	t.Helper()
	res, err := new(Engine).Run(context.Background(), j, nil)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// quiet swallows what a server logs of broken handshakes.
func quiet() *log.Logger { return log.New(io.Discard, "", 0) }
