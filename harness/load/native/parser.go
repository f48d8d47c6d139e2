package native

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// Limits of one answer. maxHead bounds the final head together with interim
// heads before it, and the trailers again; maxChunkLine a chunk's size line.
const (
	maxHead      = 64 << 10
	maxChunkLine = 4 << 10
)

// errTooLarge marks a head or trailer over its limit.
var errTooLarge = errors.New("larger than 64 KiB")

// phase is where in an answer the parser stands.
type phase uint8

const (
	inStatus phase = iota
	inHeaders
	inSized     // body of a known length
	inChunkSize // a chunk's size line
	inChunkData
	inChunkEnd // the line end after a chunk
	inTrailers
	inUntilClose // body that ends with the connection
	isDone
	isBroken
)

// parser reads one HTTP/1 answer after the other from bytes in pieces of any
// size; how they are cut makes no difference. It holds the current head and,
// if asked, the beginning of the body; it allocates nothing once its buffers
// have grown.
type parser struct {
	phase phase
	err   error // set with isBroken
	// toHead tells that the request was HEAD.
	toHead bool
	// head holds the lines of the current head; line is where the unfinished
	// one begins. scratch collects other lines: chunk sizes and trailers.
	head    []byte
	line    int
	scratch []byte
	// limited counts what falls under maxHead.
	limited int

	status     int
	minor      byte  // of HTTP/1.minor, as a digit
	keepAlive  bool  // the connection stays open after the answer
	closing    bool  // Connection: close
	length     int64 // Content-Length, -1 without one
	chunked    bool
	coded      bool // there was a Transfer-Encoding
	framing    bool // the last header decided on framing
	serverFrom int
	serverTo   int
	left       int64 // bytes to come of the body or the chunk

	// headerBytes is all that is not body, bodyBytes the body without chunk
	// framing; both as far as received.
	headerBytes, bodyBytes int64
	// body keeps the first bodyLimit bytes of the body.
	body      []byte
	bodyLimit int
}

// reset makes the parser ready for the answer to the next request, of which
// it must know whether it was HEAD, and how much of the body to keep.
func (p *parser) reset(toHead bool, keepBody int) {
	*p = parser{toHead: toHead, bodyLimit: max(keepBody, 0),
		head: p.head[:0], scratch: p.scratch[:0], body: p.body[:0]}
	p.beginHead()
}

// beginHead forgets the head read so far, if any.
func (p *parser) beginHead() {
	p.phase, p.head, p.line = inStatus, p.head[:0], 0
	p.status, p.keepAlive, p.length, p.chunked = 0, false, -1, false
	p.coded, p.framing, p.closing, p.serverFrom, p.serverTo = false, false, false, 0, 0
}

// done tells whether the answer is whole.
func (p *parser) done() bool { return p.phase == isDone }

// started tells whether any byte of the answer has come.
func (p *parser) started() bool { return p.headerBytes > 0 }

// server is the value of the Server header, nil without one. It is valid
// until the next reset.
func (p *parser) server() []byte { return p.head[p.serverFrom:p.serverTo] }

// feed takes the next bytes and returns how many belong to this answer; fewer
// than len(b) only when it is whole or broken. The error is what makes it no
// HTTP answer, and stays.
func (p *parser) feed(b []byte) (int, error) {
	n := 0
	for n < len(b) && p.phase < isDone {
		used, err := p.step(b[n:])
		n += used
		if err != nil {
			p.phase, p.err = isBroken, err
		}
	}
	return n, p.err
}

// finish says that the connection was closed. nil means that this ended the
// answer; io.EOF that none had begun, io.ErrUnexpectedEOF that it is cut off.
func (p *parser) finish() error {
	switch {
	case p.phase == isBroken:
		return p.err
	case p.phase == isDone:
		return nil
	case p.phase == inUntilClose:
		p.phase = isDone
		return nil
	case !p.started():
		return io.EOF
	}
	return io.ErrUnexpectedEOF
}

func (p *parser) step(b []byte) (int, error) {
	switch p.phase {
	case inStatus, inHeaders:
		return p.headLine(b)
	case inSized, inChunkData, inUntilClose:
		return p.bodyPart(b), nil
	case inChunkSize:
		return p.chunkSize(b)
	case inChunkEnd:
		return p.chunkEnd(b)
	default:
		return p.trailer(b)
	}
}

