package analysis

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"testing"
	"time"

	"abacus/harness/load"
	"abacus/harness/observe"
	"abacus/harness/preflight"
	"abacus/harness/record"
)

// campaign is a small record made in memory. Its runs may be changed one by
// one before it is analysed.
type campaign struct {
	manifest record.Manifest
	env      preflight.Environment
	pre      record.Preflight
	idle     *record.IdleFile
	runs     []record.Run
	damaged  []string // errors that come after the runs
}

var start = time.Date(2026, 11, 30, 18, 15, 49, 0, time.UTC)

func cellOf(scenario, variant string, step record.Step, baseline bool) record.Cell {
	return record.Cell{Scenario: scenario, Variant: variant, Engine: "native", Lab: "demo", URL: "/" + variant, Step: step, Baseline: baseline}
}

// newCampaign plans rounds over cells; perS gives each run's throughput by
// cell and round (from 0), and latencyMS the latencies of its ten requests.
func newCampaign(rounds int, cells []record.Cell, perS func(cell, round int) float64) *campaign {
	c := &campaign{manifest: record.Manifest{Schema: 1, Campaign: "test", AbacusVersion: "0.1", Seed: 7, CreatedAt: start,
		State: record.StateComplete, Rounds: rounds, PlannedRuns: rounds * len(cells), Cells: cells}}
	for _, k := range cells {
		known := false
		for _, s := range c.manifest.Scenarios {
			known = known || s.Name == k.Scenario
		}
		if !known {
			c.manifest.Scenarios = append(c.manifest.Scenarios, record.Scenario{Name: k.Scenario, Primary: "throughput", Margin: 0.02})
		}
	}
	for r := range rounds {
		for i, k := range cells {
			seq := len(c.runs) + 1
			c.runs = append(c.runs, goodRun(seq, i, r+1, k, perS(i, r)))
		}
	}
	return c
}

// goodRun has 1,000 whole answers at the given rate. All took exactly what
// Little's law asks for, so that nothing but what a test changes stands out.
func goodRun(seq, cell, round int, k record.Cell, perS float64) record.Run {
	at := start.Add(time.Duration(seq) * 10 * time.Second)
	const n = 1000
	res := &load.Result{Engine: k.Engine, StartedAt: at, ElapsedNS: int64(n / perS * 1e9), StatusCodes: map[int]int64{200: n}}
	res.Counts = load.Counts{Complete: n, Length: new(int64), BodyBytes: new(int64(n * 37519)), HeaderBytes: new(int64(n * 200))}
	// Only the total: the memory of four histograms a run would be most of
	// what these tests cost.
	res.Total = load.NewDistribution()
	each := int64(float64(k.Step.Concurrency) / perS * 1e9)
	for range n {
		res.Total.Record(each)
	}
	res.DocumentBytes = new(int64(37519))
	res.Lengths = []load.LengthCount{{Bytes: 37519, Count: n}}
	for i := range 4 {
		iv := load.Interval{StartNS: int64(i) * res.ElapsedNS / 4, LengthNS: res.ElapsedNS / 4, Complete: n / 4, P50NS: new(each), P95NS: new(each), P99NS: new(each)}
		res.Intervals = append(res.Intervals, iv)
	}
	res.Usage = &load.Usage{CPUUserNS: n * 30_000, CPUSystemNS: n * 10_000, Cores: 2}
	return record.Run{Schema: 1, Seq: seq, CellIndex: cell, Round: round, Block: round, Cell: k, StartedAt: &at, ClockNS: int64(seq) * 10e9, Result: res}
}

func (c *campaign) input() Input {
	return Input{Name: "test/2026-11-30T18-15-49Z", Manifest: c.manifest, Environment: c.env, Preflight: c.pre, Idle: c.idle, Runs: c.stream()}
}

func (c *campaign) stream() iter.Seq2[record.Run, error] {
	return func(yield func(record.Run, error) bool) {
		for _, r := range c.runs {
			if !yield(r, nil) {
				return
			}
		}
		for _, text := range c.damaged {
			if !yield(record.Run{}, errors.New(text)) {
				return
			}
		}
	}
}

func (c *campaign) analyse(t *testing.T) *Analysis {
	t.Helper()
	a, err := Analyse(c.input())
	if err != nil {
		t.Fatal(err)
	}
	mustMarshal(t, a)
	return a
}

func mustMarshal(t *testing.T, a *Analysis) string {
	t.Helper()
	b, err := json.MarshalIndent(a, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// withStatus gives a run a status page with these idle workers of slots, one
// sample each, spread over the load.
func withStatus(run *record.Run, slots int64, idle ...int64) {
	s := observe.Series{Source: "status", IntervalNS: 200e6, Polls: len(idle)}
	for i, n := range idle {
		board := ""
		for k := range slots {
			if k < n {
				board += "_"
			} else {
				board += "W"
			}
		}
		s.Samples = append(s.Samples, observe.Sample{AtNS: int64(i) * run.Result.ElapsedNS / int64(len(idle)), TookNS: 2e6,
			Reading: observe.Reading{Status: &observe.Status{BusyWorkers: new(slots - n), IdleWorkers: new(n), Scoreboard: board}}})
	}
	run.Series = append(run.Series, s)
}

func findingsOf(a *Analysis, id string) []Finding {
	var out []Finding
	for _, f := range a.Findings {
		if f.ID == id {
			out = append(out, f)
		}
	}
	return out
}

func ids(a *Analysis) []string {
	var out []string
	for _, f := range a.Findings {
		out = append(out, fmt.Sprintf("%s:%s", f.Severity, f.ID))
	}
	return out
}
