package html

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"abacus/harness/analysis"
	"abacus/harness/preflight"
	"abacus/harness/record"
)

// voidLevel makes one run of the greatest level void.
func voidLevel(a *analysis.Analysis) {
	c := &a.Cells[4]
	c.Points[3].Bad, c.Points[3].State = "the client was the limit", "void"
	c.Runs, c.VoidRuns = 5, 1
}

// failedCell makes a cell in which no run succeeded.
func failedCell6(a *analysis.Analysis) {
	for i := range a.Cells {
		c := &a.Cells[i]
		if c.Variant != "static/hey" {
			continue
		}
		*c = analysis.Cell{Scenario: c.Scenario, Variant: c.Variant, Engine: c.Engine, Lab: c.Lab, Step: c.Step, Label: c.Label,
			FailedRuns: 6, PlannedRuns: 6, Failed: 6, FailedBy: map[string]int64{"connect": 6}}
		for r := 1; r <= 6; r++ {
			c.Points = append(c.Points, analysis.Point{Seq: 100 + r, Round: r, Failed: ptr(int64(1)), Bad: "connection refused", State: "failed"})
		}
	}
	a.Comparisons = a.Comparisons[:2]
}

// someFailed leaves four of six runs of a variant.
func someFailed(a *analysis.Analysis) {
	for i := range a.Cells {
		if c := &a.Cells[i]; c.Variant == "apcu" {
			for _, k := range []int{1, 4} {
				c.Points[k] = analysis.Point{Seq: c.Points[k].Seq, Round: c.Points[k].Round, Bad: "the server was gone", State: "failed"}
			}
			c.Runs, c.FailedRuns = 4, 2
		}
	}
}

// stoppedLevel makes one run of the greatest level one that stop_if ended, and
// another one that failed though it has figures.
func stoppedLevel(a *analysis.Analysis) {
	c := &a.Cells[4]
	c.Points[3].Bad, c.Points[3].State = "stopped early: failed > 20%", "stopped"
	c.Points[4].Bad, c.Points[4].State = "the worker ended", "failed"
	c.Runs, c.FailedRuns = 4, 2
}

// noResult leaves a level of which no run has a result: nothing was counted.
func noResult(a *analysis.Analysis) {
	failedCell6(a)
	for i := range a.Cells {
		c := &a.Cells[i]
		if c.Variant != "static/hey" {
			continue
		}
		c.Failed, c.FailedBy = 0, map[string]int64{}
		for k := range c.Points {
			c.Points[k].Failed = nil
		}
	}
}

// noStatus takes away what a status page gives.
func noStatus(a *analysis.Analysis) {
	a.StatusURLs = nil
	for i := range a.Cells {
		a.Cells[i].IdleWorkersMin, a.Cells[i].BusyWorkersPeak, a.Cells[i].StatusSamples = nil, nil, nil
	}
	for i := range a.Timelines {
		t := &a.Timelines[i]
		t.Scoreboard = nil
		t.Missing = []string{"Workers: not observed, no status page at http://127.0.0.1:8080/server-status (404)."}
		var kept []analysis.Panel
		for _, p := range t.Panels {
			if p.ID != "workers" {
				kept = append(kept, p)
			}
		}
		t.Panels = kept
	}
}

func interrupted(a *analysis.Analysis) {
	a.Complete, a.State, a.Reason = false, record.StateInterrupted, "SIGINT"
	a.FinishedRuns, a.LastRound = 31, 4
}

func quick(a *analysis.Analysis) {
	a.Quick, a.Rounds, a.LastRound = true, 1, 1
	a.Headline, a.Comparisons = nil, nil
	for i := range a.Cells {
		c := &a.Cells[i]
		c.Points, c.Runs, c.PlannedRuns = c.Points[:1], 1, 1
		bare := func(f *analysis.Figure) {
			if f.Runs != nil {
				f.Runs = spreadOf([]float64{f.Runs.Mean})
			}
		}
		c.Throughput = spreadOf([]float64{c.Throughput.Mean})
		for _, f := range []*analysis.Figure{&c.Latency.Mean, &c.Latency.P50, &c.Latency.P75, &c.Latency.P90, &c.Latency.P95, &c.Latency.P99, &c.Latency.P999, &c.Latency.Max} {
			bare(f)
		}
	}
	a.Verdict = []string{"A quick look gives no verdict."}
}