// headLine takes bytes up to the end of the current head line, and the line
// when it is complete.
func (p *parser) headLine(b []byte) (int, error) {
	end := bytes.IndexByte(b, '\n')
	whole := end >= 0
	n := len(b)
	if whole {
		n = end + 1
	}
	// What is over the limit is not taken, so that the count of bytes does
	// not depend on how they were cut.
	if over := p.limited + n - maxHead; over > 0 {
		n, whole = n-over, false
		if n == 0 {
			return 0, fmt.Errorf("head %w", errTooLarge)
		}
	}
	if p.phase == inStatus {
		if alien := p.alienAt(b[:n]); alien >= 0 {
			p.head = append(p.head, b[:alien+1]...)
			p.take(alien + 1)
			return alien + 1, errNotHTTP
		}
	}
	p.head = append(p.head, b[:n]...)
	p.take(n)
	if !whole {
		return n, nil
	}
	text := trimLineEnd(p.head[p.line:])
	start := p.line
	p.line = len(p.head)
	if p.phase == inStatus {
		p.phase = inHeaders
		return n, p.statusLine(text)
	}
	if len(text) == 0 {
		return n, p.headEnd()
	}
	return n, p.header(text, start)
}

// take counts n bytes of head or trailer.
func (p *parser) take(n int) {
	p.limited += n
	p.headerBytes += int64(n)
}

var errNotHTTP = errors.New("the answer is not HTTP/1: it does not begin with HTTP/1.x")

// alienAt is the index in b of the first byte that no HTTP/1 answer has in
// this place, -1 when there is none. It is found as early as possible, so that
// a server which says something else and then waits is not waited for.
func (p *parser) alienAt(b []byte) int {
	const want = "HTTP/1."
	for i := 0; i < len(b) && len(p.head)+i < len(want); i++ {
		if b[i] != want[len(p.head)+i] {
			return i
		}
	}
	return -1
}

// statusLine reads "HTTP/1.1 200 OK"; the reason may be missing.
func (p *parser) statusLine(line []byte) error {
	const at = len("HTTP/1.")
	if len(line) < at+5 || !digit(line[at]) || line[at+1] != ' ' ||
		!digit(line[at+2]) || !digit(line[at+3]) || !digit(line[at+4]) ||
		(len(line) > at+5 && line[at+5] != ' ') {
		return fmt.Errorf("the status line is malformed: %s", excerpt(line))
	}
	p.minor = line[at]
	p.status = int(line[at+2]-'0')*100 + int(line[at+3]-'0')*10 + int(line[at+4]-'0')
	if p.status < 100 {
		return fmt.Errorf("the status line is malformed: %s", excerpt(line))
	}
	p.keepAlive = p.minor != '0'
	return nil
}

// header reads one header line, which begins at start of the head. Only those
// that decide where the answer ends, and Server, matter here.
func (p *parser) header(line []byte, start int) error {
	if line[0] == ' ' || line[0] == '\t' {
		// A folded line: obsolete, and only harmless where nothing hangs on it.
		if p.framing || start == bytes.IndexByte(p.head, '\n')+1 {
			return fmt.Errorf("a header line begins with a space: %s", excerpt(line))
		}
		return nil
	}
	p.framing = false
	colon := bytes.IndexByte(line, ':')
	if colon <= 0 || line[colon-1] == ' ' || line[colon-1] == '\t' {
		return fmt.Errorf("a header line has no name: %s", excerpt(line))
	}
	name, value := line[:colon], trimSpace(line[colon+1:])
	switch {
	case equalFold(name, "content-length"):
		p.framing = true
		return p.contentLength(value)
	case equalFold(name, "transfer-encoding"):
		p.framing, p.coded = true, true
		for token, rest := nextToken(value); token != nil; token, rest = nextToken(rest) {
			p.chunked = equalFold(token, "chunked") // the last one counts
		}
	case equalFold(name, "connection"):
		p.framing = true
		for token, rest := nextToken(value); token != nil; token, rest = nextToken(rest) {
			p.closing = p.closing || equalFold(token, "close")
			p.keepAlive = p.keepAlive || equalFold(token, "keep-alive")
		}
	case equalFold(name, "server") && p.serverTo == 0 && len(value) > 0:
		lead := bytes.Index(p.head[start+colon+1:], value)
		p.serverFrom = start + colon + 1 + lead
		p.serverTo = p.serverFrom + len(value)
	}
	return nil
}

