package plan

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"

	"abacus/scenarios"
)

// MostRuns bounds a plan: more runs than this are refused.
const MostRuns = 100_000

// Expand turns a campaign into its cells and the order of its runs.
//
// Cells stand by scenario, variant, engine, page and step, each as in the
// file. The order of runs: for each round, the scenarios in order, their steps
// in order, and at each step all variants (with their engines and pages)
// shuffled. The shuffle is drawn from PCG(seed, FNV-1a of scenario, round and
// step), so that adding a scenario or a round changes no other order. A
// scenario with fewer repeats than the others leaves the later rounds out; one
// with a seed of its own uses that.
func Expand(c Campaign, seed uint64) (*Plan, error) {
	p := &Plan{Campaign: c, Seed: seed}
	var groups []group
	for i := range c.Scenarios {
		g, err := p.addScenario(c, c.Scenarios[i])
		if err != nil {
			return nil, err
		}
		groups = append(groups, g)
		p.Rounds = max(p.Rounds, g.repeats)
	}
	if len(p.Cells) == 0 {
		return nil, errors.New("the campaign has nothing to run: no scenario has a variant and a step")
	}
	block := 0
	for round := 1; round <= p.Rounds; round++ {
		for _, g := range groups {
			if round > g.repeats {
				continue
			}
			for step, cells := range g.steps {
				if len(p.Runs)+len(cells) > MostRuns {
					return nil, fmt.Errorf("the campaign has more than %d runs", MostRuns)
				}
				block++
				for _, cell := range shuffled(cells, g.seed, g.name, round, step) {
					p.Runs = append(p.Runs, Run{Seq: len(p.Runs) + 1, Cell: cell, Round: round, Block: block})
				}
			}
		}
	}
	return p, nil
}

// group is one scenario in the order of runs: its cells by step.
type group struct {
	name    string
	repeats int
	seed    uint64
	steps   [][]int
}

func (p *Plan) addScenario(c Campaign, s scenarios.Scenario) (group, error) {
	g := group{name: s.Name, repeats: 1, seed: p.Seed, steps: make([][]int, len(s.Steps))}
	all := scenarios.Overlay(c.Settings, s.Settings)
	if all.Repeats > 0 && !c.Quick {
		g.repeats = all.Repeats
	}
	if s.Seed != nil {
		g.seed = *s.Seed
	}
	if len(s.Steps) == 0 {
		return g, fmt.Errorf("scenario %s has no steps", s.Name)
	}
	variants, _ := Variants(c, s)
	if len(variants) == 0 {
		return g, fmt.Errorf("scenario %s has no variant that exists on its lab", s.Name)
	}
	first := len(p.Cells)
	for _, v := range variants {
		engines := EnginesOf(c, s, v)
		for _, engine := range engines {
			cell := Cell{Scenario: s.Name, Variant: v.Name, Engine: engine, Lab: LabOf(c, s, v), Settings: effective(all, v, engine)}
			cell.Settings.Lab = labSettings(c, s, v, cell.Lab)
			if len(engines) > 1 {
				cell.Variant = v.Name + "/" + engine
			}
			for _, page := range Pages(s, v) {
				cell.Page = page
				if err := target(&cell, v, cell.Settings.URL); err != nil {
					return g, err
				}
				for i, step := range s.Steps {
					if c.Quick {
						step = quickStep(step)
						cell.Settings = quickSettings(cell.Settings)
					}
					cell.Step, cell.StepIndex, cell.Index = step, i, len(p.Cells)
					p.Cells = append(p.Cells, cell)
					g.steps[i] = append(g.steps[i], cell.Index)
				}
			}
		}
	}
	return g, markBaseline(p.Cells[first:], s)
}

// effective lays the variant's settings over the rest and fixes its engine.
func effective(upper scenarios.Settings, v scenarios.Variant, engine string) scenarios.Settings {
	out := scenarios.Overlay(upper, v.Settings)
	out.Engine, out.Engines = engine, nil
	return out
}

// labSettings is the lab's mapping at the level that decided its kind.
func labSettings(c Campaign, s scenarios.Scenario, v scenarios.Variant, kind string) *scenarios.Lab {
	for _, l := range []*scenarios.Lab{v.Lab, c.Lab, s.Lab} {
		if l != nil && l.Kind == kind {
			return l
		}
	}
	return &scenarios.Lab{Kind: kind}
}

// markBaseline marks the cells of the reference variant: the one named, with
// or without its engine, or the first. With several engines and a name
// without one, the first of its engines is the reference.
func markBaseline(cells []Cell, s scenarios.Scenario) error {
	name := ""
	for _, c := range cells {
		if s.Baseline == "" || c.Variant == s.Baseline || c.Variant == s.Baseline+"/"+c.Engine {
			name = c.Variant
			break
		}
	}
	if name == "" {
		return fmt.Errorf("scenario %s: baseline %q is none of the variants that run", s.Name, s.Baseline)
	}
	for i := range cells {
		cells[i].Baseline = cells[i].Variant == name
	}
	return nil
}

// shuffled returns the cells in the order drawn for one block.
func shuffled(cells []int, seed uint64, scenario string, round, step int) []int {
	h := fnv.New64a()
	h.Write([]byte(scenario))
	h.Write(binary.BigEndian.AppendUint64([]byte{0}, uint64(round)))
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(step)))
	rng := rand.New(rand.NewPCG(seed, h.Sum64()))
	out := append([]int(nil), cells...)
	rng.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}
