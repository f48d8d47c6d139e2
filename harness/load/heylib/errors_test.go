package heylib

import (
	"strings"
	"testing"

	"abacus/harness/load"
)

func TestErrorTexts(t *testing.T) {
	for _, tt := range []struct {
		text, clean string
		kind        load.FailureKind
	}{
		{`Get "http://127.0.0.1:8080/a b": dial tcp 127.0.0.1:8080: connect: connection refused`,
			"dial tcp: connect: connection refused", load.FailConnect},
		{`Post "http://[::1]:8080/": dial tcp [::1]:8080: connect: connection refused`,
			"dial tcp: connect: connection refused", load.FailConnect},
		{`Get "http://nowhere.test/": dial tcp: lookup nowhere.test on 127.0.0.53:53: no such host`,
			"dial tcp: lookup nowhere.test on: no such host", load.FailConnect},
		{`Get "http://10.0.0.1/": dial tcp 10.0.0.1:80: connect: connection timed out`,
			"dial tcp: connect: connection timed out", load.FailConnect},
		{`Get "http://127.0.0.1:8080/": dial tcp 127.0.0.1:8080: connect: cannot assign requested address`,
			"dial tcp: connect: cannot assign requested address", load.FailConnect},
		{`Get "http://10.0.0.1/": dial tcp 10.0.0.1:80: i/o timeout (Client.Timeout exceeded while awaiting headers)`,
			"dial tcp: i/o timeout (Client.Timeout exceeded while awaiting headers)", load.FailTimeout},
		{`Get "https://10.0.0.1/": remote error: tls: handshake failure`, "remote error: tls: handshake failure", load.FailConnect},
		{`Get "http://127.0.0.1:8080/": read tcp 127.0.0.1:57294->127.0.0.1:8080: read: connection reset by peer`,
			"read tcp: read: connection reset by peer", load.FailReceive},
		{`Get "http://[::1]:80/": write tcp [::1]:57294->[::1]:80: write: broken pipe`, "write tcp: write: broken pipe", load.FailReceive},
		{`Get "http://127.0.0.1:8080/": EOF`, "EOF", load.FailReceive},
		{`Get "http://127.0.0.1:8080/": unexpected EOF`, "unexpected EOF", load.FailReceive},
		{`Get "http://127.0.0.1:8080/": http: server closed idle connection`, "http: server closed idle connection", load.FailReceive},
		{`Get "http://127.0.0.1:8080/": net/http: HTTP/1.x transport connection broken: malformed HTTP response "EOF i/o timeout tls: "`,
			`net/http: HTTP/1.x transport connection broken: malformed HTTP response "EOF i/o timeout tls: "`, load.FailException},
		{`Get "http://127.0.0.1:8080/": net/http: HTTP/1.x transport connection broken: unsupported transfer encoding: "EOF"`,
			`net/http: HTTP/1.x transport connection broken: unsupported transfer encoding: "EOF"`, load.FailException},
		{`Get "http://127.0.0.1:8080/": failed to parse Location header "http://[i/o timeout\" x": parse "http://[EOF": missing ']' in host`,
			`failed to parse Location header "http://[i/o timeout\" x": parse "http://[EOF": missing ']' in host`, load.FailException},
		{`Get "http://127.0.0.1:8080/": net/http: server replied with "i/o timeout, and the quote is cut`,
			`net/http: server replied with "i/o timeout, and the quote is cut`, load.FailException},
		{`Get "http://127.0.0.1:8080/": something new`, "something new", load.FailException},
		{`Get "http://x/` + strings.Repeat("u", 900) + `": EOF`, "EOF", load.FailReceive},
	} {
		clean := cleanText(tt.text)
		if clean != tt.clean {
			t.Errorf("cleanText(%q) = %q, want %q", tt.text, clean, tt.clean)
		}
		if kind := kindOf(clean); kind != tt.kind {
			t.Errorf("kindOf(%q) = %s, want %s", clean, kind, tt.kind)
		}
		if isCancel(clean) {
			t.Errorf("isCancel(%q)", clean)
		}
	}
	for _, text := range []string{
		`Get "http://127.0.0.1:8080/": context canceled`,
		`Get "http://127.0.0.1:8080/": dial tcp 127.0.0.1:8080: operation was canceled`,
		`Get "http://127.0.0.1:8080/": net/http: request canceled`,
		`Get "http://127.0.0.1:8080/": net/http: request canceled while waiting for connection`,
	} {
		if !isCancel(cleanText(text)) {
			t.Errorf("not seen as cancelled: %q", cleanText(text))
		}
	}
}
