package html

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"abacus/harness/analysis"
	"abacus/harness/record"
)

// emptySample is a complete campaign without scenarios.
func emptySample(name string) *sample {
	return &sample{rng: rand.New(rand.NewPCG(3, 5)), a: &analysis.Analysis{
		Schema: 1, Campaign: name, Record: name + "/2026-11-30T18-15-49Z", Complete: true, State: record.StateComplete, Rounds: 6, LastRound: 6, Seed: 1,
		StartedAt: time.Date(2026, 11, 30, 18, 15, 49, 0, time.UTC), TimeZone: "UTC", AbacusVersion: "0.1.0", Verdict: []string{"prefork fell behind from 100 connections on."},
	}}
}

// ladderOfThree compares three variants over four load levels: a ladder with
// several curves.
func ladderOfThree() *analysis.Analysis {
	s := emptySample("mpm")
	sc := analysis.Scenario{Name: "mpm", Title: "prefork, worker or event?", Baseline: "prefork", Primary: "throughput_per_s", Margin: 0.02, Kind: kindLadder, Finding: "worker and event keep their throughput, prefork does not."}
	for k, v := range []string{"prefork", "worker", "event"} {
		curve := analysis.Curve{Scenario: "mpm", Variant: v, Engine: "native"}
		for _, n := range []int{10, 50, 100, 300} {
			perS := 2000.0 + float64(n)*4*float64(k) - float64(n*(2-k))
			i := s.cell("mpm", v, "native", plural(n, "connection", "connections"), record.Step{Concurrency: n, Requests: 10000, KeepAlive: true}, perS, float64(n)*3e5/float64(k+1), k == 0)
			sc.CellIndexes, curve.CellIndexes = append(sc.CellIndexes, i), append(curve.CellIndexes, i)
		}
		s.a.Curves = append(s.a.Curves, curve)
	}
	for k := 0; k < 4; k++ {
		s.comparison(4+k, k, "throughput_per_s", true)
		s.comparison(8+k, k, "throughput_per_s", true)
	}
	s.a.Scenarios = []analysis.Scenario{sc}
	s.a.PlannedRuns, s.a.FinishedRuns = 72, 72
	s.a.Timelines = []analysis.Timeline{s.timeline(sc)}
	return s.a
}

// manyVariants compares five variants on two pages.
func manyVariants() *analysis.Analysis {
	s := emptySample("caches")
	sc := analysis.Scenario{Name: "caches", Title: "Five caches, two pages", Baseline: "none", Primary: "throughput_per_s", Margin: 0.02, Kind: "comparison", Finding: "Every cache beats none"}
	step := record.Step{Concurrency: 50, Requests: 10000}
	for k, page := range []string{"/small.php", "/large.php"} {
		for j, v := range []string{"apcu", "memcached-persistent", "memcached", "redis", "none"} {
			i := s.cell("caches", v, "native", "50 connections, no keep-alive", step, 4000-float64(600*j)-float64(500*k), 1e6*float64(12+4*j), v == "none")
			s.a.Cells[i].Page = page
			sc.CellIndexes = append(sc.CellIndexes, i)
		}
	}
	for k := 0; k < 2; k++ {
		for j := 0; j < 4; j++ {
			s.comparison(5*k+j, 5*k+4, "throughput_per_s", true)
			c := &s.a.Comparisons[len(s.a.Comparisons)-1]
			c.Page = s.a.Cells[5*k].Page
		}
	}
	s.a.Scenarios = []analysis.Scenario{sc}
	s.a.PlannedRuns, s.a.FinishedRuns = 60, 60
	return s.a
}

func TestShapes(t *testing.T) {
	ladder := plainText(render(t, ladderOfThree()))
	for _, want := range []string{"worker · 50", "prefork · 300", "p95 latency", "prefork. Throughput in requests per second by connections: 10:", "worker ÷ prefork"} {
		if !strings.Contains(ladder+string(render(t, ladderOfThree())), want) {
			t.Errorf("the ladder of three lacks %q", want)
		}
	}
	many := plainText(render(t, manyVariants()))
	for _, want := range []string{"apcu · /small.php", "none · /large.php", "redis · /large.php"} {
		if !strings.Contains(many, want) {
			t.Errorf("the comparison of many lacks %q", want)
		}
	}
}

// checkShapes draws scenarios of other shapes than the default campaign's.
func checkShapes(t *testing.T, b *browser) {
	for _, s := range []struct {
		name   string
		a      *analysis.Analysis
		charts int
	}{{"ladder-of-three", ladderOfThree(), 6}, {"many-variants", manyVariants(), 4}} {
		file := writePage(t, s.a)
		for _, width := range []int64{360, 1440} {
			b.open(t, file, width, false)
			b.check(t, width, s.charts)
			b.screenshot(t, s.name)
		}
	}
}
