package html

import (
	"bytes"
	"os"
	"testing"
)

// TestWriteSample leaves the sample page where ABACUS_PAGE_OUT says, to be
// looked at.
func TestWriteSample(t *testing.T) {
	out := os.Getenv("ABACUS_PAGE_OUT")
	if out == "" {
		t.Skip("ABACUS_PAGE_OUT is not set")
	}
	var b bytes.Buffer
	if err := (Page{}).Report(&b, newSample()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(out, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
