package config

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/viper"
	"go.yaml.in/yaml/v3"

	"abacus/harness/metric"
	"abacus/harness/plan"
	"abacus/scenarios"
)

// envPrefix begins every variable; reservedEnv are such names with another
// meaning.
const envPrefix = "ABACUS_"

func reservedEnv() []string { return []string{"ABACUS_REQUIRE_LAB"} }

// override is a value from a flag or a variable: it goes over what the file
// says for the campaign and its scenarios. What a variant says itself is what
// is compared, so no override changes it.
type override struct {
	key    string
	text   string
	source string
}

// candidate is a value as viper carries it: the text, and who gave it.
type candidate struct {
	text   string
	source string
	// written tells that the value has been read from the file already.
	written bool
}

// scalarKey is a key of the campaign whose value is a single one.
type scalarKey struct {
	key string
	typ reflect.Type
}

// scalarKeys lists the scalar keys below t, nested ones with dots.
func scalarKeys(t reflect.Type, prefix string) []scalarKey {
	var out []scalarKey
	fields := fieldsOf(t)
	for _, name := range keysOf(t) {
		typ := t.FieldByIndex(fields[name]).Type
		if typ.Kind() == reflect.Pointer {
			typ = typ.Elem()
		}
		key := join(prefix, name)
		switch {
		case typ == reflect.TypeFor[scenarios.Lab](), typ == reflect.TypeFor[scenarios.Duration]():
			out = append(out, scalarKey{key, typ})
		case typ.Kind() == reflect.Struct:
			out = append(out, scalarKeys(typ, key)...)
		case typ.Kind() != reflect.Slice && typ.Kind() != reflect.Map:
			out = append(out, scalarKey{key, typ})
		}
	}
	return out
}

// envName is the variable of a key.
func envName(key string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
}

// defaults are the values of keys that nothing sets. A default is left out
// when one of the keys in unless is set.
func defaults() []struct {
	key, text string
	unless    []string
} {
	return []struct {
		key, text string
		unless    []string
	}{
		{"engine", "native", []string{"engines"}},
		{"method", "GET", nil},
		{"timeout", "30s", nil},
		{"repeats", "6", nil},
		{"warmup.until", "steady", []string{"warmup.requests", "warmup.duration"}},
		{"settle.max", "60s", nil},
		{"observe.interval", "200ms", nil},
		{"observe.host", "true", nil},
		{"results", "results", nil},
	}
}

// merge lays flag over environment over file over default. viper decides
// which layer gives each scalar key; the values stay texts in it and are read
// by the same strict decoder as the file's, since viper itself would take "7"
// for 7 and lower-case the keys of mappings.
func (l *loader) merge() {
	v := viper.New()
	keys := scalarKeys(reflect.TypeFor[plan.Campaign](), "")
	file, env := map[string]any{}, map[string]any{}
	l.environment(keys, env)
	for _, k := range keys {
		if pos, ok := l.at[k.key]; ok && (pos.scalar || k.key == "lab") {
			nest(file, k.key, candidate{text: pos.value, source: pos.String(), written: true})
		}
	}
	set := func(key string) bool { return v.IsSet(key) || l.at[key].file != "" || l.setsKey(key) }
	// The maps hold no key twice, so merging them cannot fail.
	_ = v.MergeConfigMap(file)
	_ = v.MergeConfigMap(env)
	for _, d := range defaults() {
		if !slices.ContainsFunc(d.unless, set) {
			v.SetDefault(d.key, candidate{text: d.text, source: "default"})
		}
	}
	flags := map[string]string{}
	if l.in.Flags != nil {
		for name, key := range flagKeys() {
			if f := l.in.Flags.Lookup(name); f != nil {
				// Fails for a nil flag only.
				_ = v.BindPFlag(key, f)
				if f.Changed {
					flags[key] = "flag --" + name
				}
			}
		}
	}
	if l.in.Quick && flags["quick"] == "" {
		v.Set("quick", candidate{text: "true", source: "flag --quick"})
	}
	l.setScalars(v, keys, flags)
	for _, k := range keys {
		switch got := v.Get(k.key).(type) {
		case string: // viper gives a flag's own text
			if source := flags[k.key]; source != "" {
				l.apply(override{k.key, got, source}, true)
			}
		case bool:
			if source := flags[k.key]; source != "" {
				l.apply(override{k.key, fmt.Sprint(got), source}, true)
			}
		case candidate:
			if !got.written {
				l.apply(override{k.key, got.text, got.source}, got.source != "default")
			}
		}
	}
	for _, s := range l.sets {
		if !slices.ContainsFunc(keys, func(k scalarKey) bool { return k.key == s.key }) {
			l.apply(s, true)
		}
	}
	l.allowFlag()
	l.settleTarget()
}

