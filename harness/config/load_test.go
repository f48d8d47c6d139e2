package config

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"abacus/harness/fault"
	"abacus/harness/plan"
	"abacus/scenarios"
)

// flagsWith parses arguments by the flags of a run.
func flagsWith(t *testing.T, args ...string) *pflag.FlagSet {
	t.Helper()
	fs := pflag.NewFlagSet("run", pflag.ContinueOnError)
	RegisterFlags(fs)
	if err := fs.Parse(args); err != nil {
		t.Fatal(err)
	}
	return fs
}

// folder writes files into a new folder.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// mustLoad loads what must be right.
func mustLoad(t *testing.T, in Input) *Loaded {
	t.Helper()
	if in.DrawSeed == nil {
		in.DrawSeed = func() uint64 { return 42 }
	}
	l, err := Load(in)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// problemsOf loads what must be wrong and returns all problems as lines.
func problemsOf(t *testing.T, in Input) []string {
	t.Helper()
	l, err := Load(in)
	var problems Problems
	if !errors.As(err, &problems) || !fault.IsInput(err) {
		t.Fatalf("got %+v, %v; want Problems as an input fault", l, err)
	}
	var out []string
	for _, p := range problems {
		out = append(out, p.String())
	}
	return out
}

func originOf(l *Loaded, key string) Origin {
	for _, o := range l.Origins {
		if o.Key == key {
			return o
		}
	}
	return Origin{}
}

const smallScenario = `scenario: small
variants: [{name: a, path: /a}]
steps: {concurrency: 2, requests: 10}
`

func TestDefaultCampaignIsTheCommittedFile(t *testing.T) {
	root, err := os.ReadFile("../../config.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(root, DefaultFile()) {
		t.Error("harness/config/default.yaml is not the config.yaml of the root; copy it")
	}
	var keys int
	for i, line := range strings.Split(strings.TrimSpace(string(root)), "\n") {
		key, _, ok := strings.Cut(strings.TrimPrefix(line, "# "), ":")
		if !ok || strings.ContainsAny(key, " \t") {
			t.Errorf("line %d is no key with a value: %q", i+1, line)
			continue
		}
		keys++
		// What stands before the comment must be the key's own line.
		if _, comment, ok := strings.Cut(line[1:], " # "); !ok || len(strings.TrimSpace(comment)) < 10 {
			t.Errorf("line %d: %s has no comment", i+1, key)
		}
	}
	if keys > 12 || keys < 8 {
		t.Errorf("%d keys, want at most 12 and at least the eight of the format", keys)
	}
	l := mustLoad(t, Input{Dir: t.TempDir()})
	if l.File != "" || len(l.Warnings) != 0 {
		t.Errorf("file %q, warnings %q", l.File, l.Warnings)
	}
	p, err := plan.Expand(l.Campaign, 1)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Cells) != 10 || p.Rounds != 6 || len(p.Runs) != 60 {
		t.Errorf("%d cells, %d rounds, %d runs; want 10, 6, 60", len(p.Cells), p.Rounds, len(p.Runs))
	}
}

// The commented lines of config.yaml are offers: switched on they must work.
func TestDefaultCampaignSwitchedOn(t *testing.T) {
	text := strings.ReplaceAll(string(DefaultFile()), "\n# ", "\n")
	l := mustLoad(t, Input{Dir: folder(t, map[string]string{"config.yaml": text})})
	if diff := cmp.Diff([]string{"lab.example.org"}, l.Campaign.Allow); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"p95 < 30ms"}, l.Campaign.Goals); diff != "" {
		t.Error(diff)
	}
	if l.File != "config.yaml" {
		t.Errorf("file %q", l.File)
	}
}

