package config

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"abacus/scenarios"
)

// With another url, what the file says of its own server must not count: not
// the pinned address, and not the status page.
func TestAnotherURLIsAnotherServer(t *testing.T) {
	const text = `campaign: c
url: http://one.example/
connect_to: 127.0.0.1:1
server: {status: "http://one.example/server-status"}
observe: {status: "http://one.example/status", interval: 1s}
scenarios:
  - scenario: s
    server: {processes: [apache2]}
    pages: [/p]
    steps: {concurrency: 1, requests: 1}
`
	dir := folder(t, map[string]string{"c.yaml": text})
	c := mustLoad(t, Input{Args: []string{"c.yaml"}, Dir: dir}).Campaign
	if c.ConnectTo == "" || c.Server == nil || c.Observe.Status == "" || c.Scenarios[0].Server == nil {
		t.Errorf("without a flag: %+v", c)
	}
	l := mustLoad(t, Input{Args: []string{"c.yaml"}, Dir: dir, Flags: flagsWith(t, "--url", "http://two.example/")})
	c = l.Campaign
	if c.ConnectTo != "" || c.Server != nil || c.Observe.Status != "" || time.Duration(c.Observe.Interval) != time.Second || c.Scenarios[0].Server != nil || c.URL != "http://two.example/" {
		t.Errorf("with another url: %+v, observe %+v", c, c.Observe)
	}
	want := []string{
		"c.yaml:3: connect_to is left out: it belongs to another url than that of flag --url",
		"c.yaml:4: server is left out: it belongs to another url than that of flag --url",
		"c.yaml:5: observe.status is left out: it belongs to another url than that of flag --url",
		"c.yaml:8: server is left out: it belongs to another url than that of flag --url",
	}
	var got []string
	for _, w := range l.Warnings {
		if strings.Contains(w, "left out") {
			got = append(got, w)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	l = mustLoad(t, Input{Args: []string{"c.yaml"}, Dir: dir, Flags: flagsWith(t, "--url", "http://two.example/", "--status-url", "http://two.example/s", "--set", "connect_to=127.0.0.1:2")})
	if c := l.Campaign; c.ConnectTo != "127.0.0.1:2" || c.Observe.Status != "http://two.example/s" {
		t.Errorf("given beside the url: %+v, observe %+v", c, c.Observe)
	}
}

// A list that a flag replaces must leave nothing of the old one behind.
func TestSetReplacesLists(t *testing.T) {
	dir := folder(t, map[string]string{"c.yaml": `campaign: c
scenarios:
  - {scenario: old, repeats: 3, margin: 0.1, pages: [/a], steps: [{concurrency: 1, requests: 10, duration: 1s}, {concurrency: 2, requests: 10}]}
`})
	l := mustLoad(t, Input{Args: []string{"c.yaml"}, Dir: dir, Set: []string{"scenarios=[engine-check, static-ladder]"}})
	if s := l.Campaign.Scenarios; len(s) != 2 || s[0].Name != "engine-check" || s[0].Margin != 0.02 || s[0].Repeats != 0 {
		t.Errorf("scenarios %+v", s)
	}
	l = mustLoad(t, Input{Args: []string{"c.yaml"}, Dir: dir, Set: []string{"steps={concurrency: [7, 3], requests: 70}", "margin=0.2"}})
	s := l.Campaign.Scenarios[0]
	if diff := cmp.Diff(scenarios.Steps{{Concurrency: 3, Requests: 70, KeepAlive: true}, {Concurrency: 7, Requests: 70, KeepAlive: true}}, s.Steps); diff != "" || s.Margin != 0.2 {
		t.Errorf("margin %v, steps:\n%s", s.Margin, diff)
	}
	if o := originOf(l, "scenarios.old.steps[1]"); o.From != "flag --set" {
		t.Errorf("origin %+v", o)
	}
}

// One key of the load levels can be set by itself: the others stay, whether
// the file has one mapping or a list of them.
func TestSetOneStepKey(t *testing.T) {
	dir := folder(t, map[string]string{
		"one.yaml": "scenario: one\npages: [/a]\nsteps: {concurrency: [10, 50], requests: 1000, keepalive: false}\n",
		"two.yaml": "scenario: two\npages: [/a]\nsteps:\n  - {concurrency: [1, 10], requests: 1000}\n  - {concurrency: 10, requests: 500, keepalive: false}\n",
		"no.yaml":  "scenario: no\npages: [/a]\n",
	})
	for _, tt := range []struct {
		file string
		set  []string
		want scenarios.Steps
	}{
		{"one.yaml", []string{"steps.concurrency=20"}, scenarios.Steps{{Concurrency: 20, Requests: 1000}}},
		{"one.yaml", []string{"steps.requests=500"}, scenarios.Steps{{Concurrency: 10, Requests: 500}, {Concurrency: 50, Requests: 500}}},
		{"one.yaml", []string{"steps.concurrency=[30, 5]", "steps.keepalive=true"}, scenarios.Steps{{Concurrency: 5, Requests: 1000, KeepAlive: true}, {Concurrency: 30, Requests: 1000, KeepAlive: true}}},
		{"one.yaml", []string{"steps.duration=2s", "steps.concurrency=7"}, scenarios.Steps{{Concurrency: 7, Requests: 1000, Duration: scenarios.Duration(2 * time.Second)}}},
		{"two.yaml", []string{"steps.concurrency=20"}, scenarios.Steps{{Concurrency: 20, Requests: 1000, KeepAlive: true}, {Concurrency: 20, Requests: 500}}},
		{"two.yaml", []string{"steps.requests=600"}, scenarios.Steps{{Concurrency: 1, Requests: 600, KeepAlive: true}, {Concurrency: 10, Requests: 600, KeepAlive: true}, {Concurrency: 10, Requests: 600}}},
		{"no.yaml", []string{"steps.concurrency=2", "steps.requests=20"}, scenarios.Steps{{Concurrency: 2, Requests: 20, KeepAlive: true}}},
	} {
		l := mustLoad(t, Input{Args: []string{tt.file}, Dir: dir, Set: tt.set})
		if diff := cmp.Diff(tt.want, l.Campaign.Scenarios[0].Steps); diff != "" {
			t.Errorf("%s %v:\n%s", tt.file, tt.set, diff)
		}
	}
	for set, want := range map[string]string{
		"steps.requests=5":       `flag --set: steps.requests: value "5": must be at least the concurrency, which is 10`,
		"steps.concurrency=many": `flag --set: steps.concurrency: value "many": must be a whole number in plain digits`,
		"steps.requets=5":        `flag --set: steps.requets: unknown key; did you mean "requests"?`,
		"steps.concurrency=0":    `flag --set: steps.concurrency: value "0": must be 1 to 10000 connections`,
		"steps.concurrency=[]":   `flag --set: steps.concurrency: is an empty list; give it an entry or leave the key out`,
		"steps.concurrency.x=1":  `flag --set: steps.concurrency: must be a whole number, not a mapping`,
	} {
		_, err := Load(Input{Args: []string{"one.yaml"}, Dir: dir, Set: []string{set}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", set, err, want)
		}
	}
}
