package scenarios

import (
	"embed"
	"slices"
)

//go:embed static-ladder.yaml cache-comparison.yaml engine-check.yaml
var builtIn embed.FS

// BuiltIn lists the names of the built-in scenarios, in the order in which
// they are shown.
func BuiltIn() []string {
	return []string{"static-ladder", "cache-comparison", "engine-check"}
}

// File returns the commented YAML of a built-in scenario; ok is false when
// there is none of that name.
func File(name string) (text []byte, ok bool) {
	if !slices.Contains(BuiltIn(), name) {
		return nil, false
	}
	text, err := builtIn.ReadFile(name + ".yaml")
	return text, err == nil
}