func TestBuiltInScenarios(t *testing.T) {
	cells := map[string]int{"static-ladder": 6, "cache-comparison": 2, "engine-check": 2}
	for _, name := range scenarios.BuiltIn() {
		l := mustLoad(t, Input{Args: []string{name}, Dir: t.TempDir()})
		c := l.Campaign
		if c.Name != name || len(c.Scenarios) != 1 || c.Title == "" || c.Question == "" {
			t.Errorf("%s: campaign %q with %d scenarios, title %q, question %q", name, c.Name, len(c.Scenarios), c.Title, c.Question)
		}
		p, err := plan.Expand(c, 1)
		if err != nil || len(p.Cells) != cells[name] {
			t.Errorf("%s: %d cells, %v; want %d", name, len(p.Cells), err, cells[name])
		}
	}
	// What the issue fixes about two of them.
	s, err := BuiltIn("cache-comparison")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(scenarios.Steps{{Concurrency: 50, Requests: 10000}}, s.Steps); diff != "" {
		t.Error(diff)
	}
	if s, err = BuiltIn("static-ladder"); err != nil {
		t.Fatal(err)
	}
	var levels []string
	for _, step := range s.Steps {
		levels = append(levels, fmt.Sprint(step.Concurrency, step.KeepAlive))
	}
	if got, want := strings.Join(levels, " "), "1 true 10 true 50 true 100 true 200 true 10 false"; got != want {
		t.Errorf("levels %s, want %s", got, want)
	}
	if s.Expect == nil || s.Expect.Bytes == nil || *s.Expect.Bytes != 37519 {
		t.Errorf("expect %+v, want 37519 bytes", s.Expect)
	}
}

// Each of the four layers may give repeats; the highest that does must win,
// and the origin must name it. A file says it for the campaign or in a scenario.
func TestPrecedence(t *testing.T) {
	const campaign = "campaign: c\nscenarios:\n  - {scenario: small, pages: [/a], steps: {concurrency: 2, requests: 10}}\n"
	for layers := range 16 {
		inScenario, flag, env, file := layers&8 != 0, layers&4 != 0, layers&2 != 0, layers&1 != 0
		in := Input{Args: []string{"./f.yaml"}, Flags: flagsWith(t)}
		text, key, want, from := campaign, "repeats", 6, "default"
		if inScenario {
			text = smallScenario
		}
		if file {
			text += "repeats: 7\n"
			want, from = 7, "./f.yaml:4"
			if inScenario {
				key = "scenarios.small.repeats" // where it stands
			}
		}
		if env {
			in.Environ = []string{"ABACUS_REPEATS=8"}
			key, want, from = "repeats", 8, "env ABACUS_REPEATS"
		}
		if flag {
			in.Flags = flagsWith(t, "--repeats", "9")
			key, want, from = "repeats", 9, "flag --repeats"
		}
		in.Dir = folder(t, map[string]string{"f.yaml": text})
		l := mustLoad(t, in)
		p, err := plan.Expand(l.Campaign, 1)
		if err != nil {
			t.Fatal(err)
		}
		name := fmt.Sprintf("flag %v, env %v, file %v, in a scenario %v", flag, env, file, inScenario)
		if p.Rounds != want {
			t.Errorf("%s: %d rounds, want %d", name, p.Rounds, want)
		}
		if o := originOf(l, key); o.From != from || o.Value != fmt.Sprint(want) {
			t.Errorf("%s: origin %+v, want %d from %s", name, o, want, from)
		}
	}
}

// On a server of the user's the load stops by default; an empty list switches
// that off, and a list of one's own takes its place.
func TestStopsOfExternalTargets(t *testing.T) {
	const target = "http://127.0.0.1:1/"
	for _, tt := range []struct {
		in   Input
		want []string
	}{
		{Input{Args: []string{"engine-check"}}, nil},
		{Input{Args: []string{target}}, []string{"failed > 20% for 5s", "status_429 > 20% for 5s", "failed_timeout > 20% for 5s"}},
		{Input{Args: []string{target}, Set: []string{"stop_if=[]"}}, []string{}},
		{Input{Args: []string{target}, Set: []string{"stop_if=[p95 > 1s]"}}, []string{"p95 > 1s"}},
	} {
		tt.in.Dir = t.TempDir()
		l := mustLoad(t, tt.in)
		p, err := plan.Expand(l.Campaign, 1)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, p.Cells[0].Settings.StopIf); diff != "" {
			t.Errorf("%v %v:\n%s", tt.in.Args, tt.in.Set, diff)
		}
	}
}

