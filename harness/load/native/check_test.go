package native

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"abacus/harness/expect"
	"abacus/harness/load"
)

// A buffer for a checked body is not kept for every connection.
func TestCheckedBodiesAreLetGo(t *testing.T) {
	page := strings.Repeat("x", 1<<20)
	j := job(serve(t, say(ok11+"Content-Length: 1048576\r\n\r\n"+page)), 4, 2)
	j.Expect, j.SampleEvery = expect.Rules{Contains: []string{"x"}}, 1
	target, err := newTarget(j)
	if err != nil {
		t.Fatal(err)
	}
	d, err := newDialer(context.Background(), j, target)
	if err != nil {
		t.Fatal(err)
	}
	r := newRun(&Engine{}, j, buildRequest(j, target), d)
	if res := r.do(context.Background(), nil); res.Expect.Checked != 4 || res.Expect.Unmet != 0 {
		t.Errorf("expect %+v", res.Expect)
	}
	for _, c := range r.clients {
		if cap(c.parser.body) > DefaultTraceBody {
			t.Errorf("a client holds on to %d bytes", cap(c.parser.body))
		}
	}
}

func TestExpectOnSamples(t *testing.T) {
	var n atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Cache", "HIT")
		if n.Add(1) == 11 {
			_, _ = w.Write([]byte("Fatal error: no page"))
			return
		}
		_, _ = w.Write([]byte("the page of the test"))
	}))
	defer srv.Close()
	j := job(srv.URL, 50, 1)
	j.Expect = expect.Rules{Status: 200, Contains: []string{"the page"}, NotContains: []string{"Fatal"}, Header: map[string]string{"x-cache": "HIT"}}
	j.SampleEvery = 10
	res := runJob(t, j)
	// Requests 1, 11, 21, 31 and 41 are looked at; 11 breaks two rules.
	want := &load.ExpectChecks{Checked: 5, Unmet: 1, Examples: []string{
		`body does not contain "the page"`, `body contains "Fatal"`}}
	if res.Expect == nil || res.Expect.Checked != want.Checked || res.Expect.Unmet != want.Unmet || !slices.Equal(res.Expect.Examples, want.Examples) {
		t.Errorf("expect %+v, want %+v", res.Expect, want)
	}
	if res.Counts.Failed != 0 {
		t.Errorf("counts %+v: an unmet rule is no failure", res.Counts)
	}
	j.SampleEvery = 0
	if res := runJob(t, j); res.Expect != nil {
		t.Errorf("nothing was to be checked, expect is %+v", res.Expect)
	}
	// A body too long to be kept is said to be unchecked.
	long := serve(t, sayAndClose("HTTP/1.0 200 OK\r\n\r\n"+strings.Repeat("x", maxCheckedBody+1)))
	j = job(long, 2, 1)
	j.Expect, j.SampleEvery = expect.Rules{Contains: []string{"x"}}, 1
	if res := runJob(t, j); res.Expect.Checked != 0 || len(res.Notes) != 1 || !strings.HasPrefix(res.Notes[0], "2 sampled answers were longer") {
		t.Errorf("expect %+v, notes %v", res.Expect, res.Notes)
	}
}
