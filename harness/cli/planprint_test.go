package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"abacus/harness/config"
	"abacus/harness/plan"
	"abacus/reporters"
)

const printedScenario = `scenario: s
title: Two pages
variants: [{name: a, path: /a}, {name: b, url: "http://127.0.0.1:8080/b", connect_to: "127.0.0.1:9"}]
steps: [{concurrency: 2, requests: 1000}, {concurrency: 1000, duration: 250ms, keepalive: false}]
repeats: 2
headers: {Authorization: Bearer l1teral}
prepare: [[touch, "a b"], [sync]]
cleanup: [[echo, "$HOME"]]
`

func loadPrinted(t *testing.T, change func(*config.Input)) (*config.Loaded, *plan.Plan) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "s.yaml"), []byte(printedScenario), 0o644); err != nil {
		t.Fatal(err)
	}
	in := config.Input{Args: []string{"s.yaml"}, Dir: dir, DrawSeed: func() uint64 { return 207 }}
	if change != nil {
		change(&in)
	}
	l, err := config.Load(in)
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.Expand(l.Campaign, *l.Campaign.Seed)
	if err != nil {
		t.Fatal(err)
	}
	return l, p
}

func TestPrintDryRun(t *testing.T) {
	l, p := loadPrinted(t, nil)
	var b strings.Builder
	if err := printDryRun(&b, dryPlan{loaded: l, plan: p, left: p.Runs, commands: [][]string{{"/usr/bin/abacus", "worker"}, {"memcached", "-l", "127.0.0.1"}}}); err != nil {
		t.Fatal(err)
	}
	// 2 rounds of 2 × 1,000 requests, and of 2 × 0.25 s at the assumed 8,000/s
	// of fresh connections: 4,000 + 8,000. Time: 2 × (2 × 1,000 / 16,000 s +
	// 0.5 s) + 8 runs × 0.6 s + 2 variants × 2 s + 6 s = 16.05 s.
	head := `s: nothing is started
Two pages

configuration  s.yaml
runs           8: 2 load levels, 2 rounds
requests       about 12,000, at most 1,000 at once
minutes        about 0.3, guessed from usual rates; waiting for idle is not in it
seed           207 (--seed 207 repeats the order)
targets        lab demo, 127.0.0.1:8080 at 127.0.0.1:9
results        results/s
verdict        none: that takes six rounds

load levels
  s  a  native  2 conn, 1,000 requests            /a                       baseline
  s  a  native  1,000 conn, no keep-alive, 250ms  /a                       baseline
  s  b  native  2 conn, 1,000 requests            http://127.0.0.1:8080/b
  s  b  native  1,000 conn, no keep-alive, 250ms  http://127.0.0.1:8080/b

order of runs
`
	got, rest, _ := strings.Cut(b.String(), "order of runs\n")
	if diff := cmp.Diff(head, got+"order of runs\n"); diff != "" {
		t.Error(diff)
	}
	order, commands, ok := strings.Cut(rest, "\ncommands\n")
	lines := strings.Split(strings.TrimSpace(order), "\n")
	if !ok || len(lines) != 8 || !strings.HasPrefix(lines[0], "round 1  1  s  2 conn") || !strings.HasPrefix(strings.TrimSpace(lines[4]), "round 2  5  s  2 conn") {
		t.Errorf("order:\n%s", order)
	}
	want := `  /usr/bin/abacus worker
  memcached -l 127.0.0.1
  touch "a b" (before each run, s)
  sync (before each run, s)
  echo "$HOME" (once after, s)
`
	if diff := cmp.Diff(want, commands); diff != "" {
		t.Error(diff)
	}
	for i, line := range strings.Split(b.String(), "\n") {
		if strings.TrimRight(line, " ") != line {
			t.Errorf("line %d ends in spaces: %q", i+1, line)
		}
	}
}

func TestPrintDryRunQuick(t *testing.T) {
	l, p := loadPrinted(t, func(in *config.Input) { in.Quick = true })
	var b strings.Builder
	if err := printDryRun(&b, dryPlan{loaded: l, plan: p, left: p.Runs}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"runs           4: 2 load levels, 1 round\n", "quick look     one round", "2 conn, 100 requests"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing:\n%s", want, b.String())
		}
	}
	if strings.Contains(b.String(), "verdict        none") {
		t.Error("says twice that there is no verdict")
	}
}

// With a record to go on with, what is left is said and listed, and only that.
func TestPrintDryRunOfAResume(t *testing.T) {
	l, p := loadPrinted(t, nil)
	var b strings.Builder
	if err := printDryRun(&b, dryPlan{loaded: l, plan: p, left: p.Runs[6:], record: "results/s/2026"}); err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(b.String(), "runs left, in their order\n")
	order, _, _ := strings.Cut(rest, "\n\n")
	lines := strings.Split(order, "\n")
	if len(lines) != 2 || !strings.HasPrefix(lines[0], "  round 2  7  s  1,000 conn") || !strings.HasPrefix(strings.TrimSpace(lines[1]), "8  s  1,000 conn") {
		t.Errorf("order: %q", lines)
	}
	if got := b.String(); !strings.Contains(got, "left           2 of them; results/s/2026 has the others\n") || strings.Contains(got, "results        ") {
		t.Errorf("head:\n%s", got)
	}
}

func TestPrintConfig(t *testing.T) {
	l, _ := loadPrinted(t, func(in *config.Input) { in.Environ = []string{"ABACUS_TIMEOUT=5s"} })
	var b strings.Builder
	if err := printConfig(&b, l); err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for line := range strings.Lines(b.String()) {
		fields := strings.Fields(line)
		found[fields[0]] = strings.Join(fields[1:], " ")
	}
	for key, want := range map[string]string{
		"campaign":                          "s s.yaml:1",
		"timeout":                           "5s env ABACUS_TIMEOUT",
		"engine":                            "native default",
		"seed":                              "207 drawn",
		"scenarios.s.repeats":               "2 s.yaml:5",
		"scenarios.s.variants.a.path":       "/a s.yaml:3",
		"scenarios.s.steps[1]":              "{concurrency: 1000, duration: 250ms, keepalive: false} s.yaml:4",
		"scenarios.s.headers.Authorization": "<redacted> s.yaml:6",
	} {
		if found[key] != want {
			t.Errorf("%s: %q, want %q", key, found[key], want)
		}
	}
	if strings.Contains(b.String(), "l1teral") {
		t.Error("a secret is shown")
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestPrintingFails(t *testing.T) {
	l, p := loadPrinted(t, nil)
	if err := printDryRun(brokenWriter{}, dryPlan{loaded: l, plan: p}); err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("printDryRun: %v", err)
	}
	if err := printConfig(brokenWriter{}, l); err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("printConfig: %v", err)
	}
}

// What report.formats may list is what can be rendered.
func TestFormatsOfConfigAndReportersAgree(t *testing.T) {
	for _, f := range reporters.Formats() {
		if _, err := config.Load(config.Input{Dir: t.TempDir(), Set: []string{"report.formats=[" + f.Name + "]"}}); err != nil {
			t.Errorf("%s can be rendered and not be configured: %v", f.Name, err)
		}
	}
	_, err := config.Load(config.Input{Dir: t.TempDir(), Set: []string{"report.formats=[html, nonsense]"}})
	if err == nil {
		t.Fatal("nonsense is a format")
	}
	_, allowed, _ := strings.Cut(err.Error(), "must be one of ")
	for name := range strings.SplitSeq(allowed, ", ") {
		if _, ok := reporters.Lookup(name); !ok {
			t.Errorf("%q can be configured and not be rendered", name)
		}
	}
}
