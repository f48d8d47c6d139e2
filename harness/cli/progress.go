package cli

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"abacus/harness/analysis"
	"abacus/harness/campaign"
	"abacus/harness/number"
	"abacus/harness/preflight"
	"abacus/harness/record"
	"abacus/reporters"
)

// progress prints a campaign as it goes on: a line for each thing that ended
// and, on a terminal, one live line below them.
type progress struct {
	out    io.Writer
	live   bool
	width  int
	rounds int
	round  int
	paint  func(s, code string) string
	drawn  bool
}

func newProgress(out io.Writer, t terminal, rounds int) *progress {
	return &progress{out: out, live: t.live, width: t.width, rounds: rounds, paint: t.paint}
}

// event is told by the campaign, one at a time.
func (p *progress) event(e campaign.Event) {
	switch e.Kind {
	case campaign.EventProgress:
		p.draw(e)
	case campaign.EventRun:
		p.run(e)
	case campaign.EventCheck:
		if e.Check.Severity == preflight.Warning || e.Check.Severity == preflight.Critical {
			p.line(fmt.Sprintf("check    %s: %s", p.severity(e.Check.Severity), reporters.Plain(e.Check.Finding)))
		}
	default:
		name := string(e.Kind)
		if e.Kind == campaign.EventChecks {
			name = "check"
		}
		p.line(fmt.Sprintf("%-8s %s", name, reporters.Plain(e.Text)))
	}
}

// line prints one line above the live one.
func (p *progress) line(s string) {
	p.clear()
	fmt.Fprintln(p.out, s)
}

// The columns of a run's line. What is left of the width goes to the names:
// scenario and variant, or the variant alone where both would be too short.
const (
	headColumns   = 9  // "round 12 "
	levelColumns  = 14 // " 200 conn new "
	figureColumns = 46 // rate, p95, failures, time left
	leastName     = 14 // of each name where both stand
	leastFitted   = 8  // of a name on the narrowest terminal
)

// run prints the line of a run that ended.
func (p *progress) run(e campaign.Event) {
	r := e.Run
	head := ""
	if r.Round != p.round {
		p.round = r.Round
		head = fmt.Sprintf("round %d", r.Round)
	}
	left := ""
	if e.Left > 0 && !r.CutShort() {
		left = p.paint(fmt.Sprintf("%8s", brief(e.Left)), "2")
	}
	// A terminal that is too narrow for that wraps the line.
	names := max(leastFitted, p.width-headColumns-levelColumns-figureColumns)
	scenario := ""
	if names >= 2*leastName+1 {
		scenario = fitted(r.Cell.Scenario, names/2) + " "
		names -= names/2 + 1
	}
	p.line(strings.TrimRight(fmt.Sprintf("%-*s%s%s%s %s%s", headColumns, head, scenario, level(r.Cell),
		p.paint(fitted(target(r.Cell), names), "1"), p.figures(r), left), " "))
}

// target names what a run loads: the variant, and the page of several.
func target(c record.Cell) string {
	if c.Page == "" {
		return c.Variant
	}
	return c.Variant + " " + c.Page
}

// level is a cell's load level in levelColumns.
func level(c record.Cell) string {
	keep := ""
	if !c.Step.KeepAlive {
		keep = " new"
	}
	return fmt.Sprintf("%4d conn%-5s", c.Step.Concurrency, keep)
}

// fitted is a name in exactly n columns.
func fitted(name string, n int) string {
	r := []rune(reporters.Plain(name))
	if len(r) > n {
		r = append(r[:n-1], '…')
	}
	return string(r) + strings.Repeat(" ", n-len(r))
}

// figures are throughput, p95 and failures of a run, or why it has none.
func (p *progress) figures(r *record.Run) string {
	switch {
	case r.Void != "":
		return p.paint("void", "33") + ": " + reporters.Plain(r.Void)
	case r.Error != "":
		return p.paint("failed", "31") + ": " + reporters.Plain(r.Error)
	case r.Result == nil:
		return "no result"
	}
	rate, p95 := number.Absent, number.Absent
	if v, ok := r.Result.ThroughputPerS(); ok {
		rate = number.Count(int64(v+0.5)) + "/s"
	}
	if r.Result.Total != nil {
		if v, ok := r.Result.Total.Quantile(.95); ok {
			p95 = number.Duration(float64(v))
		}
	}
	s := fmt.Sprintf("%9s  p95 %8s  failed %s", rate, p95, number.Count(r.Result.Counts.Failed))
	switch {
	case r.Stopped != "":
		s += "  stopped: " + r.Stopped
	case r.Result.Interrupted:
		s += "  interrupted"
	}
	return s
}

// draw shows the run in flight on the live line.
func (p *progress) draw(e campaign.Event) {
	if !p.live {
		return
	}
	r, pr := e.Run, e.Progress
	parts := []string{fmt.Sprintf("▸ round %d of %d  %s %d conn  %s", r.Round, p.rounds, r.Cell.Scenario, r.Cell.Step.Concurrency, reporters.Plain(target(r.Cell)))}
	if iv := pr.Interval; iv != nil && iv.LengthNS > 0 {
		parts = append(parts, number.Count(int64(float64(iv.Complete)/(float64(iv.LengthNS)/1e9)))+"/s")
		if iv.P99NS != nil {
			parts = append(parts, "p99 "+number.Duration(float64(*iv.P99NS)))
		}
	}
	if pr.Begun != nil {
		// The engine knows no more than that while it runs.
		parts = append(parts, number.Count(*pr.Begun)+" begun")
	} else {
		parts = append(parts, fmt.Sprintf("failed %d", pr.Counts.Failed))
	}
	if w := e.Workers; w != nil && w.BusyWorkers != nil && w.Scoreboard != "" {
		parts = append(parts, fmt.Sprintf("workers %d/%d", *w.BusyWorkers, len(w.Scoreboard)))
	}
	done := 0
	if e.Total > 0 {
		done = e.Done * 100 / e.Total
	}
	bar := strings.Repeat("█", done*6/100) + strings.Repeat("·", 6-done*6/100)
	parts = append(parts, fmt.Sprintf("%s %d %%", bar, done))
	if e.Left > 0 {
		parts = append(parts, brief(e.Left)+" left")
	}
	s := strings.Join(parts, "  ")
	if most := max(p.width-1, 1); utf8.RuneCountInString(s) > most {
		s = string([]rune(s)[:most-1]) + "…"
	}
	fmt.Fprint(p.out, "\r\x1b[K"+s)
	p.drawn = true
}

// clear takes the live line away.
func (p *progress) clear() {
	if p.drawn {
		fmt.Fprint(p.out, "\r\x1b[K")
		p.drawn = false
	}
}

func (p *progress) severity(s preflight.Severity) string {
	if s == preflight.Critical {
		return p.paint(string(s), "31")
	}
	return p.paint(string(s), "33")
}

// brief writes a time left: "40 s", "11 min".
func brief(d time.Duration) string {
	if d < 2*time.Minute {
		return fmt.Sprintf("%d s", int(d.Seconds()+0.5))
	}
	return fmt.Sprintf("%d min", int(d.Minutes()+0.5))
}

// summary is the text reporter for a terminal.
func summary(w io.Writer, t terminal, a *analysis.Analysis) error {
	return reporters.Text{Width: t.width, Colour: t.colour}.Report(w, a)
}
