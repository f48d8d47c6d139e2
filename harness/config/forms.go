package config

import (
	"fmt"
	"reflect"
	"slices"

	"go.yaml.in/yaml/v3"

	"abacus/scenarios"
)

// mostSteps bounds what lists in steps: may multiply out to.
const mostSteps = 1000

// headers reads a mapping, keeping the names' case and their order.
func (d *decoder) headers(n *yaml.Node, to *scenarios.Headers, path string) {
	if n.Kind != yaml.MappingNode || len(n.Content) == 0 {
		d.fail(n, path, "", "must be a mapping of header names to values, as in {Accept-Encoding: gzip}")
		return
	}
	var out scenarios.Headers
	d.pairs(n, path, func(key, value *yaml.Node, sub string) {
		if value.Kind == yaml.AliasNode {
			value = value.Alias
		}
		if value.Kind != yaml.ScalarNode || value.ShortTag() == "!!null" {
			d.fail(value, sub, "", `must be a text; "" is an empty one`)
			return
		}
		d.at[sub] = position{file: d.file, line: value.Line, key: d.key(sub), value: value.Value, scalar: true}
		out = append(out, scenarios.Header{Name: key.Value, Value: value.Value})
	})
	// A single header that is set from outside joins those of the file.
	*to = scenarios.Overlay(scenarios.Settings{Headers: *to}, scenarios.Settings{Headers: out}).Headers
}

// lab reads a kind, or a mapping with a kind.
func (d *decoder) lab(n *yaml.Node, to *scenarios.Lab, path string) {
	if n.Kind == yaml.ScalarNode {
		d.scalar(n, reflect.ValueOf(&to.Kind).Elem(), path)
		return
	}
	*to = scenarios.Lab{}
	d.mapping(n, reflect.ValueOf(to).Elem(), path)
	if to.Kind == "" && n.Kind == yaml.MappingNode {
		if _, given := d.at[join(path, "kind")]; !given {
			d.fail(n, path, "", "needs a kind: one of %s", list(labKinds()))
		}
	}
}

// steps reads a mapping whose lists multiply out, or a list of such mappings.
// Within one mapping the concurrency ascends, for keep-alive, requests and
// duration in the order of the file; mappings keep their order.
func (d *decoder) steps(n *yaml.Node, to *scenarios.Steps, path string) {
	var out scenarios.Steps
	switch n.Kind {
	case yaml.MappingNode:
		out = d.stepMapping(n, path, path, 0)
	case yaml.SequenceNode:
		if len(n.Content) == 0 {
			d.fail(n, path, "", "is an empty list; give it an entry or leave the key out")
		}
		for i, entry := range n.Content {
			if entry.Kind == yaml.AliasNode {
				entry = entry.Alias
			}
			// Braces, since [i] is the place among the steps multiplied out.
			at := fmt.Sprintf("%s{%d}", path, i)
			if entry.Kind != yaml.MappingNode {
				d.fail(entry, at, "", "must be a mapping with the keys %s", list(keysOf(reflect.TypeFor[scenarios.Step]())))
				continue
			}
			out = append(out, d.stepMapping(entry, at, path, len(out))...)
			if len(out) > mostSteps {
				d.fail(entry, at, "", "steps multiply out to more than %d", mostSteps)
				return
			}
		}
	default:
		d.fail(n, path, "", "must be a mapping such as {concurrency: [1, 10], requests: 1000}, or a list of them")
		return
	}
	*to = out
}

// stepMapping multiplies one mapping out. The first of the resulting steps
// gets the index first within steps.
func (d *decoder) stepMapping(n *yaml.Node, at, steps string, first int) scenarios.Steps {
	given := d.stepValues(n, at)
	if given.failed {
		return nil
	}
	if given.values["keepalive"] == nil {
		given.values["keepalive"] = []reflect.Value{reflect.ValueOf(true)}
	}
	return d.multiply(n, at, steps, first, given.values, given.where)
}

// stepValues are what one mapping of steps: says: for each key its values, a
// single one or those of a list, and their paths.
type stepValues struct {
	values map[string][]reflect.Value
	where  map[string][]string
	// failed tells that a problem was reported.
	failed bool
}

