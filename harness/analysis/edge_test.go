package analysis

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"abacus/harness/load"
	"abacus/harness/observe"
	"abacus/harness/preflight"
	"abacus/harness/record"
)

func TestNothingAtAll(t *testing.T) {
	a, err := Analyse(Input{})
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Verdict) == 0 || !strings.HasPrefix(a.Verdict[0], "Nothing was measured") {
		t.Errorf("verdict %q", a.Verdict)
	}
	text := mustMarshal(t, a)
	for _, list := range []string{"scenarios", "cells", "comparisons", "curves"} {
		if !strings.Contains(text, `"`+list+`": []`) {
			t.Errorf("%s is not an empty list", list)
		}
	}
}

func TestPlannedButNothingRan(t *testing.T) {
	c := ratios(2, 2, 2)
	c.runs = nil
	c.manifest.State, c.manifest.Reason = record.StateFailed, "the lab did not start"
	a := c.analyse(t)
	if a.Verdict[len(a.Verdict)-1] != "Incomplete: 0 of 6 runs: the lab did not start." || a.LastRound != 0 {
		t.Errorf("%q", a.Verdict)
	}
	for _, k := range a.Comparisons {
		if k.N != 0 || k.Ratio != nil {
			t.Errorf("%+v", k)
		}
	}
}

func TestInterrupted(t *testing.T) {
	c := ratios(2, 2.1, 2, 2.1)
	c.runs = c.runs[:5]
	c.manifest.State, c.manifest.Reason = record.StateInterrupted, "interrupt"
	a := c.analyse(t)
	if a.Complete || a.FinishedRuns != 5 || a.LastRound != 3 {
		t.Errorf("complete %v, finished %d, last round %d", a.Complete, a.FinishedRuns, a.LastRound)
	}
	if got := a.Verdict[len(a.Verdict)-1]; got != "Incomplete: 5 of 8 runs, stopped in round 3: interrupt." {
		t.Errorf("%s", got)
	}
	if primaryComparison(t, a).N != 2 {
		t.Error("the round that was cut off was paired")
	}
}

// A run that was cut off is not finished, and of scenarios that were not
// reached the verdict says nothing.
func TestInterruptedInTheFirstScenario(t *testing.T) {
	cells := append([]record.Cell{cellOf("ladder", "static", keepAlive(1), true), cellOf("ladder", "static", keepAlive(10), true)}, caches()...)
	c := newCampaign(6, cells, func(int, int) float64 { return 1000 })
	c.runs = c.runs[:2]
	c.runs[1].Result.Interrupted = true
	c.manifest.State, c.manifest.Reason = record.StateInterrupted, "stopped by a signal"
	a := c.analyse(t)
	want := []string{"ladder: throughput was highest at 1 connection: 1,000/s in the one run there, which gives no interval.",
		"Incomplete: 1 of 24 runs, stopped in round 1: stopped by a signal."}
	if !slices.Equal(a.Verdict, want) {
		t.Errorf("got %q, want %q", a.Verdict, want)
	}
}

func TestNewerSchemaIsRefused(t *testing.T) {
	if _, err := Analyse(Input{Name: "x/y", Manifest: record.Manifest{Schema: 99}}); err == nil || !strings.Contains(err.Error(), "x/y") {
		t.Errorf("%v", err)
	}
}

func TestAllEqual(t *testing.T) {
	a := ratios(1, 1, 1, 1, 1, 1).analyse(t)
	c := primaryComparison(t, a)
	if c.Verdict != VerdictEquivalent || *c.Ratio != 1 || *c.CI95 != [2]float64{1, 1} || c.PValue != nil {
		t.Errorf("%+v", c)
	}
	if s := a.Cells[0].Throughput; *s.SD != 0 {
		t.Errorf("%+v", s)
	}
}

func TestDeterministic(t *testing.T) {
	render := func() string {
		c := ratios(1.5, 1.9, 1.91, 1.89, 1.9, 1.905)
		for i := range c.runs {
			withStatus(&c.runs[i], 150, 0, 3, 150)
			for _, text := range []string{"EOF", "reset", "broken pipe", "closed"} {
				fail(&c.runs[i], load.FailReceive, 2, text)
			}
			c.runs[i].Result.StatusCodes = map[int]int64{200: 1, 500: 3, 502: 3, 503: 3, 504: 3}
			c.runs[i].Result.Counts.Non2xx = 12
			c.runs[i].Result.Notes = []string{"a", "b", "c"}
		}
		return mustMarshal(t, c.analyse(t))
	}
	first := render()
	for range 5 {
		if render() != first {
			t.Fatal("the same record gives different bytes")
		}
	}
}

// The caller's values are not changed.
func TestInputIsNotChanged(t *testing.T) {
	c := ratios(1.5, 1.9, 1.91)
	withStatus(&c.runs[0], 10, 1, 2)
	before, _ := json.Marshal(c.runs)
	c.analyse(t)
	after, _ := json.Marshal(c.runs)
	if !bytes.Equal(before, after) {
		t.Error("a run was changed")
	}
}

