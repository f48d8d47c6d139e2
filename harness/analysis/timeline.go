package analysis

import (
	"fmt"
	"slices"
	"time"

	"abacus/harness/number"
	"abacus/harness/observe"
	"abacus/harness/record"
)

// roundKeeper holds the samples of one round of a scenario, for its timeline:
// of the first round in which every run is good, else of the round with most
// good runs, the earlier on a tie. Two rounds at most are in memory.
type roundKeeper struct {
	want    int // runs that a whole round has
	current []record.Run
	best    []record.Run
	done    bool
}

// offer takes the next run of the scenario, in order of Seq.
func (k *roundKeeper) offer(run record.Run) {
	if k.done {
		return
	}
	if len(k.current) > 0 && k.current[0].Round != run.Round {
		k.turn()
		if k.done {
			return
		}
	}
	k.current = append(k.current, thin(run))
}

// turn ends the current round.
func (k *roundKeeper) turn() {
	if good(k.current) > good(k.best) || k.best == nil {
		k.best = k.current
	}
	k.current = nil
	k.done = good(k.best) == k.want
}

// chosen is the round to draw.
func (k *roundKeeper) chosen() []record.Run {
	if !k.done && len(k.current) > 0 {
		k.turn()
	}
	return k.best
}

func good(runs []record.Run) int {
	n := 0
	for _, r := range runs {
		if r.Good() {
			n++
		}
	}
	return n
}

// thin drops a run's histograms, which a timeline does not need.
func thin(run record.Run) record.Run {
	if run.Result != nil {
		r := *run.Result
		r.Connect, r.Waiting, r.Processing, r.Total = nil, nil, nil, nil
		run.Result = &r
	}
	return run
}

// The pauses between runs, and how much of them is drawn: what happened in
// them is no part of any figure, and a settle wait of a minute would squeeze
// the load to nothing.
const (
	mostPause = time.Second
	lead      = 400 * time.Millisecond
)

// laid is a run with its place on the timeline.
type laid struct {
	record.Run
	startS, endS float64
	// fromS and toS bound the samples that are drawn.
	fromS, toS float64
}

func drawTimelines(in Input, s *state) []Timeline {
	var out []Timeline
	var cells []Cell
	for _, c := range s.cells {
		cells = append(cells, Cell{Scenario: c.cell.Scenario, Variant: c.cell.Variant, Step: c.cell.Step})
	}
	for _, name := range scenarioNames(in.Manifest, cells) {
		keeper := s.timelines[name]
		if keeper == nil {
			continue
		}
		runs := slices.DeleteFunc(slices.Clone(keeper.chosen()), func(r record.Run) bool {
			return r.Result == nil || r.Result.ElapsedNS <= 0
		})
		if len(runs) == 0 {
			continue
		}
		out = append(out, drawTimeline(in.Manifest, name, cells, runs))
	}
	return out
}

func drawTimeline(m record.Manifest, name string, cells []Cell, runs []record.Run) Timeline {
	all := layOut(runs)
	t := Timeline{Scenario: name, Round: runs[0].Round}
	ladder, variants := countSteps(cells, name) > 1, len(firstSeen(cells, name, func(c Cell) string { return c.Variant })) > 1
	what := number.Plural(int64(len(runs)), "run")
	switch {
	case ladder && !variants:
		what = number.Plural(int64(len(runs)), "load level") + " one after another"
	case !ladder && variants:
		what = number.Plural(int64(len(runs)), "variant") + " in the order in which they ran"
	}
	t.Title = fmt.Sprintf("Round %d: %s", t.Round, what)
	if shortened(runs) {
		t.Title += fmt.Sprintf("; pauses longer than %g%ss are cut", mostPause.Seconds(), number.HardSpace)
	}
	for _, l := range all {
		t.Segments = append(t.Segments, Segment{Label: segmentLabel(l.Cell, ladder, variants), StartS: l.startS, EndS: l.endS})
	}
	for _, panel := range []Panel{throughputPanel(all), latencyPanel(all), workersPanel(all), cpuPanel(all), memoryPanel(all), swapPanel(all), networkPanel(all)} {
		if len(panel.Lines) > 0 {
			finish(&panel)
			t.Panels = append(t.Panels, panel)
		}
	}
	t.Scoreboard = heat(all)
	t.Missing = missing(m, all)
	return t
}

