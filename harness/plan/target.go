package plan

import (
	"fmt"
	"net/url"
	"slices"

	"abacus/scenarios"
)

// The kinds of lab. External means a URL of the user's.
const (
	LabDemo     = "demo"
	LabExternal = "external"
)

// LabOf says who serves a variant: what the variant says itself, else what the
// campaign says, else the scenario, else the demo. A url: counts as the lab
// external at the level where it stands, and the campaign's lab does not take
// a target away from a scenario that names one.
func LabOf(c Campaign, s scenarios.Scenario, v scenarios.Variant) string {
	switch {
	case v.Lab != nil:
		return v.Lab.Kind
	case v.URL != "", s.URL != "":
		return LabExternal
	case c.Lab != nil:
		return c.Lab.Kind
	case c.URL != "":
		return LabExternal
	case s.Lab != nil:
		return s.Lab.Kind
	}
	return LabDemo
}

// Variants are the scenario's variants that exist on their labs; a scenario
// without any has one of its own name. Those that their labs: key leaves out
// are in left.
func Variants(c Campaign, s scenarios.Scenario) (kept, left []scenarios.Variant) {
	if len(s.Variants) == 0 {
		return []scenarios.Variant{{Name: s.Name}}, nil
	}
	for _, v := range s.Variants {
		if len(v.Labs) == 0 || slices.Contains(v.Labs, LabOf(c, s, v)) {
			kept = append(kept, v)
		} else {
			left = append(left, v)
		}
	}
	return kept, left
}

// EnginesOf lists who loads a variant: the nearest level that says engine or
// engines decides; with both at one level, engines.
func EnginesOf(c Campaign, s scenarios.Scenario, v scenarios.Variant) []string {
	for _, level := range []scenarios.Settings{v.Settings, s.Settings, c.Settings} {
		if len(level.Engines) > 0 {
			return level.Engines
		}
		if level.Engine != "" {
			return []string{level.Engine}
		}
	}
	return []string{"native"}
}

// Pages are the paths that a variant is asked for; one empty entry when its
// own path or url takes their place, or there are none.
func Pages(s scenarios.Scenario, v scenarios.Variant) []string {
	if v.Path != "" || v.URL != "" || len(s.Pages) == 0 {
		return []string{""}
	}
	return s.Pages
}

// target sets the cell's path, or its absolute URL on an external lab: a
// path takes the place of the path of url, as a link on that page would.
func target(cell *Cell, v scenarios.Variant, base string) error {
	path := v.Path
	if path == "" {
		path = cell.Page
	}
	if cell.Lab != LabExternal {
		if path == "" {
			return fmt.Errorf("scenario %s, variant %s: lab %s needs a path or pages", cell.Scenario, cell.Variant, cell.Lab)
		}
		cell.Path = path
		return nil
	}
	u, err := url.Parse(base)
	if err != nil {
		return fmt.Errorf("scenario %s, variant %s: url: %w", cell.Scenario, cell.Variant, err)
	}
	if u.Host == "" {
		return fmt.Errorf("scenario %s, variant %s: lab external needs a url with a host, not %q", cell.Scenario, cell.Variant, base)
	}
	if path != "" {
		ref, err := url.Parse(path)
		if err != nil {
			return fmt.Errorf("scenario %s, variant %s: path: %w", cell.Scenario, cell.Variant, err)
		}
		u = u.ResolveReference(ref)
	}
	cell.URL = u.String()
	return nil
}