// Every scalar key of a campaign can be given by its variable and by --set.
func TestEveryScalarKeyIsBound(t *testing.T) {
	values := map[string]string{
		"campaign": "other", "results": "elsewhere", "quick": "true", "report.open": "true", "lab": "external", "url": "http://127.0.0.1:81/",
		"connect_to": "127.0.0.1:82", "server.status": "http://127.0.0.1/s", "server.host": "h", "engine": "hey", "method": "HEAD",
		"body": "text", "body_file": "body", "timeout": "3s", "accept_variable_length": "true", "repeats": "9", "seed": "5",
		"warmup.requests": "11", "warmup.duration": "4s", "warmup.until": "steady", "settle.max": "5s", "observe.interval": "1s",
		"observe.status": "off", "observe.host": "false", "expect.status": "404", "expect.bytes": "12", "expect.same_body": "true",
		"title": "a title", "question": "a question", "author": "an author", "notes": "some notes",
	}
	for _, k := range scalarKeys(reflectCampaign(), "") {
		value, ok := values[k.key]
		if !ok {
			t.Errorf("key %s: the test has no value for it", k.key)
			continue
		}
		dir := folder(t, map[string]string{"s.yaml": smallScenario, "body": "x"})
		base := Input{Args: []string{"./s.yaml"}, Dir: dir}
		if k.key == "lab" {
			base.Set = []string{"url=http://127.0.0.1:1/"}
		}
		env := base
		env.Environ = []string{envName(k.key) + "=" + value}
		set := base
		set.Set = append(set.Set, k.key+"="+value)
		for source, in := range map[string]Input{"env " + envName(k.key): env, "flag --set": set} {
			l := mustLoad(t, in)
			o := originOf(l, k.key)
			want := value
			if k.key == "body_file" {
				want = filepath.Join(dir, "body")
			}
			if o.From != source || strings.Trim(o.Value, `"'`) != want {
				t.Errorf("%s by %s: got %+v", k.key, source, o)
			}
			for _, w := range l.Warnings {
				if strings.Contains(w, "variable") {
					t.Errorf("%s: %s", k.key, w)
				}
			}
		}
	}
}

func TestFlags(t *testing.T) {
	dir := folder(t, map[string]string{"s.yaml": smallScenario + "engine: native\nallow: [one.example]\n"})
	l := mustLoad(t, Input{Args: []string{"./s.yaml"}, Dir: dir, Flags: flagsWith(t,
		"--repeats", "3", "--engine", "hey", "--url", "http://127.0.0.1:9/base/", "--status-url", "off", "--seed", "18446744073709551615",
		"--results", "out", "--allow", "two.example", "--allow", "three.example,four.example", "--quick", "--set", "headers.X-A=b c", "--set", "steps={concurrency: [4, 2], requests: 40}")})
	c := l.Campaign
	p, err := plan.Expand(c, *c.Seed)
	if err != nil {
		t.Fatal(err)
	}
	cell := p.Cells[0]
	if len(p.Cells) != 2 || cell.Engine != "hey" || cell.URL != "http://127.0.0.1:9/a" || cell.Lab != "external" || p.Rounds != 1 {
		t.Errorf("%d rounds, %d cells, first %+v", p.Rounds, len(p.Cells), cell)
	}
	if cell.Step.Concurrency != 2 || p.Cells[1].Step.Concurrency != 4 {
		t.Errorf("steps %+v, %+v, want concurrency 2, then 4", cell.Step, p.Cells[1].Step)
	}
	if !c.Quick || c.Results != "out" || *c.Seed != 18446744073709551615 || c.Observe.Status != "off" || c.Repeats != 3 {
		t.Errorf("campaign %+v", c)
	}
	want := []string{"two.example", "three.example", "four.example", "one.example"}
	if diff := cmp.Diff(want, cell.Settings.Allow); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(scenarios.Headers{{Name: "X-A", Value: "b c"}}, cell.Settings.Headers); diff != "" {
		t.Error(diff)
	}
}

