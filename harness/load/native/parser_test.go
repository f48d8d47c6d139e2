package native

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

// parsed is all that a parser says of one answer.
type parsed struct {
	status                   int
	keepAlive                bool
	headerBytes, bodyBytes   int64
	server, body, head, fail string
	used                     int
	whole                    bool
}

// parse feeds the answer in pieces that end where cuts says, and then closes
// the connection.
func parse(input []byte, toHead bool, cuts ...int) parsed {
	var p parser
	p.reset(toHead, 1<<20)
	used, from := 0, 0
	var err error
	for _, to := range append(cuts, len(input)) {
		if p.done() || err != nil {
			break
		}
		var n int
		n, err = p.feed(input[from:to])
		used += n
		from = to
	}
	if err == nil && !p.done() {
		err = p.finish()
	}
	out := parsed{status: p.status, keepAlive: p.keepAlive, headerBytes: p.headerBytes, bodyBytes: p.bodyBytes,
		server: string(p.server()), body: string(p.body), head: string(p.head), used: used, whole: p.done()}
	if err != nil {
		out.fail = err.Error()
	}
	return out
}

const ok11 = "HTTP/1.1 200 OK\r\n"

func TestParser(t *testing.T) {
	for name, c := range map[string]struct {
		input  string
		toHead bool
		want   parsed // head, headerBytes and used are filled in where 0
	}{
		"content-length": {ok11 + "Content-Length: 5\r\nServer: testd/1.0\r\n\r\nhello", false,
			parsed{status: 200, keepAlive: true, bodyBytes: 5, body: "hello", server: "testd/1.0", whole: true}},
		"line feeds only": {"HTTP/1.1 200 OK\nContent-Length: 5\n\nhello", false,
			parsed{status: 200, keepAlive: true, bodyBytes: 5, body: "hello", whole: true}},
		"no reason": {"HTTP/1.1 204\r\n\r\n", false, parsed{status: 204, keepAlive: true, whole: true}},
		"any case and spaces": {ok11 + "cOnTeNt-lEnGtH:\t 3 \r\nSERVER:x y\r\nCONNECTION: Foo ,\tClOsE\r\n\r\nabc", false,
			parsed{status: 200, bodyBytes: 3, body: "abc", server: "x y", whole: true}},
		"connection list over two lines, close wins": {ok11 + "Connection: close\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n", false,
			parsed{status: 200, whole: true}},
		"1.0 closes":     {"HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx", false, parsed{status: 200, bodyBytes: 1, body: "x", whole: true}},
		"1.0 keep-alive": {"HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 1\r\n\r\nx", false, parsed{status: 200, keepAlive: true, bodyBytes: 1, body: "x", whole: true}},
		"until close":    {ok11 + "Connection: keep-alive\r\n\r\nall of it", false, parsed{status: 200, bodyBytes: 9, body: "all of it", whole: true}},
		"empty body until close": {"HTTP/1.0 200 OK\r\n\r\n", false,
			parsed{status: 200, whole: true}},
		"chunked": {ok11 + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n00A;ext=\"1\"\r\n, this is \r\n0\r\n\r\n", false,
			parsed{status: 200, keepAlive: true, bodyBytes: 15, body: "hello, this is ", whole: true}},
		"chunked with trailers": {ok11 + "Transfer-Encoding: gzip, Chunked\r\n\r\n1 \r\nx\r\n0\r\nX-Sum: 1\r\nContent-Length: 9\r\n\r\n", false,
			parsed{status: 200, keepAlive: true, bodyBytes: 1, body: "x", whole: true}},
		"chunked wins over length": {ok11 + "Content-Length: 100\r\nTransfer-Encoding: chunked\r\n\r\n1\nx\n0\n\n", false,
			parsed{status: 200, keepAlive: true, bodyBytes: 1, body: "x", whole: true}},
		"chunked in 1.0 is not kept": {"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", false,
			parsed{status: 200, whole: true}},
		"other coding last": {ok11 + "Transfer-Encoding: chunked, gzip\r\nContent-Length: 2\r\n\r\nuntil", false,
			parsed{status: 200, bodyBytes: 5, body: "until", whole: true}},
		"equal lengths": {ok11 + "Content-Length: 2, 2\r\nContent-Length: 2\r\n\r\nhi", false,
			parsed{status: 200, keepAlive: true, bodyBytes: 2, body: "hi", whole: true}},
		"head": {ok11 + "Content-Length: 500\r\n\r\n", true, parsed{status: 200, keepAlive: true, whole: true}},
		"head of a chunked page": {ok11 + "Transfer-Encoding: chunked\r\n\r\n", true,
			parsed{status: 200, keepAlive: true, whole: true}},
		"304 with a length": {"HTTP/1.1 304 Not Modified\r\nContent-Length: 500\r\nETag: \"x\"\r\n\r\n", false,
			parsed{status: 304, keepAlive: true, whole: true}},
		"continue and early hints": {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nConnection: close\r\nContent-Length: 7\r\nServer: a\r\n\r\n" + ok11 + "Content-Length: 2\r\nServer: b\r\n\r\nhi", false,
			parsed{status: 200, keepAlive: true, bodyBytes: 2, body: "hi", server: "b", whole: true,
				headerBytes: 25 + 77 + 49, head: ok11 + "Content-Length: 2\r\nServer: b\r\n\r\n", used: 25 + 77 + 49 + 2}},
		"switching unasked": {"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\nbytes", false,
			parsed{status: 101, whole: true, used: 48, headerBytes: 48}},
		"more than its length": {ok11 + "Content-Length: 2\r\n\r\nhiHTTP", false,
			parsed{status: 200, keepAlive: true, bodyBytes: 2, body: "hi", whole: true, used: 40, headerBytes: 38}},
		"folded harmless header": {ok11 + "X-Long: a\r\n b\r\nContent-Length: 0\r\n\r\n", false,
			parsed{status: 200, keepAlive: true, whole: true}},
		"empty server": {ok11 + "Server:\r\nContent-Length: 0\r\n\r\n", false, parsed{status: 200, keepAlive: true, whole: true}},
	} {
		c.want.head, c.want.headerBytes, c.want.used = fill(c.input, c.want)
		if got := parse([]byte(c.input), c.toHead); got != c.want {
			t.Errorf("%s:\n got %+v\nwant %+v", name, got, c.want)
		}
		everySplit(t, name, []byte(c.input), c.toHead)
	}
}

