package worker

import (
	"bufio"
	"errors"
	"io"
	"math"
	"runtime/metrics"
	"strings"
	"testing"
)

func TestQuantileBetween(t *testing.T) {
	bounds := []float64{math.Inf(-1), 0, 1, 2, math.Inf(1)} // four buckets
	h := func(counts ...uint64) *metrics.Float64Histogram {
		return &metrics.Float64Histogram{Counts: counts, Buckets: bounds}
	}
	for _, tt := range []struct {
		name          string
		before, after *metrics.Float64Histogram
		q, want       float64
		ok            bool
	}{
		{"nothing added", h(0, 5, 5, 5), h(0, 5, 5, 5), .99, 0, false},
		{"what was before does not count", h(0, 0, 900, 900), h(0, 100, 900, 900), .99, 1, true},
		{"99 of 100 below", h(0, 0, 0, 0), h(0, 99, 1, 0), .99, 1, true},
		{"98 of 100 below", h(0, 0, 0, 0), h(0, 98, 2, 0), .99, 2, true},
		{"in the last, endless bucket", h(0, 0, 0, 0), h(0, 0, 0, 1), .99, 2, true},
		{"no reading", nil, h(0, 1, 0, 0), .99, 0, false},
	} {
		if got, ok := quantileBetween(tt.before, tt.after, tt.q); got != tt.want || ok != tt.ok {
			t.Errorf("%s: %v %v, want %v %v", tt.name, got, ok, tt.want, tt.ok)
		}
	}
}

func TestLastWordsAreBounded(t *testing.T) {
	var l lastWords
	for range 1000 {
		_, _ = l.Write([]byte(strings.Repeat("filler\n", 100)))
	}
	_, _ = l.Write([]byte("the end\x1b]0;title\a"))
	text := l.text()
	if len(text) > keepHead+keepTail+20 || cap(l.head)+cap(l.tail) > 16<<10 {
		t.Errorf("%d bytes told, %d and %d kept", len(text), cap(l.head), cap(l.tail))
	}
	if !strings.HasPrefix(text, "filler\n") || !strings.HasSuffix(text, "the end�]0;title�") {
		t.Errorf("text %q … %q", text[:20], text[len(text)-40:])
	}
	if got := gist("a\nb\nc\nd\n"); got != "b; c; d" {
		t.Errorf("gist %q", got)
	}
	if got := gist("log\npanic: boom\n\ngoroutine 1 [running]:\nmain.main()\n"); got != "panic: boom" {
		t.Errorf("gist %q", got)
	}
}

func TestReadLine(t *testing.T) {
	r := bufio.NewReaderSize(strings.NewReader("short\n"+strings.Repeat("x", 100)+"\n\nlast"), 16)
	for _, want := range []string{"short", strings.Repeat("x", 100), ""} {
		if got, err := readLine(r, 101); err != nil || string(got) != want {
			t.Errorf("line %q, error %v, want %q", got, err, want)
		}
	}
	if _, err := readLine(r, 101); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a line without its end: %v", err)
	}
	if _, err := readLine(r, 101); !errors.Is(err, io.EOF) {
		t.Errorf("the end: %v", err)
	}
	if _, err := readLine(bufio.NewReaderSize(strings.NewReader(strings.Repeat("x", 101)+"\n"), 16), 101); err == nil {
		t.Error("a line of 102 bytes was read, the most is 101")
	}
}

// FuzzParseRecord: what is accepted is of one kind and complete.
func FuzzParseRecord(f *testing.F) {
	f.Add([]byte(`{"version":1,"type":"progress","progress":{"elapsed_ns":5}}`))
	f.Add([]byte(`{"version":1,"type":"result","result":{"engine":"native"}}`))
	f.Add([]byte(`{"version":1,"type":"error","error":{"message":"x","hint":"y","input":true}}`))
	f.Add([]byte(`{"version":1,"type":"result","result":null,"progress":{}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		rec, err := parseRecord(b)
		if err != nil {
			return
		}
		switch {
		case rec.Version != Version:
			t.Errorf("version %d", rec.Version)
		case rec.Type == typeProgress && rec.Progress != nil && rec.Result == nil && rec.Error == nil:
		case rec.Type == typeResult && rec.Result != nil && rec.Progress == nil && rec.Error == nil:
		case rec.Type == typeError && rec.Error != nil && rec.Progress == nil:
		default:
			t.Errorf("%q was accepted as %+v", b, rec)
		}
	})
}
