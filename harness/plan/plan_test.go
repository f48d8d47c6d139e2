package plan

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"abacus/scenarios"
)

// sample has two scenarios: three variants (one by two engines) at two steps,
// and one variant on two pages at one step.
func sample() Campaign {
	c := Campaign{Name: "c"}
	c.Repeats, c.Engine = 6, "native"
	a := scenarios.Scenario{Name: "a", Baseline: "y", Steps: scenarios.Steps{{Concurrency: 1, Requests: 100, KeepAlive: true}, {Concurrency: 10, Requests: 500}}}
	for _, n := range []string{"x", "y", "z"} {
		a.Variants = append(a.Variants, scenarios.Variant{Name: n, Path: "/" + n})
	}
	a.Variants[2].Engines = []string{"native", "hey"}
	b := scenarios.Scenario{Name: "b", Pages: []string{"/p", "/q"}, Steps: scenarios.Steps{{Concurrency: 5, Duration: scenarios.Duration(time.Second), KeepAlive: true}}}
	c.Scenarios = []scenarios.Scenario{a, b}
	return c
}

func mustExpand(t *testing.T, c Campaign, seed uint64) *Plan {
	t.Helper()
	p, err := Expand(c, seed)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestCells(t *testing.T) {
	p := mustExpand(t, sample(), 1)
	var got []string
	for i, c := range p.Cells {
		if c.Index != i {
			t.Errorf("cell %d has the index %d", i, c.Index)
		}
		got = append(got, fmt.Sprintf("%s %s %s%s %s c%d/%d %v", c.Scenario, c.Variant, c.Path, c.Page, c.Engine, c.Step.Concurrency, c.StepIndex, c.Baseline))
	}
	want := []string{
		"a x /x native c1/0 false", "a x /x native c10/1 false",
		"a y /y native c1/0 true", "a y /y native c10/1 true",
		"a z/native /z native c1/0 false", "a z/native /z native c10/1 false",
		"a z/hey /z hey c1/0 false", "a z/hey /z hey c10/1 false",
		"b b /p/p native c5/0 true", "b b /q/q native c5/0 true",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// The properties that comparisons rest on, over many seeds.
func TestOrderOfRuns(t *testing.T) {
	orders := map[string]bool{}
	for seed := range uint64(50) {
		p := mustExpand(t, sample(), seed)
		if len(p.Runs) != 60 || p.Rounds != 6 {
			t.Fatalf("%d runs in %d rounds, want 60 in 6", len(p.Runs), p.Rounds)
		}
		perRound := map[[2]int]int{}
		blocks := map[int][]Run{}
		for i, r := range p.Runs {
			if r.Seq != i+1 {
				t.Fatalf("run %d has the number %d", i, r.Seq)
			}
			perRound[[2]int{r.Round, r.Cell}]++
			blocks[r.Block] = append(blocks[r.Block], r)
			if i > 0 {
				before := p.Runs[i-1]
				if r.Round < before.Round || r.Block < before.Block || r.Block > before.Block+1 {
					t.Fatalf("run %+v after %+v", r, before)
				}
				was, is := p.Cells[before.Cell], p.Cells[r.Cell]
				if r.Round == before.Round && was.Scenario == is.Scenario && is.StepIndex < was.StepIndex {
					t.Fatalf("step %d after %d within round %d", is.StepIndex, was.StepIndex, r.Round)
				}
			}
		}
		for round := 1; round <= 6; round++ {
			for cell := range p.Cells {
				if n := perRound[[2]int{round, cell}]; n != 1 {
					t.Fatalf("cell %d runs %d times in round %d", cell, n, round)
				}
			}
		}
		// Three steps in six rounds, numbered from 1, each with all its cells.
		if len(blocks) != 18 || len(blocks[1]) != 4 || len(blocks[3]) != 2 || blocks[18] == nil {
			t.Fatalf("%d blocks, first of %d, third of %d runs", len(blocks), len(blocks[1]), len(blocks[3]))
		}
		for n, runs := range blocks {
			for _, r := range runs {
				a, b := p.Cells[r.Cell], p.Cells[runs[0].Cell]
				if r.Round != runs[0].Round || a.Scenario != b.Scenario || a.StepIndex != b.StepIndex {
					t.Fatalf("block %d mixes %+v and %+v", n, a, b)
				}
			}
		}
		order := fmt.Sprint(p.Runs)
		if again := mustExpand(t, sample(), seed); fmt.Sprint(again.Runs) != order {
			t.Fatal("the same seed gave another order")
		}
		orders[order] = true
	}
	if len(orders) != 50 {
		t.Errorf("%d different orders of 50 seeds", len(orders))
	}
}

// Over many rounds each variant must come first about as often as any other:
// 4 cells, 2,000 blocks; 500 expected, standard deviation 19.
func TestShuffleIsFair(t *testing.T) {
	first := map[int]int{}
	for seed := range uint64(2000) {
		first[shuffled([]int{0, 1, 2, 3}, seed, "a", 1, 0)[0]]++
	}
	for cell := range 4 {
		if n := first[cell]; n < 400 || n > 600 {
			t.Errorf("cell %d comes first %d times of 2000, want about 500", cell, n)
		}
	}
}

// The order of one scenario must not depend on the others, so that the same
// seed means the same when something is added.
func TestOrderIsOfTheScenario(t *testing.T) {
	order := func(p *Plan) (out []string) {
		for _, r := range p.Runs {
			if c := p.Cells[r.Cell]; c.Scenario == "a" {
				out = append(out, c.Variant)
			}
		}
		return out
	}
	c := sample()
	both := order(mustExpand(t, c, 9))
	c.Scenarios[0], c.Scenarios[1] = c.Scenarios[1], c.Scenarios[0]
	swapped := order(mustExpand(t, c, 9))
	c.Scenarios = c.Scenarios[1:]
	alone := order(mustExpand(t, c, 9))
	if len(alone) != 48 || cmp.Diff(both, alone) != "" || cmp.Diff(both, swapped) != "" {
		t.Errorf("%d runs; with another scenario:\n%s\nswapped:\n%s", len(alone), cmp.Diff(both, alone), cmp.Diff(both, swapped))
	}
	seed := uint64(9)
	c.Scenarios[0].Seed = &seed
	if diff := cmp.Diff(alone, order(mustExpand(t, c, 1))); diff != "" {
		t.Errorf("a scenario's own seed does not count:\n%s", diff)
	}
}

// Recorded orders must stay repeatable by later versions. The order was worked
// out by a second implementation of PCG-DXSM, FNV-1a and Fisher and Yates.
func TestOrderStays(t *testing.T) {
	got := fmt.Sprint(shuffled([]int{0, 1, 2, 3, 4, 5, 6, 7}, 207, "static-ladder", 3, 2))
	if want := "[6 1 7 3 2 5 4 0]"; got != want {
		t.Errorf("order %s, want %s: seeds of old records no longer give their order", got, want)
	}
}

func TestRepeatsOfAScenario(t *testing.T) {
	c := sample()
	c.Scenarios[1].Repeats = 2
	p := mustExpand(t, c, 1)
	runs := map[string]int{}
	for _, r := range p.Runs {
		if s := p.Cells[r.Cell].Scenario; s == "b" && r.Round > 2 {
			t.Errorf("b runs in round %d", r.Round)
		}
		runs[p.Cells[r.Cell].Scenario]++
	}
	if p.Rounds != 6 || runs["a"] != 48 || runs["b"] != 4 {
		t.Errorf("%d rounds, runs %v", p.Rounds, runs)
	}
}

func TestTargets(t *testing.T) {
	for _, tt := range []struct{ base, path, want string }{
		{"http://h:8/", "/a?x=1", "http://h:8/a?x=1"},
		{"http://h:8/deep/page?q", "/a", "http://h:8/a"},
		{"http://h:8/deep/page?q", "", "http://h:8/deep/page?q"},
		{"http://[::1]:8", "/%20b", "http://[::1]:8/%20b"},
	} {
		c := Campaign{Name: "c"}
		c.URL = tt.base
		c.Scenarios = []scenarios.Scenario{{Name: "s", Steps: scenarios.Steps{{Concurrency: 1, Requests: 1}}, Variants: []scenarios.Variant{{Name: "v", Path: tt.path}}}}
		cell := mustExpand(t, c, 1).Cells[0]
		if cell.URL != tt.want || cell.Path != "" || cell.Lab != LabExternal || cell.Settings.Lab.Kind != LabExternal {
			t.Errorf("%s and %s: cell %+v", tt.base, tt.path, cell)
		}
	}
}

func TestWhatCannotBeExpanded(t *testing.T) {
	for _, tt := range []struct {
		change func(*Campaign)
		want   string
	}{
		{func(c *Campaign) { c.Scenarios = nil }, "the campaign has nothing to run: no scenario has a variant and a step"},
		{func(c *Campaign) { c.Scenarios[0].Steps = nil }, "scenario a has no steps"},
		{func(c *Campaign) { c.Scenarios[0].Baseline = "w" }, `scenario a: baseline "w" is none of the variants that run`},
		{func(c *Campaign) { c.Scenarios[1].Pages = nil }, "scenario b, variant b: lab demo needs a path or pages"},
		{func(c *Campaign) { c.Lab = &scenarios.Lab{Kind: LabExternal} }, `scenario a, variant x: lab external needs a url with a host, not ""`},
		{func(c *Campaign) {
			c.Scenarios[0].Variants = c.Scenarios[0].Variants[:1]
			c.Scenarios[0].Variants[0].Labs = []string{"apache"}
		}, "scenario a has no variant that exists on its lab"},
		{func(c *Campaign) { c.Repeats = MostRuns }, "the campaign has more than 100000 runs"},
	} {
		c := sample()
		tt.change(&c)
		if _, err := Expand(c, 1); err == nil || err.Error() != tt.want {
			t.Errorf("got %v, want %s", err, tt.want)
		}
	}
}

func TestQuick(t *testing.T) {
	c := sample()
	c.Quick = true
	c.Warmup = &scenarios.Warmup{Until: "steady"}
	c.Settle = &scenarios.Settle{Max: scenarios.Duration(time.Minute)}
	c.Scenarios[0].Steps = scenarios.Steps{{Concurrency: 1, Requests: 4000}, {Concurrency: 200, Requests: 1000}, {Concurrency: 5, Requests: 5}, {Concurrency: 9, Requests: 1_000_000, Duration: scenarios.Duration(time.Minute)}}
	p := mustExpand(t, c, 1)
	if p.Rounds != 1 || len(p.Runs) != len(p.Cells) {
		t.Errorf("%d rounds, %d runs of %d cells", p.Rounds, len(p.Runs), len(p.Cells))
	}
	// A tenth, but one for each connection; at most 2,000; at most 300 ms.
	want := []scenarios.Step{{Concurrency: 1, Requests: 400}, {Concurrency: 200, Requests: 200}, {Concurrency: 5, Requests: 5}, {Concurrency: 9, Requests: 2000, Duration: quickDuration}}
	for i, w := range want {
		if got := p.Cells[i].Step; got != w {
			t.Errorf("step %d is %+v, want %+v", i, got, w)
		}
	}
	s := p.Cells[0].Settings
	if s.Warmup.Until != "" || time.Duration(s.Warmup.Duration) != 300*time.Millisecond || time.Duration(s.Settle.Max) != 2*time.Second {
		t.Errorf("warm-up %+v, settle %+v", s.Warmup, s.Settle)
	}
	// The campaign itself is not cut: written down and read again it gives
	// the same plan.
	if c.Warmup.Until != "steady" || p.Campaign.Scenarios[0].Steps[0].Requests != 4000 || time.Duration(c.Settle.Max) != time.Minute {
		t.Error("the campaign was changed")
	}
	if diff := cmp.Diff(p.Cells, mustExpand(t, p.Campaign, 1).Cells); diff != "" {
		t.Error(diff)
	}
}

func TestEstimate(t *testing.T) {
	c := sample() // per round: 4 × 100 + 4 × 500 requests, and twice one second
	e := mustExpand(t, c, 1).Estimate()
	// At the assumed rates (8,000/s over one connection, 8,000/s of fresh ones,
	// 25,000/s else) 6 × (400 + 2000 + 2 × 25000) requests take 6 × (0.05 +
	// 0.25 + 2) s; 60 runs at 0.6 s, 5 variants at 2 s and 6 s before the first
	// are 52 s.
	if e.Runs != 60 || e.Requests != 314400 || e.Exact || e.TopConcurrency != 10 || e.Took.Round(time.Millisecond) != 65800*time.Millisecond {
		t.Errorf("%+v", e)
	}
	c.Scenarios = c.Scenarios[:1]
	if e := mustExpand(t, c, 1).Estimate(); e.Requests != 14400 || !e.Exact {
		t.Errorf("%+v", e)
	}
	// Requests and a duration: the shorter one counts; 100 ms at 8,000/s are 800.
	c.Scenarios[0].Steps = scenarios.Steps{{Concurrency: 1, Requests: 1000, Duration: scenarios.Duration(10 * time.Second)}, {Concurrency: 2, Requests: 1000, Duration: scenarios.Duration(100 * time.Millisecond)}}
	if e := mustExpand(t, c, 1).Estimate(); e.Requests != 6*4*(1000+800) {
		t.Errorf("%d requests", e.Requests)
	}
	// A quick look makes a tenth of the requests and waits less: 8 × 100
	// requests at 8,000/s, 8 runs at 0.2 s, 4 variants at 0.4 s, and 2 s.
	c.Quick = true
	c.Scenarios[0].Steps[0].Duration = 0
	if e := mustExpand(t, c, 1).Estimate(); e.Took.Round(time.Millisecond) != 5300*time.Millisecond {
		t.Errorf("a quick look takes %v", e.Took)
	}
}

func TestFingerprint(t *testing.T) {
	print := func(c Campaign, seed uint64) string {
		f, err := mustExpand(t, c, seed).Fingerprint()
		if err != nil || len(f) != 64 {
			t.Fatalf("%q, %v", f, err)
		}
		return f
	}
	base := print(sample(), 1)
	if print(sample(), 1) != base {
		t.Error("the same campaign gives another fingerprint")
	}
	if print(sample(), 2) == base {
		t.Error("another seed gives the same fingerprint")
	}
	c := sample()
	c.Results, c.Report = "elsewhere", Report{Formats: []string{"json"}, Open: true}
	c.Allow = []string{"lab.example.org"}
	if print(c, 1) != base {
		t.Error("where results go, or what may be loaded, changes the fingerprint")
	}
	for name, change := range map[string]func(*Campaign){
		"step":    func(c *Campaign) { c.Scenarios[0].Steps[0].Requests++ },
		"header":  func(c *Campaign) { c.Headers = scenarios.Headers{{Name: "A", Value: "b"}} },
		"path":    func(c *Campaign) { c.Scenarios[0].Variants[0].Path = "/other" },
		"quick":   func(c *Campaign) { c.Quick = true },
		"timeout": func(c *Campaign) { c.Scenarios[0].Variants[1].Timeout = 1 },
	} {
		c := sample()
		change(&c)
		if print(c, 1) == base {
			t.Errorf("another %s gives the same fingerprint", name)
		}
	}
}

func TestLabsLeaveVariantsOut(t *testing.T) {
	c := sample()
	c.Scenarios[0].Variants[0].Labs = []string{"apache"}
	p := mustExpand(t, c, 1)
	for _, cell := range p.Cells {
		if cell.Variant == "x" {
			t.Errorf("x runs on %s", cell.Lab)
		}
	}
	kept, left := Variants(c, c.Scenarios[0])
	if len(kept) != 2 || len(left) != 1 || !strings.EqualFold(left[0].Name, "x") {
		t.Errorf("kept %v, left out %v", kept, left)
	}
}
