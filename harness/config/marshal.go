package config

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"abacus/harness/plan"
	"abacus/scenarios"
)

// MarshalCampaign writes the effective campaign as a file that `abacus run`
// repeats: all defaults filled in, the seed included, ${NAME} unexpanded, and
// literal values of secret headers replaced by <redacted> (such a file is
// refused until they are given again). The same campaign gives the same bytes.
func MarshalCampaign(c plan.Campaign) ([]byte, error) {
	e := &encoder{}
	node := e.node(reflect.ValueOf(c), "")
	node.HeadComment = "A campaign as it ran, with all defaults filled in; `abacus run` on this file repeats it."
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(node); err != nil {
		return nil, fmt.Errorf("write the campaign as YAML: %w", err)
	}
	if err := enc.Close(); err != nil {
		return nil, fmt.Errorf("write the campaign as YAML: %w", err)
	}
	return b.Bytes(), nil
}

// encoder writes the structs that the decoder reads, by the same tags.
type encoder struct {
	// leaf is called for every value that is not a mapping of keys.
	leaf func(path string, n *yaml.Node)
}

// node is the YAML form of v; nil when it is unset.
func (e *encoder) node(v reflect.Value, path string) *yaml.Node {
	switch x := v.Interface().(type) {
	case scenarios.Duration:
		return e.done(path, text(shortDuration(x)))
	case scenarios.Headers:
		return e.headers(x, path)
	case scenarios.Step:
		return e.done(path, flow(e.step(x)))
	case *scenarios.Lab:
		if x != nil {
			return e.done(path, text(x.Kind))
		}
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return e.node(v.Elem(), path)
	case reflect.Struct:
		return e.mapping(v, path)
	case reflect.Slice:
		return e.list(v, path)
	case reflect.Map:
		n := &yaml.Node{Kind: yaml.MappingNode}
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, k := range keys {
			n.Content = append(n.Content, text(k.String()), text(v.MapIndex(k).String()))
		}
		return e.done(path, n)
	case reflect.String:
		return e.done(path, text(v.String()))
	case reflect.Bool:
		return e.done(path, plain("!!bool", strconv.FormatBool(v.Bool())))
	case reflect.Int, reflect.Int64:
		return e.done(path, plain("!!int", strconv.FormatInt(v.Int(), 10)))
	case reflect.Uint64:
		return e.done(path, plain("!!int", strconv.FormatUint(v.Uint(), 10)))
	case reflect.Float64:
		return e.done(path, plain("!!float", strconv.FormatFloat(v.Float(), 'g', -1, 64)))
	}
	// A type that no key has: a mistake in the program, found by its tests.
	panic("config: no writer for " + v.Type().String())
}

func (e *encoder) done(path string, n *yaml.Node) *yaml.Node {
	if e.leaf != nil {
		e.leaf(path, n)
	}
	return n
}

// shortDuration leaves out the zero parts that Go writes: 1m0s is 1m.
func shortDuration(d scenarios.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// text lets the library choose the quotes: a text that looks like a number or
// a boolean gets some, so that it is read back as text.
func text(s string) *yaml.Node {
	n := &yaml.Node{}
	n.SetString(s)
	return n
}

func plain(tag, value string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: value}
}

// flow puts a small mapping or list on one line.
func flow(n *yaml.Node) *yaml.Node { n.Style = yaml.FlowStyle; return n }

// place orders keys for people: names and texts first, the long lists last,
// all others between in the order of the struct.
func place(key string) int {
	first := []string{"campaign", "scenario", "name", "title", "question", "author", "notes", "caveats"}
	last := []string{"variants", "pages", "steps", "scenarios"}
	if i := slices.Index(first, key); i >= 0 {
		return i
	}
	return len(first) + 1 + slices.Index(last, key)
}

// mapping writes the fields that are set.
func (e *encoder) mapping(v reflect.Value, path string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode}
	fields := fieldsOf(v.Type())
	keys := keysOf(v.Type())
	slices.SortStableFunc(keys, func(a, b string) int {
		return place(a) - place(b)
	})
	for _, key := range keys {
		f := v.FieldByIndex(fields[key])
		if f.IsZero() && v.Type() != reflect.TypeFor[scenarios.Settle]() {
			continue
		}
		value := e.node(f, join(path, key))
		if value == nil || (value.Kind == yaml.MappingNode && len(value.Content) == 0) {
			continue
		}
		n.Content = append(n.Content, text(key), value)
	}
	return n
}

