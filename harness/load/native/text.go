package native

import (
	"bytes"
	"fmt"
)

// The functions here read header texts without allocating.

func digit(c byte) bool { return '0' <= c && c <= '9' }

// trimLineEnd takes "\n" or "\r\n" off the end.
func trimLineEnd(b []byte) []byte {
	b = b[:len(b)-1]
	if n := len(b); n > 0 && b[n-1] == '\r' {
		b = b[:n-1]
	}
	return b
}

// trimSpace takes spaces and tabs off both ends.
func trimSpace(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t') {
		b = b[1:]
	}
	for n := len(b); n > 0 && (b[n-1] == ' ' || b[n-1] == '\t'); n-- {
		b = b[:n-1]
	}
	return b
}

// equalFold compares b with lower, which is in lower case, without regard to
// the case of ASCII letters.
func equalFold(b []byte, lower string) bool {
	if len(b) != len(lower) {
		return false
	}
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

// nextToken returns the next non-empty element of a comma-separated list and
// what is after it; a nil token is the end.
func nextToken(list []byte) (token, rest []byte) {
	for len(list) > 0 {
		end := bytes.IndexByte(list, ',')
		if end < 0 {
			end = len(list)
		}
		token, list = trimSpace(list[:end]), list[min(end+1, len(list)):]
		if len(token) > 0 {
			return token, list
		}
	}
	return nil, nil
}

// parseLength reads decimal digits and nothing else; false on overflow.
func parseLength(b []byte) (int64, bool) {
	if len(b) == 0 || len(b) > 18 {
		return 0, false
	}
	var n int64
	for _, c := range b {
		if !digit(c) {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, true
}

// parseHex reads hexadecimal digits and nothing else; false on overflow.
func parseHex(b []byte) (int64, bool) {
	if len(b) == 0 || len(b) > 15 {
		return 0, false
	}
	var n int64
	for _, c := range b {
		switch {
		case digit(c):
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		n = n<<4 | int64(c)
	}
	return n, true
}

// excerpt quotes the beginning of a text from the server.
func excerpt(b []byte) string {
	const most = 40
	if len(b) > most {
		return fmt.Sprintf("%q…", b[:most])
	}
	return fmt.Sprintf("%q", b)
}
