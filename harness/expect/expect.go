// Package expect says what an answer must look like to count as the page that
// was meant: the same rules are checked before load and on sampled answers
// during it.
package expect

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"abacus/harness/oneline"
)

// mostQuoted bounds a text that is quoted in a sentence, in runes.
const mostQuoted = 60

// Answer is what a rule set looks at: one HTTP answer, read whole.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Rules are the conditions of the `expect` key. The zero value accepts every
// answer.
type Rules struct {
	// Status is the status code that must come back; 0 accepts any.
	Status int `yaml:"status" json:"status,omitempty"`
	// Contains lists texts that the body must hold, NotContains those that it
	// must not (a PHP warning inside a 200 page, say).
	Contains    []string `yaml:"contains" json:"contains,omitempty"`
	NotContains []string `yaml:"not_contains" json:"not_contains,omitempty"`
	// Bytes is the body's exact length; nil accepts any.
	Bytes *int64 `yaml:"bytes" json:"bytes,omitempty"`
	// Header maps header names to a text that the value must contain.
	Header map[string]string `yaml:"header" json:"header,omitempty"`
	// SameBody asks that all variants and all answers give the same bytes.
	SameBody bool `yaml:"same_body" json:"same_body,omitempty"`
	// BodySHA256 is the hash that SameBody compares with; it is filled in by
	// the preflight, in lower-case hexadecimal, and is no key of the file.
	BodySHA256 string `yaml:"-" json:"body_sha256,omitempty"`
}

// Empty tells whether no rule is set.
func (r Rules) Empty() bool {
	return r.Status == 0 && len(r.Contains) == 0 && len(r.NotContains) == 0 &&
		r.Bytes == nil && len(r.Header) == 0 && !r.SameBody
}

// NeedsBody tells whether a check must see the body's bytes.
func (r Rules) NeedsBody() bool {
	return len(r.Contains) > 0 || len(r.NotContains) > 0 || r.Bytes != nil ||
		(r.SameBody && r.BodySHA256 != "")
}

// Check returns one sentence per rule that the answer breaks, nil when it
// keeps them all. Texts from the server are quoted and shortened.
func (r Rules) Check(a Answer) []string {
	var unmet []string
	if r.Status != 0 && a.Status != r.Status {
		unmet = append(unmet, fmt.Sprintf("status %d, expected %d", a.Status, r.Status))
	}
	if r.Bytes != nil && int64(len(a.Body)) != *r.Bytes {
		unmet = append(unmet, fmt.Sprintf("body of %d bytes, expected %d", len(a.Body), *r.Bytes))
	}
	body := string(a.Body)
	for _, want := range r.Contains {
		if !strings.Contains(body, want) {
			unmet = append(unmet, fmt.Sprintf("body does not contain %s", oneline.Quote(want, mostQuoted)))
		}
	}
	for _, bad := range r.NotContains {
		if strings.Contains(body, bad) {
			unmet = append(unmet, fmt.Sprintf("body contains %s", oneline.Quote(bad, mostQuoted)))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		got := strings.Join(a.Header.Values(name), ", ")
		if !strings.Contains(got, r.Header[name]) {
			unmet = append(unmet, fmt.Sprintf("header %s is %s, expected %s", name, oneline.Quote(got, mostQuoted), oneline.Quote(r.Header[name], mostQuoted)))
		}
	}
	if r.SameBody && r.BodySHA256 != "" {
		if got := Hash(a.Body); got != r.BodySHA256 {
			unmet = append(unmet, fmt.Sprintf("body differs from the first one: sha256 %.12s…, expected %.12s…", got, r.BodySHA256))
		}
	}
	return unmet
}

// Hash is the SHA-256 of a body in lower-case hexadecimal.
func Hash(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}
