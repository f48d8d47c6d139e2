package campaign

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"abacus/harness/clock"
	"abacus/harness/load"
	"abacus/harness/observe"
	"abacus/harness/plan"
	"abacus/harness/preflight"
	"abacus/harness/record"
	"abacus/scenarios"
)

// fakeEngine answers each job with a result that the test declares, at once.
type fakeEngine struct {
	jobs []load.Job
	// on is called for each measured job (warm-ups left out), its number from 1.
	on func(ctx context.Context, n int, job load.Job, progress func(load.Progress)) (*load.Result, error)
	n  int
}

func (f *fakeEngine) Run(ctx context.Context, job load.Job, progress func(load.Progress)) (*load.Result, error) {
	if job.Requests == 0 {
		return result(job, 10), nil // a warm-up
	}
	f.n++
	f.jobs = append(f.jobs, job)
	if f.on != nil {
		if res, err := f.on(ctx, f.n, job, progress); res != nil || err != nil {
			return res, err
		}
	}
	return result(job, job.Requests), nil
}

// result is a good run of n answers in one second.
func result(job load.Job, n int64) *load.Result {
	d := load.NewDistribution()
	for range n {
		d.Record(1e6)
	}
	return &load.Result{
		Engine: job.Engine, StartedAt: time.Unix(1_800_000_000, 0).UTC(), StartMonoNS: clock.Now(),
		ElapsedNS: 1e9, Counts: load.Counts{Complete: n}, Total: d,
	}
}

// ladderCampaign has one scenario with two variants and two steps, two rounds.
func ladderCampaign(url string) plan.Campaign {
	c := plan.Campaign{Name: "test", Scenarios: []scenarios.Scenario{{
		Name:     "ladder",
		Variants: []scenarios.Variant{{Name: "a"}, {Name: "b"}},
		Steps: scenarios.Steps{
			{Concurrency: 1, Requests: 20, KeepAlive: true},
			{Concurrency: 2, Requests: 20, KeepAlive: true},
		},
	}}}
	for i := range c.Scenarios[0].Variants {
		v := &c.Scenarios[0].Variants[i]
		v.Settings.URL = url + "/" + v.Name
	}
	c.Repeats, c.Engine, c.Timeout = 2, "native", scenarios.Duration(5*time.Second)
	c.Lab = &scenarios.Lab{Kind: plan.LabExternal}
	return c
}

// quickBounds make a campaign fast.
func quickBounds() Bounds {
	return Bounds{Idle: 10 * time.Millisecond, Singles: 1, Fetches: 2, WarmupMax: 10 * time.Millisecond,
		WarmupWindow: 5 * time.Millisecond, SettleMax: time.Second, StatusLook: 20 * time.Millisecond, HookTimeout: 10 * time.Second}
}

// walk runs a campaign against a plain server and returns what it left.
func walk(t *testing.T, ctx context.Context, c plan.Campaign, engine Engine, change func(*Campaign)) (Outcome, *record.Reader, error) {
	t.Helper()
	p, err := plan.Expand(c, 7)
	if err != nil {
		t.Fatal(err)
	}
	w, err := record.Create(t.TempDir(), c.Name, time.Unix(1_800_000_000, 0), 1000)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	walk := &Campaign{
		Plan: p, Record: w, Bounds: quickBounds(), Manifest: Frame(p, "test", "print", time.Unix(1_800_000_000, 0).UTC()),
		Needs: Needs{
			Engine: engine, ClientPID: func() int { return 0 },
			Processes:   func([]string) []int { return nil },
			Pollers:     func(*Lab, bool, func() map[string][]int) []Poller { return nil },
			Expand:      func(s string) (string, error) { return strings.ReplaceAll(s, "${TOKEN}", "secret"), nil },
			Redact:      func(h scenarios.Header) string { return h.Value },
			Environment: func(context.Context) preflight.Environment { return preflight.Environment{OS: "test"} },
			Now:         time.Now, Version: "test",
		},
	}
	if change != nil {
		change(walk)
	}
	out, err := walk.Run(ctx)
	r, openErr := record.Open(walk.Record.Dir())
	if openErr != nil {
		t.Fatal(openErr)
	}
	return out, r, err
}

