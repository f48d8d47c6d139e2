package config

import (
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"abacus/harness/expect"
	"abacus/harness/plan"
	"abacus/scenarios"
)

func reflectCampaign() reflect.Type { return reflect.TypeFor[plan.Campaign]() }

// everything sets each key once, in ways that are easy to lose on the way.
const everything = `campaign: everything
title: "7"
question: "true"
author: Ada
notes: |
  Two lines
  of text: with # signs
caveats: ["a: b", "- c"]
results: out
report: {formats: [html, json], open: true}
allow: [lab.example.org]
connect_to: 127.0.0.1:9
server: {status: "http://127.0.0.1/s", host: localhost, processes: [apache2, php-fpm8.2]}
engine: hey
headers: {X-Yes: "yes", Authorization: "Bearer ${TOKEN}", x-lower: "0123"}
method: POST
body: '{"a": "$${literal} ${TOKEN}"}'
timeout: 1m30s
accept_variable_length: true
repeats: 7
seed: 18446744073709551615
warmup: {duration: 2s}
settle: {max: 0s}
observe: {interval: 150ms, status: off, host: false}
expect: {status: 201, contains: ["</html>", "404"], not_contains: [Warning], bytes: 0, header: {Content-Type: text/html, ETag: "1"}, same_body: true}
stop_if: []
goals: ["p95 < 30ms", "throughput > 0.95 × baseline"]
setup: [[touch, "a b"], ["echo", "true", "7"]]
prepare: [[sync]]
conclude: [["x", ""]]
cleanup: [["y"]]
scenarios:
  - scenario: one
    baseline: B.2
    primary: p95
    margin: 0.05
    lab: {kind: demo}
    variants:
      - {name: A_1, path: "/a?x=1&y=%20", labs: [demo, external], expect: {status: 200}}
      - {name: B.2, headers: {X-B: b}, engine: native, stop_if: ["failed > 20% for 5s"], timeout: 5s}
      - {name: c, url: "http://127.0.0.1:1/c"}
    pages: [/p, /q]
    steps:
      - {concurrency: [5, 1], requests: [100, 50], keepalive: [false, true]}
      - {concurrency: 3, duration: 250ms}
  - scenario: two
    repeats: 6
    seed: 3
    engines: [hey, native]
    pages: [/p]
    steps: {concurrency: 1, requests: 1, duration: 1s}
`

func TestEverything(t *testing.T) {
	env := []string{"TOKEN=s3cret"}
	l := mustLoad(t, Input{Args: []string{"e.yaml"}, Dir: folder(t, map[string]string{"e.yaml": everything}), Environ: env})
	c := l.Campaign
	no, yes, zero := false, true, int64(0)
	if diff := cmp.Diff(scenarios.Headers{{Name: "X-Yes", Value: "yes"}, {Name: "Authorization", Value: "Bearer ${TOKEN}"}, {Name: "x-lower", Value: "0123"}}, c.Headers); diff != "" {
		t.Error(diff)
	}
	want := expect.Rules{Status: 201, Contains: []string{"</html>", "404"}, NotContains: []string{"Warning"}, Bytes: &zero,
		Header: map[string]string{"Content-Type": "text/html", "ETag": "1"}, SameBody: true}
	if diff := cmp.Diff(&want, c.Expect); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(&scenarios.Observe{Interval: 150e6, Status: "off", Host: &no}, c.Observe); diff != "" {
		t.Error(diff)
	}
	if c.Title != "7" || c.Question != "true" || c.Notes != "Two lines\nof text: with # signs\n" || *c.Seed != 18446744073709551615 || *c.AcceptVariableLength != yes {
		t.Errorf("campaign %+v", c)
	}
	if c.StopIf == nil || len(c.StopIf) != 0 {
		t.Errorf("stop_if %#v: an empty list switches the default off", c.StopIf)
	}
	// keepalive outermost, as in the file; then requests; concurrency ascends.
	steps := scenarios.Steps{
		{Concurrency: 1, Requests: 100}, {Concurrency: 5, Requests: 100}, {Concurrency: 1, Requests: 50}, {Concurrency: 5, Requests: 50},
		{Concurrency: 1, Requests: 100, KeepAlive: true}, {Concurrency: 5, Requests: 100, KeepAlive: true},
		{Concurrency: 1, Requests: 50, KeepAlive: true}, {Concurrency: 5, Requests: 50, KeepAlive: true},
		{Concurrency: 3, Duration: 250e6, KeepAlive: true},
	}
	if diff := cmp.Diff(steps, c.Scenarios[0].Steps); diff != "" {
		t.Error(diff)
	}
	p, err := plan.Expand(c, *c.Seed)
	if err != nil {
		t.Fatal(err)
	}
	for _, cell := range p.Cells {
		s := cell.Settings
		switch cell.Variant {
		case "A_1":
			if s.Expect.Status != 200 || *s.Expect.Bytes != 0 || cell.Path != "/a?x=1&y=%20" || cell.Page != "" || cell.Engine != "hey" {
				t.Errorf("A_1: %+v", cell)
			}
		case "B.2":
			if s.Timeout != 5e9 || len(s.Headers) != 4 || s.Headers[3].Name != "X-B" || cell.Engine != "native" || cell.Page == "" || !cell.Baseline || len(s.StopIf) != 1 {
				t.Errorf("B.2: %+v", cell)
			}
		case "c":
			if cell.URL != "http://127.0.0.1:1/c" || cell.Path != "" || cell.Page != "" || cell.Lab != "external" {
				t.Errorf("c: %+v", cell)
			}
		case "two/hey", "two/native":
		default:
			t.Errorf("unknown variant %s", cell.Variant)
		}
	}
}