// setScalars puts the scalar assignments of --set above all else.
func (l *loader) setScalars(v *viper.Viper, keys []scalarKey, flags map[string]string) {
	for _, s := range l.sets {
		if !slices.ContainsFunc(keys, func(k scalarKey) bool { return k.key == s.key }) {
			continue
		}
		if by := flags[s.key]; by != "" {
			l.problems = append(l.problems, Problem{File: s.source, Key: s.key, Value: s.text, HasValue: true, Text: "is given by " + by + " too; leave one out"})
			continue
		}
		v.Set(s.key, candidate{text: s.text, source: s.source})
	}
}

// allowFlag adds the hosts of --allow to those of the file.
func (l *loader) allowFlag() {
	if l.in.Flags == nil || !l.in.Flags.Changed("allow") {
		return
	}
	hosts, err := l.in.Flags.GetStringSlice("allow")
	if err != nil {
		return
	}
	for _, h := range hosts {
		l.at[fmt.Sprintf("allow[%d]", len(l.campaign.Allow))] = position{file: "flag --allow", key: "allow", value: h, scalar: true}
		l.campaign.Allow = append(l.campaign.Allow, h)
	}
}

// environment puts the variables of scalar keys into env, and warns about
// those of no key. An empty variable is none.
func (l *loader) environment(keys []scalarKey, env map[string]any) {
	byName := map[string]string{}
	for _, k := range keys {
		byName[envName(k.key)] = k.key
	}
	for _, entry := range slices.Sorted(slices.Values(l.in.Environ)) {
		name, value, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, envPrefix) || value == "" || slices.Contains(reservedEnv(), name) {
			continue
		}
		key, ok := byName[name]
		if !ok {
			w := fmt.Sprintf("the environment variable %s is no setting of abacus and is ignored", name)
			if near := metric.Nearest(name, slices.Sorted(maps.Keys(byName))); near != "" {
				w += fmt.Sprintf("; did you mean %s?", near)
			}
			l.warnings = append(l.warnings, w)
			continue
		}
		nest(env, key, candidate{text: value, source: "env " + name})
	}
}

// nest sets m[a][b] for the key a.b.
func nest(m map[string]any, key string, value any) {
	head, rest, deeper := strings.Cut(key, ".")
	if !deeper {
		m[head] = value
		return
	}
	sub, ok := m[head].(map[string]any)
	if !ok {
		sub = map[string]any{}
		m[head] = sub
	}
	nest(sub, rest, value)
}

// setKey is the form of a key on the left of --set.
var setKey = regexp.MustCompile(`^[a-z][a-z0-9_]*(\.[A-Za-z0-9_-]+)*$`)

// assignments reads --set key=value.
func (l *loader) assignments() []override {
	all := slices.Clone(l.in.Set)
	if l.in.Flags != nil && l.in.Flags.Lookup("set") != nil {
		if given, err := l.in.Flags.GetStringArray("set"); err == nil {
			all = append(all, given...)
		}
	}
	var out []override
	for _, a := range all {
		key, text, ok := strings.Cut(a, "=")
		key = strings.TrimSpace(key)
		p := Problem{File: "flag --set", Value: a, HasValue: true}
		switch {
		case !ok || !setKey.MatchString(key):
			p.Text = "must be key=value, as in observe.interval=100ms"
		case slices.ContainsFunc(out, func(o override) bool { return o.key == key }):
			p.Text = key + " is set twice"
		default:
			out = append(out, override{key, text, "flag --set"})
			continue
		}
		l.problems = append(l.problems, p)
	}
	return out
}

