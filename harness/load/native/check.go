package native

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"sync"

	"abacus/harness/expect"
	"abacus/harness/load"
)

const (
	// maxCheckedBody is the longest body that is checked against rules.
	maxCheckedBody = 4 << 20
	maxExamples    = 5
)

// checker holds sampled answers against the job's expect rules. A nil one
// checks nothing.
type checker struct {
	rules expect.Rules
	every int64

	mu      sync.Mutex
	seen    load.ExpectChecks
	tooLong int64
}

// newChecker returns nil when the job asks for no checks.
func newChecker(job load.Job) *checker {
	if job.SampleEvery <= 0 || job.Expect.Empty() {
		return nil
	}
	return &checker{rules: job.Expect, every: int64(job.SampleEvery)}
}

// wants tells whether the answer to that request is checked; the first is.
func (k *checker) wants(ticket int64) bool {
	return k != nil && (ticket-1)%k.every == 0
}

// bodyBytes is how much of the body the rules must see; one byte over the
// limit shows that it was passed.
func (k *checker) bodyBytes() int {
	if k.rules.NeedsBody() {
		return maxCheckedBody + 1
	}
	return 0
}

// look checks the whole answer that the parser holds, if it is wanted.
func (k *checker) look(ticket int64, p *parser) {
	if !k.wants(ticket) {
		return
	}
	tooLong := k.rules.NeedsBody() && len(p.body) > maxCheckedBody
	var unmet []string
	if !tooLong {
		unmet = k.rules.Check(expect.Answer{Status: p.status, Header: headerOf(p.head), Body: p.body})
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if tooLong {
		k.tooLong++
		return
	}
	k.seen.Checked++
	if len(unmet) > 0 {
		k.seen.Unmet++
		for _, text := range unmet {
			if len(k.seen.Examples) < maxExamples && !slices.Contains(k.seen.Examples, text) {
				k.seen.Examples = append(k.seen.Examples, text)
			}
		}
	}
}

func (k *checker) result() *load.ExpectChecks {
	k.mu.Lock()
	defer k.mu.Unlock()
	seen := k.seen
	return &seen
}

func (k *checker) notes() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.tooLong == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d sampled answers were longer than 4 MiB and not checked against expect", k.tooLong)}
}

// headerOf reads the header lines of a head that the parser has accepted.
func headerOf(head []byte) http.Header {
	h := http.Header{}
	for i, line := range bytes.Split(head, []byte("\n")) {
		name, value, ok := bytes.Cut(line, []byte(":"))
		if i == 0 || !ok || line[0] == ' ' || line[0] == '\t' {
			continue
		}
		h.Add(string(name), string(bytes.TrimSpace(value)))
	}
	return h
}
