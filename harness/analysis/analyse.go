package analysis

import (
	"fmt"
	"iter"
	"strings"

	"abacus/harness/preflight"
	"abacus/harness/record"
)

// MinRounds is the least number of complete rounds that a verdict rests on:
// with fewer no rank test can reach α at all, and a t interval is too wide to
// be worth a sentence.
const MinRounds = 6

// Alpha is the level of significance of every verdict.
const Alpha = 0.05

// Input is a record as it was read. Nothing in it is changed.
type Input struct {
	// Name is the record's name: campaign/time.
	Name        string
	Manifest    record.Manifest
	Environment preflight.Environment
	Preflight   record.Preflight
	// Idle is nil when no baseline was taken.
	Idle         *record.IdleFile
	CampaignYAML string
	// Runs yields the runs in order of Seq, one at a time; an error stands
	// for a run file that cannot be read, and becomes a finding. nil is none.
	Runs iter.Seq2[record.Run, error]
	// Damaged are the errors of the record's other files that cannot be read,
	// whose fields above are then empty; they become a finding.
	Damaged []error
}

// Analyse judges a record. It reads the runs once and keeps of them what the
// figures need: per level merged histograms and one value per run, and the
// samples of one round per scenario. An error means that the record's frame
// contradicts itself; damaged or missing runs are findings.
func Analyse(in Input) (*Analysis, error) {
	m := in.Manifest
	if m.Schema > record.ManifestSchema {
		return nil, fmt.Errorf("record %s: schema %d is newer than this program's %d", in.Name, m.Schema, record.ManifestSchema)
	}
	s := newState(in)
	if in.Runs != nil {
		for run, err := range in.Runs {
			if err != nil {
				s.damaged = append(s.damaged, err.Error())
				continue
			}
			s.add(run)
		}
	}
	a := frame(in)
	a.FinishedRuns, a.LastRound = s.finished, s.lastRound
	for _, c := range s.cells {
		a.Cells = append(a.Cells, c.close(m))
	}
	a.Comparisons = compareAll(m, a.Cells)
	a.Scenarios = frameScenarios(m, a.Cells)
	a.Curves = joinCurves(a.Scenarios, a.Cells)
	for i := range a.Scenarios {
		a.Scenarios[i].Finding = titleSentence(a, &a.Scenarios[i])
	}
	a.Verdict = verdict(a)
	a.Headline = headline(a, s)
	a.Findings = findings(in, a, s)
	a.Goals = judgeGoals(m, a, s)
	a.Timelines = drawTimelines(in, s)
	return a, nil
}

// frame is the part of the analysis that the runs do not change.
func frame(in Input) *Analysis {
	m := in.Manifest
	a := &Analysis{
		Schema: Schema, Campaign: m.Campaign, Title: m.Title, Question: m.Question, Author: m.Author, Notes: m.Notes,
		Caveats: m.Caveats, Record: in.Name, Complete: m.State == record.StateComplete, State: m.State, Reason: joinLines(m.Reason),
		Quick: m.Quick, PlannedRuns: m.PlannedRuns, Rounds: m.Rounds, Seed: m.Seed, StartedAt: m.CreatedAt, EndedAt: m.EndedAt,
		TimeZone: m.TimeZone, UTCOffsetS: m.UTCOffsetS, AbacusVersion: m.AbacusVersion,
		Environment: in.Environment, Checks: in.Preflight.Checks, Pages: in.Preflight.Pages,
		Warmups: m.Warmups, LabNotes: m.LabNotes, StatusURLs: m.StatusURLs, CampaignYAML: in.CampaignYAML,
		// Lists that are always there are [] in JSON, never null.
		Scenarios: []Scenario{}, Cells: []Cell{}, Comparisons: []Comparison{}, Curves: []Curve{}, Findings: []Finding{},
	}
	if in.Idle != nil {
		idle := in.Idle.Idle
		a.Idle = &idle
	}
	return a
}

// joinLines puts the lines of a reason, one for each target that failed, into
// one line.
func joinLines(s string) string {
	var out []string
	for _, line := range strings.Split(s, "\n") {
		if line = strings.Join(strings.Fields(line), " "); line != "" {
			out = append(out, strings.TrimSuffix(line, ";"))
		}
	}
	return strings.Join(out, "; ")
}

// state is what one pass over the runs gathers.
type state struct {
	cells     []*cellState
	damaged   []string // errors of run files that could not be read
	strays    []int    // runs that point to no cell of the manifest
	finished  int
	lastRound int
	timelines map[string]*roundKeeper // by scenario
	defaults  defaults
}

// defaults are facts about the machine that a run may leave out.
type defaults struct {
	cores int
}

func newState(in Input) *state {
	s := &state{timelines: map[string]*roundKeeper{}, defaults: defaults{cores: in.Environment.CPUs}}
	perScenario := map[string]int{}
	for _, c := range in.Manifest.Cells {
		s.cells = append(s.cells, newCellState(c))
		perScenario[c.Scenario]++
	}
	for name, n := range perScenario {
		s.timelines[name] = &roundKeeper{want: n}
	}
	return s
}

func (s *state) add(run record.Run) {
	// A run that was cut off is made again on resume.
	if state, _ := bad(run); state != stateInterrupted {
		s.finished++
	}
	s.lastRound = max(s.lastRound, run.Round)
	if run.CellIndex < 0 || run.CellIndex >= len(s.cells) {
		s.strays = append(s.strays, run.Seq)
		return
	}
	c := s.cells[run.CellIndex]
	c.add(run, s.defaults)
	s.timelines[c.cell.Scenario].offer(run)
}