func server(t *testing.T) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") }))
	t.Cleanup(s.Close)
	return s
}

func runs(t *testing.T, r *record.Reader) []record.Run {
	t.Helper()
	var list []record.Run
	for run, err := range r.Runs() {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, run)
	}
	return list
}

func TestWalkKeepsThePlansOrder(t *testing.T) {
	s := server(t)
	e := &fakeEngine{}
	out, r, err := walk(t, t.Context(), ladderCampaign(s.URL), e, nil)
	if err != nil || out.FailedRuns != 0 || out.Interrupted {
		t.Fatalf("outcome %+v, error %v", out, err)
	}
	p, _ := plan.Expand(ladderCampaign(s.URL), 7)
	got := runs(t, r)
	if len(got) != 8 || len(e.jobs) != 8 {
		t.Fatalf("%d run files and %d jobs, want 8 of each", len(got), len(e.jobs))
	}
	for i, run := range got {
		want := p.Runs[i]
		if run.Seq != want.Seq || run.CellIndex != want.Cell || run.Round != want.Round || run.Block != want.Block {
			t.Errorf("run %d is %d/%d/%d/%d, planned %+v", i, run.Seq, run.CellIndex, run.Round, run.Block, want)
		}
		if url := s.URL + "/" + p.Cells[want.Cell].Variant; e.jobs[i].URL != url {
			t.Errorf("run %d loaded %s, want %s", i, e.jobs[i].URL, url)
		}
	}
	env, err := r.Environment()
	if err != nil || env.OS != "test" || env.SameMachine == nil || !*env.SameMachine {
		t.Errorf("environment %+v, %v; want that client and server share the machine", env, err)
	}
	m := r.Manifest
	if m.State != record.StateComplete || m.EndedAt == nil || m.PlannedRuns != 8 {
		t.Errorf("manifest: state %s, ended %v, planned %d", m.State, m.EndedAt, m.PlannedRuns)
	}
	if agent := e.jobs[0].Headers[0]; agent.Name != "User-Agent" || agent.Value != "abacus/test (test)" {
		t.Errorf("User-Agent header is %+v", agent)
	}
}

