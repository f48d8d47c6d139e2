package abcompat_test

import (
	"bytes"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"abacus/harness/abcompat"
)

// capture takes one connection and returns what came on it: a head, a body of
// so many bytes, and what the client sent after the answer.
func capture(t *testing.T, body int) (port string, got <-chan string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	ch := make(chan string, 1)
	go func() {
		defer close(ch)
		c, err := ln.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		var seen []byte
		buf := make([]byte, 4096)
		for {
			head := bytes.Index(seen, []byte("\r\n\r\n"))
			if head >= 0 && len(seen) >= head+4+body {
				break
			}
			n, err := c.Read(buf)
			seen = append(seen, buf[:n]...)
			if err != nil {
				break
			}
		}
		_, _ = io.WriteString(c, five)
		_ = c.(*net.TCPConn).CloseWrite()
		rest, _ := io.ReadAll(c)
		ch <- string(seen) + string(rest)
	}()
	_, port, _ = net.SplitHostPort(ln.Addr().String())
	return port, ch
}

// TestWire compares what goes over the wire, byte by byte, with what the real
// ab was seen to send, and with the real ab where it is installed.
func TestWire(t *testing.T) {
	peer := lookPeer(t)
	file := filepath.Join(t.TempDir(), "body")
	if err := os.WriteFile(file, []byte("a\x00\r\n\xff"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, args, path, want string
		ours                   bool // the real ab sends something else: docs/ab-differences.md
	}{
		{name: "plain", path: "/",
			want: "GET / HTTP/1.0|Host: HOST|User-Agent: ApacheBench/2.3|Accept: */*||"},
		{name: "path and query", path: "/a//../%41?x=1&y=a+b",
			want: "GET /a//../%41?x=1&y=a+b HTTP/1.0|Host: HOST|User-Agent: ApacheBench/2.3|Accept: */*||"},
		{name: "everything", args: "-k -H X:_1 -C a=1 -A u:p -A v:w -p FILE -T t/u -m PATCH -H y:_2", path: "/",
			want: "PATCH / HTTP/1.0|Connection: Keep-Alive|Cookie: a=1|Authorization: Basic dTpw|Authorization: Basic djp3|" +
				"Content-length: 5|Content-type: t/u|X: 1|y: 2|Host: HOST|User-Agent: ApacheBench/2.3|Accept: */*||a\x00\r\n\xff"},
		{name: "overridden", args: "-i -H hOST:_other -H user-AGENT:_me -H Accept:_x/y -H Content-Type:_z", path: "/",
			want: "HEAD / HTTP/1.0|hOST: other|user-AGENT: me|Accept: x/y|Content-Type: z||"},
		{name: "put", args: "-u FILE", path: "/",
			want: "PUT / HTTP/1.0|Content-length: 5|Content-type: text/plain|Host: HOST|User-Agent: ApacheBench/2.3|Accept: */*||a\x00\r\n\xff"},
		{name: "own content type beside ab's", args: "-p FILE -H Content-Type:_z", path: "/",
			want: "POST / HTTP/1.0|Content-length: 5|Content-type: text/plain|Content-Type: z|Host: HOST|User-Agent: ApacheBench/2.3|Accept: */*||a\x00\r\n\xff"},
		{name: "cookies", args: "-C a=1 -C b=2", path: "/", ours: true,
			want: "GET / HTTP/1.0|Cookie: a=1; b=2|Host: HOST|User-Agent: ApacheBench/2.3|Accept: */*||"},
		{name: "fragment and space", path: "/a_b#c", ours: true,
			want: "GET /a%20b HTTP/1.0|Host: HOST|User-Agent: ApacheBench/2.3|Accept: */*||"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, program := range []string{"abacus", "ab"} {
				if program == "ab" && (peer == "" || c.ours) {
					continue
				}
				want := strings.ReplaceAll(c.want, "|", "\r\n")
				_, body, _ := strings.Cut(want, "\r\n\r\n")
				port, ch := capture(t, len(body))
				host := "127.0.0.1:" + port
				want = strings.ReplaceAll(want, "HOST", host)
				var args []string
				for _, a := range strings.Fields(c.args) {
					args = append(args, strings.ReplaceAll(strings.ReplaceAll(a, "FILE", file), "_", " "))
				}
				args = append(args, "http://"+host+strings.ReplaceAll(c.path, "_", " "))
				if program == "ab" {
					runPeer(t, peer, args)
				} else {
					var stdout, stderr bytes.Buffer
					if code := abcompat.Main(t.Context(), args, &stdout, &stderr, engine); code != 0 {
						t.Errorf("exit code %d: %s", code, &stderr)
					}
				}
				if got := <-ch; got != want {
					t.Errorf("%s sent\n%q, want\n%q", program, got, want)
				}
			}
		})
	}
}
