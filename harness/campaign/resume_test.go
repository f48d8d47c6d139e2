package campaign

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"abacus/harness/load"
	"abacus/harness/plan"
	"abacus/harness/record"
	"abacus/scenarios"
)

// resume goes on with a record and returns what stands there then.
func resume(t *testing.T, c plan.Campaign, r *record.Reader, engine Engine) (Outcome, *record.Reader, error) {
	t.Helper()
	w, err := record.Reopen(r.Dir())
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	return walk(t, t.Context(), c, engine, func(k *Campaign) {
		k.Record = w
		if err := k.Continue(r); err != nil {
			t.Fatal(err)
		}
	})
}

func seqs(list []record.Run) []int {
	var out []int
	for _, run := range list {
		out = append(out, run.Seq)
	}
	return out
}

// A signal that comes before a run's load leaves no file of it: it is still to
// be made, and not void or failed.
func TestSignalBeforeTheLoadLeavesTheRunToBeMade(t *testing.T) {
	c := ladderCampaign(server(t).URL)
	concluded := filepath.Join(t.TempDir(), "concluded")
	c.Prepare = [][]string{{"true"}}
	c.Conclude = [][]string{{"sh", "-c", `echo run >>"$0"`, concluded}}
	ctx, cancel := context.WithCancel(t.Context())
	e := &fakeEngine{on: func(ctx context.Context, n int, _ load.Job, _ func(load.Progress)) (*load.Result, error) {
		if n == 3 {
			cancel()
			return nil, ctx.Err()
		}
		return nil, nil
	}}
	out, r, err := walk(t, ctx, c, e, nil)
	if err != nil || !out.Interrupted || out.FailedRuns != 0 {
		t.Errorf("interrupted %v, failed %d, %v; want true, 0 and no error", out.Interrupted, out.FailedRuns, err)
	}
	if got := seqs(runs(t, r)); !slices.Equal(got, []int{1, 2}) {
		t.Errorf("runs %v, want 1 and 2", got)
	}
	if text, err := os.ReadFile(concluded); strings.Count(string(text), "run") != 3 {
		t.Errorf("conclude ran for %q (%v), want three runs, the one that was stopped too", text, err)
	}
	if h := r.Manifest.Hooks; len(h) != 2 || h[0].Kind != hookPrepare || h[1].Kind != hookConclude {
		t.Errorf("hooks of the run without a file: %+v, want prepare and conclude", h)
	}
	out, r, err = resume(t, c, r, &fakeEngine{})
	if len(r.Manifest.Warmups) != 2 {
		t.Errorf("%d warm-ups after the resume, want those of the second start, 2", len(r.Manifest.Warmups))
	}
	if err != nil || out.FailedRuns != 0 || !slices.Equal(seqs(runs(t, r)), []int{1, 2, 3, 4, 5, 6, 7, 8}) {
		t.Errorf("resumed: runs %v, failed %d, %v; want 1 to 8, 0", seqs(runs(t, r)), out.FailedRuns, err)
	}
}

