package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"abacus/scenarios"
)

// stepKey is the key of a load level that an override such as steps.requests
// names, "" for every other override.
func stepKey(o override) string {
	key, ok := strings.CutPrefix(o.key, "steps.")
	if !ok {
		return ""
	}
	return key
}

// setStepKey gives one key of all load levels of a scenario another value, or
// a list of values that multiplies out; the other keys stay as the file has
// them. Levels that become the same are one. node is the mapping steps: {key:
// value}.
func (l *loader) setStepKey(o override, node *yaml.Node, s *scenarios.Scenario, path string) {
	inner := node.Content[1]
	d := l.decoder(o.source, path+".")
	at := path + ".steps"
	given := d.stepValues(inner, at)
	key := stepKey(o)
	values := given.values[key]
	if given.failed || len(values) == 0 {
		return
	}
	if key == "concurrency" {
		slices.SortStableFunc(values, func(a, b reflect.Value) int { return int(a.Int() - b.Int()) })
	}
	where := position{file: o.source, key: o.key, value: o.text, scalar: inner.Content[1].Kind == yaml.ScalarNode}
	field := fieldsOf(reflect.TypeFor[scenarios.Step]())[key]
	bases, from := l.levelsWithout(key, field, s.Steps, at)
	l.forget(at)
	l.at[at] = where
	var out scenarios.Steps
	for i, base := range bases {
		for _, v := range values {
			reflect.ValueOf(&base).Elem().FieldByIndex(field).Set(v)
			for k, pos := range from[i] {
				l.at[join(fmt.Sprintf("%s[%d]", at, len(out)), k)] = pos
			}
			l.at[join(fmt.Sprintf("%s[%d]", at, len(out)), key)] = where
			out = append(out, base)
		}
	}
	s.Steps = out
}

// levelsWithout are the levels with one key left out, each once, and where
// their other keys stood.
func (l *loader) levelsWithout(key string, field []int, steps scenarios.Steps, at string) ([]scenarios.Step, []map[string]position) {
	if len(steps) == 0 {
		return []scenarios.Step{{KeepAlive: true}}, []map[string]position{{}}
	}
	var bases []scenarios.Step
	var from []map[string]position
	for i, step := range steps {
		reflect.ValueOf(&step).Elem().FieldByIndex(field).SetZero()
		if slices.Contains(bases, step) {
			continue
		}
		bases = append(bases, step)
		known := map[string]position{}
		for _, k := range keysOf(reflect.TypeFor[scenarios.Step]()) {
			if pos, ok := l.at[join(fmt.Sprintf("%s[%d]", at, i), k)]; ok && k != key {
				known[k] = pos
			}
		}
		from = append(from, known)
	}
	return bases, from
}