// setsKey tells whether --set gives the key or one below it.
func (l *loader) setsKey(key string) bool {
	return slices.ContainsFunc(l.sets, func(o override) bool { return o.key == key || strings.HasPrefix(o.key, key+".") })
}

// apply decodes one value onto the campaign, or onto every scenario when it is
// a key of those. With over it also takes the place of what scenarios say.
func (l *loader) apply(o override, over bool) {
	head, _, _ := strings.Cut(o.key, ".")
	campaign, scenario := reflect.TypeFor[plan.Campaign](), reflect.TypeFor[scenarios.Scenario]()
	_, ofCampaign := fieldsOf(campaign)[head]
	_, ofScenario := fieldsOf(scenario)[head]
	root := campaign
	if !ofCampaign && ofScenario && head != "scenario" {
		root = scenario
	}
	node, ok := l.node(o, typeAt(root, o.key))
	if !ok {
		return
	}
	if root == scenario {
		for i := range l.campaign.Scenarios {
			path := fmt.Sprintf("scenarios[%d]", i)
			before := len(l.problems)
			if stepKey(o) != "" {
				l.setStepKey(o, node, &l.campaign.Scenarios[i], path)
			} else {
				l.forget(path + "." + o.key)
				l.decoder(o.source, path+".").value(node, reflect.ValueOf(&l.campaign.Scenarios[i]).Elem(), path)
			}
			if len(l.problems) > before {
				return // the same for every scenario
			}
		}
		return
	}
	l.dirs[o.source] = l.dir
	l.forget(o.key)
	before := len(l.problems)
	l.decoder(o.source, "").value(node, reflect.ValueOf(&l.campaign).Elem(), "")
	if over && len(l.problems) == before {
		l.clearBelow(o)
	}
}

// forget takes off what is known of a value that is replaced: positions, which
// a shorter list would leave behind.
func (l *loader) forget(path string) {
	maps.DeleteFunc(l.at, func(at string, _ position) bool { return holds(path, at) })
}

// node is the mapping in which a value stands at its key.
func (l *loader) node(o override, typ reflect.Type) (*yaml.Node, bool) {
	value := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: o.text}
	if strings.TrimSpace(o.text) == "" {
		l.problems = append(l.problems, Problem{File: o.source, Key: o.key, Text: "has no value"})
		return nil, false
	}
	if typ == nil || (typ.Kind() != reflect.String && typ != reflect.TypeFor[scenarios.Duration]()) {
		var doc yaml.Node
		if err := yaml.Unmarshal([]byte(o.text), &doc); err != nil || len(doc.Content) != 1 {
			l.problems = append(l.problems, Problem{File: o.source, Key: o.key, Value: o.text, HasValue: true, Text: "is not YAML"})
			return nil, false
		}
		value = doc.Content[0]
		withoutLines(value, 0)
	}
	keys := strings.Split(o.key, ".")
	for _, k := range slices.Backward(keys) {
		value = &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{{Kind: yaml.ScalarNode, Tag: "!!str", Value: k}, value}}
	}
	return value, true
}

// withoutLines takes the line numbers off, which mean nothing outside a file.
func withoutLines(n *yaml.Node, depth int) {
	n.Line = 0
	if depth < mostDepth {
		for _, c := range n.Content {
			withoutLines(c, depth+1)
		}
	}
}

