package scenarios

import (
	"strings"
	"testing"
)

// The size is part of what the built-in scenarios promise, and stands in
// their expectations.
func TestStaticPage(t *testing.T) {
	page := StaticPage()
	if got, want := len(page), 37519; got != want {
		t.Errorf("static.html has %d bytes, want %d", got, want)
	}
	if !strings.HasPrefix(page, "<!DOCTYPE html>\n") || !strings.HasSuffix(page, "</html>\n") {
		t.Errorf("static.html is not a whole page: it begins %.20q", page)
	}
	for _, outside := range []string{"http:", "https:", "src=", "<script"} {
		if strings.Contains(page, outside) {
			t.Errorf("static.html contains %q: it must not load anything else", outside)
		}
	}
}