// nothing leaves a record of which no run was made.
func nothing(a *analysis.Analysis) {
	interrupted(a)
	a.FinishedRuns, a.LastRound = 0, 0
	a.Headline, a.Comparisons, a.Timelines = nil, nil, nil
	for i := range a.Cells {
		c := a.Cells[i]
		a.Cells[i] = analysis.Cell{Scenario: c.Scenario, Variant: c.Variant, Engine: c.Engine, Lab: c.Lab, Step: c.Step, Label: c.Label, PlannedRuns: 6, FailedBy: map[string]int64{}}
	}
	a.Verdict = []string{"Nothing was measured."}
}

func TestStates(t *testing.T) {
	tests := []struct {
		name   string
		change func(*analysis.Analysis)
		want   []string
		absent []string
	}{
		{"void run", voidLevel,
			[]string{`<td class="wn" title="1 void">5 of 6</td>`, `<tr class="void"><th scope="row">200, round 4 <span class="tag">void</span></th><td title="the client was the limit">1</td><td><s>`,
				"void: the client was the limit", "dashed rings: void runs, in no mean"}, nil},
		{"stopped run", stoppedLevel,
			[]string{`<td class="wn" title="1 failed, 1 stopped">4 of 6</td>`, `200, round 4 <span class="tag">stopped</span>`, `200, round 5 <span class="tag cr">failed</span>`,
				`<td class="tx wide">stopped early: failed &gt; 20%</td>`, `<td class="tx wide">failed: the worker ended</td>`, "requests/s, stopped early: failed"},
			[]string{"void: stopped", "void: the worker", `<span class="tag">void</span>`}},
		{"no result", noResult,
			[]string{`<td class="abs" title="no run gave a result">–</td>`, `<td class="abs" title="the run gave no result">–</td><td class="abs" title="the run gave no result">–</td><td class="tx wide">failed: connection refused</td>`}, nil},
		{"failed cell", failedCell6,
			[]string{`static/hey <span class="tag cr">failed</span></th><td class="wn" title="6 failed">0 of 6</td><td class="abs" title="no run succeeded">–</td>`, `<td class="tx w">6 × connect</td>`,
				`failed: 6 × connect`, "failed: connection refused"}, nil},
		{"some runs failed", someFailed,
			[]string{`<td class="wn" title="2 failed">4 of 6</td>`, "failed: the server was gone", `"shape":"cross"`}, nil},
		{"no status data", noStatus,
			[]string{`<p class="note miss">Workers: not observed, no status page at http://127.0.0.1:8080/server-status (404).</p>`, `title="not observed: no reading of a status page">–</td>`},
			[]string{"The scoreboard, letter by letter", "Busy workers"}},
		{"interrupted", interrupted,
			[]string{`<p class="state"><strong>Incomplete:</strong> 31 of 60 runs, stopped in round 4. Reason: SIGINT. <code>abacus run --resume quickstart/2026-11-30T18-15-49Z</code> finishes it.</p>`,
				"Incomplete: 31 of 60 runs, stopped in round 4. Reason: SIGINT. abacus run --resume quickstart/2026-11-30T18-15-49Z finishes it. This file", "incomplete, 31 of 60 runs"}, nil},
		{"quick look", quick,
			[]string{`<p class="state"><strong>Quick look:</strong> one short round, no verdict.</p>`, `title="one run has no interval">–</td>`},
			[]string{`<p class="cs strip">`, "Ratio to baseline"}},
		{"nothing measured", nothing,
			[]string{"Nothing was measured.", "Incomplete:", `id="saw"`, `id="env"`, `id="repeat"`, "0 of 60 runs."},
			[]string{`id="answer"`, `id="s1"`, `id="pct"`, `id="time"`, `data-chart="`, "Apache ECharts"}},
		{"goals", func(a *analysis.Analysis) {
			a.Goals = []analysis.GoalResult{
				{Goal: "failed == 0", Scope: analysis.Scope{Scenario: "engine-check"}, Outcome: "met", Evidence: "0."},
				{Goal: "p99 < 60ms", Scope: analysis.Scope{Scenario: "static-ladder"}, Outcome: "undecided", Evidence: "p99 was 59 ms."},
				{Goal: "p95 < 30ms", Scope: analysis.Scope{Scenario: "static-ladder"}, Outcome: "missed", Evidence: "p95 was 41 ms."}}
		}, []string{`<a href="#goals">Goals</a>`, `<section id="goals"`, "1 missed, 1 undecided, 1 met.", `<tr class="missed"><th scope="row"><svg`, `<tr class="open"><th scope="row"><svg`,
			`missed</th><td class="tx">p95 &lt; 30ms</td><td class="tx">static-ladder</td><td class="tx wide">p95 was 41 ms.</td>`,
			`<strong>1 goal missed:</strong> <a href="#goals">p95 &lt; 30ms, static-ladder</a>`}, nil},
		{"critical", func(a *analysis.Analysis) {
			f := analysis.Finding{Severity: preflight.Critical, Title: "The machine was not idle.", Scope: analysis.Scope{Scenario: "static-ladder"}}
			a.Findings = append([]analysis.Finding{f, f}, a.Findings...)
		}, []string{`<strong>2 critical findings:</strong> <a href="#finding1">The machine was not idle, and one more</a>`, `<li class="fd c" id="finding1">`}, nil},
		{"refused", func(a *analysis.Analysis) {
			nothing(a)
			a.State, a.Reason = record.StateFailed, "target a: 404; target b: 404"
		}, []string{"0 of 60 runs. Reason: target a: 404; target b: 404."}, []string{"--resume"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := newSample()
			tt.change(a)
			page := string(render(t, a))
			for _, w := range tt.want {
				if !strings.Contains(page, w) {
					t.Errorf("the page lacks %q", w)
				}
			}
			deadLinks(t, page)
			for _, w := range append(tt.absent, "abacus compare") {
				if strings.Contains(page, w) {
					t.Errorf("the page has %q", w)
				}
			}
		})
	}
}