// The effective campaign must load again to the same campaign, and be the same
// bytes then: resuming compares fingerprints.
func TestMarshalRoundTrip(t *testing.T) {
	env := []string{"TOKEN=s3cret"}
	dir := folder(t, map[string]string{"e.yaml": everything, "s.yaml": smallScenario, "full.yaml": string(FullFile())})
	for _, in := range []Input{
		{}, {Args: []string{"static-ladder"}}, {Args: []string{"e.yaml"}}, {Args: []string{"s.yaml"}, Quick: true}, {Args: []string{"full.yaml"}},
		{Args: []string{"http://127.0.0.1/a", "http://127.0.0.1/b"}}, {Args: []string{"http://127.0.0.1/a"}},
		{Flags: flagsWith(t, "--engine", "hey", "--url", "http://127.0.0.1:1/", "--repeats", "3")},
	} {
		in.Dir, in.Environ = dir, env
		first := mustLoad(t, in)
		text, err := MarshalCampaign(first.Campaign)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "s3cret") {
			t.Errorf("%v: the secret is in the file", in.Args)
		}
		again := mustLoad(t, Input{Args: []string{"./campaign.yaml"}, Dir: folder(t, map[string]string{"campaign.yaml": string(text)}), Environ: env,
			DrawSeed: func() uint64 { t.Error("the seed is not in the file"); return 0 }})
		if diff := cmp.Diff(first.Campaign, again.Campaign); diff != "" {
			t.Errorf("%v: the campaign changed (-first +again):\n%s\n%s", in.Args, diff, text)
		}
		text2, err := MarshalCampaign(again.Campaign)
		if err != nil || string(text2) != string(text) {
			t.Errorf("%v: written twice, it differs: %v\n%s", in.Args, err, cmp.Diff(string(text), string(text2)))
		}
		if a, b := fingerprint(t, first.Campaign), fingerprint(t, again.Campaign); a != b {
			t.Errorf("%v: fingerprints %s, %s", in.Args, a, b)
		}
	}
}

func fingerprint(t *testing.T, c plan.Campaign) string {
	t.Helper()
	p, err := plan.Expand(c, *c.Seed)
	if err != nil {
		t.Fatal(err)
	}
	f, err := p.Fingerprint()
	if err != nil || len(f) != 64 {
		t.Fatalf("%q, %v", f, err)
	}
	return f
}

// Nothing of the environment, and no literal secret, may be stored or shown.
func TestSecrets(t *testing.T) {
	for _, tt := range []struct{ name, value, stored string }{
		{"Authorization", "Bearer abc", redacted},
		{"authorization", "Bearer ${T}", "Bearer ${T}"},
		{"Authorization", "Basic dXNlcjpwYXNz${T}", redacted},
		{"Authorization", "dXNlcjpwYXNz=${T}", redacted},
		{"Authorization", "$${T} abc", redacted},
		{"Proxy-Authorization", "Basic x", redacted},
		{"Cookie", "a=${A}; b=${B}", "a=${A}; b=${B}"},
		{"Cookie", "a=1; b=${B}", redacted},
		{"COOKIE", "session=1", redacted},
		{"X-Api-Key", "k", redacted},
		{"X-Auth-Token", "k", redacted},
		{"X-Session-Id", "k", redacted},
		{"X-Goog-Signature", "k", redacted},
		{"Accept-Encoding", "gzip", "gzip"},
		{"Authority", "x", "x"},
		{"X-Author", "me", "me"},
		{"Authorization", "", ""},
	} {
		if got := Redact(scenarios.Header{Name: tt.name, Value: tt.value}); got != tt.stored {
			t.Errorf("%s: %s stored as %q, want %q", tt.name, tt.value, got, tt.stored)
		}
	}
	text := smallScenario + "headers: {Authorization: Bearer l1teral, X-Env: \"${NAME}\"}\n"
	l := mustLoad(t, Input{Args: []string{"./s.yaml"}, Dir: folder(t, map[string]string{"s.yaml": text}), Environ: []string{"NAME=env1ronment"}})
	if got, _ := l.Campaign.Scenarios[0].Headers.Get("authorization"); got != "Bearer l1teral" {
		t.Errorf("the request would carry %q", got)
	}
	stored, err := MarshalCampaign(l.Campaign)
	if err != nil {
		t.Fatal(err)
	}
	shown := string(stored)
	for _, o := range l.Origins {
		shown += o.Value
	}
	if strings.Contains(shown, "l1teral") || strings.Contains(shown, "env1ronment") || !strings.Contains(shown, "${NAME}") {
		t.Errorf("shown:\n%s", shown)
	}
	// The stored file cannot run until the secret is given again.
	dir := folder(t, map[string]string{"campaign.yaml": string(stored)})
	got := problemsOf(t, Input{Args: []string{"./campaign.yaml"}, Dir: dir, Environ: []string{"NAME=x"}})
	if len(got) != 1 || !strings.Contains(got[0], "headers.Authorization: value \"<redacted>\": was not stored because it is secret") {
		t.Errorf("problems %q", got)
	}
	again := mustLoad(t, Input{Args: []string{"./campaign.yaml"}, Dir: dir, Environ: []string{"NAME=x"}, Set: []string{"headers.Authorization=Bearer new"}})
	p, err := plan.Expand(again.Campaign, 1)
	if err != nil {
		t.Fatal(err)
	}
	if v, _ := p.Cells[0].Settings.Headers.Get("Authorization"); v != "Bearer new" {
		t.Errorf("Authorization %q", v)
	}
}