// fill works out what most answers have: all bytes are used, the head ends at
// the first empty line, and what is no body counts as header.
func fill(input string, want parsed) (head string, headerBytes int64, used int) {
	head, headerBytes, used = want.head, want.headerBytes, want.used
	if used == 0 {
		used = len(input)
	}
	if head == "" {
		end := strings.Index(input, "\r\n\r\n") + 4
		if end == 3 {
			end = strings.Index(input, "\n\n") + 2
		}
		head = input[:end]
	}
	if headerBytes == 0 {
		headerBytes = int64(used) - want.bodyBytes
	}
	return head, headerBytes, used
}

// everySplit cuts the input at every place, at every pair of places when it
// is short, and after every byte: the result must not differ.
func everySplit(t *testing.T, name string, input []byte, toHead bool) {
	t.Helper()
	want := parse(input, toHead)
	for i := range input {
		if got := parse(input, toHead, i); got != want {
			t.Errorf("%s, cut at %d:\n got %+v\nwant %+v", name, i, got, want)
			return
		}
		for j := i; len(input) < 150 && j < len(input); j++ {
			if got := parse(input, toHead, i, j); got != want {
				t.Errorf("%s, cut at %d and %d:\n got %+v\nwant %+v", name, i, j, got, want)
				return
			}
		}
	}
	all := make([]int, len(input))
	for i := range all {
		all[i] = i
	}
	if got := parse(input, toHead, all...); got != want {
		t.Errorf("%s, byte by byte:\n got %+v\nwant %+v", name, got, want)
	}
}

