package config

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"abacus/harness/metric"
	"abacus/harness/plan"
	"abacus/scenarios"
)

// Bounds on what a file may make of itself: aliases make a small file large.
const (
	mostNodes = 20_000
	mostDepth = 40
)

// position is where a value comes from.
type position struct {
	// file is the file's name as the user knows it, or "flag --repeats",
	// "env ABACUS_REPEATS", "drawn".
	file string
	line int
	// key is the path of the key within the file.
	key string
	// value is the text of a scalar.
	value  string
	scalar bool
}

func (p position) String() string {
	if p.line > 0 {
		return fmt.Sprintf("%s:%d", p.file, p.line)
	}
	return p.file
}

// decoder reads YAML nodes into the structs of the packages plan and
// scenarios, by their yaml tags, which are the only list of keys. It is strict:
// every key must be known, every value of the right type. It goes on after a
// problem, and remembers where each value stood.
type decoder struct {
	file string
	// prefix is the path of the whole file in the campaign, such as
	// "scenarios[0].", which is left out where keys are shown.
	prefix   string
	problems *Problems
	// at holds the position of every value by its path in the campaign.
	at    map[string]position
	nodes *int
	depth int
	// failed lists the paths of values with a problem, so that what follows
	// from it is not reported too.
	failed *[]string
	// scenario reads one entry of a scenarios: list that is a name or path.
	scenario func(d *decoder, n *yaml.Node, path string) scenarios.Scenario
}

func (d *decoder) fail(n *yaml.Node, path, suggestion, format string, args ...any) {
	p := Problem{File: d.file, Line: n.Line, Key: d.key(path), Text: fmt.Sprintf(format, args...)}
	if suggestion != n.Value { // a number in quotes looks right
		p.Suggestion = suggestion
	}
	if n.Kind == yaml.ScalarNode && n.ShortTag() != "!!null" {
		p.Value, p.HasValue = n.Value, true
		if isSecretPath(path) {
			p.Value = redacted
		}
	}
	*d.problems = append(*d.problems, p)
	*d.failed = append(*d.failed, path)
}

// key is the path as it stands in the file.
func (d *decoder) key(path string) string {
	if path+"." == d.prefix {
		return ""
	}
	return strings.NewReplacer("{", "[", "}", "]").Replace(strings.TrimPrefix(path, d.prefix))
}

// within counts one value against the bounds of a file.
func (d *decoder) within(n *yaml.Node, path string) bool {
	*d.nodes++
	if d.depth <= mostDepth && *d.nodes <= mostNodes {
		return true
	}
	if *d.nodes < 2*mostNodes { // said once: everything after would repeat it
		*d.nodes = 2 * mostNodes
		d.fail(&yaml.Node{Line: n.Line}, path, "", "the file is nested too deeply or has too many values (each use of an alias counts)")
	}
	return false
}

// value reads n into v. It reports what is wrong and leaves v as it was then.
func (d *decoder) value(n *yaml.Node, v reflect.Value, path string) {
	d.depth++
	defer func() { d.depth-- }()
	if !d.within(n, path) {
		return
	}
	if n.Kind == yaml.AliasNode {
		d.value(n.Alias, v, path)
		return
	}
	d.at[path] = position{file: d.file, line: n.Line, key: d.key(path), value: n.Value, scalar: n.Kind == yaml.ScalarNode}
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" {
		d.fail(n, path, "", "has no value; give it one or leave the key out")
		return
	}
	if d.special(n, v, path) {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		to := reflect.New(v.Type().Elem())
		if !v.IsNil() {
			to.Elem().Set(v.Elem())
		}
		d.value(n, to.Elem(), path)
		v.Set(to)
	case reflect.Struct:
		d.mapping(n, v, path)
	case reflect.Slice:
		d.list(n, v, path)
	case reflect.Map:
		d.textMap(n, v, path)
	default:
		d.scalar(n, v, path)
	}
}

// special reads the types that have a form of their own in YAML.
func (d *decoder) special(n *yaml.Node, v reflect.Value, path string) bool {
	switch to := v.Addr().Interface().(type) {
	case *scenarios.Duration:
		d.duration(n, to, path)
	case *scenarios.Headers:
		d.headers(n, to, path)
	case *scenarios.Steps:
		d.steps(n, to, path)
	case *scenarios.Lab:
		d.lab(n, to, path)
	case *[]scenarios.Scenario:
		d.scenarioList(n, to, path)
	default:
		return false
	}
	return true
}

