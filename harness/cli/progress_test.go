package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"abacus/harness/campaign"
	"abacus/harness/load"
	"abacus/harness/record"
)

// A run's line stays on one line at every usual width, however long its names
// are, and loses the scenario before it loses the figures.
func TestRunLineFits(t *testing.T) {
	total := load.NewDistribution()
	total.Record(123_456_789)
	run := record.Run{Round: 12, Cell: record.Cell{
		Scenario: "a-scenario-with-a-very-long-name", Variant: "a-variant-with-a-very-long-name",
		Step: record.Step{Concurrency: 1000},
	}, Result: &load.Result{ElapsedNS: 1e9, Counts: load.Counts{Complete: 123_456, Failed: 1_234}, Total: total}}
	for _, c := range []struct {
		width int
		want  []string
		not   string
	}{
		{100, []string{"round 12 ", "a-scenario", "a-variant", "1000 conn new", "123,456/s", "p95", "failed 1,234", "118 s"}, "\x1b"},
		{80, []string{"a-variant", "123,456/s", "failed 1,234", "118 s"}, "a-scenario"},
	} {
		var out bytes.Buffer
		p := newProgress(&out, terminal{width: c.width}, 12)
		p.event(campaign.Event{Kind: campaign.EventRun, Run: &run, Left: 118 * time.Second})
		line := strings.TrimSuffix(out.String(), "\n")
		if n := utf8.RuneCountInString(line); n > c.width || strings.Contains(line, "\n") {
			t.Errorf("at %d columns the line has %d: %q", c.width, n, line)
		}
		for _, want := range c.want {
			if !strings.Contains(line, want) {
				t.Errorf("at %d columns %q is missing in %q", c.width, want, line)
			}
		}
		if strings.Contains(line, c.not) {
			t.Errorf("at %d columns %q stands in %q", c.width, c.not, line)
		}
	}
}

// Runs of one variant on several pages are told apart, on both lines.
func TestRunLinesNameThePage(t *testing.T) {
	run := record.Run{Round: 1, Cell: record.Cell{Scenario: "s", Variant: "one", Page: "/b.html", Step: record.Step{Concurrency: 4}}, Void: "x"}
	var out bytes.Buffer
	p := newProgress(&out, terminal{width: 100, live: true}, 1)
	p.event(campaign.Event{Kind: campaign.EventRun, Run: &run})
	p.event(campaign.Event{Kind: campaign.EventProgress, Run: &run, Progress: &load.Progress{}})
	if n := strings.Count(out.String(), "one /b.html"); n != 2 {
		t.Errorf("%d of 2 lines name the page: %q", n, out.String())
	}
}