// What a first start has seen counts for the second: runs that failed, and
// ladders that were given up.
func TestResumeKeepsFailuresAndStops(t *testing.T) {
	c := ladderCampaign(server(t).URL)
	c.StopIf = []string{"failed > 20%"}
	ctx, cancel := context.WithCancel(t.Context())
	first := &fakeEngine{on: func(_ context.Context, n int, job load.Job, progress func(load.Progress)) (*load.Result, error) {
		if n == 2 {
			cancel()
		}
		if strings.HasSuffix(job.URL, "/b") {
			return nil, errors.New("broken")
		}
		progress(load.Progress{Interval: &load.Interval{LengthNS: 2e8, Complete: 7, Failed: 3}})
		res := result(job, 7)
		res.Interrupted = true
		return res, nil
	}}
	// The order of the first block is drawn; b must come first, or its error
	// would be the signal's.
	c.Scenarios[0].Variants[0], c.Scenarios[0].Variants[1] = c.Scenarios[0].Variants[1], c.Scenarios[0].Variants[0]
	if p, err := plan.Expand(c, 7); err != nil || p.Cells[p.Runs[0].Cell].Variant != "b" {
		c.Scenarios[0].Variants[0], c.Scenarios[0].Variants[1] = c.Scenarios[0].Variants[1], c.Scenarios[0].Variants[0]
	}
	_, r, err := walk(t, ctx, c, first, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := runs(t, r); len(got) != 2 || got[0].Error != "broken" || got[1].Stopped == "" {
		t.Fatalf("before: %d runs, %q, stopped by %q", len(got), got[0].Error, got[1].Stopped)
	}
	e := &fakeEngine{}
	out, r, err := resume(t, c, r, e)
	if err != nil {
		t.Fatal(err)
	}
	// b has its second step and both of round 2 left; all of a's is given up.
	for _, job := range e.jobs {
		if strings.HasSuffix(job.URL, "/a") {
			t.Errorf("%s at %d connections was loaded although its ladder was given up", job.URL, job.Concurrency)
		}
	}
	if len(e.jobs) != 3 || len(r.Manifest.Skipped) != 3 || out.FailedRuns != 2 {
		t.Errorf("%d jobs, %d skipped, %d failed; want 3, 3 and 2", len(e.jobs), len(r.Manifest.Skipped), out.FailedRuns)
	}
}

// A writer that was killed after the last run leaves a record that only lacks
// its end: no server is started for that.
func TestResumeOfAFinishedRecordStartsNothing(t *testing.T) {
	c := ladderCampaign(server(t).URL)
	_, r, err := walk(t, t.Context(), c, &fakeEngine{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	w, err := record.Reopen(r.Dir())
	if err != nil {
		t.Fatal(err)
	}
	m := r.Manifest
	m.State = record.StateRunning
	if err := errors.Join(w.WriteManifest(m), w.Close()); err != nil {
		t.Fatal(err)
	}
	c.Setup = [][]string{{"false"}} // would end the campaign
	e := &fakeEngine{}
	out, r, err := resume(t, c, r, e)
	if err != nil || out.Interrupted || len(e.jobs) != 0 || r.Manifest.State != record.StateComplete {
		t.Errorf("%d jobs, state %s, %v; want none and complete", len(e.jobs), r.Manifest.State, err)
	}
}

// A resume that ends before its own warm-ups leaves those of the first start.
func TestWarmupsAreNotLostByAnEarlyEnd(t *testing.T) {
	c := ladderCampaign(server(t).URL)
	ctx, cancel := context.WithCancel(t.Context())
	_, r, err := walk(t, ctx, c, &fakeEngine{on: func(ctx context.Context, _ int, _ load.Job, _ func(load.Progress)) (*load.Result, error) {
		cancel()
		return nil, ctx.Err()
	}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	c.Setup = [][]string{{"false"}}
	_, r, err = resume(t, c, r, &fakeEngine{})
	if err == nil || r.Manifest.State != record.StateFailed || len(r.Manifest.Warmups) != 2 {
		t.Errorf("state %s, %d warm-ups, %v; want failed, 2 and an error", r.Manifest.State, len(r.Manifest.Warmups), err)
	}
}

func TestContinueRefusesAnotherPlan(t *testing.T) {
	c := ladderCampaign(server(t).URL)
	_, r, err := walk(t, t.Context(), c, &fakeEngine{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		seed   uint64
		change func(*plan.Campaign)
		want   string
	}{
		"the same":       {7, func(*plan.Campaign) {}, ""},
		"a longer wait":  {7, func(c *plan.Campaign) { c.Timeout *= 2 }, ""},
		"another order":  {8, func(*plan.Campaign) {}, "the order of runs is not that of the record"},
		"more repeats":   {7, func(c *plan.Campaign) { c.Repeats = 3 }, "the load levels, variants or repeats are not those of the record"},
		"another level":  {7, func(c *plan.Campaign) { c.Scenarios[0].Steps[0].Concurrency = 9 }, "the load levels, variants or repeats"},
		"another target": {7, func(c *plan.Campaign) { c.Scenarios[0].Variants[0].URL += "x" }, "the load levels, variants or repeats"},
	} {
		changed := c
		changed.Scenarios = []scenarios.Scenario{c.Scenarios[0]}
		changed.Scenarios[0].Steps = slices.Clone(c.Scenarios[0].Steps)
		changed.Scenarios[0].Variants = slices.Clone(c.Scenarios[0].Variants)
		tt.change(&changed)
		p, err := plan.Expand(changed, tt.seed)
		if err != nil {
			t.Fatal(err)
		}
		err = (&Campaign{Plan: p}).Continue(r)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

// A signal during setup is an interruption, and no error of its own; each
// cleanup command is run, whatever came of the one before.
func TestSignalDuringSetup(t *testing.T) {
	c := ladderCampaign(server(t).URL)
	cleaned := filepath.Join(t.TempDir(), "cleaned")
	c.Setup = [][]string{{"true"}, {"sleep", "60"}}
	c.Cleanup = [][]string{{"false"}, {"touch", cleaned}}
	ctx, cancel := context.WithCancel(t.Context())
	begun := filepath.Join(t.TempDir(), "begun")
	c.Setup[1] = []string{"sh", "-c", `touch "$0"; sleep 60`, begun}
	go func() {
		defer cancel()
		for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
			if _, err := os.Stat(begun); err == nil {
				return
			}
		}
	}()
	out, r, err := walk(t, ctx, c, &fakeEngine{}, nil)
	if len(r.Manifest.Hooks) != 3 || r.Manifest.Hooks[0].Error != "" || r.Manifest.Hooks[1].Kind != hookCleanup {
		t.Errorf("hooks %+v, want the setup that ended and two cleanups", r.Manifest.Hooks)
	}
	if !out.Interrupted || r.Manifest.State != record.StateInterrupted || !strings.HasPrefix(r.Manifest.Reason, "stopped by a signal") {
		t.Errorf("interrupted %v, state %s, reason %q", out.Interrupted, r.Manifest.State, r.Manifest.Reason)
	}
	if err == nil || !strings.Contains(err.Error(), "cleanup hook false") {
		t.Errorf("error %v, want that of the cleanup", err)
	}
	if _, err := os.Stat(cleaned); err != nil {
		t.Errorf("the second cleanup did not run: %v", err)
	}
}

// Variants that differ in a header alone are two pages for a server; two
// engines that ask for the same are one.
func TestWarmupOfEachDistinctRequest(t *testing.T) {
	c := ladderCampaign(server(t).URL)
	for i, encoding := range []string{"gzip", "identity"} {
		v := &c.Scenarios[0].Variants[i]
		v.URL = c.Scenarios[0].Variants[0].URL
		v.Headers = scenarios.Headers{{Name: "Accept-Encoding", Value: encoding}}
		v.Engines = []string{"native", "hey"}
	}
	_, r, err := walk(t, t.Context(), c, &fakeEngine{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, w := range r.Manifest.Warmups {
		got = append(got, w.Cell.Variant)
	}
	if !slices.Equal(got, []string{"a/native", "b/native"}) {
		t.Errorf("warmed up %q, want one of each header", got)
	}
}
