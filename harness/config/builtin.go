package config

import (
	_ "embed"

	"abacus/harness/fault"
	"abacus/scenarios"
)

//go:embed full.yaml
var fullFile []byte

// FullFile is a file that shows every key with a comment and its default.
func FullFile() []byte { return append([]byte(nil), fullFile...) }

// BuiltIn reads one built-in scenario, without any default filled in.
func BuiltIn(name string) (scenarios.Scenario, error) {
	l := &loader{at: map[string]position{}, dirs: map[string]string{}}
	l.named(name)
	if len(l.problems) > 0 {
		return scenarios.Scenario{}, fault.Input(l.problems, "")
	}
	return l.campaign.Scenarios[0], nil
}