// What a variant says itself is what is compared: no flag changes it.
func TestLabOrder(t *testing.T) {
	const file = `campaign: c
%s
scenarios:
  - scenario: s
    %s
    variants: [{name: own, path: /a, url: "", %s}, {name: plain, path: /b}]
    steps: {concurrency: 1, requests: 1}
`
	for _, tt := range []struct {
		campaign, scenario, variant string
		args                        []string
		own, plain                  string
	}{
		{"", "", "", nil, "demo", "demo"},
		{"", "lab: external\n    url: http://h/", "", nil, "external", "external"},
		{"lab: demo", "lab: external", "", nil, "demo", "demo"},
		{"lab: demo", "url: http://h/", "", nil, "external", "external"},
		{"url: http://h/", "", "", nil, "external", "external"},
		{"url: http://h/", "", "lab: demo", nil, "demo", "external"},
		{"lab: demo", "", "", []string{"--url", "http://h/"}, "external", "external"},
		{"lab: demo", "", "lab: demo", []string{"--url", "http://h/"}, "demo", "external"},
		{"url: http://h/", "", "", []string{"--lab", "demo"}, "demo", "demo"},
		{"lab: demo", "", "", []string{"--set", "url=http://h/"}, "external", "external"},
		{"", "url: http://h/", "", []string{"--lab", "demo"}, "demo", "demo"},
		{"url: http://h/", "", "lab: external", []string{"--lab", "external"}, "external", "external"},
	} {
		text := strings.ReplaceAll(fmt.Sprintf(file, tt.campaign, tt.scenario, tt.variant), `url: "", `, "")
		dir := folder(t, map[string]string{"c.yaml": text})
		l := mustLoad(t, Input{Args: []string{"c.yaml"}, Dir: dir, Flags: flagsWith(t, tt.args...)})
		p, err := plan.Expand(l.Campaign, 1)
		if err != nil {
			t.Fatal(err)
		}
		if own, plain := p.Cells[0].Lab, p.Cells[1].Lab; own != tt.own || plain != tt.plain {
			t.Errorf("%+v: labs %s, %s", tt, own, plain)
		}
	}
}

func TestEnginesOfAScenarioStand(t *testing.T) {
	l := mustLoad(t, Input{Dir: t.TempDir(), Flags: flagsWith(t, "--engine", "hey")})
	p, err := plan.Expand(l.Campaign, 1)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Cells) != 10 {
		t.Fatalf("%d cells", len(p.Cells))
	}
	engines := map[string]int{}
	for _, c := range p.Cells {
		engines[c.Scenario+" "+c.Engine]++
	}
	want := map[string]int{"static-ladder hey": 6, "cache-comparison hey": 2, "engine-check native": 1, "engine-check hey": 1}
	if diff := cmp.Diff(want, engines); diff != "" {
		t.Error(diff)
	}
}

func TestHeadersKeepCaseAndOrder(t *testing.T) {
	text := smallScenario + "headers:\n  X-Zebra: 1\n  accept-ENCODING: gzip\n  A: \"\"\n  Flag: true\n"
	l := mustLoad(t, Input{Args: []string{"./s.yaml"}, Dir: folder(t, map[string]string{"s.yaml": text})})
	want := scenarios.Headers{{Name: "X-Zebra", Value: "1"}, {Name: "accept-ENCODING", Value: "gzip"}, {Name: "A", Value: ""}, {Name: "Flag", Value: "true"}}
	if diff := cmp.Diff(want, l.Campaign.Scenarios[0].Headers); diff != "" {
		t.Error(diff)
	}
}

func TestUnknownVariables(t *testing.T) {
	l := mustLoad(t, Input{Args: []string{"engine-check"}, Dir: t.TempDir(),
		Environ: []string{"ABACUS_REPEAT=3", "ABACUS_REQUIRE_LAB=1", "ABACUS_HEADERS=x", "ABACUS_TITLE=", "PATH=/bin"}})
	want := []string{
		"the environment variable ABACUS_HEADERS is no setting of abacus and is ignored",
		"the environment variable ABACUS_REPEAT is no setting of abacus and is ignored; did you mean ABACUS_REPEATS?",
	}
	if diff := cmp.Diff(want, l.Warnings); diff != "" {
		t.Error(diff)
	}
}

