// Package plan turns a campaign into the ordered list of its runs. It is pure:
// the same campaign and seed give the same plan.
package plan

import (
	"abacus/scenarios"
)

// Campaign is one job with all defaults filled in: what config hands to the
// rest of the program, and what campaign.yaml in a record holds.
type Campaign struct {
	Name      string               `yaml:"campaign" json:"campaign"`
	Scenarios []scenarios.Scenario `yaml:"scenarios" json:"scenarios"`
	Report    Report               `yaml:"report" json:"report"`
	// Results is the folder below which records land.
	Results string `yaml:"results" json:"results"`
	// Quick marks a short look: one round, no verdict.
	Quick              bool `yaml:"quick" json:"quick,omitempty"`
	scenarios.Settings `yaml:",inline"`
}

// Report says what is rendered after a campaign.
type Report struct {
	Formats []string `yaml:"formats" json:"formats,omitempty"`
	Open    bool     `yaml:"open" json:"open,omitempty"`
}

// Cell is variant × page × step of one scenario, by one engine: what gets one
// line of figures.
type Cell struct {
	// Index is the place in Plan.Cells.
	Index    int    `json:"index"`
	Scenario string `json:"scenario"`
	Variant  string `json:"variant"`
	// Page is the path of the third axis, empty without one.
	Page   string         `json:"page,omitempty"`
	Engine string         `json:"engine"`
	Lab    string         `json:"lab"`
	Step   scenarios.Step `json:"step"`
	// StepIndex is the place of the step in the scenario, from 0.
	StepIndex int `json:"step_index"`
	// Path is what is asked for on the lab; URL is absolute and set instead
	// for an external target.
	Path string `json:"path,omitempty"`
	URL  string `json:"url,omitempty"`
	// Baseline tells that the variant is its scenario's reference.
	Baseline bool `json:"baseline,omitempty"`
	// Settings are campaign, scenario and variant overlaid.
	Settings scenarios.Settings `json:"-"`
}

// Run is one repeat of a cell.
type Run struct {
	// Seq is the place in the order, from 1.
	Seq int `json:"seq"`
	// Cell is the index into Plan.Cells.
	Cell int `json:"cell"`
	// Round counts whole passes from 1; Block numbers the groups of runs of
	// one scenario's step within one round, from 1 over the whole campaign.
	Round int `json:"round"`
	Block int `json:"block"`
}

// Plan is the campaign expanded.
type Plan struct {
	Campaign Campaign `json:"-"`
	Seed     uint64   `json:"seed"`
	Rounds   int      `json:"rounds"`
	Cells    []Cell   `json:"cells"`
	Runs     []Run    `json:"runs"`
}
