package heylib

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"abacus/harness/load"
)

// address matches the host:port, or pair of them, that net puts into its
// errors, with the space before it.
var address = regexp.MustCompile(` (\[[0-9A-Fa-f:.%\w]*\]|[^\s\[\]:"]*):\d{1,5}(->(\[[0-9A-Fa-f:.%\w]*\]|[^\s\[\]:"]*):\d{1,5})?(:|$| )`)

// cleanText takes method, URL, addresses and ports off an error text of
// net/http, so that like errors add up.
func cleanText(text string) string {
	// A url.Error reads: Get "http://…": what happened.
	if method, rest, ok := strings.Cut(text, " "); ok && method != "" {
		if quoted, err := strconv.QuotedPrefix(rest); err == nil {
			if after, ok := strings.CutPrefix(rest[len(quoted):], ": "); ok {
				text = after
			}
		}
	}
	return address.ReplaceAllString(text, "$4")
}

// isCancel tells whether the request ended because its context was cancelled.
func isCancel(clean string) bool {
	return strings.HasPrefix(clean, "context canceled") ||
		strings.HasSuffix(clean, "operation was canceled") ||
		strings.HasPrefix(clean, "net/http: request canceled") && !isTimeout(clean)
}

func isTimeout(clean string) bool {
	return strings.Contains(clean, "Client.Timeout") || strings.Contains(clean, "i/o timeout") ||
		strings.Contains(clean, "deadline exceeded")
}

// quoted matches what an error quotes: our URL, or what the server wrote.
var quoted = regexp.MustCompile(`"(?:[^"\\]|\\.)*(?:"|$)`)

// kindOf sorts a clean text into one of the kinds. The library keeps only the
// text, so there is nothing better to go by; the words are net/http's own, for
// what is quoted comes from the server and must not choose the kind.
func kindOf(clean string) load.FailureKind {
	words := quoted.ReplaceAllString(clean, "")
	has := func(texts ...string) bool {
		return slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(words, t) })
	}
	switch {
	case has("malformed", "failed to parse Location header"):
		return load.FailException
	case isTimeout(words):
		return load.FailTimeout
	case strings.HasPrefix(words, "dial "), strings.HasPrefix(words, "lookup "),
		has("tls: ", "x509: ", "server gave HTTP response to HTTPS client"):
		return load.FailConnect
	case has("EOF", "connection reset", "broken pipe", "connection aborted", "forcibly closed",
		"server closed idle connection", "use of closed network connection"):
		return load.FailReceive
	}
	return load.FailException
}