func TestURLs(t *testing.T) {
	l := mustLoad(t, Input{Args: []string{"http://127.0.0.1:8080/page?x=1"}, Dir: t.TempDir()})
	p, err := plan.Expand(l.Campaign, 1)
	if err != nil {
		t.Fatal(err)
	}
	if l.Campaign.Name != "127-0-0-1-8080-page-x-1" || len(p.Cells) != 6 || p.Cells[0].URL != "http://127.0.0.1:8080/page?x=1" || p.Cells[0].Variant != "page-x-1" || p.Cells[0].Scenario != "ladder" {
		t.Errorf("campaign %s, %d cells, first %+v", l.Campaign.Name, len(p.Cells), p.Cells[0])
	}
	for _, c := range p.Cells {
		if c.Step.Duration != scenarios.Duration(5*time.Second) || c.Step.Requests == 0 || c.Lab != "external" || len(c.Settings.StopIf) == 0 {
			t.Errorf("cell %+v: must be bounded by requests and 5s, and stop when the server fails", c)
		}
	}
	for _, tt := range []struct{ urls, names, campaign string }{
		{"http://h:81/", "h-81", "h-81"},
		{"http://h/a http://h/b", "a b", "h-a-or-b"},
		{"http://h1/ http://h2/", "h1 h2", "h1-or-h2"},
		{"http://h1/a http://h2/b", "h1-a h2-b", "h1-a-or-h2"},
		{"http://h/ http://h/", "h h-2", "h"},
		{"http://h/ http://h/x", "page x", "h-or-x"},
		{"http://h/a?v=1 http://h/a?v=2", "a-v-1 a-v-2", "h-a-v-1-or-a-v-2"},
	} {
		l := mustLoad(t, Input{Args: strings.Fields(tt.urls), Dir: t.TempDir()})
		var names []string
		for _, v := range l.Campaign.Scenarios[0].Variants {
			names = append(names, v.Name)
		}
		if got := strings.Join(names, " "); got != tt.names {
			t.Errorf("%s: variants %s, want %s", tt.urls, got, tt.names)
		}
		if l.Campaign.Name != tt.campaign {
			t.Errorf("%s: campaign %s, want %s", tt.urls, l.Campaign.Name, tt.campaign)
		}
	}
}

