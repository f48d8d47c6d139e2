package analysis

import (
	"strings"
	"testing"

	"abacus/harness/record"
)

// A level whose runs were void or failed has no figures to rest on.
func TestLevelOfVoidAndFailedRuns(t *testing.T) {
	c := single(2, func(int) float64 { return 1000 })
	c.runs[0].Void = "the client was the limit"
	c.runs[1].Error, c.runs[1].Result = "no server", nil
	a := c.analyse(t)
	if f := findingsOf(a, "run_failed"); len(f) != 0 {
		t.Errorf("%+v", f)
	}
	if f := findingsOf(a, "level_failed"); len(f) != 1 || f[0].Title != "No run succeeded at 10 connections." || !strings.HasPrefix(f[0].Evidence, "1 run of 2 failed, in round 2: no server.") {
		t.Errorf("%+v", f)
	}
	if f := findingsOf(a, "run_void"); len(f) != 1 || f[0].Title != "1 run of 2 is void at 10 connections." {
		t.Errorf("%+v", f)
	}
}

// An exit status is said once, whatever the error repeats of it.
func TestHookTextSaysTheStatusOnce(t *testing.T) {
	for _, c := range []struct {
		code        *int
		err, output string
		want        string
	}{
		{new(1), "exit status 1", "", "prepare sh -c x, exit status 1"},
		{new(1), "exit status 1", "no such table", "prepare sh -c x, exit status 1: no such table"},
		{new(1), "timed out after 5s", "", "prepare sh -c x, exit status 1: timed out after 5s"},
		{nil, "no such program", "", "prepare sh -c x: no such program"},
	} {
		if got := hookText("prepare", []string{"sh", "-c", "x"}, c.code, c.err, c.output); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestRunNumbersLeaveNoneOutSilently(t *testing.T) {
	for want, runs := range map[string][]int{"run 3": {3}, "runs 3 and 5": {3, 5}, "runs 1, 2, 3, 4, 5 and 2 more": {1, 2, 3, 4, 5, 6, 7}} {
		if got := runNumbers(runs); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// What stop_if ends is given up for the rest of the campaign, not for a round.
func TestStoppedSaysWhatWasGivenUp(t *testing.T) {
	c := single(2, func(int) float64 { return 1000 })
	c.runs[0].Stopped, c.runs[0].Result.Interrupted = "p95 > 10ms", true
	f := findingsOf(c.analyse(t), "stopped_early")
	if len(f) != 1 || f[0].Evidence != "In round 1: p95 > 10ms. From then on this level and higher ones of the same variant and page were given up." {
		t.Errorf("%+v", f)
	}
	c.manifest.Skipped = []record.SkippedRun{{Seq: 2, Reason: "given up after run 1: p95 > 10ms"}}
	if f := findingsOf(c.analyse(t), "runs_skipped"); len(f) != 1 || f[0].Evidence != "Given up after run 1: p95 > 10ms." {
		t.Errorf("%+v", f)
	}
}
