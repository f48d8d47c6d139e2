package reporters

import (
	"bytes"
	"strings"
	"testing"

	"abacus/harness/analysis"
	"abacus/harness/preflight"
	"abacus/harness/record"
	"abacus/harness/stats"
)

// pair is a comparison of two runs each, its figures worked out by hand: of
// 32,096 and 26,444 the mean is 29,270 and the sd 3,997; of p95 7.63 and
// 28.3 ms they are 17.97 and 14.6.
func pair() *analysis.Analysis {
	step := record.Step{Concurrency: 50, Requests: 1000, KeepAlive: true}
	through := stats.Spread{N: 2, Mean: 29270, SD: new(3996.6), CI95: &[2]float64{0, 65178}}
	p95 := stats.Spread{N: 2, Mean: 17.965e6, SD: new(14.616e6), CI95: &[2]float64{0, 149.3e6}}
	merged := 27.9e6
	cell := analysis.Cell{Scenario: "s", Variant: "big", Step: step, Label: "50 connections, keep-alive", Runs: 2, PlannedRuns: 2, Throughput: &through}
	cell.Latency.P95 = analysis.Figure{Value: &merged, Runs: &p95}
	return &analysis.Analysis{Campaign: "c", FinishedRuns: 2, Verdict: []string{"The verdict."}, Cells: []analysis.Cell{cell},
		Scenarios: []analysis.Scenario{{Name: "s", Kind: "comparison", CellIndexes: []int{0}}},
		Goals: []analysis.GoalResult{
			{Goal: "p95 < 10ms", Outcome: analysis.GoalMissed, Evidence: "18 ms.", Scope: analysis.Scope{Scenario: "s", Step: &step}},
			{Goal: "p99 < 1s", Outcome: analysis.GoalUndecided, Evidence: "0.9 s.", Scope: analysis.Scope{Scenario: "s", Step: &step}},
			{Goal: "failed == 0", Outcome: analysis.GoalMet, Evidence: "0."}},
		Findings: []analysis.Finding{{Severity: preflight.Critical, Title: "Not idle.", Evidence: "CPU 98 %."}, {Severity: preflight.Warning, Title: "Careful."},
			{Severity: preflight.Info, Title: "By the way."}}}
}