// typeAt is the type of a key below t, nil when there is no such key.
func typeAt(t reflect.Type, key string) reflect.Type {
	for _, part := range strings.Split(key, ".") {
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		if t.Kind() != reflect.Struct {
			return nil
		}
		f, ok := fieldsOf(t)[part]
		if !ok {
			return nil
		}
		t = t.FieldByIndex(f).Type
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// clearBelow takes the key off the scenarios, so that the override counts for
// them too.
func (l *loader) clearBelow(o override) {
	switch o.key {
	case "title", "question", "author", "notes", "caveats", "lab":
		return // texts describe what they stand at; a campaign's lab goes before a scenario's anyway
	}
	for i := range l.campaign.Scenarios {
		clearKey(reflect.ValueOf(&l.campaign.Scenarios[i].Settings).Elem(), o.key)
		delete(l.at, fmt.Sprintf("scenarios[%d].%s", i, o.key))
	}
}

// settleTarget decides between a lab and a url that were given in different
// places: the stronger one takes the other's place. Given in the same place
// they are left for validate to refuse.
func (l *loader) settleTarget() {
	c := &l.campaign
	lab, target := l.rank("lab"), l.rank("url")
	if target > rankFile {
		l.otherServer()
	}
	if c.Lab == nil || c.Lab.Kind == plan.LabExternal {
		return
	}
	if lab > rankFile && lab > target {
		c.URL = ""
		for i := range c.Scenarios {
			c.Scenarios[i].URL = ""
		}
	}
	if c.URL != "" && target > lab {
		c.Lab = &scenarios.Lab{Kind: plan.LabExternal}
		l.at["lab"] = position{file: l.at["url"].file, line: l.at["url"].line}
	}
}

// otherServer takes off what the file says of the server behind its url, when a
// flag or variable names another: the load would go to a pinned address, or the
// status page of a server that is not loaded would be shown.
func (l *loader) otherServer() {
	drop := func(path string, s *scenarios.Settings) {
		for key, of := range map[string]struct {
			given bool
			clear func()
		}{
			"connect_to":     {s.ConnectTo != "", func() { s.ConnectTo = "" }},
			"server":         {s.Server != nil, func() { s.Server = nil }},
			"observe.status": {s.Observe != nil && isURL(s.Observe.Status), func() { clearKey(reflect.ValueOf(s).Elem(), "observe.status") }},
		} {
			key = join(path, key)
			_, pos, _ := l.nearest(key)
			if !of.given || l.rank(key) > rankFile || strings.HasPrefix(pos.file, "flag ") || strings.HasPrefix(pos.file, "env ") {
				continue
			}
			of.clear()
			l.forget(key)
			l.warnings = append(l.warnings, fmt.Sprintf("%s: %s is left out: it belongs to another url than that of %s", pos, strings.TrimPrefix(pos.key, path+"."), l.at["url"].file))
		}
	}
	drop("", &l.campaign.Settings)
	for i := range l.campaign.Scenarios {
		drop(fmt.Sprintf("scenarios[%d]", i), &l.campaign.Scenarios[i].Settings)
	}
	slices.Sort(l.warnings)
}

// The ranks of what may give a key.
const (
	rankNone = iota
	rankFile
	rankEnv
	rankFlag
)

// rank tells what gave a key of the campaign.
func (l *loader) rank(key string) int {
	pos, ok := l.at[key]
	switch {
	case !ok:
		return rankNone
	case strings.HasPrefix(pos.file, "flag "):
		return rankFlag
	case strings.HasPrefix(pos.file, "env "):
		return rankEnv
	}
	return rankFile
}

// clearKey zeroes the field of a key, through copies of what pointers hold.
func clearKey(v reflect.Value, key string) {
	head, rest, deeper := strings.Cut(key, ".")
	index, ok := fieldsOf(v.Type())[head]
	if !ok {
		return
	}
	f := v.FieldByIndex(index)
	if h, ok := f.Addr().Interface().(*scenarios.Headers); ok && deeper {
		*h = slices.DeleteFunc(slices.Clone(*h), func(one scenarios.Header) bool { return strings.EqualFold(one.Name, rest) })
		return
	}
	if !deeper {
		f.SetZero()
		return
	}
	if f.Kind() == reflect.Pointer && !f.IsNil() && f.Elem().Kind() == reflect.Struct {
		own := reflect.New(f.Type().Elem())
		own.Elem().Set(f.Elem())
		clearKey(own.Elem(), rest)
		if own.Elem().IsZero() {
			f.SetZero()
		} else {
			f.Set(own)
		}
	}
}