// Texts from outside go into JSON as text; nothing else is made of them.
func TestHostileStrings(t *testing.T) {
	const evil = "</script><script>alert(1)</script>\u2028\x00\xff%s%n"
	c := newCampaign(6, []record.Cell{cellOf(evil, evil, step50, true), cellOf(evil, evil+"2", step50, false)}, func(i, r int) float64 { return 1000 + float64(10*i+r%2) })
	c.manifest.Title, c.manifest.Reason, c.manifest.State = evil, evil, record.StateFailed
	c.manifest.Cells[0].Page, c.manifest.Cells[1].Page = evil, evil
	c.manifest.StatusURLs = map[string]string{"demo": evil}
	c.pre.Checks = []preflight.Check{{ID: evil, Severity: preflight.Critical, Finding: evil, Evidence: []string{evil}, Target: evil + "/" + evil}}
	for i := range c.runs {
		c.runs[i].Cell = c.manifest.Cells[c.runs[i].CellIndex]
		fail(&c.runs[i], load.FailException, 3, evil)
		c.runs[i].Series = []observe.Series{{Source: "status", Samples: []observe.Sample{{Error: evil}, {AtNS: 5, Reading: observe.Reading{Status: &observe.Status{Scoreboard: evil}}}}}}
	}
	a := c.analyse(t)
	if text := mustMarshal(t, a); strings.Contains(text, "<script>") {
		t.Error("a tag stands unescaped in the JSON")
	}
	for _, f := range a.Findings {
		if strings.Contains(f.Title+f.Evidence, "%!") {
			t.Errorf("a text was used as a format: %s", f.Title)
		}
	}
}

// Whatever the counts and times, the analysis can be written, and so holds
// neither NaN nor infinity.
func FuzzAnalyse(f *testing.F) {
	f.Add(int64(1000), int64(1e9), int64(5), int64(1e6), int64(200e6), int64(3), uint8(6))
	f.Add(int64(0), int64(0), int64(0), int64(0), int64(0), int64(0), uint8(1))
	f.Add(int64(math.MaxInt64), int64(1), int64(math.MaxInt64), int64(math.MaxInt64), int64(math.MinInt64), int64(-1), uint8(2))
	f.Add(int64(-5), int64(-1), int64(-7), int64(-1), int64(1), int64(1<<40), uint8(3))
	f.Fuzz(func(t *testing.T, complete, elapsed, failed, latency, at, idle int64, n uint8) {
		c := newCampaign(int(n%4), caches(), func(int, int) float64 { return 1000 })
		c.manifest.Goals = []string{"throughput > 1", "failed < 1%"}
		for i := range c.runs {
			r := c.runs[i].Result
			r.Counts.Complete, r.ElapsedNS, r.Counts.Receive, r.Counts.Failed = complete+int64(i), elapsed, failed, failed
			r.Total.Record(latency)
			r.Usage.CPUUserNS, r.Usage.Cores = latency, int(at%4)
			r.Intervals[0] = load.Interval{StartNS: at, LengthNS: latency, Complete: complete}
			h := &observe.Host{CPU: observe.CPUTimes{UserNS: latency, IdleNS: at}, Cores: make([]observe.CPUTimes, 1)}
			for k := range int64(3) {
				c.runs[i].Series = append(c.runs[i].Series, observe.Series{Source: "host", IntervalNS: at, Samples: []observe.Sample{
					{AtNS: k * at, Reading: observe.Reading{Host: h}}, {AtNS: at, Reading: observe.Reading{Host: &observe.Host{}}}}})
			}
			c.runs[i].Series = append(c.runs[i].Series, observe.Series{Source: "status", Samples: []observe.Sample{{AtNS: at, TookNS: latency, Reading: observe.Reading{
				Status: &observe.Status{IdleWorkers: &idle, BusyWorkers: &failed}}}}})
			c.runs[i].Settle = &record.Settle{TimedOut: true, WaitedNS: at}
		}
		a, err := Analyse(c.input())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := json.Marshal(a); err != nil {
			t.Fatal(err)
		}
	})
}

// A record of many runs is read once, and what is kept does not hold them.
func TestStreaming(t *testing.T) {
	cells := caches()
	c := newCampaign(1, cells, func(int, int) float64 { return 1000 })
	m := c.manifest
	m.Rounds, m.PlannedRuns = 200, 400
	begun := time.Now()
	a, err := Analyse(Input{Manifest: m, Runs: func(yield func(record.Run, error) bool) {
		for i := range 400 {
			run := c.runs[i%2]
			run.Seq, run.Round = i+1, i/2+1
			if !yield(run, nil) {
				return
			}
		}
	}})
	if err != nil || a.Cells[0].Runs != 200 || len(a.Cells[0].Points) != 200 {
		t.Fatalf("%v, %d runs", err, a.Cells[0].Runs)
	}
	t.Logf("400 runs in %v", time.Since(begun))
}