// contentLength reads the length, also a list of equal ones; two that differ
// leave no way to tell where the answer ends.
func (p *parser) contentLength(value []byte) error {
	token, rest := nextToken(value)
	if token == nil {
		return errors.New("content-length is empty")
	}
	for ; token != nil; token, rest = nextToken(rest) {
		n, ok := parseLength(token)
		if !ok {
			return fmt.Errorf("content-length is malformed: %s", excerpt(value))
		}
		if p.length >= 0 && p.length != n {
			return errors.New("content-length is given twice, with two values")
		}
		p.length = n
	}
	return nil
}

// headEnd decides, at the empty line, what follows the head.
func (p *parser) headEnd() error {
	p.keepAlive = p.keepAlive && !p.closing
	switch {
	case p.status < 200 && p.status != 101:
		p.beginHead()
		return nil
	case p.status == 101:
		// Nobody asked for it, so what follows cannot be read.
		p.keepAlive, p.phase = false, isDone
	case p.toHead || p.status == 204 || p.status == 304:
		p.phase = isDone
	case p.chunked:
		// In an HTTP/1.0 answer the framing cannot be trusted further.
		p.keepAlive = p.keepAlive && p.minor != '0'
		p.phase, p.limited = inChunkSize, 0
	case p.coded || p.length < 0:
		p.keepAlive, p.phase = false, inUntilClose
	case p.length == 0:
		p.phase = isDone
	default:
		p.left, p.phase = p.length, inSized
	}
	return nil
}

// bodyPart takes body bytes, as many as belong to it.
func (p *parser) bodyPart(b []byte) int {
	n := len(b)
	if p.phase != inUntilClose {
		n = int(min(int64(n), p.left))
		p.left -= int64(n)
	}
	p.bodyBytes += int64(n)
	if room := p.bodyLimit - len(p.body); room > 0 {
		p.body = append(p.body, b[:min(n, room)]...)
	}
	if p.phase != inUntilClose && p.left == 0 {
		if p.phase == inSized {
			p.phase = isDone
		} else {
			p.phase = inChunkEnd
		}
	}
	return n
}

// chunkSize takes bytes up to the end of a chunk's size line.
func (p *parser) chunkSize(b []byte) (int, error) {
	n, line, err := p.scratchLine(b, maxChunkLine)
	if line == nil || err != nil {
		return n, err
	}
	if i := bytes.IndexByte(line, ';'); i >= 0 {
		line = line[:i] // extensions mean nothing to us
	}
	size, ok := parseHex(trimSpace(line))
	if !ok {
		return n, fmt.Errorf("a chunk size is malformed: %s", excerpt(line))
	}
	p.scratch = p.scratch[:0]
	p.left, p.phase = size, inChunkData
	if size == 0 {
		p.phase = inTrailers
	}
	return n, nil
}

// chunkEnd takes the line end after a chunk's data.
func (p *parser) chunkEnd(b []byte) (int, error) {
	p.headerBytes++
	switch {
	case b[0] == '\n':
		p.scratch, p.phase = p.scratch[:0], inChunkSize
	case b[0] == '\r' && len(p.scratch) == 0:
		p.scratch = append(p.scratch, b[0])
	default:
		return 1, errors.New("a chunk is longer than its size says")
	}
	return 1, nil
}

// trailer takes bytes up to the end of one trailer line; an empty one ends
// the answer.
func (p *parser) trailer(b []byte) (int, error) {
	n, line, err := p.scratchLine(b, maxHead)
	if line == nil || err != nil {
		return n, err
	}
	if len(line) == 0 {
		p.phase = isDone
	}
	if p.limited += len(p.scratch); p.limited > maxHead {
		err = fmt.Errorf("trailer %w", errTooLarge)
	}
	p.scratch = p.scratch[:0]
	return n, err
}

// scratchLine collects a line outside the head; line is nil until its end has
// come, and then without the line end.
func (p *parser) scratchLine(b []byte, limit int) (n int, line []byte, err error) {
	n = len(b)
	end := bytes.IndexByte(b, '\n')
	if end >= 0 {
		n = end + 1
	}
	if over := len(p.scratch) + n - limit; over > 0 {
		n, end = n-over, -1
		if n == 0 {
			return 0, nil, errors.New("a line of the chunked body is too long")
		}
	}
	p.scratch = append(p.scratch, b[:n]...)
	p.headerBytes += int64(n)
	if end < 0 {
		return n, nil, nil
	}
	return n, trimLineEnd(p.scratch), nil
}
