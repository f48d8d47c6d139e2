// Package campaign walks a plan: it starts the labs, checks what is about to
// be measured, takes the idle baseline, warms up, waits for idle, and runs
// load with observation beside it, writing each run when it ends. It declares
// what it needs of others, Engine and Poller, and is given them.
package campaign

import (
	"cmp"
	"context"
	"time"

	"abacus/harness/load"
	"abacus/harness/observe"
	"abacus/harness/plan"
	"abacus/harness/preflight"
	"abacus/harness/record"
	"abacus/scenarios"
)

// Engine runs one load job and returns its result. When ctx ends early it
// returns what was measured until then, marked interrupted. An error may come
// with a partial result.
type Engine interface {
	Run(ctx context.Context, job load.Job, progress func(load.Progress)) (*load.Result, error)
}

// Poller takes one reading of the server or the machine. One that holds
// something between polls also has Close(), after which it can be used again.
type Poller interface {
	// Name is the series' source: status, host, processes.
	Name() string
	Poll(ctx context.Context) (observe.Reading, error)
}

// Lab is a server that serves: one that abacus started, or one of the user's.
type Lab struct {
	// Kind is demo or external.
	Kind string
	// BaseURL is what paths are appended to; empty for an external target
	// that is named by URL.
	BaseURL string
	// StatusURL is the mod_status page to poll, empty when there is none;
	// StatusHost is the Host header for it.
	StatusURL, StatusHost string
	// PIDs are the server's processes on this machine by role.
	PIDs     map[string][]int
	Notes    []string
	Versions map[string]string
	// Alive tells whether the server's process still lives; nil when that
	// cannot be known.
	Alive func() bool
	// Ended says which process has ended, and how.
	Ended func() string
	// Stop ends what was started; nil when nothing was.
	Stop func(context.Context) error
}

// Needs is what a campaign is given by its caller.
type Needs struct {
	Engine Engine
	// StartLab starts a lab of this kind.
	StartLab func(ctx context.Context, kind string) (*Lab, error)
	// Processes finds the processes of this machine that bear one of the
	// names; used for external servers.
	Processes func(names []string) []int
	// ClientPID is the process id of the load worker now running, 0 when none.
	ClientPID func() int
	// Pollers makes the pollers for one lab: roles gives the processes to
	// watch, asked at each poll.
	Pollers func(lab *Lab, host bool, roles func() map[string][]int) []Poller
	// Expand replaces ${NAME} by the environment's value.
	Expand func(string) (string, error)
	// Redact gives the form in which a header's value may be stored.
	Redact func(scenarios.Header) string
	// ReadFile reads a body file, relative to the configuration's folder.
	ReadFile func(string) ([]byte, error)
	// Environment reads the machine.
	Environment func(ctx context.Context) preflight.Environment
	// Events is told what happens, from one goroutine at a time.
	Events func(Event)
	Now    func() time.Time
	// Version is the program's, for the User-Agent.
	Version string
}

// Bounds are the fixed times of a campaign; DefaultBounds has the usual ones.
type Bounds struct {
	// Idle is the length of the idle baseline, Singles its single requests.
	Idle    time.Duration
	Singles int
	// Fetches is how often each page is fetched without load before it.
	Fetches int
	// WarmupMax bounds one warm-up, WarmupWindow is one of its windows.
	WarmupMax, WarmupWindow time.Duration
	// SettleMax bounds one wait for idle where the settings do not.
	SettleMax time.Duration
	// StatusLook bounds one look at a status page while nothing is measured.
	StatusLook time.Duration
	// HookTimeout bounds one hook command.
	HookTimeout time.Duration
}

// DefaultBounds are the times of a normal campaign, or of a quick look.
func DefaultBounds(quick bool) Bounds {
	if quick {
		return Bounds{Idle: time.Second, Singles: 5, Fetches: 5, WarmupMax: 600 * time.Millisecond,
			WarmupWindow: 200 * time.Millisecond, SettleMax: 2 * time.Second, StatusLook: time.Second, HookTimeout: time.Minute}
	}
	return Bounds{Idle: 5 * time.Second, Singles: 20, Fetches: 20, WarmupMax: 4 * time.Second,
		WarmupWindow: 300 * time.Millisecond, SettleMax: time.Minute, StatusLook: 3 * time.Second, HookTimeout: 5 * time.Minute}
}

// EventKind says what an Event tells.
type EventKind string

