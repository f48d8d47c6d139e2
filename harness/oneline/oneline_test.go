package oneline

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestShorten(t *testing.T) {
	for _, tt := range []struct {
		in   string
		most int
		want string
	}{
		{"", 5, ""},
		{"abcde", 5, "abcde"},
		{"abcdef", 5, "abcd…"},
		{"üüüüüü", 5, "üüüü…"},
		{" a\x1b[2Jb\n", 20, "a [2Jb"},
		{"a\xffb", 5, "a?b"},
		{strings.Repeat("😀", 9), 3, "😀😀…"},
	} {
		if got := Shorten(tt.in, tt.most); got != tt.want {
			t.Errorf("Shorten(%q, %d) = %q, want %q", tt.in, tt.most, got, tt.want)
		}
	}
}

func TestQuote(t *testing.T) {
	for in, want := range map[string]string{
		"x\n":     `"x\n"`,
		`a"b`:     `"a\"b"`,
		"\x1b[2J": `"\x1b[2J"`,
		"abcdefg": `"abcde…"`,
	} {
		if got := Quote(in, 6); got != want {
			t.Errorf("Quote(%q) = %s, want %s", in, got, want)
		}
	}
}

func FuzzShorten(f *testing.F) {
	f.Add("a\x00\u202eb", 3)
	f.Fuzz(func(t *testing.T, s string, most int) {
		if most < 1 || most > 1000 {
			return
		}
		got := Shorten(s, most)
		if utf8.RuneCountInString(got) > most || strings.ContainsFunc(got, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("Shorten(%q, %d) = %q", s, most, got)
		}
	})
}