func TestExpand(t *testing.T) {
	getenv := func(name string) string { return map[string]string{"A": "1", "LONG_name2": "${A}"}[name] }
	for _, tt := range []struct{ in, want, fails string }{
		{"plain $ text $A", "plain $ text $A", ""},
		{"${A}-${A}", "1-1", ""},
		{"${LONG_name2}", "${A}", ""}, // a value is not expanded again
		{"$${A}", "${A}", ""},
		{"$$${A}", "$${A}", ""},
		{"${B}", "", "the environment variable B is not set"},
		{"${A", "", "${ without an end; $${ gives a literal ${"},
		{"${a b}", "", "${a b} does not name an environment variable; $${ gives a literal ${"},
		{"${}", "", "${} does not name an environment variable; $${ gives a literal ${"},
	} {
		got, err := Expand(tt.in, getenv)
		if (err == nil) != (tt.fails == "") || (err != nil && err.Error() != tt.fails) || got != tt.want {
			t.Errorf("%q: got %q, %v; want %q, %q", tt.in, got, err, tt.want, tt.fails)
		}
	}
}

// switchedOff finds lines that offer a key behind a comment sign.
var switchedOff = regexp.MustCompile(`^( *)#( *)([a-z_]+:.*)$`)

// The file of init --full must name every key, load as it is, and load or at
// least know every key that is switched off.
func TestFullFile(t *testing.T) {
	full := string(FullFile())
	env := []string{"TOKEN=x"}
	files := map[string]string{"f.yaml": full, "body.json": "{}", "index.php": "<?php"}
	l := mustLoad(t, Input{Args: []string{"f.yaml"}, Dir: folder(t, files), Environ: env})
	if len(l.Warnings) != 0 {
		t.Errorf("warnings %q", l.Warnings)
	}
	for _, typ := range []reflect.Type{reflectCampaign(), reflect.TypeFor[scenarios.Scenario](), reflect.TypeFor[scenarios.Variant](), reflect.TypeFor[scenarios.Step](),
		reflect.TypeFor[scenarios.Server](), reflect.TypeFor[scenarios.Observe](), reflect.TypeFor[scenarios.Warmup](), reflect.TypeFor[scenarios.Settle](), reflect.TypeFor[expect.Rules](), reflect.TypeFor[plan.Report]()} {
		for _, key := range keysOf(typ) {
			if !regexp.MustCompile(`(?m)(^|[ #{])` + key + `:`).MatchString(full) {
				t.Errorf("%v: key %s is not in the file", typ, key)
			}
		}
	}
	lines := strings.Split(full, "\n")
	offers := 0
	for i, line := range lines {
		m := switchedOff.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		offers++
		if m[2] != "" {
			continue // part of the block above, switched on with it
		}
		changed := append([]string(nil), lines...)
		changed[i] = m[1] + m[3]
		for j := i + 1; j < len(lines); j++ { // the block's own lines
			sub := switchedOff.FindStringSubmatch(lines[j])
			if sub == nil || sub[2] == "" {
				if !regexp.MustCompile(`^ *#  [A-Za-z-]+:`).MatchString(lines[j]) {
					break
				}
			}
			changed[j] = strings.Replace(lines[j], "#", "", 1)
		}
		files["f.yaml"] = strings.Join(changed, "\n")
		_, err := Load(Input{Args: []string{"f.yaml"}, Dir: folder(t, files), Environ: env})
		if err != nil && !strings.HasPrefix(m[3], "url:") { // which the lab demo beside it forbids
			t.Errorf("line %d, switched on: %v", i+1, err)
		}
	}
	if offers < 15 {
		t.Errorf("%d keys are switched off; the pattern no longer finds them", offers)
	}
}
