package scenarios

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"abacus/harness/expect"
)

func TestOverlay(t *testing.T) {
	no, yes, zero, seven := false, true, int64(0), int64(7)
	upper := Settings{
		Engine: "native", Timeout: Duration(time.Second), Repeats: 6, Title: "above", AcceptVariableLength: &yes,
		Lab: &Lab{Kind: "demo"}, Allow: []string{"a"}, Goals: []string{"failed == 0"}, StopIf: []string{"failed > 1"},
		Observe: &Observe{Interval: Duration(time.Second), Status: "off", Host: &yes},
		Expect:  &expect.Rules{Status: 200, Bytes: &seven, Contains: []string{"x"}},
		Warmup:  &Warmup{Until: "steady"},
		Headers: Headers{{"Accept", "a"}, {"X-Upper", "u"}},
		Server:  &Server{Status: "http://h/s", Processes: []string{"p"}},
	}
	lower := Settings{
		Engine: "hey", AcceptVariableLength: &no, Lab: &Lab{Kind: "external"}, Allow: []string{"b"}, StopIf: []string{},
		Observe: &Observe{Interval: Duration(2 * time.Second), Host: &no},
		Expect:  &expect.Rules{Bytes: &zero, SameBody: true},
		Warmup:  &Warmup{Requests: 5},
		Headers: Headers{{"X-Lower", "l"}, {"accept", "b"}},
		Goals:   []string{"p95 < 1s"},
	}
	want := Settings{
		Engine: "hey", Timeout: Duration(time.Second), Repeats: 6, Title: "above", AcceptVariableLength: &no,
		Lab: &Lab{Kind: "external"}, Allow: []string{"a", "b"}, Goals: []string{"p95 < 1s"}, StopIf: []string{},
		Observe: &Observe{Interval: Duration(2 * time.Second), Status: "off", Host: &no},
		Expect:  &expect.Rules{Status: 200, Bytes: &zero, Contains: []string{"x"}, SameBody: true},
		Warmup:  &Warmup{Requests: 5},
		Headers: Headers{{"X-Upper", "u"}, {"X-Lower", "l"}, {"accept", "b"}},
		Server:  &Server{Status: "http://h/s", Processes: []string{"p"}},
	}
	before := cmp.Diff(upper, Settings{})
	if diff := cmp.Diff(want, Overlay(upper, lower)); diff != "" {
		t.Error(diff)
	}
	if cmp.Diff(upper, Settings{}) != before || upper.Observe.Status != "off" || *upper.Expect.Bytes != 7 || time.Duration(upper.Observe.Interval) != time.Second {
		t.Error("the upper settings were changed")
	}
	for _, s := range []Settings{upper, lower} {
		if diff := cmp.Diff(s, Overlay(s, Settings{})); diff != "" {
			t.Errorf("nothing laid over changes something:\n%s", diff)
		}
		if diff := cmp.Diff(s, Overlay(Settings{}, s)); diff != "" {
			t.Errorf("laid over nothing, something is lost:\n%s", diff)
		}
	}
}

func TestStatusURL(t *testing.T) {
	for _, tt := range []struct {
		s   Settings
		url string
		off bool
	}{
		{Settings{}, "", false},
		{Settings{Server: &Server{Status: "http://s/"}}, "http://s/", false},
		{Settings{Server: &Server{Status: "http://s/"}, Observe: &Observe{Status: "http://o/"}}, "http://o/", false},
		{Settings{Server: &Server{Status: "http://s/"}, Observe: &Observe{Status: "off"}}, "", true},
		{Settings{Server: &Server{Status: "http://s/"}, Observe: &Observe{Interval: 1}}, "http://s/", false},
	} {
		if url, off := tt.s.StatusURL(); url != tt.url || off != tt.off {
			t.Errorf("%+v: got %q, %v", tt.s, url, off)
		}
	}
}

func TestFilesAreThere(t *testing.T) {
	for _, name := range BuiltIn() {
		if text, ok := File(name); !ok || len(text) == 0 {
			t.Errorf("%s: %d bytes, %v", name, len(text), ok)
		}
	}
	for _, name := range []string{"", "nothing", "../config", "static-ladder.yaml"} {
		if _, ok := File(name); ok {
			t.Errorf("%q is a built-in scenario", name)
		}
	}
}