// mapping reads a mapping into a struct by its yaml tags.
func (d *decoder) mapping(n *yaml.Node, v reflect.Value, path string) {
	if n.Kind != yaml.MappingNode {
		d.fail(n, path, "", "must be a mapping with the keys %s", strings.Join(keysOf(v.Type()), ", "))
		return
	}
	if len(n.Content) == 0 {
		d.fail(n, path, "", "is empty; give it a key or leave it out")
		return
	}
	known := fieldsOf(v.Type())
	d.pairs(n, path, func(key, value *yaml.Node, sub string) {
		f, ok := known[key.Value]
		if !ok {
			d.unknownKey(key, value, v.Type(), sub)
			return
		}
		d.value(value, v.FieldByIndex(f), sub)
	})
}

// pairs calls do for every pair of a mapping, with the path of its value. It
// refuses keys that are no text, that stand twice, or that merge mappings.
func (d *decoder) pairs(n *yaml.Node, path string, do func(key, value *yaml.Node, path string)) {
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind == yaml.AliasNode {
			key = key.Alias
		}
		if key.Kind != yaml.ScalarNode || key.ShortTag() == "!!merge" {
			d.fail(&yaml.Node{Line: key.Line}, path, "", "keys must be plain words; merging mappings with << is not supported")
			continue
		}
		sub := join(path, key.Value)
		if !d.within(key, sub) {
			return
		}
		if line, twice := seen[key.Value]; twice {
			d.fail(&yaml.Node{Line: key.Line}, sub, "", "the key stands twice, first on line %d", line)
			continue
		}
		seen[key.Value] = key.Line
		do(key, value, sub)
	}
}

func join(path, key string) string {
	switch {
	case path == "", strings.HasSuffix(path, "."):
		return path + key
	}
	return path + "." + key
}

// unknownKey says what a key that is not in t may be instead.
func (d *decoder) unknownKey(key, value *yaml.Node, t reflect.Type, path string) {
	at := &yaml.Node{Line: key.Line}
	if text, ok := laterKeys(t)[key.Value]; ok {
		d.fail(at, path, "", "not in this version yet (%s)", text)
		return
	}
	keys := keysOf(t)
	if slices.Contains(keysOf(reflect.TypeFor[plan.Campaign]()), key.Value) && t == reflect.TypeFor[scenarios.Scenario]() {
		d.fail(at, path, "", "not allowed here: it is a key of a campaign, or of a scenario's own file")
		return
	}
	if near := metric.Nearest(key.Value, keys); near != "" {
		d.fail(at, path, near, "unknown key")
		return
	}
	if place := placeOf(key.Value); place != "" {
		d.fail(at, path, "", "not allowed here: it is a key of: %s", place)
		return
	}
	d.fail(at, path, "", "unknown key; allowed here: %s", strings.Join(keys, ", "))
}

// hookEntry is the path of one command.
var hookEntry = regexp.MustCompile(`(^|\.)(setup|prepare|conclude|cleanup)\[[0-9]+\]$`)

// list reads a sequence.
func (d *decoder) list(n *yaml.Node, v reflect.Value, path string) {
	if n.Kind != yaml.SequenceNode {
		hint := ""
		if n.Kind == yaml.ScalarNode && v.Type().Elem().Kind() == reflect.String {
			hint = ", as in [" + n.Value + "]"
		}
		if v.Type() == reflect.TypeFor[[][]string]() || hookEntry.MatchString(path) {
			hint = " of argument lists, as in [[echo, done]]; no shell is involved"
		}
		d.fail(n, path, "", "must be a list%s", hint)
		return
	}
	if len(n.Content) == 0 && !strings.HasSuffix(path, "stop_if") {
		d.fail(n, path, "", "is an empty list; give it an entry or leave the key out")
		return
	}
	out := reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content))
	for i, entry := range n.Content {
		d.value(entry, out.Index(i), fmt.Sprintf("%s[%d]", path, i))
	}
	v.Set(out)
}

// textMap reads a mapping of names to texts whose keys are free.
func (d *decoder) textMap(n *yaml.Node, v reflect.Value, path string) {
	if n.Kind != yaml.MappingNode || len(n.Content) == 0 {
		d.fail(n, path, "", "must be a mapping of names to texts")
		return
	}
	out := reflect.MakeMap(v.Type())
	d.pairs(n, path, func(key, value *yaml.Node, sub string) {
		to := reflect.New(v.Type().Elem()).Elem()
		d.value(value, to, sub)
		out.SetMapIndex(reflect.ValueOf(key.Value), to)
	})
	v.Set(out)
}