func segmentLabel(c record.Cell, ladder, variants bool) string {
	level := connections(c.Step)
	if !c.Step.KeepAlive {
		level += ", no keep-alive"
	}
	label := level
	switch {
	case variants && ladder:
		label = c.Variant + ", " + level
	case variants:
		label = c.Variant
	}
	if c.Page != "" {
		label += " " + c.Page
	}
	return label
}

// pause is the time between the end of one run's load and the start of the
// next; ok is false when the clock cannot tell.
func pause(before, after record.Run) (time.Duration, bool) {
	if before.ClockNS == 0 || after.ClockNS == 0 {
		return 0, false
	}
	d := time.Duration(after.ClockNS - before.ClockNS - before.Result.ElapsedNS)
	return d, d >= 0
}

func shortened(runs []record.Run) bool {
	for i := 1; i < len(runs); i++ {
		if d, ok := pause(runs[i-1], runs[i]); !ok || d > mostPause {
			return true
		}
	}
	return false
}

// layOut puts runs one after another on one axis, 0 being the first load.
func layOut(runs []record.Run) []laid {
	var out []laid
	at := 0.0
	for i, r := range runs {
		if i > 0 {
			gap := mostPause
			if d, ok := pause(runs[i-1], r); ok {
				gap = min(gap, d)
			}
			at += gap.Seconds()
		}
		l := laid{Run: r, startS: at, endS: at + float64(r.Result.ElapsedNS)/1e9}
		l.fromS, l.toS = l.startS-lead.Seconds(), l.endS+lead.Seconds()
		if i > 0 {
			// Neighbours share a short pause, so that their samples do not mix.
			middle := (out[i-1].endS + l.startS) / 2
			out[i-1].toS, l.fromS = min(out[i-1].toS, middle), max(l.fromS, middle)
		}
		out = append(out, l)
		at = l.endS
	}
	return out
}

// finish fills what a panel's lines say of it.
func finish(p *Panel) {
	p.AllZero = true
	for _, l := range p.Lines {
		for _, part := range l.Parts {
			for _, xy := range part {
				p.Max = max(p.Max, xy[1])
				p.AllZero = p.AllZero && xy[1] == 0
			}
		}
	}
}

// missing says what was not observed, once for all runs of the timeline.
func missing(m record.Manifest, all []laid) []string {
	var out []string
	seen := map[string]bool{}
	say := func(s string) {
		if !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	for _, l := range all {
		if text := workersMissing(m, l.Run); text != "" {
			say(text)
		}
		if host := series(l.Series, "host"); host == nil || !anySample(host.Samples, func(x observe.Sample) bool { return x.Host != nil }) {
			say("The machine: not observed" + reason(host) + ".")
		}
		if p := series(l.Series, "processes"); p == nil || !anySample(p.Samples, hasServer) {
			say("The server's processes: not observed, they are not on this machine or not known.")
		}
	}
	return out
}

func hasServer(x observe.Sample) bool {
	return slices.ContainsFunc(x.Processes, func(p observe.Process) bool { return p.Role == "server" })
}

// workersMissing is the sentence for a run without one reading of the status
// page; empty when there is one.
func workersMissing(m record.Manifest, run record.Run) string {
	status := series(run.Series, "status")
	if status != nil && anySample(status.Samples, func(x observe.Sample) bool { return x.Status != nil }) {
		return ""
	}
	url := statusURL(m, run.Cell)
	switch {
	case status == nil && url == "":
		return "Workers: not observed, no status page is known."
	case url == "":
		return "Workers: not observed" + reason(status) + "."
	}
	return "Workers: not observed, no status page at " + short(url, 200) + reason(status) + "."
}

// statusURL is the status page of a cell's lab or target, empty without one.
func statusURL(m record.Manifest, c record.Cell) string {
	for _, key := range []string{c.Lab, c.URL} {
		if u := m.StatusURLs[key]; u != "" {
			return u
		}
	}
	return ""
}

// reason is the most frequent error of a series, in brackets.
func reason(s *observe.Series) string {
	if s == nil {
		return ""
	}
	counts := map[string]int{}
	for _, x := range s.Samples {
		if x.Error != "" {
			counts[x.Error]++
		}
	}
	if len(counts) == 0 {
		return ""
	}
	return " (" + short(byCount(counts)[0], 120) + ")"
}

func anySample(samples []observe.Sample, is func(observe.Sample) bool) bool {
	return slices.ContainsFunc(samples, is)
}