func TestWrongArguments(t *testing.T) {
	dir := folder(t, map[string]string{"my.yaml": smallScenario, "big.yaml": strings.Repeat("# too much\n", 100_000)})
	for _, tt := range []struct {
		name string
		in   Input
		want string
	}{
		{"no such name", Input{Args: []string{"cache-comparision"}}, `argument: value "cache-comparision": unknown scenario; built in are static-ladder, cache-comparison, engine-check; a file is written with its ending .yaml, a URL with http://; did you mean "cache-comparison"?`},
		{"file without its ending", Input{Args: []string{"my"}}, `argument: value "my": unknown scenario; built in are static-ladder, cache-comparison, engine-check; a file is written with its ending .yaml, a URL with http://; did you mean "my.yaml"?`},
		{"host without scheme", Input{Args: []string{"localhost:8080/x"}}, `argument: value "localhost:8080/x": there is no such file; did you mean "http://localhost:8080/x"?`},
		{"no such file", Input{Args: []string{"./nothing.yaml"}}, `argument: value "./nothing.yaml": there is no such file`},
		{"misspelt file", Input{Args: []string{"./mi.yaml"}}, `argument: value "./mi.yaml": there is no such file; did you mean "./my.yaml"?`},
		{"built-in as a file", Input{Args: []string{"static-lader.yaml"}}, `argument: value "static-lader.yaml": there is no such file; did you mean "static-ladder"?`},
		{"two files", Input{Args: []string{"my.yaml", "engine-check"}}, `argument: value "engine-check": only one file or name can be run; a campaign lists several under scenarios:`},
		{"file and URL", Input{Args: []string{"my.yaml", "http://h/"}}, `argument: files and URLs cannot be mixed; give one file or name, or only URLs`},
		{"URL with password", Input{Args: []string{"http://me:pa55@h/"}}, `argument: must not hold a user or password; use headers: {Authorization: "Basic ${CREDENTIALS}"}`},
		{"other scheme", Input{Args: []string{"ftp://h/"}}, `argument: value "ftp://h/": must be an absolute URL with http or https`},
		{"too large", Input{Args: []string{"big.yaml"}}, `big.yaml: has 1100000 bytes; at most 1048576 (1 MiB) are read`},
		{"folder", Input{Args: []string{"./"}}, `./: is no regular file`},
		{"flag", Input{Args: []string{"my.yaml"}, Flags: flagsWith(t, "--repeats", "many")}, `flag --repeats: repeats: value "many": must be a whole number in plain digits`},
		{"flag out of range", Input{Args: []string{"my.yaml"}, Flags: flagsWith(t, "--repeats", "0")}, `flag --repeats: repeats: value "0": must be 1 to 1000`},
		{"empty flag", Input{Args: []string{"my.yaml"}, Flags: flagsWith(t, "--engine", "")}, `flag --engine: engine: has no value`},
		{"variable", Input{Args: []string{"my.yaml"}, Environ: []string{"ABACUS_OBSERVE_INTERVAL=5"}}, `env ABACUS_OBSERVE_INTERVAL: observe.interval: value "5": must be a duration with a unit, such as 200ms, 30s or 1m30s; did you mean "5s"?`},
		{"flag and set", Input{Args: []string{"my.yaml"}, Flags: flagsWith(t, "--repeats", "7", "--set", "repeats=8")}, `flag --set: repeats: value "8": is given by flag --repeats too; leave one out`},
		{"set twice", Input{Args: []string{"my.yaml"}, Set: []string{"repeats=8", "repeats=9"}}, `flag --set: value "repeats=9": repeats is set twice`},
		{"set without value", Input{Args: []string{"my.yaml"}, Set: []string{"repeats"}}, `flag --set: value "repeats": must be key=value, as in observe.interval=100ms`},
		{"set of no key", Input{Args: []string{"my.yaml"}, Set: []string{"repeat=3"}}, `flag --set: repeat: unknown key; did you mean "repeats"?`},
		{"set of no nested key", Input{Args: []string{"my.yaml"}, Set: []string{"observe.intervall=3s"}}, `flag --set: observe.intervall: unknown key; did you mean "interval"?`},
		{"set of bad YAML", Input{Args: []string{"my.yaml"}, Set: []string{"steps={a"}}, `flag --set: steps: value "{a": is not YAML`},
		{"lab without url", Input{Args: []string{"my.yaml"}, Flags: flagsWith(t, "--lab", "external")}, `my.yaml:2: variants[0]: lab external needs a url: on the variant, the scenario or the campaign, or the flag --url`},
		{"lab and url", Input{Args: []string{"my.yaml"}, Flags: flagsWith(t, "--lab", "demo", "--url", "http://h/")}, `flag --url: url: value "http://h/": needs lab: external, not demo; leave lab: out or the url`},
	} {
		tt.in.Dir = dir
		if diff := cmp.Diff([]string{tt.want}, problemsOf(t, tt.in)); diff != "" {
			t.Errorf("%s:\n%s", tt.name, diff)
		}
	}
}

// A scenario file brings keys of a campaign that count only when it is run by
// itself.
func TestScenarioFileByItselfAndListed(t *testing.T) {
	dir := folder(t, map[string]string{
		"sub/s.yaml": smallScenario + "title: Small\nresults: elsewhere\nreport: {formats: [json]}\nseed: 5\nauthor: me\nbody_file: b.txt\n",
		"sub/b.txt":  "body",
		"c.yaml":     "campaign: c\nscenarios: [sub/s.yaml, engine-check]\n",
	})
	c := mustLoad(t, Input{Args: []string{"sub/s.yaml"}, Dir: dir}).Campaign
	if c.Name != "small" || c.Title != "Small" || c.Results != "elsewhere" || c.Report.Formats[0] != "json" || *c.Seed != 5 || c.Author != "me" {
		t.Errorf("by itself: %+v", c)
	}
	if got, want := c.Scenarios[0].BodyFile, filepath.Join(dir, "sub", "b.txt"); got != want {
		t.Errorf("body_file %s, want %s", got, want)
	}
	l := mustLoad(t, Input{Args: []string{"c.yaml"}, Dir: dir})
	if c := l.Campaign; c.Results != "results" || c.Report.Formats[0] != "html" || *c.Seed != 42 || len(c.Scenarios) != 2 {
		t.Errorf("listed: %+v", c)
	}
	want := []string{
		"sub/s.yaml:6: report: counts only when the scenario is run by itself",
		"sub/s.yaml:5: results: counts only when the scenario is run by itself",
	}
	if diff := cmp.Diff(want, l.Warnings); diff != "" {
		t.Error(diff)
	}
}