func TestSecretsAreExpandedForTheEngineAlone(t *testing.T) {
	c := ladderCampaign(server(t).URL)
	c.Headers = scenarios.Headers{{Name: "X-Token", Value: "${TOKEN}"}}
	e := &fakeEngine{}
	_, r, err := walk(t, t.Context(), c, e, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := e.jobs[0].Headers[0].Value; got != "secret" {
		t.Errorf("the engine got %q, want the expanded value", got)
	}
	if got := runs(t, r)[0].Job.Headers[0].Value; got != "${TOKEN}" {
		t.Errorf("the record holds %q, want the unexpanded value", got)
	}
}

// A body from a file goes to the engine; the record, which has a file for each
// run, does not repeat it.
func TestBodyFileIsSentAndNotStored(t *testing.T) {
	c := ladderCampaign(server(t).URL)
	c.Method, c.BodyFile = "POST", "body.txt"
	e := &fakeEngine{}
	_, r, err := walk(t, t.Context(), c, e, func(k *Campaign) {
		k.Needs.ReadFile = func(name string) ([]byte, error) { return []byte("all of " + name), nil }
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := string(e.jobs[0].Body); got != "all of body.txt" {
		t.Errorf("the engine got %q", got)
	}
	if got := runs(t, r)[0].Job.Body; len(got) != 0 {
		t.Errorf("the record holds %q", got)
	}
}

// A server that sends a secret back does not get it into the record or onto
// the terminal.
func TestSecretsThatAServerSendsBackAreHidden(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token := r.Header.Get("X-Token")
		w.Header().Set("Etag", token)
		http.Redirect(w, r, "/again?"+token, http.StatusFound)
	}))
	t.Cleanup(s.Close)
	c := ladderCampaign(s.URL)
	c.Headers = scenarios.Headers{{Name: "X-Token", Value: "Bearer ${TOKEN}"}}
	e := &fakeEngine{on: func(_ context.Context, _ int, job load.Job, _ func(load.Progress)) (*load.Result, error) {
		res := result(job, job.Requests)
		res.Server = job.Headers[0].Value
		return res, errors.New("broken by " + job.Headers[0].Value)
	}}
	var told strings.Builder
	_, r, err := walk(t, t.Context(), c, e, func(k *Campaign) {
		k.Needs.Expand = func(s string) (string, error) { return strings.ReplaceAll(s, "${TOKEN}", "sekret-99"), nil }
		k.Needs.Events = func(e Event) {
			fmt.Fprintln(&told, e.Text)
			if e.Check != nil {
				fmt.Fprintln(&told, e.Check.Finding, e.Check.Advice)
			}
			if e.Kind == EventRun {
				fmt.Fprintln(&told, e.Run.Error)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	hidden := 0
	err = filepath.WalkDir(r.Dir(), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if strings.Contains(string(data), "sekret-99") {
			t.Errorf("%s holds the secret", filepath.Base(path))
		}
		hidden += strings.Count(string(data), record.Hidden)
		return err
	})
	if err != nil || hidden == 0 {
		t.Errorf("hidden %d times, %v: this test has seen nothing sent back", hidden, err)
	}
	if strings.Contains(told.String(), "sekret-99") || !strings.Contains(told.String(), record.Hidden) {
		t.Errorf("told: %s", told.String())
	}
}

// Answers that are not the page that was meant void the run.
func TestRunOfErrorPagesIsVoid(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*load.Result)
		void   bool
	}{
		{"half", func(r *load.Result) { r.Counts.Non2xx = 10 }, false},
		{"most", func(r *load.Result) { r.Counts.Non2xx = 11 }, true},
		{"expectation kept by half", func(r *load.Result) { r.Expect = &load.ExpectChecks{Checked: 4, Unmet: 2} }, false},
		{"expectation broken by most", func(r *load.Result) {
			r.Expect = &load.ExpectChecks{Checked: 4, Unmet: 3, Examples: []string{"status 502, expected 200"}}
		}, true},
	} {
		e := &fakeEngine{on: func(_ context.Context, _ int, job load.Job, _ func(load.Progress)) (*load.Result, error) {
			res := result(job, job.Requests) // 20 requests
			c.change(res)
			return res, nil
		}}
		out, r, err := walk(t, t.Context(), ladderCampaign(server(t).URL), e, nil)
		if err != nil {
			t.Fatal(err)
		}
		if run := runs(t, r)[0]; (run.Void != "") != c.void || (out.FailedRuns == 8) != c.void {
			t.Errorf("%s: void %q, %d failed", c.name, run.Void, out.FailedRuns)
		}
	}
}

func TestStopIfEndsTheLadder(t *testing.T) {
	c := ladderCampaign(server(t).URL)
	c.StopIf = []string{"failed > 20%"}
	e := &fakeEngine{on: func(ctx context.Context, _ int, job load.Job, progress func(load.Progress)) (*load.Result, error) {
		if !strings.HasSuffix(job.URL, "/a") {
			return nil, nil
		}
		// 3 of 10 failed: above 20 %.
		progress(load.Progress{Interval: &load.Interval{LengthNS: 2e8, Complete: 7, Failed: 3}})
		if ctx.Err() == nil {
			return nil, errors.New("the run was not stopped")
		}
		res := result(job, 7)
		res.Interrupted = true
		return res, nil
	}}
	out, r, err := walk(t, t.Context(), c, e, nil)
	if err != nil {
		t.Fatal(err)
	}
	var stopped, good int
	for _, run := range runs(t, r) {
		if run.Stopped == "failed > 20%" {
			stopped++
		}
		if run.Good() {
			good++
		}
	}
	// a is stopped at its first step; its second step and both of round 2 are
	// given up. b is untouched: 4 good runs.
	if stopped != 1 || good != 4 || len(r.Manifest.Skipped) != 3 || out.FailedRuns != 1 {
		t.Errorf("stopped %d, good %d, skipped %d, failed %d; want 1, 4, 3, 1", stopped, good, len(r.Manifest.Skipped), out.FailedRuns)
	}
}

// An engine that tells nothing while it runs is judged when it has ended: the
// run stands, the rest of its ladder is given up.
func TestStopIfOfASilentEngine(t *testing.T) {
	c := ladderCampaign(server(t).URL)
	c.StopIf = []string{"failed > 20%"}
	e := &fakeEngine{on: func(_ context.Context, _ int, job load.Job, _ func(load.Progress)) (*load.Result, error) {
		res := result(job, job.Requests)
		if strings.HasSuffix(job.URL, "/a") {
			res.Intervals = []load.Interval{{LengthNS: 2e8, Complete: 8, Failed: 2}, {StartNS: 2e8, LengthNS: 2e8, Complete: 7, Failed: 3}}
		}
		return res, nil
	}}
	out, r, err := walk(t, t.Context(), c, e, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := runs(t, r); len(got) != 5 || len(r.Manifest.Skipped) != 3 || out.FailedRuns != 0 {
		t.Errorf("%d runs, %d skipped, %d failed; want 5, 3, 0", len(got), len(r.Manifest.Skipped), out.FailedRuns)
	}
}

func TestHooks(t *testing.T) {
	dir := t.TempDir()
	log := filepath.Join(dir, "log")
	say := func(word string) [][]string {
		return [][]string{{"sh", "-c", `echo "$1" >>"$2"`, "sh", word, log}}
	}
	c := ladderCampaign(server(t).URL)
	c.Repeats = 1
	c.Scenarios[0].Variants, c.Scenarios[0].Steps = c.Scenarios[0].Variants[:1], c.Scenarios[0].Steps[:1]
	c.Setup, c.Prepare, c.Conclude, c.Cleanup = say("setup"), say("prepare"), say("conclude"), say("cleanup")
	if _, _, err := walk(t, t.Context(), c, &fakeEngine{on: func(context.Context, int, load.Job, func(load.Progress)) (*load.Result, error) {
		f, err := os.OpenFile(log, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		_, err = f.WriteString("load\n")
		return nil, err
	}}, nil); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(log)
	if want := "setup\nprepare\nload\nconclude\ncleanup\n"; err != nil || string(got) != want {
		t.Errorf("order of hooks %q (%v), want %q", got, err, want)
	}
}

func TestFailingPrepareVoidsTheRun(t *testing.T) {
	c := ladderCampaign(server(t).URL)
	c.Prepare = [][]string{{"sh", "-c", "echo no room; exit 3"}}
	e := &fakeEngine{}
	out, r, err := walk(t, t.Context(), c, e, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := runs(t, r)
	if len(e.jobs) != 0 || out.FailedRuns != 8 || len(got) != 8 {
		t.Fatalf("%d jobs, %d failed, %d files; want 0, 8, 8", len(e.jobs), out.FailedRuns, len(got))
	}
	h := got[0].Hooks[0]
	if got[0].Void == "" || h.ExitCode == nil || *h.ExitCode != 3 || h.Output != "no room\n" {
		t.Errorf("void %q, hook %+v", got[0].Void, h)
	}
}

// What a hook leaves in the background is its own affair: a server, say.
func TestHookMayLeaveSomethingInTheBackground(t *testing.T) {
	h := runHook(t.Context(), hookSetup, []string{"sh", "-c", "sleep 5 & echo started"}, time.Minute)
	if h.Error != "" || h.ExitCode == nil || *h.ExitCode != 0 || h.Output != "started\n" {
		t.Errorf("hook %+v", h)
	}
}

func TestHookIsEndedAtItsLimit(t *testing.T) {
	h := runHook(t.Context(), hookSetup, []string{"sh", "-c", "sleep 60 & wait"}, 50*time.Millisecond)
	if h.Error == "" || h.TookNS > (10*time.Second).Nanoseconds() {
		t.Errorf("hook %+v: want it ended at its limit", h)
	}
}

func TestInterruptKeepsWhatWasMeasuredAndResumeFinishes(t *testing.T) {
	s := server(t)
	dir := t.TempDir()
	cleaned := filepath.Join(dir, "cleaned")
	c := ladderCampaign(s.URL)
	c.Cleanup = [][]string{{"touch", cleaned}}
	ctx, cancel := context.WithCancel(t.Context())
	e := &fakeEngine{on: func(_ context.Context, n int, job load.Job, _ func(load.Progress)) (*load.Result, error) {
		if n < 4 {
			return nil, nil
		}
		cancel()
		res := result(job, 5)
		res.Interrupted = true
		return res, nil
	}}
	out, r, err := walk(t, ctx, c, e, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !out.Interrupted || r.Manifest.State != record.StateInterrupted || len(runs(t, r)) != 4 {
		t.Fatalf("interrupted %v, state %s, %d runs; want true, interrupted, 4", out.Interrupted, r.Manifest.State, len(runs(t, r)))
	}
	if _, err := os.Stat(cleaned); err != nil {
		t.Errorf("cleanup did not run: %v", err)
	}

	p, _ := plan.Expand(c, 7)
	w, err := record.Reopen(r.Dir())
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	again := &fakeEngine{}
	_, _, err = walk(t, t.Context(), c, again, func(k *Campaign) {
		k.Record, k.Plan = w, p
		if err := k.Continue(r); err != nil {
			t.Fatal(err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	r, err = record.Open(w.Dir())
	if err != nil {
		t.Fatal(err)
	}
	got := runs(t, r)
	var seqs []int
	for _, run := range got {
		if !run.Good() {
			t.Errorf("run %d is not good after the resume", run.Seq)
		}
		seqs = append(seqs, run.Seq)
	}
	if !slices.Equal(seqs, []int{1, 2, 3, 4, 5, 6, 7, 8}) || len(again.jobs) != 5 || r.Manifest.State != record.StateComplete {
		t.Errorf("runs %v, %d made again, state %s; want 1 to 8, 5, complete", seqs, len(again.jobs), r.Manifest.State)
	}
}

// An idle baseline that was not calm is not forgotten with the new one.
func TestResumeRemembersThatTheMachineWasNotCalm(t *testing.T) {
	c := ladderCampaign(server(t).URL)
	ctx, cancel := context.WithCancel(t.Context())
	_, r, err := walk(t, ctx, c, &fakeEngine{on: func(_ context.Context, n int, job load.Job, _ func(load.Progress)) (*load.Result, error) {
		if n == 2 {
			cancel()
			res := result(job, 1)
			res.Interrupted = true
			return res, nil
		}
		return nil, nil
	}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, _ := plan.Expand(c, 7)
	for _, busy := range []bool{false, true} {
		w, err := record.Reopen(r.Dir())
		if err != nil {
			t.Fatal(err)
		}
		idle := preflight.Idle{MayStart: true, Reason: "calm"}
		if busy {
			idle = preflight.Idle{Reason: "not ready: the CPU was 97 % busy"}
		}
		if err := errors.Join(w.WriteIdle(idle), w.Close()); err != nil {
			t.Fatal(err)
		}
		k := &Campaign{Plan: p}
		if err := k.Continue(r); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(k.Manifest.Differences, "; "); strings.Contains(got, "97 % busy") != busy {
			t.Errorf("busy %v: differences %q", busy, got)
		}
	}
}

func TestDifferences(t *testing.T) {
	c := ladderCampaign(server(t).URL)
	_, r, err := walk(t, t.Context(), c, &fakeEngine{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, _ := plan.Expand(c, 7)
	same := preflight.Environment{OS: "test"}
	if d, err := Differences(r, p, "print", same); err != nil || len(d) != 0 {
		t.Errorf("differences %q, %v; want none", d, err)
	}
	other := same
	other.CPUs = 4
	d, err := Differences(r, p, "other", other)
	if err != nil || len(d) != 2 {
		t.Errorf("differences %q, %v; want the configuration and the number of CPUs", d, err)
	}
}

// slowPoller takes as long as the test lets it.
type slowPoller struct {
	name  string
	block chan struct{}
}

func (p slowPoller) Name() string { return p.name }
func (p slowPoller) Poll(ctx context.Context) (observe.Reading, error) {
	select {
	case <-p.block:
	case <-ctx.Done():
	}
	return observe.Reading{}, errors.New("too slow")
}

func TestSlowStatusPageDoesNotHoldUpTheLoad(t *testing.T) {
	c := ladderCampaign(server(t).URL)
	c.Settle = &scenarios.Settle{}
	e := &fakeEngine{}
	start := time.Now()
	_, r, err := walk(t, t.Context(), c, e, func(k *Campaign) {
		k.Bounds.SettleMax = 0
		k.Needs.Pollers = func(*Lab, bool, func() map[string][]int) []Poller {
			return []Poller{slowPoller{name: "status", block: make(chan struct{})}}
		}
	})
	if err != nil || len(e.jobs) != 8 {
		t.Fatalf("%d jobs, error %v", len(e.jobs), err)
	}
	if took := time.Since(start); took > time.Minute {
		t.Errorf("the campaign took %v with a status page that never answers", took)
	}
	if s := runs(t, r)[0].Series; len(s) != 1 || s[0].Source != "status" {
		t.Errorf("series %+v, want the failed status series", s)
	}
}

// heldPoller counts the stretches over which it is used and let go of again.
type heldPoller struct {
	held, released *atomic.Int64
	used           atomic.Bool
}

func (p *heldPoller) Name() string { return sourceStatus }
func (p *heldPoller) Poll(context.Context) (observe.Reading, error) {
	if p.used.CompareAndSwap(false, true) {
		p.held.Add(1)
	}
	return observe.Reading{Status: &observe.Status{}}, nil
}
func (p *heldPoller) Close() {
	if p.used.CompareAndSwap(true, false) {
		p.released.Add(1)
	}
}

// No connection to the status page outlives what it was used for: the next
// run would find a worker busy with it.
func TestPollersAreLetGoOf(t *testing.T) {
	var held, released atomic.Int64
	_, _, err := walk(t, t.Context(), ladderCampaign(server(t).URL), &fakeEngine{}, func(k *Campaign) {
		k.Needs.Pollers = func(*Lab, bool, func() map[string][]int) []Poller {
			return []Poller{&heldPoller{held: &held, released: &released}}
		}
	})
	// One for the check of the status page, one for the idle baseline, eight
	// runs; the warm-ups of this engine may end before a poll is made.
	if err != nil || held.Load() < 10 || released.Load() != held.Load() {
		t.Errorf("used over %d stretches, let go of %d times, %v; want at least 10, and as many", held.Load(), released.Load(), err)
	}
}

func TestPace(t *testing.T) {
	var p pace
	rest := []plan.Run{{Cell: 0}, {Cell: 1}, {Cell: 2}}
	if got := p.left(rest); got != 0 {
		t.Errorf("left %v before the first run, want 0", got)
	}
	p.took(0, 2*time.Second)
	p.took(0, 4*time.Second)
	p.took(1, 6*time.Second)
	// Cell 0 took 3 s, cell 1 6 s, cell 2 is unknown: the mean of the three, 4 s.
	if got := p.left(rest); got != 13*time.Second {
		t.Errorf("left %v, want 13s", got)
	}
}

func TestSteady(t *testing.T) {
	for _, c := range []struct {
		windows []float64
		want    bool
	}{
		{nil, false},
		{[]float64{100, 100, 100}, false},      // the first window does not count
		{[]float64{50, 100, 100, 100}, true},   // equal
		{[]float64{50, 98, 100, 102.9}, true},  // 4.9 of 100.3: 4.9 %
		{[]float64{50, 97, 100, 103.5}, false}, // 6.5 of 100.2
		{[]float64{0, 0, 0, 0}, false},
	} {
		if got := isSteady(c.windows); got != c.want {
			t.Errorf("isSteady(%v) = %v, want %v", c.windows, got, c.want)
		}
	}
}
