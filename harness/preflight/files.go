package preflight

import (
	"os"
	"strconv"
	"strings"
)

// text is the content of a small file without surrounding space, "" when it
// cannot be read.
func text(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

// wholeNumber reads a whole number from 0.
func wholeNumber(s string) (int64, bool) {
	n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
	return n, err == nil && n >= 0
}

// keyed finds the value of the first line "key<sep>value" with surrounding
// space and quotes taken off; "" when there is none.
func keyed(content, key, sep string) string {
	for line := range strings.Lines(content) {
		k, v, ok := strings.Cut(line, sep)
		if ok && strings.TrimSpace(k) == key {
			return strings.Trim(strings.TrimSpace(v), `"'`)
		}
	}
	return ""
}