// The kinds of events, in about the order in which they come.
const (
	EventLab      EventKind = "lab"      // a lab serves: Text
	EventCheck    EventKind = "check"    // a check's answer: Check
	EventChecks   EventKind = "checks"   // all checks made: Text
	EventIdle     EventKind = "idle"     // the idle baseline: Text
	EventWarmup   EventKind = "warmup"   // a warm-up ended: Text
	EventProgress EventKind = "progress" // a run goes on: Run, Progress, Workers
	EventRun      EventKind = "run"      // a run ended and is written: Run
	EventNote     EventKind = "note"     // something worth a line: Text
)

// Event is told to the caller while a campaign goes on.
type Event struct {
	Kind     EventKind
	Text     string
	Check    *preflight.Check
	Run      *record.Run
	Progress *load.Progress
	// Workers is the newest reading of the status page, nil without one.
	Workers *observe.Status
	// Done and Total count runs; Left is the time that the rest should take.
	Done, Total int
	Left        time.Duration
}

// Outcome is how a campaign ended.
type Outcome struct {
	// Manifest is as last written.
	Manifest record.Manifest
	// FailedRuns counts runs of the record that ended badly.
	FailedRuns int
	// Interrupted tells that ctx ended it before the last run.
	Interrupted bool
}

// Campaign is one walk over a plan into a record.
type Campaign struct {
	Plan   *plan.Plan
	Record *record.Writer
	Needs  Needs
	Bounds Bounds
	// Manifest is the record's frame; Frame makes a new one, resume gives the
	// old one.
	Manifest record.Manifest

	// finished are the numbers of runs that a resumed record already has.
	finished map[int]bool

	labs    map[string]*Lab
	targets map[int]target // by cell
	bodies  map[bodyKey]string
	// statuses are the pages' statuses without load.
	statuses map[pageKey]int
	// stopped holds, by ladder, the step from which on runs are given up and why.
	stopped map[ladder]stopMark
	pace    pace
	// idleBusy is the number of busy workers of the idle server, the poll's
	// own among them.
	idleBusy int64
	failed   int
	// walked tells that no run is left to be made.
	walked bool
}

// Frame makes the manifest of a new record from a plan.
func Frame(p *plan.Plan, version, fingerprint string, now time.Time) record.Manifest {
	c := p.Campaign
	zone, offset := now.Zone()
	m := record.Manifest{
		AbacusVersion: version, Campaign: c.Name, Title: c.Title, Question: c.Question, Author: c.Author,
		Notes: c.Notes, Caveats: c.Caveats, Goals: c.Goals, Seed: p.Seed, Quick: c.Quick,
		CreatedAt: now.UTC(), TimeZone: zone, UTCOffsetS: offset, State: record.StateRunning,
		Rounds: p.Rounds, PlannedRuns: len(p.Runs), Fingerprint: fingerprint,
	}
	baselines := map[string]string{} // as they run, by scenario
	for _, cell := range p.Cells {
		if cell.Baseline {
			baselines[cell.Scenario] = cell.Variant
		}
		m.Cells = append(m.Cells, recordCell(cell))
	}
	for _, s := range c.Scenarios {
		m.Scenarios = append(m.Scenarios, record.Scenario{
			Name: s.Name, Title: s.Title, Question: s.Question, Baseline: baselines[s.Name],
			Primary: cmp.Or(s.Primary, "throughput"), Margin: s.Margin, Caveats: s.Caveats, Goals: s.Goals,
		})
	}
	return m
}

// recordCell is the part of a planned cell that the record keeps.
func recordCell(c plan.Cell) record.Cell {
	url := c.URL
	if url == "" {
		url = c.Path
	}
	return record.Cell{
		Scenario: c.Scenario, Variant: c.Variant, Page: c.Page, Engine: c.Engine, Lab: c.Lab,
		URL: url, Baseline: c.Baseline,
		Step: record.Step{
			Concurrency: c.Step.Concurrency, Requests: c.Step.Requests,
			DurationS: time.Duration(c.Step.Duration).Seconds(), KeepAlive: c.Step.KeepAlive,
		},
	}
}

func (c *Campaign) event(e Event) {
	hide := c.Record.Secrets.Text
	e.Text = hide(e.Text)
	if e.Check != nil {
		check := *e.Check
		check.Finding, check.Advice = hide(check.Finding), hide(check.Advice)
		e.Check = &check
	}
	if c.Needs.Events != nil {
		c.Needs.Events(e)
	}
}

func (c *Campaign) note(text string) { c.event(Event{Kind: EventNote, Text: text}) }
