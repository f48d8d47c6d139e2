package cli

import (
	"bytes"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"abacus/harness/campaign"
	"abacus/harness/config"
	"abacus/harness/plan"
	"abacus/harness/record"
	"abacus/reporters"
)

// The record of the first schema can be judged and rendered, its campaign file
// loaded, and it can be gone on with. Figures are worked out by hand from the
// raw JSON of its runs 1 and 5 (near, 2 connections): 9,784 answers in
// 600,208,956 ns and 9,241 in 600,084,286 ns.
func TestSchema1IsReadForEver(t *testing.T) {
	dir := filepath.Join("..", "record", "testdata", "schema1")
	a, old, err := analyse(dir)
	if err != nil {
		t.Fatal(err)
	}
	if a.Complete || a.PlannedRuns != 8 || a.FinishedRuns != 5 || len(a.Cells) != 4 {
		t.Errorf("complete %v, %d of %d runs, %d cells; want 5 of 8 and 4", a.Complete, a.FinishedRuns, a.PlannedRuns, len(a.Cells))
	}
	c := a.Cells[0]
	want := (9784/.600208956 + 9241/.600084286) / 2
	if c.Variant != "near" || c.Step.Concurrency != 2 || c.Runs != 2 || c.Throughput == nil || math.Abs(c.Throughput.Mean-want) > 1e-9*want || c.Complete != 9784+9241 {
		t.Errorf("first cell: %s at %d, %d runs, throughput %+v, want %v", c.Variant, c.Step.Concurrency, c.Runs, c.Throughput, want)
	}
	if c := a.Cells[1]; c.Runs != 0 || c.FailedRuns != 1 || c.Throughput != nil {
		t.Errorf("second cell: %d runs, %d failed, %+v; want its one run failed", c.Runs, c.FailedRuns, c.Throughput)
	}
	for _, f := range reporters.Formats() {
		var b bytes.Buffer
		if err := f.Reporter.Report(&b, a); err != nil || b.Len() < 500 {
			t.Errorf("%s: %d bytes, %v", f.Name, b.Len(), err)
		}
	}
	l, err := config.Load(config.Input{Args: []string{filepath.ToSlash(filepath.Join(dir, record.CampaignFile))}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.Expand(l.Campaign, *l.Campaign.Seed)
	if err != nil {
		t.Fatal(err)
	}
	walk := &campaign.Campaign{Plan: p}
	if err := walk.Continue(old); err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, r := range walk.Left() {
		left = append(left, p.Cells[r.Cell].Variant)
	}
	// Run 6, which was cut short, and both of the block after it.
	if len(left) != 3 || left[0] != "far" || !strings.Contains(strings.Join(left[1:], " "), "near") {
		t.Errorf("left are %q, want far and both of the last block", left)
	}
}