func TestParserRefuses(t *testing.T) {
	long := strings.Repeat("x", maxHead)
	for name, c := range map[string]struct{ input, says string }{
		"another protocol":        {"SSH-2.0-OpenSSH_9.2\r\n", "not HTTP/1"},
		"no line end":             {"<html>", "not HTTP/1"},
		"short line":              {"HTTP\r\n", "not HTTP/1"},
		"HTTP/2":                  {"HTTP/2.0 200 OK\r\n\r\n", "not HTTP/1"},
		"lower case":              {"http/1.1 200 OK\r\n\r\n", "not HTTP/1"},
		"empty line first":        {"\r\nHTTP/1.1 200 OK\r\n\r\n", "not HTTP/1"},
		"no status":               {"HTTP/1.1 \r\n\r\n", "status line"},
		"status of two digits":    {"HTTP/1.1 20 OK\r\n\r\n", "status line"},
		"status of four digits":   {"HTTP/1.1 2000 OK\r\n\r\n", "status line"},
		"status below 100":        {"HTTP/1.1 099 OK\r\n\r\n", "status line"},
		"version of two digits":   {"HTTP/1.10 200 OK\r\n\r\n", "status line"},
		"header without colon":    {ok11 + "Content-Length 5\r\n\r\n", "no name"},
		"header without name":     {ok11 + ": 5\r\n\r\n", "no name"},
		"space before colon":      {ok11 + "Content-Length : 5\r\n\r\n", "no name"},
		"first line folded":       {ok11 + " x: 5\r\n\r\n", "begins with a space"},
		"folded length":           {ok11 + "Content-Length:\r\n 5\r\n\r\n", "content-length is empty"},
		"folded coding":           {ok11 + "Transfer-Encoding: gzip,\r\n chunked\r\n\r\n", "begins with a space"},
		"negative length":         {ok11 + "Content-Length: -1\r\n\r\n", "content-length is malformed"},
		"signed length":           {ok11 + "Content-Length: +1\r\n\r\n", "content-length is malformed"},
		"length of 20 digits":     {ok11 + "Content-Length: 99999999999999999999\r\n\r\n", "content-length is malformed"},
		"two lengths":             {ok11 + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n", "two values"},
		"two lengths in a list":   {ok11 + "Content-Length: 1, 2\r\n\r\n", "two values"},
		"chunk size no number":    {ok11 + "Transfer-Encoding: chunked\r\n\r\nxyz\r\n", "chunk size is malformed"},
		"chunk size empty":        {ok11 + "Transfer-Encoding: chunked\r\n\r\n\r\n", "chunk size is malformed"},
		"chunk size with 0x":      {ok11 + "Transfer-Encoding: chunked\r\n\r\n0x1\r\n", "chunk size is malformed"},
		"chunk size of 16 digits": {ok11 + "Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n", "chunk size is malformed"},
		"chunk longer than said":  {ok11 + "Transfer-Encoding: chunked\r\n\r\n1\r\nxy\r\n", "longer than its size"},
		"chunk line end broken":   {ok11 + "Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\r\n", "longer than its size"},
		"endless status line":     {"HTTP/1.1 200 " + long, "head larger"},
		"endless header line":     {ok11 + "X: " + long, "head larger"},
		"endless headers":         {ok11 + strings.Repeat("X-A: b\r\n", maxHead/8), "head larger"},
		"endless interim":         {strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", maxHead/25+1), "head larger"},
		"endless chunk line":      {ok11 + "Transfer-Encoding: chunked\r\n\r\n1;" + long, "too long"},
		"endless trailer line":    {ok11 + "Transfer-Encoding: chunked\r\n\r\n0\r\nX: " + long, "too long"},
		"endless trailers":        {ok11 + "Transfer-Encoding: chunked\r\n\r\n0\r\n" + strings.Repeat("X-A: b\r\n", maxHead/8+1), "trailer larger"},
	} {
		got := parse([]byte(c.input), false)
		if got.whole || !strings.Contains(got.fail, c.says) {
			t.Errorf("%s: whole %v, error %q, want one with %q", name, got.whole, got.fail, c.says)
		}
		if got.keepAlive && got.whole {
			t.Errorf("%s: the connection would be kept", name)
		}
		if len(c.input) < 500 {
			everySplit(t, name, []byte(c.input), false)
			continue
		}
		// Large ones: in even pieces.
		for _, size := range []int{1, 1000, 4096} {
			var cuts []int
			for i := size; i < len(c.input); i += size {
				cuts = append(cuts, i)
			}
			if in := parse([]byte(c.input), false, cuts...); in != got {
				t.Errorf("%s in pieces of %d: error %q after %d bytes, in one %q after %d", name, size, in.fail, in.headerBytes, got.fail, got.headerBytes)
			}
		}
	}
}

// A head of exactly 64 KiB is read, one byte more is not.
func TestParserHeadLimit(t *testing.T) {
	for size, whole := range map[int]bool{maxHead: true, maxHead + 1: false} {
		front, end := ok11+"Content-Length: 2\r\nX: ", "\r\n\r\n"
		input := front + strings.Repeat("a", size-len(front)-len(end)) + end + "hi"
		if got := parse([]byte(input), false); got.whole != whole {
			t.Errorf("head of %d bytes: whole %v, error %q", size, got.whole, got.fail)
		}
	}
}

func TestParserCutOff(t *testing.T) {
	for _, input := range []string{
		"HTTP", ok11, ok11 + "Content-Length: 5\r\n", ok11 + "Content-Length: 5\r\n\r\nhell",
		ok11 + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", ok11 + "Transfer-Encoding: chunked\r\n\r\n0\r\n",
		"HTTP/1.1 100 Continue\r\n\r\n",
	} {
		var p parser
		p.reset(false, 0)
		if _, err := p.feed([]byte(input)); err != nil {
			t.Fatal(err)
		}
		if err := p.finish(); !errors.Is(err, io.ErrUnexpectedEOF) || p.done() {
			t.Errorf("%q: finish says %v", input, err)
		}
	}
	var p parser
	p.reset(false, 0)
	if err := p.finish(); !errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("nothing at all: finish says %v", err)
	}
}

// The body that is kept is bounded, the count is not.
func TestParserKeepsBounded(t *testing.T) {
	var p parser
	p.reset(false, 4)
	if _, err := p.feed([]byte(ok11 + "Content-Length: 10\r\n\r\n0123456789")); err != nil || !p.done() {
		t.Fatal(err, p.done())
	}
	if string(p.body) != "0123" || p.bodyBytes != 10 {
		t.Errorf("kept %q of %d", p.body, p.bodyBytes)
	}
	p.reset(false, 0)
	if _, err := p.feed([]byte(ok11 + "Content-Length: 1\r\n\r\nx")); err != nil || len(p.body) != 0 {
		t.Errorf("kept %q without being asked: %v", p.body, err)
	}
}

func TestParserAllocatesNothing(t *testing.T) {
	for name, answer := range map[string]string{
		"sized":   ok11 + "Server: nginx\r\nDate: x\r\nConnection: keep-alive\r\nContent-Length: 5\r\n\r\nhello",
		"chunked": ok11 + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX: y\r\n\r\n",
	} {
		b := []byte(answer)
		var p parser
		once := func() {
			p.reset(false, 0)
			if _, err := p.feed(b); err != nil || !p.done() {
				t.Fatal(err)
			}
		}
		once()
		if n := testing.AllocsPerRun(100, once); n != 0 {
			t.Errorf("%s: %v allocations for an answer", name, n)
		}
	}
}

// FuzzParser checks, for any bytes and any cut, that the result is the same,
// that every byte is accounted for, and that the limits hold.
func FuzzParser(f *testing.F) {
	f.Add([]byte(ok11+"Content-Length: 5\r\n\r\nhello"), uint16(20), false)
	f.Add([]byte(ok11+"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nA: b\r\n\r\n"), uint16(50), false)
	f.Add([]byte("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.0 304 Not\r\n\r\n"), uint16(25), true)
	f.Fuzz(func(t *testing.T, input []byte, cut uint16, toHead bool) {
		whole := parse(input, toHead)
		if at := int(cut); at <= len(input) {
			if got := parse(input, toHead, at); got != whole {
				t.Fatalf("cut at %d of %q:\n got %+v\nwant %+v", at, input, got, whole)
			}
		}
		if whole.whole == (whole.fail != "") {
			t.Fatalf("%q is whole (%v) with error %q", input, whole.whole, whole.fail)
		}
		if got := whole.headerBytes + whole.bodyBytes; got != int64(whole.used) {
			t.Fatalf("%q: %d bytes taken, %d accounted for", input, whole.used, got)
		}
		if whole.used > len(input) || len(whole.head) > maxHead {
			t.Fatalf("%q: used %d, head of %d", input, whole.used, len(whole.head))
		}
		if whole.whole && (whole.status < 101 || whole.status > 999) {
			t.Fatalf("%q: status %d", input, whole.status)
		}
		if int64(len(whole.body)) != min(whole.bodyBytes, 1<<20) {
			t.Fatalf("%q: body of %d, kept %d", input, whole.bodyBytes, len(whole.body))
		}
		if !bytes.Contains(input, []byte(whole.server)) {
			t.Fatalf("server %q does not stand in %q", whole.server, input)
		}
	})
}
