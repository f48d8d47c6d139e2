package load

import (
	"cmp"
	"slices"
	"sync"

	"abacus/harness/oneline"
)

// The most different error texts that a result holds, and their length in
// runes.
const (
	mostTexts = 20
	textRunes = 200
)

// ErrorText is one message of failures with the number of times it came.
// Engines take addresses and ports off, so that like errors add up.
type ErrorText struct {
	Kind  FailureKind `json:"kind"`
	Text  string      `json:"text"`
	Count int64       `json:"count"`
}

// ErrorTable adds up the messages of failures. It is bounded, whatever a
// server has them say. The zero value is empty and ready; it may be used by
// several goroutines at once.
type ErrorTable struct {
	mu     sync.Mutex
	counts map[ErrorText]int64 // with Count 0 as the key
}

// Add counts n failures with the same message, which may quote a server and is
// made one printable line. Once there are many more texts than List gives,
// what is new is counted together by kind.
func (t *ErrorTable) Add(kind FailureKind, text string, n int64) {
	key := ErrorText{Kind: kind, Text: oneline.Shorten(text, textRunes)}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.counts == nil {
		t.counts = map[ErrorText]int64{}
	}
	if _, known := t.counts[key]; !known && len(t.counts) >= 4*mostTexts {
		key.Text = "other errors"
	}
	t.counts[key] += n
}

// List returns the texts, the most frequent first; the counts of all beyond
// the first twenty are added up by kind, at the end.
func (t *ErrorTable) List() []ErrorText {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []ErrorText
	for e, n := range t.counts {
		e.Count = n
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b ErrorText) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Text, b.Text))
	})
	if len(all) <= mostTexts {
		return all
	}
	rest := map[FailureKind]int64{}
	for _, e := range all[mostTexts:] {
		rest[e.Kind] += e.Count
	}
	all = all[:mostTexts:mostTexts]
	for _, k := range Kinds() {
		if n := rest[k]; n > 0 {
			all = append(all, ErrorText{Kind: k, Text: "other errors, each less frequent", Count: n})
		}
	}
	return all
}
