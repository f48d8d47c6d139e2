package record

import (
	"bytes"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// Hidden stands where a secret would have been.
const Hidden = "<redacted>"

// leastSecret is the length from which on a value can be looked for: shorter
// ones would be found in the middle of innocent words.
const leastSecret = 6

// Secrets are values that must not reach a record, a page or a terminal, even
// when a server sends them back. The zero value hides nothing.
type Secrets struct{ values []string }

// Add takes a value in. It is also found as JSON and URLs write it.
func (s *Secrets) Add(value string) {
	if len(value) < leastSecret || value == Hidden {
		return
	}
	forms := []string{value, url.QueryEscape(value), url.PathEscape(value)}
	if quoted, err := json.Marshal(value); err == nil {
		forms = append(forms, string(quoted[1:len(quoted)-1]))
	}
	for _, f := range forms {
		if !slices.Contains(s.values, f) {
			s.values = append(s.values, f)
		}
	}
	// A value that holds another goes first.
	slices.SortFunc(s.values, func(a, b string) int { return len(b) - len(a) })
}

// Text hides all values in a text.
func (s *Secrets) Text(text string) string {
	for _, v := range s.values {
		text = strings.ReplaceAll(text, v, Hidden)
	}
	return text
}

// json hides all values in the strings of a JSON text. Keys, numbers and
// punctuation are left alone, so that a secret that reads like one of them
// cannot damage a record.
func (s *Secrets) json(data []byte) []byte {
	if len(s.values) == 0 {
		return data
	}
	out := make([]byte, 0, len(data))
	for len(data) > 0 {
		start := bytes.IndexByte(data, '"')
		if start < 0 {
			break
		}
		end := stringEnd(data, start)
		out = append(out, data[:start]...)
		text := data[start:end]
		data = data[end:]
		if key := bytes.TrimLeft(data, " \t\r\n"); len(key) == 0 || key[0] != ':' {
			text = []byte(s.Text(string(text)))
		}
		out = append(out, text...)
	}
	return append(out, data...)
}

// stringEnd is the place behind the JSON string that begins at start.
func stringEnd(data []byte, start int) int {
	for i := start + 1; i < len(data); i++ {
		switch data[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(data)
}
