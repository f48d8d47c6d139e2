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

// No terminal is so narrow that drawing on it ends the campaign.
func TestNarrowTerminals(t *testing.T) {
	run := record.Run{Round: 1, Cell: record.Cell{Scenario: "scenario", Variant: "variant", Step: record.Step{Concurrency: 1}}, Result: &load.Result{}}
	for width := 1; width <= 100; width++ {
		var out bytes.Buffer
		p := newProgress(&out, terminal{width: width, live: true}, 1)
		p.event(campaign.Event{Kind: campaign.EventProgress, Run: &run, Progress: &load.Progress{}})
		live := strings.TrimPrefix(out.String(), "\r\x1b[K")
		if n := utf8.RuneCountInString(live); n > max(width-1, 1) {
			t.Errorf("at %d columns the live line has %d: %q", width, n, live)
		}
		p.event(campaign.Event{Kind: campaign.EventRun, Run: &run})
		if !strings.Contains(out.String(), "variant") {
			t.Errorf("at %d columns the variant is not named: %q", width, out.String())
		}
	}
}

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
