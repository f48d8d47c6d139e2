package heylib

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"abacus/harness/load"
)

// The most different error texts that a result holds, and their length.
const (
	mostTexts = 50
	textRunes = 200
)

// address matches the host:port, or pair of them, that net puts into its
// errors, with the space before it.
var address = regexp.MustCompile(` (\[[0-9A-Fa-f:.%\w]*\]|[^\s\[\]:"]*):\d{1,5}(->(\[[0-9A-Fa-f:.%\w]*\]|[^\s\[\]:"]*):\d{1,5})?(:|$| )`)

// cleanText takes method, URL, addresses and ports off an error text of
// net/http, so that like errors add up, and makes it one printable line.
func cleanText(text string) string {
	// A url.Error reads: Get "http://…": what happened.
	if method, rest, ok := strings.Cut(text, " "); ok && validName(method) {
		if quoted, err := strconv.QuotedPrefix(rest); err == nil {
			if after, ok := strings.CutPrefix(rest[len(quoted):], ": "); ok {
				text = after
			}
		}
	}
	text = address.ReplaceAllString(text, "$4")
	text = strings.Map(func(c rune) rune {
		if !unicode.IsPrint(c) {
			return '�'
		}
		return c
	}, text)
	if r := []rune(text); len(r) > textRunes {
		text = string(r[:textRunes-1]) + "…"
	}
	return text
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

// errorTable adds up cleaned texts.
type errorTable struct {
	counts map[load.ErrorText]int64 // with Count 0 as the key
}

func (t *errorTable) add(kind load.FailureKind, text string, n int64) {
	if t.counts == nil {
		t.counts = make(map[load.ErrorText]int64)
	}
	key := load.ErrorText{Kind: kind, Text: text}
	if _, known := t.counts[key]; !known && len(t.counts) >= 4*mostTexts {
		key.Text = "other errors"
	}
	t.counts[key] += n
}

// list returns the most frequent texts first; what is beyond mostTexts is
// summed up by kind.
func (t *errorTable) list() []load.ErrorText {
	var all []load.ErrorText
	for e, n := range t.counts {
		e.Count = n
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b load.ErrorText) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Text, b.Text))
	})
	if len(all) <= mostTexts {
		return all
	}
	rest := make(map[load.FailureKind]load.ErrorText)
	for _, e := range all[mostTexts:] {
		r := rest[e.Kind]
		r.Kind, r.Count = e.Kind, r.Count+e.Count
		r.Text = fmt.Sprintf("other errors, beyond the %d most frequent texts", mostTexts)
		rest[e.Kind] = r
	}
	all = all[:mostTexts:mostTexts]
	for _, k := range load.Kinds() {
		if r, ok := rest[k]; ok {
			all = append(all, r)
		}
	}
	return all
}