// wholeNumber excludes what YAML 1.1 reads into numbers unasked: 010 (eight),
// 1_000, 0x10.
var wholeNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)$`)

// scalar reads text, numbers and booleans, each written as such: "7" in quotes
// is a text and no number.
func (d *decoder) scalar(n *yaml.Node, v reflect.Value, path string) {
	if n.Kind != yaml.ScalarNode {
		if n.Kind == yaml.MappingNode && strings.HasSuffix(path, "repeats") {
			d.fail(n, path, "", "repeating until figures are good enough ({min, max, until}) is not in this version yet; give a number")
			return
		}
		hint := ""
		if n.Kind == yaml.MappingNode && v.Kind() == reflect.String {
			hint = "; a text with a colon and a space in it needs quotes"
		}
		d.fail(n, path, "", "must be %s, not %s%s", typeText(v.Type()), kindText(n.Kind), hint)
		return
	}
	tag := n.ShortTag()
	switch v.Kind() {
	case reflect.String:
		if tag == "!!bool" || tag == "!!binary" {
			d.fail(n, path, "", "must be a text; put it into quotes if it is meant as one")
			return
		}
		v.SetString(n.Value)
	case reflect.Bool:
		if tag != "!!bool" || (n.Value != "true" && n.Value != "false") {
			d.fail(n, path, truth(n.Value), "must be true or false, without quotes")
			return
		}
		v.SetBool(n.Value == "true")
	case reflect.Int, reflect.Int64:
		if !d.isNumber(n, path, "a whole number") {
			return
		}
		i, err := strconv.ParseInt(n.Value, 10, 64)
		if err != nil {
			d.fail(n, path, "", "is too large")
			return
		}
		v.SetInt(i)
	case reflect.Uint64:
		if !d.isNumber(n, path, "a whole number from 0") {
			return
		}
		u, err := strconv.ParseUint(n.Value, 10, 64)
		if err != nil {
			d.fail(n, path, "", "must be a whole number from 0 to 18446744073709551615")
			return
		}
		v.SetUint(u)
	case reflect.Float64:
		f, err := strconv.ParseFloat(n.Value, 64)
		if err != nil || (tag != "!!float" && tag != "!!int") || f-f != 0 {
			d.fail(n, path, "", "must be a number such as 0.02, without quotes")
			return
		}
		v.SetFloat(f)
	default:
		// A type that no key has: a mistake in the program, found by its tests.
		panic("config: no reader for " + v.Type().String())
	}
}

func (d *decoder) isNumber(n *yaml.Node, path, what string) bool {
	if n.ShortTag() == "!!str" && wholeNumber.MatchString(n.Value) {
		d.fail(n, path, n.Value, "must be %s, without quotes", what)
		return false
	}
	if !wholeNumber.MatchString(n.Value) {
		d.fail(n, path, strings.NewReplacer("_", "", ",", "").Replace(asDigits(n.Value)), "must be %s in plain digits", what)
		return false
	}
	return true
}

// asDigits keeps a text that digits with separators stand in, for a
// suggestion, and gives "" for every other.
func asDigits(s string) string {
	if regexp.MustCompile(`^[1-9][0-9]{0,2}([_,][0-9]{3})+$`).MatchString(s) {
		return s
	}
	return ""
}

func truth(s string) string {
	switch strings.ToLower(s) {
	case "yes", "on", "y", "true":
		return "true"
	case "no", "off", "n", "false":
		return "false"
	}
	return ""
}

func (d *decoder) duration(n *yaml.Node, to *scenarios.Duration, path string) {
	if n.Kind != yaml.ScalarNode {
		d.fail(n, path, "", "must be a duration such as 200ms or 30s")
		return
	}
	v, err := time.ParseDuration(n.Value)
	if err != nil {
		suggestion := ""
		if wholeNumber.MatchString(n.Value) {
			suggestion = n.Value + "s"
		} else if strings.Contains(n.Value, " ") {
			suggestion = strings.ReplaceAll(n.Value, " ", "")
		}
		if _, err := time.ParseDuration(suggestion); err != nil {
			suggestion = ""
		}
		if n.Value == "auto" && strings.HasSuffix(path, "observe.interval") {
			d.fail(n, path, "", "an interval found by itself is not in this version yet; give a duration such as 200ms")
			return
		}
		d.fail(n, path, suggestion, "must be a duration with a unit, such as 200ms, 30s or 1m30s")
		return
	}
	*to = scenarios.Duration(v)
}

// fieldsOf gives the index of every key of a struct, those of inlined structs
// included.
func fieldsOf(t reflect.Type) map[string][]int {
	out := map[string][]int{}
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if name == "-" || name == "" || options == "inline" {
			continue
		}
		out[name] = f.Index
	}
	return out
}

// keysOf lists the keys of a struct in the order of its fields.
func keysOf(t reflect.Type) []string {
	var out []string
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if name != "-" && name != "" && options != "inline" && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

func typeText(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a text"
	case reflect.Bool:
		return "true or false"
	case reflect.Float64:
		return "a number"
	}
	return "a whole number"
}

func kindText(k yaml.Kind) string {
	switch k {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	return "a single value"
}