func text(t *testing.T, r Text, a *analysis.Analysis) string {
	t.Helper()
	var b bytes.Buffer
	if err := r.Report(&b, a); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTextByHand(t *testing.T) {
	want := `s · 50 connections, keep-alive · 1,000 requests · means over 2 runs, ± sd between runs
       requests/s   ± sd  95 % interval  p95 ms  ± sd  failed
  big      29,000  4,000       0–65,000      20    10       0

critical Not idle. CPU 98 %.
The verdict.
missed   Goal p95 < 10ms, 50 connections: 18 ms.
open     Goal p99 < 1s, 50 connections, undecided: 0.9 s.
1 of 3 goals met
warning  Careful.
1 note more on the page
`
	if got := text(t, Text{}, pair()); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestTextInColour(t *testing.T) {
	got := text(t, Text{Colour: true}, pair())
	for _, w := range []string{"\x1b[31mmissed  \x1b[0m Goal", "\x1b[33mopen    \x1b[0m Goal", "\x1b[31mcritical\x1b[0m Not idle"} {
		if !strings.Contains(got, w) {
			t.Errorf("no %q in\n%q", w, got)
		}
	}
}

// A narrow terminal loses the sd of p95, then the interval, then the sd.
func TestTextFitsTheTerminal(t *testing.T) {
	for _, c := range []struct {
		width int
		heads string
	}{
		{61, "requests/s   ± sd  95 % interval  p95 ms  ± sd  failed"},
		{60, "requests/s   ± sd  95 % interval  p95 ms  failed"},
		{54, "requests/s   ± sd  p95 ms  failed"},
		{39, "requests/s  p95 ms  failed"},
	} {
		got := strings.Split(text(t, Text{Width: c.width}, pair()), "\n")
		found := false
		for _, line := range got {
			found = found || strings.TrimSpace(line) == c.heads
		}
		if !found {
			t.Errorf("width %d:\n%s", c.width, strings.Join(got, "\n"))
		}
	}
}

// One run has no spread: no column of dashes.
func TestTextOfOneRun(t *testing.T) {
	a := pair()
	a.Cells[0].Throughput = &stats.Spread{N: 1, Mean: 29270}
	a.Cells[0].Latency.P95.Runs = &stats.Spread{N: 1, Mean: 17.965e6}
	a.Cells[0].Runs, a.Cells[0].PlannedRuns = 1, 1
	got := text(t, Text{}, a)
	if !strings.Contains(got, "requests/s  p95 ms  failed\n  big      29,300    18.0       0\n") || !strings.Contains(got, "· the figures of 1 run\n") {
		t.Error(got)
	}
}

// The column of ratios is there where a cell has one, its text to the left.
func TestTextOfAComparison(t *testing.T) {
	a := pair()
	small := a.Cells[0]
	small.Variant = "small"
	a.Cells = append(a.Cells, small)
	a.Scenarios[0].CellIndexes = []int{0, 1}
	a.Comparisons = []analysis.Comparison{{Scenario: "s", Step: small.Step, A: "big", B: "small", Baseline: "small", Primary: true, N: 1, Ratio: new(0.683)}}
	got := text(t, Text{}, a)
	for _, want := range []string{"failed  to baseline\n", "  big        29,000  4,000       0–65,000      20    10       0  0.683\u202f×\n", "0  baseline\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// A level of which no run has a result counted nothing: no 0.
func TestTextOfALevelWithoutResult(t *testing.T) {
	a := pair()
	a.Cells[0] = analysis.Cell{Scenario: "s", Variant: "big", Label: "50 connections", FailedRuns: 2, PlannedRuns: 2}
	if got := text(t, Text{}, a); !strings.Contains(got, "  big  0 of 2           –       –       –\n") {
		t.Error(got)
	}
}

// Where the verdict rests on p95, the ratio is not one of requests per second.
func TestTextOfARatioOfP95(t *testing.T) {
	a := pair()
	small := a.Cells[0]
	small.Variant = "small"
	a.Cells = append(a.Cells, small)
	a.Scenarios[0].CellIndexes, a.Scenarios[0].Primary = []int{0, 1}, "p95"
	a.Comparisons = []analysis.Comparison{{Scenario: "s", Step: small.Step, A: "big", B: "small", Baseline: "small", Metric: "p95", Primary: true, N: 6,
		Ratio: new(0.91), CI95: &[2]float64{0.1, 8.25}}}
	got := text(t, Text{}, a)
	for _, want := range []string{"failed  p95 to baseline\n", "0  0.9\u202f× 0.1–8.2\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// Cells that differ in their page only have names of their own.
func TestTextOfPages(t *testing.T) {
	a := pair()
	other := a.Cells[0]
	a.Cells[0].Page, other.Page = "/a", "/b"
	a.Cells = append(a.Cells, other)
	a.Scenarios[0].CellIndexes = []int{0, 1}
	for kind, want := range map[string][]string{"comparison": {"  big · /a  ", "  big · /b  "},
		"ladder": {"  50 connections, keep-alive · /a  ", "  50 connections, keep-alive · /b  "}} {
		a.Scenarios[0].Kind = kind
		got := text(t, Text{}, a)
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("%s: no %q in\n%s", kind, w, got)
			}
		}
	}
}

// What reorders or hides letters reaches no terminal, too.
func TestPlainTakesFormatCharacters(t *testing.T) {
	if got := Plain("a\u202eb\u200bc\u2028d\u00a0e\u202ff\x1b[31m"); got != "a�b�c�d\u00a0e\u202ff�[31m" {
		t.Errorf("%q", got)
	}
}
