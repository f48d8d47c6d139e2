package preflight

import (
	"fmt"
	"slices"

	"abacus/harness/number"
	"abacus/harness/oneline"
)

// SameBody compares the bodies of a scenario's variants, page by page. Give it
// the pages of which expect.same_body asks that they be alike: a group with
// other bytes in it is critical, since its variants do not do the same work.
// Pages that could not be fetched or changed between fetches are named.
func SameBody(pages []Page) []Check {
	type key struct{ scenario, path string }
	var order []key
	groups := map[key][]Page{}
	for _, p := range pages {
		k := key{p.Scenario, p.Path}
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], p)
	}
	var checks []Check
	for _, k := range order {
		group := groups[k]
		if len(group) < 2 {
			continue
		}
		c := Check{
			ID:       "page.same_body",
			Question: "Do the variants give the same page?",
			Method:   "SHA-256 of each variant's body, fetched without load",
			Severity: OK,
			Finding:  fmt.Sprintf("all %d variants gave the same bytes", len(group)),
			Target:   k.scenario,
		}
		var hashes []string
		whole := true
		for _, p := range group {
			c.Evidence = append(c.Evidence, bodyLine(p))
			whole = whole && p.SHA256 != "" && p.Stable
			if p.SHA256 != "" && !slices.Contains(hashes, p.SHA256) {
				hashes = append(hashes, p.SHA256)
			}
		}
		switch {
		case len(hashes) > 1:
			c.Severity = Critical
			c.Finding = fmt.Sprintf("the %d variants gave %d different bodies", len(group), len(hashes))
			c.Advice = "Make the pages alike before comparing their speed, or take expect.same_body out if the difference is meant."
		case !whole:
			c.Severity = NotSeen
			c.Finding = "not every variant gave one stable body to compare"
			c.Advice = "See the checks of the variants named below."
		}
		if k.path != "" {
			c.Evidence = append([]string{"page " + oneline.Shorten(k.path, 120)}, c.Evidence...)
		}
		checks = append(checks, c)
	}
	return checks
}

// bodyLine says what one variant's body was.
func bodyLine(p Page) string {
	switch {
	case p.SHA256 == "":
		return p.Variant + ": no body seen"
	case p.Bytes == nil:
		return fmt.Sprintf("%s: sha256 %.12s…", p.Variant, p.SHA256)
	case !p.Stable:
		return fmt.Sprintf("%s: %s bytes, sha256 %.12s… at first, then others", p.Variant, number.Count(*p.Bytes), p.SHA256)
	}
	return fmt.Sprintf("%s: %s bytes, sha256 %.12s…", p.Variant, number.Count(*p.Bytes), p.SHA256)
}