// stepValues reads one mapping of steps: without multiplying it out.
func (d *decoder) stepValues(n *yaml.Node, at string) stepValues {
	t := reflect.TypeFor[scenarios.Step]()
	known := fieldsOf(t)
	out := stepValues{values: map[string][]reflect.Value{}, where: map[string][]string{}}
	problems := len(*d.problems)
	if len(n.Content) == 0 {
		d.fail(n, at, "", "is empty; give it a concurrency, and requests or a duration")
	}
	d.pairs(n, at, func(key, value *yaml.Node, sub string) {
		f, ok := known[key.Value]
		if !ok {
			d.unknownKey(key, value, t, sub)
			return
		}
		if value.Kind == yaml.AliasNode {
			value = value.Alias
		}
		one := reflect.New(reflect.SliceOf(t.FieldByIndex(f).Type)).Elem()
		if value.Kind == yaml.SequenceNode {
			d.value(value, one, sub)
			for i := range one.Len() {
				out.where[key.Value] = append(out.where[key.Value], fmt.Sprintf("%s[%d]", sub, i))
			}
		} else {
			one.Set(reflect.MakeSlice(one.Type(), 1, 1))
			d.value(value, one.Index(0), sub)
			out.where[key.Value] = []string{sub}
		}
		for i := range one.Len() {
			out.values[key.Value] = append(out.values[key.Value], one.Index(i))
		}
	})
	out.failed = len(*d.problems) > problems
	return out
}

// multiply makes one step of every combination, concurrency ascending
// fastest.
func (d *decoder) multiply(n *yaml.Node, at, steps string, first int, values map[string][]reflect.Value, where map[string][]string) scenarios.Steps {
	type built struct {
		step  scenarios.Step
		paths map[string]string
	}
	all := []built{{step: scenarios.Step{}}}
	t := reflect.TypeFor[scenarios.Step]()
	order := []string{"keepalive"}
	for _, k := range keysOf(t) {
		if k != "keepalive" && k != "concurrency" {
			order = append(order, k)
		}
	}
	for _, key := range append(order, "concurrency") {
		options := values[key]
		if len(options) == 0 {
			continue
		}
		if len(all)*len(options) > mostSteps {
			d.fail(n, at, "", "the lists multiply out to more than %d steps", mostSteps)
			return nil
		}
		var next []built
		for _, b := range all {
			for i, o := range options {
				s := b.step
				reflect.ValueOf(&s).Elem().FieldByIndex(fieldsOf(t)[key]).Set(o)
				paths := map[string]string{}
				for k, v := range b.paths {
					paths[k] = v
				}
				if len(where[key]) > 0 {
					paths[key] = where[key][i]
				}
				next = append(next, built{s, paths})
			}
		}
		all = next
	}
	slices.SortStableFunc(all, func(a, b built) int {
		if a.step.KeepAlive != b.step.KeepAlive || a.step.Requests != b.step.Requests || a.step.Duration != b.step.Duration {
			return 0 // another curve: the order of the file stands
		}
		return a.step.Concurrency - b.step.Concurrency
	})
	var out scenarios.Steps
	for i, b := range all {
		path := fmt.Sprintf("%s[%d]", steps, first+i)
		if path != at {
			d.at[path] = position{file: d.file, line: n.Line, key: d.key(at)}
		}
		for key, from := range b.paths {
			d.at[join(path, key)] = d.at[from]
		}
		out = append(out, b.step)
	}
	return out
}

// scenarioList reads a campaign's scenarios: names, paths and inline ones.
func (d *decoder) scenarioList(n *yaml.Node, to *[]scenarios.Scenario, path string) {
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
		d.fail(n, path, "", "must be a list of built-in names (%s), paths of YAML files, or scenarios", list(scenarios.BuiltIn()))
		return
	}
	if len(n.Content) > mostScenarios {
		d.fail(n, path, "", "has more than %d entries", mostScenarios)
		return
	}
	var out []scenarios.Scenario
	for i, entry := range n.Content {
		at := fmt.Sprintf("%s[%d]", path, i)
		if entry.Kind == yaml.AliasNode {
			entry = entry.Alias
		}
		d.at[at] = position{file: d.file, line: entry.Line, key: d.key(at), value: entry.Value, scalar: entry.Kind == yaml.ScalarNode}
		var s scenarios.Scenario
		switch {
		case entry.Kind == yaml.MappingNode:
			d.value(entry, reflect.ValueOf(&s).Elem(), at)
			if s.Name == "" {
				d.fail(entry, at, "", "needs scenario: with a name")
			}
		case entry.Kind == yaml.ScalarNode && entry.ShortTag() == "!!str":
			s = d.scenario(d, entry, at)
		default:
			d.fail(entry, at, "", "must be a built-in name (%s), the path of a YAML file, or a scenario", list(scenarios.BuiltIn()))
		}
		out = append(out, s) // one that failed too, so that the places of the others stand
	}
	*to = out
}

// mostScenarios bounds a campaign.
const mostScenarios = 200