// TestEmpty renders an analysis with nothing in it at all.
func TestEmpty(t *testing.T) {
	page := string(render(t, &analysis.Analysis{Campaign: "empty"}))
	if !strings.Contains(page, "<h1 id=\"h1\">empty</h1>") {
		t.Error("a page without a title does not fall back to the campaign's name")
	}
}

func TestMoment(t *testing.T) {
	start := time.Date(2026, 11, 30, 23, 30, 0, 0, time.UTC)
	tests := []struct {
		zone   string
		offset int
		local  string
		utc    string
	}{
		{"CET", 3600, "1 Dec 2026, 00:30 CET", "30 Nov, 23:30 UTC"},
		{"UTC", 0, "30 Nov 2026, 23:30 UTC", ""},
		{"", 0, "30 Nov 2026, 23:30 UTC", ""},
		{"", -12600, "30 Nov 2026, 20:00 UTC−3:30", "23:30 UTC"},
		{"no/such zone", 7200, "1 Dec 2026, 01:30 UTC+2", "30 Nov, 23:30 UTC"},
	}
	for _, tt := range tests {
		w := moment(&analysis.Analysis{StartedAt: start, TimeZone: tt.zone, UTCOffsetS: tt.offset, EndedAt: ptr(start.Add(11 * time.Minute))})
		if w.Local != tt.local || w.UTC != tt.utc || w.Took != "11\u00a0min" {
			t.Errorf("%q %d: got %q, %q, %q", tt.zone, tt.offset, w.Local, w.UTC, w.Took)
		}
	}
}

// deadLinks tells of each link into the page that leads nowhere.
func deadLinks(t *testing.T, page string) {
	t.Helper()
	plain := scriptElement.ReplaceAllString(page, "")
	ids := map[string]bool{}
	for _, m := range regexp.MustCompile(`\sid="([^"]*)"`).FindAllStringSubmatch(plain, -1) {
		ids[m[1]] = true
	}
	links := regexp.MustCompile(`href="#([^"]*)"`).FindAllStringSubmatch(plain, -1)
	if len(links) < 5 {
		t.Errorf("only %d links", len(links))
	}
	for _, m := range links {
		if !ids[m[1]] {
			t.Errorf("a link leads to #%s, which is not there", m[1])
		}
	}
}