func (e *encoder) list(v reflect.Value, path string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.SequenceNode}
	inner := &encoder{leaf: e.leaf}
	elem := v.Type().Elem()
	ofMappings := elem.Kind() == reflect.Struct && elem != reflect.TypeFor[scenarios.Step]()
	if !ofMappings {
		inner.leaf = nil // a list of texts is one value
	}
	for i := range v.Len() {
		at := fmt.Sprintf("%s[%d]", path, i)
		entry := inner.node(v.Index(i), at)
		n.Content = append(n.Content, entry)
		if elem == reflect.TypeFor[scenarios.Step]() {
			e.done(at, entry)
		}
	}
	if ofMappings || elem == reflect.TypeFor[scenarios.Step]() {
		return n
	}
	if elem.Kind() != reflect.Slice && path != "caveats" && !strings.HasSuffix(path, ".caveats") {
		flow(n)
	}
	if elem.Kind() == reflect.Slice {
		for _, c := range n.Content {
			flow(c)
		}
	}
	return e.done(path, n)
}

func (e *encoder) headers(h scenarios.Headers, path string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode}
	for _, one := range h {
		value := text(storedHeader(one.Name, one.Value))
		n.Content = append(n.Content, text(one.Name), e.done(join(path, one.Name), value))
	}
	return n
}

// step writes keepalive always: its default is true, and false is no unset.
func (e *encoder) step(s scenarios.Step) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode}
	v := reflect.ValueOf(s)
	fields := fieldsOf(v.Type())
	for _, key := range keysOf(v.Type()) {
		f := v.FieldByIndex(fields[key])
		if f.IsZero() && f.Kind() != reflect.Bool {
			continue
		}
		inner := &encoder{}
		n.Content = append(n.Content, text(key), inner.node(f, ""))
	}
	return n
}

// origins lists every effective value with where it comes from.
func (l *loader) origins() ([]Origin, error) {
	var out []Origin
	var failed error
	e := &encoder{leaf: func(path string, n *yaml.Node) {
		one := *n
		one.Style |= yaml.FlowStyle
		data, err := yaml.Marshal(&one)
		if err != nil {
			failed = fmt.Errorf("show %s: %w", path, err)
			return
		}
		out = append(out, Origin{Key: l.shownPath(path), Value: oneLine(string(data)), From: l.from(path)})
	}}
	e.node(reflect.ValueOf(l.campaign), "")
	return out, failed
}

// oneLine joins what the YAML library wraps.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// from is where the value at path, or the nearest thing around it that was
// given, comes from.
func (l *loader) from(path string) string {
	if pos, ok := l.at[path]; ok {
		return pos.String()
	}
	if strings.HasSuffix(path, ".scenario") || strings.HasSuffix(path, ".name") || strings.Contains(path, ".steps[") || strings.HasSuffix(path, ".url") {
		// Made from the arguments: the URLs, and the ladder's steps.
		if _, pos, ok := l.nearest(path); ok {
			return pos.String()
		}
	}
	return "default"
}

// shownPath names scenarios and variants instead of counting them.
func (l *loader) shownPath(path string) string {
	for i, s := range l.campaign.Scenarios {
		prefix := fmt.Sprintf("scenarios[%d]", i)
		rest, ok := strings.CutPrefix(path, prefix)
		if !ok || (rest != "" && rest[0] != '.') {
			continue
		}
		for j, v := range s.Variants {
			if tail, ok := strings.CutPrefix(rest, fmt.Sprintf(".variants[%d].", j)); ok {
				rest = ".variants." + v.Name + "." + tail
			}
		}
		return "scenarios." + s.Name + rest
	}
	return path
}

// nearest finds the position of path, or of the nearest thing around it; rest
// is what path has beyond that.
func (l *loader) nearest(path string) (rest string, pos position, ok bool) {
	for at := path; at != ""; {
		if pos, ok := l.at[at]; ok {
			return strings.TrimPrefix(path, at), pos, true
		}
		cut := max(strings.LastIndexByte(at, '.'), strings.LastIndexByte(at, '['))
		if cut < 0 {
			break
		}
		at = at[:cut]
	}
	pos, ok = l.at[""]
	return "." + path, pos, ok
}
