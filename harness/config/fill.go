package config

import (
	"fmt"

	"abacus/harness/plan"
	"abacus/scenarios"
)

// What a scenario rests on when it says nothing.
const (
	defaultPrimary = "throughput"
	defaultMargin  = 0.02
)

// externalStops end the load on a server of the user's that begins to fail: it
// could be someone's production. `stop_if: []` switches them off.
func externalStops() []string {
	return []string{"failed > 20% for 5s", "status_429 > 20% for 5s", "failed_timeout > 20% for 5s"}
}

// fill sets the defaults that depend on other values.
func (l *loader) fill() {
	c := &l.campaign
	if c.Seed == nil {
		seed := l.drawSeed()
		c.Seed = &seed
		l.at["seed"] = position{file: "drawn"}
	}
	if len(c.Report.Formats) == 0 {
		c.Report.Formats = []string{"html"}
	}
	l.fillLab()
	for i := range c.Scenarios {
		s := &c.Scenarios[i]
		if s.Primary == "" {
			s.Primary = defaultPrimary
		}
		if _, given := l.at[fmt.Sprintf("scenarios[%d].margin", i)]; !given && s.Margin == 0 {
			s.Margin = defaultMargin
		}
		variants, _ := plan.Variants(*c, *s)
		if s.Baseline == "" && len(variants) > 0 {
			s.Baseline = variants[0].Name
			if engines := plan.EnginesOf(*c, *s, variants[0]); len(engines) > 1 {
				s.Baseline += "/" + engines[0]
			}
		}
		l.fillStops(s, variants)
	}
}

// fillLab names the lab that the campaign's scenarios fall back to.
func (l *loader) fillLab() {
	c := &l.campaign
	if c.Lab != nil {
		return
	}
	if c.URL != "" {
		c.Lab = &scenarios.Lab{Kind: plan.LabExternal}
		return
	}
	for _, s := range c.Scenarios {
		if s.Lab != nil || s.URL != "" {
			return // the campaign's lab would go before the scenario's
		}
	}
	for _, s := range c.Scenarios {
		for _, v := range s.Variants {
			if v.URL == "" && v.Lab == nil {
				c.Lab = &scenarios.Lab{Kind: plan.LabDemo}
				return
			}
		}
		if len(s.Variants) == 0 {
			c.Lab = &scenarios.Lab{Kind: plan.LabDemo}
			return
		}
	}
}

func (l *loader) fillStops(s *scenarios.Scenario, variants []scenarios.Variant) {
	if l.campaign.StopIf != nil || s.StopIf != nil {
		return
	}
	for _, v := range variants {
		if plan.LabOf(l.campaign, *s, v) != plan.LabExternal {
			continue
		}
		s.StopIf = externalStops()
		return
	}
}
