package record

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"abacus/harness/fault"
	"abacus/harness/load"
	"abacus/harness/observe"
	"abacus/harness/preflight"
)

var second = time.Date(2026, 11, 30, 18, 15, 49, 0, time.UTC)

func create(t *testing.T, results string) *Writer {
	t.Helper()
	w, err := Create(results, "camp", second, 1<<10)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

// sample is a run with every part set.
func sample(seq int) Run {
	total := load.NewDistribution()
	for _, ns := range []int64{1e6, 2e6, 4e6} {
		total.Record(ns)
	}
	busy := int64(3)
	started := second
	return Run{
		Schema: RunSchema, Seq: seq, CellIndex: 1, Round: 2, Block: 5,
		Cell:      Cell{Scenario: "s", Variant: "v/native", Engine: "native", Lab: "demo", Step: Step{Concurrency: 50, Requests: 3, KeepAlive: true}},
		Job:       load.Job{Engine: "native", URL: "http://127.0.0.1/", Concurrency: 50, Requests: 3, Timeout: time.Second},
		StartedAt: &started, ClockNS: 12,
		Result: &load.Result{Engine: "native", StartedAt: started, ElapsedNS: 1e9, Counts: load.Counts{Complete: 3}, Total: total},
		Series: []observe.Series{{Source: "status", IntervalNS: 2e8, Polls: 1, Samples: []observe.Sample{{AtNS: -5, TookNS: 7, Reading: observe.Reading{Status: &observe.Status{BusyWorkers: &busy, Scoreboard: "W_"}}}}}},
	}
}

func TestRoundTrip(t *testing.T) {
	w := create(t, t.TempDir())
	m := Manifest{Campaign: "camp", Seed: 7, CreatedAt: second, State: StateRunning, PlannedRuns: 2, Cells: []Cell{{Scenario: "s"}}}
	run := sample(1)
	for _, err := range []error{
		w.WriteManifest(m), w.WriteRun(run), w.WriteEnvironment(preflight.Environment{OS: "linux", CPUs: 2}),
		w.WritePreflight(Preflight{Checks: []preflight.Check{{ID: "x"}}}), w.WriteIdle(preflight.Idle{MayStart: true, Reason: "calm"}),
		w.WriteCampaign([]byte("campaign: camp\n")), w.MarkLatest(),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	r, err := Open(filepath.Join(filepath.Dir(w.Dir()), LatestLink))
	if err != nil {
		t.Fatal(err)
	}
	if r.Name() != "camp/2026-11-30T18-15-49Z" {
		t.Errorf("name %q", r.Name())
	}
	m.Schema = ManifestSchema
	if diff := cmp.Diff(m, r.Manifest); diff != "" {
		t.Errorf("manifest (-written +read):\n%s", diff)
	}
	for got, err := range r.Runs() {
		if err != nil {
			t.Fatal(err)
		}
		same := cmp.Comparer(func(a, b *load.Distribution) bool {
			if a == nil || b == nil {
				return a == b
			}
			ja, _ := a.MarshalJSON()
			jb, _ := b.MarshalJSON()
			return string(ja) == string(jb)
		})
		if diff := cmp.Diff(run, got, same); diff != "" {
			t.Errorf("run (-written +read):\n%s", diff)
		}
	}
	idle, err := r.Idle()
	if err != nil || idle == nil || !idle.MayStart || idle.Reason != "calm" {
		t.Errorf("idle %+v, %v", idle, err)
	}
	if e, err := r.Environment(); err != nil || e.CPUs != 2 {
		t.Errorf("environment %+v, %v", e, err)
	}
	if y, err := r.CampaignYAML(); err != nil || y != "campaign: camp\n" {
		t.Errorf("campaign %q, %v", y, err)
	}
}

func TestClashGetsANumber(t *testing.T) {
	results := t.TempDir()
	var names []string
	for range 3 {
		names = append(names, filepath.Base(create(t, results).Dir()))
	}
	if want := []string{"2026-11-30T18-15-49Z", "2026-11-30T18-15-49Z-2", "2026-11-30T18-15-49Z-3"}; !slices.Equal(names, want) {
		t.Errorf("names %q, want %q", names, want)
	}
}

func TestRunsAreInOrderAndPartsGiveWay(t *testing.T) {
	w := create(t, t.TempDir())
	cut := func(seq int) Run {
		r := sample(seq)
		r.Result.Interrupted = true
		return r
	}
	for _, r := range []Run{sample(10000), sample(2), cut(2), cut(3), sample(1)} {
		if err := w.WriteRun(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.WriteManifest(Manifest{}); err != nil {
		t.Fatal(err)
	}
	// A temporary file that a kill left behind is no run.
	if err := os.WriteFile(filepath.Join(w.Dir(), RunsDir, ".tmp-1"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := Open(w.Dir())
	if err != nil {
		t.Fatal(err)
	}
	var seqs []int
	var interrupted []bool
	for run, err := range r.Runs() {
		if err != nil {
			t.Fatal(err)
		}
		seqs, interrupted = append(seqs, run.Seq), append(interrupted, run.Result.Interrupted)
	}
	if !slices.Equal(seqs, []int{1, 2, 3, 10000}) || !slices.Equal(interrupted, []bool{false, false, true, false}) {
		t.Errorf("runs %v, interrupted %v", seqs, interrupted)
	}
}

func TestDamagedAndNewerFiles(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"cut", `{"schema": 1, "seq"`, "damaged"},
		{"type", "{\"schema\": 1,\n\"seq\": \"one\"}", "line 2: field seq"},
		{"deep type", "{\"schema\": 1, \"result\": {\n\"counts\": {\"complete\": true}}}", "field result.counts.complete"},
		{"histogram", `{"schema": 1, "result": {"total": {"count": 5, "sum_ns": "1", "sum_sq_ns2": "1"}}}`, "count 5"},
		{"newer", `{"schema": 2}`, "schema 2, this abacus reads up to 1"},
		{"none", `{}`, "schema is 0"},
	} {
		w := create(t, t.TempDir())
		if err := errors.Join(w.WriteManifest(Manifest{}), w.WriteRun(sample(2))); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(w.Dir(), RunsDir, "0001-x.json"), []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		r, err := Open(w.Dir())
		if err != nil {
			t.Fatal(err)
		}
		var errs []error
		good := 0
		for _, err := range r.Runs() {
			if err != nil {
				errs = append(errs, err)
			} else {
				good++
			}
		}
		if len(errs) != 1 || good != 1 {
			t.Fatalf("%s: errors %v and %d good runs; want one of each", c.name, errs, good)
		}
		if msg := errs[0].Error(); !strings.Contains(msg, c.want) || !strings.Contains(msg, "0001-x.json") {
			t.Errorf("%s: error %q, want the file and %q", c.name, msg, c.want)
		}
	}
}

func TestUnknownFieldsAreIgnored(t *testing.T) {
	w := create(t, t.TempDir())
	if err := os.WriteFile(filepath.Join(w.Dir(), ManifestFile), []byte(`{"schema":1,"campaign":"c","new_field":{"x":1}}`), 0o644); err != nil {
		t.Fatal(err)
	}
	r, err := Open(w.Dir())
	if err != nil || r.Manifest.Campaign != "c" {
		t.Errorf("%v, %v", r, err)
	}
}

func TestOneWriterAtATime(t *testing.T) {
	w := create(t, t.TempDir())
	if err := w.WriteManifest(Manifest{}); err != nil {
		t.Fatal(err)
	}
	_, err := Reopen(w.Dir())
	if err == nil || !fault.IsInput(err) {
		t.Fatalf("a second writer: %v, want it refused", err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Reopen(w.Dir())
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
}

// latest points to the newest record, also when an older one is gone on with.
func TestLatestIsTheNewest(t *testing.T) {
	results := t.TempDir()
	link := filepath.Join(results, "camp", LatestLink)
	mark := func(at time.Time) string {
		w, err := Create(results, "camp", at, 1)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(w.WriteManifest(Manifest{}), w.MarkLatest(), w.Close()); err != nil {
			t.Fatal(err)
		}
		return filepath.Base(w.Dir())
	}
	old := mark(second)
	if to, err := os.Readlink(link); err != nil || to != old {
		t.Errorf("latest is %q, %v; want %s", to, err, old)
	}
	newer := mark(second.Add(time.Hour))
	w, err := Reopen(filepath.Join(results, "camp", old))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.MarkLatest(), w.Close()); err != nil {
		t.Fatal(err)
	}
	if to, err := os.Readlink(link); err != nil || to != newer {
		t.Errorf("after going on with an older one latest is %q, %v; want %s", to, err, newer)
	}
	if err := os.RemoveAll(filepath.Join(results, "camp", newer)); err != nil {
		t.Fatal(err)
	}
	if err := w.MarkLatest(); err != nil {
		t.Fatal(err)
	}
	if to, err := os.Readlink(link); err != nil || to != old {
		t.Errorf("when the newest is gone latest is %q, %v; want %s", to, err, old)
	}
}

func TestFind(t *testing.T) {
	results := t.TempDir()
	if _, err := Find(results, ""); err == nil || !fault.IsInput(err) {
		t.Errorf("an empty folder: %v", err)
	}
	mk := func(campaign, stamp string) string {
		dir := filepath.Join(results, campaign, stamp)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, ManifestFile), []byte(`{"schema":1}`), 0o644); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	a := mk("a", "2026-11-30T18-15-49Z-9")
	b := mk("a", "2026-11-30T18-15-49Z-10")
	c := mk("b[x]", "2026-11-30T18-15-50Z")
	for _, tc := range []struct{ arg, want string }{
		{"", c}, {"a", b}, {"b[x]", c}, {a, a}, {filepath.Join(results, "a"), b},
	} {
		if got, err := Find(results, tc.arg); err != nil || got != tc.want {
			t.Errorf("Find(%q) = %s, %v; want %s", tc.arg, got, err, tc.want)
		}
	}
}

func TestFolderThatCannotBeWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := Create(file, "camp", second, 1)
	if err == nil || !strings.Contains(err.Error(), "cannot be written") || fault.HintOf(err) == "" {
		t.Errorf("error %v, hint %q", err, fault.HintOf(err))
	}
}
