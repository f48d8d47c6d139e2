package worker

import (
	"strings"
	"sync"
	"unicode"
)

// How much of what the child prints to stderr is kept: a panic says first
// what happened and then, at length, where.
const (
	keepHead = 2 << 10
	keepTail = 4 << 10
)

// lastWords keeps the beginning and the end of what is written to it.
type lastWords struct {
	mu         sync.Mutex
	head, tail []byte
	dropped    bool
}

// Write keeps what there is room for and never fails.
func (l *lastWords) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(b)
	if room := keepHead - len(l.head); room > 0 {
		room = min(room, len(b))
		l.head = append(l.head, b[:room]...)
		b = b[room:]
	}
	l.tail = append(l.tail, b...)
	if over := len(l.tail) - keepTail; over > 0 {
		l.dropped = true
		l.tail = append(l.tail[:0], l.tail[over:]...)
	}
	return n, nil
}

// text is what was kept, with control characters (it may quote a server)
// replaced.
func (l *lastWords) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := string(l.head)
	if l.dropped {
		s += "\n…\n"
	}
	s += string(l.tail)
	return strings.Map(func(c rune) rune {
		if c == '\n' || unicode.IsPrint(c) {
			return c
		}
		if c == '\t' {
			return ' '
		}
		return '�'
	}, strings.TrimSpace(s))
}

// gist is the one line that says most: how a Go program announces its end,
// else the last lines.
func gist(text string) string {
	lines := strings.FieldsFunc(text, func(c rune) bool { return c == '\n' })
	for _, line := range lines {
		for _, start := range []string{"panic: ", "fatal error: ", "runtime: "} {
			if strings.HasPrefix(line, start) {
				return shorten(line)
			}
		}
	}
	return shorten(strings.Join(lines[max(0, len(lines)-3):], "; "))
}

func shorten(s string) string {
	const most = 300
	if r := []rune(s); len(r) > most {
		return "…" + string(r[len(r)-most:])
	}
	return s
}
