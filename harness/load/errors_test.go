package load

import (
	"fmt"
	"strings"
	"testing"
)

func TestErrorTable(t *testing.T) {
	var table ErrorTable
	if list := table.List(); len(list) != 0 {
		t.Errorf("an empty table lists %v", list)
	}
	for i := range 50 {
		table.Add(FailReceive, fmt.Sprintf("text %02d", i), int64(i%2+1))
	}
	table.Add(FailConnect, "refused", 7)
	table.Add(FailConnect, "seldom", 1)
	list := table.List()
	// "refused", 19 of the 25 texts that came twice, and the rest: six twice
	// and 25 once, and one failed connect.
	if len(list) != 22 || list[0] != (ErrorText{FailConnect, "refused", 7}) || list[1] != (ErrorText{FailReceive, "text 01", 2}) {
		t.Fatalf("%d texts: %+v", len(list), list)
	}
	if list[20] != (ErrorText{FailConnect, "other errors, each less frequent", 1}) || list[21] != (ErrorText{FailReceive, "other errors, each less frequent", 37}) {
		t.Errorf("the rest: %+v", list[20:])
	}
}

// Whatever a server has the errors say, the table stays small, and the counts
// add up.
func TestErrorTableIsBounded(t *testing.T) {
	var table ErrorTable
	for i := range 10_000 {
		table.Add(FailException, fmt.Sprintf("text %d", i), 2)
	}
	table.Add(FailReceive, "EOF", 100_000)
	list := table.List()
	if len(list) > mostTexts+len(Kinds()) || len(table.counts) > 4*mostTexts+len(Kinds()) {
		t.Errorf("%d texts listed, %d kept", len(list), len(table.counts))
	}
	var got int64
	for _, e := range list {
		got += e.Count
	}
	if got != 120_000 {
		t.Errorf("the listed counts are %d in all, want 120000", got)
	}
}

// A text from a server cannot drive a terminal, break a line or be endless.
func TestErrorTextIsPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"no \x1b[31m colour\n":    "no  [31m colour",
		"héllo \xff":              "héllo ?",
		strings.Repeat("é", 200):  strings.Repeat("é", 200),
		strings.Repeat("é", 1000): strings.Repeat("é", 199) + "…",
	} {
		var table ErrorTable
		table.Add(FailException, text, 1)
		if got := table.List()[0].Text; got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}
