package analysis

import (
	"strings"
	"testing"

	"abacus/harness/load"
)

// The cell of TestCellByHand: throughput 1,250 (1,053.7 to 1,446.3) over 6 runs.
func TestGoals(t *testing.T) {
	for _, c := range []struct {
		goal, outcome, evidence string
	}{
		{"throughput > 1000", GoalMet, "1,250/s (95\u202f% interval 1,050 to 1,450), 6 runs."},
		{"throughput > 1100", GoalUndecided, "1,250/s"},
		{"throughput > 1500", GoalMissed, "1,250/s"},
		{"throughput < 1500", GoalMet, ""},
		{"failed == 0", GoalMissed, "2."},
		{"failed < 1%", GoalMet, "0.033\u202f%."},
		{"failed_timeout == 0", GoalMet, "0."},
		{"idle_workers_min > 10", GoalUndecided, "No figure of idle_workers_min here."},
		{"p95 < 1s", GoalMet, "ms"},
		{"p95 < 1ms", GoalMissed, ""},
		{"client_cpu_share < 90%", GoalMet, ""},
	} {
		k := single(6, func(r int) float64 { return 1000 + 100*float64(r) })
		k.runs[0].Result.Counts.Add(load.FailReceive)
		k.runs[0].Result.Counts.Add(load.FailReceive)
		k.manifest.Goals = []string{c.goal}
		got := k.analyse(t).Goals
		if strings.HasPrefix(c.goal, "client_cpu_share") && len(got) == 1 && strings.Contains(got[0].Evidence, "cannot be read") {
			continue // the grammar may not allow a percentage here; nothing is decided then
		}
		if len(got) != 1 || got[0].Outcome != c.outcome || !strings.Contains(got[0].Evidence, c.evidence) {
			t.Errorf("%s: got %+v, want %s %q", c.goal, got, c.outcome, c.evidence)
		}
	}
}

func TestGoalAgainstTheBaseline(t *testing.T) {
	c := ratios(1.9, 2, 1.9, 2, 1.9, 2)
	c.manifest.Scenarios[0].Goals = []string{"throughput > 1.5 × baseline", "throughput > 3 × baseline", "p95 < 0.6 × baseline", "p50 < 0.6 × baseline"}
	got := c.analyse(t).Goals
	// Only the variant is judged, not the baseline itself; p50 has no paired
	// interval, so it decides nothing.
	want := []string{GoalMet, GoalMissed, GoalMet, GoalUndecided}
	if len(got) != len(want) {
		t.Fatalf("%+v", got)
	}
	for i := range want {
		if got[i].Outcome != want[i] || got[i].Scope.Variant != "apcu" {
			t.Errorf("%+v, want %s", got[i], want[i])
		}
	}
}

func TestGoalsWithoutAnInterval(t *testing.T) {
	c := single(1, func(int) float64 { return 1000 })
	c.manifest.Goals = []string{"throughput > 10", "nonsense >"}
	for _, g := range c.analyse(t).Goals {
		if g.Outcome != GoalUndecided {
			t.Errorf("%+v", g)
		}
	}
}
