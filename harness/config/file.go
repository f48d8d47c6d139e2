package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"abacus/harness/metric"
	"abacus/harness/plan"
	"abacus/scenarios"
)

// mostBytes bounds a configuration file.
const mostBytes = 1 << 20

// scenarioFile is what a file with scenario: may hold: the scenario, and the
// keys of a campaign that count when it is run by itself.
type scenarioFile struct {
	scenarios.Scenario `yaml:",inline"`
	Report             plan.Report `yaml:"report"`
	Results            string      `yaml:"results"`
	Quick              bool        `yaml:"quick"`
}

// isPath tells whether an argument or entry means a file rather than a
// built-in name.
func isPath(s string) bool {
	return strings.HasSuffix(s, ".yaml") || strings.HasSuffix(s, ".yml") || strings.ContainsAny(s, `/\`)
}

// isURL tells whether an argument is a URL.
func isURL(s string) bool { return strings.Contains(s, "://") }

// read returns the bytes of a configuration file, name as the user wrote it.
// from is where it is named.
func (l *loader) read(name, path string, from position) ([]byte, bool) {
	data, err := readRegular(path, mostBytes)
	if err != nil {
		p := Problem{File: from.file, Line: from.line, Key: from.key, Value: name, HasValue: true, Text: "cannot be read: " + cause(err)}
		var unfit unfitFile
		switch {
		case errors.As(err, &unfit):
			p = Problem{File: name, Text: string(unfit)}
		case errors.Is(err, os.ErrNotExist):
			p.Text = "there is no such file"
			p.Suggestion = nearFile(name, path)
		}
		l.problems = append(l.problems, p)
		return nil, false
	}
	return data, true
}

// unfitFile is what is wrong with a file that is there: a predicate.
type unfitFile string

func (u unfitFile) Error() string { return string(u) }

// ReadBody reads a body_file. It may have changed since the configuration was
// judged, so what it may be is judged again.
func ReadBody(path string) ([]byte, error) {
	data, err := readRegular(path, mostBody)
	var unfit unfitFile
	if errors.As(err, &unfit) {
		return nil, fmt.Errorf("%s %w", path, err)
	}
	return data, err
}

// readRegular reads a file of at most so many bytes. Anything but a regular
// file is refused before it is opened: a FIFO would block, a device never end.
func readRegular(path string, most int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err == nil {
		err = fits(info, most)
	}
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		return nil, unfitFile(fmt.Sprintf("is larger than %d bytes", most)) // it grew
	}
	return data, err
}

// fits judges a file that is to be read whole.
func fits(info os.FileInfo, most int64) error {
	switch {
	case !info.Mode().IsRegular():
		return unfitFile("is no regular file")
	case info.Size() > most:
		return unfitFile(fmt.Sprintf("has %d bytes; at most %d (%d MiB) are read", info.Size(), most, most>>20))
	}
	return nil
}

// nearFile says what a path that does not exist was meant to be: a file in the
// same folder, a built-in scenario, or a URL without its scheme.
func nearFile(name, path string) string {
	dir, base := filepath.Split(name)
	var there []string
	for _, pattern := range []string{"*.yaml", "*.yml"} {
		// Fails for a bad pattern only; a folder's name may look like one.
		found, _ := filepath.Glob(filepath.Join(filepath.Dir(path), pattern))
		for _, f := range found {
			there = append(there, filepath.Base(f))
		}
	}
	if near := metric.Nearest(base, there); near != "" {
		return dir + near
	}
	stem := strings.TrimSuffix(strings.TrimSuffix(base, ".yaml"), ".yml")
	if near := metric.Nearest(stem, scenarios.BuiltIn()); near != "" {
		return near
	}
	if looksLikeHost(name) && stem == base {
		return "http://" + name
	}
	return ""
}

// cause takes the path, which stands beside, off an error of the file system.
func cause(err error) string {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}

func looksLikeHost(s string) bool {
	host, _, _ := strings.Cut(s, "/")
	return regexp.MustCompile(`^[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*(:[0-9]+)?$`).MatchString(host) && strings.ContainsAny(host, ".:")
}

// yamlLine finds the line in an error of the YAML library.
var yamlLine = regexp.MustCompile(`^yaml: (?:line ([0-9]+): )?(.*)$`)

// parse reads one YAML document that is a mapping.
func (l *loader) parse(name string, data []byte) (*yaml.Node, bool) {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, second yaml.Node
	err := dec.Decode(&doc)
	if err == nil {
		if err2 := dec.Decode(&second); err2 == nil {
			l.problems = append(l.problems, Problem{File: name, Line: second.Line, Text: "a second document begins here; a file holds one job"})
			return nil, false
		} else if !errors.Is(err2, io.EOF) {
			err = err2
		}
	}
	if errors.Is(err, io.EOF) || (err == nil && len(doc.Content) == 0) {
		l.problems = append(l.problems, Problem{File: name, Text: "is empty; it needs campaign: or scenario:"})
		return nil, false
	}
	if err != nil {
		l.problems = append(l.problems, syntaxProblem(name, data, err))
		return nil, false
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode {
		l.problems = append(l.problems, Problem{File: name, Line: root.Line, Text: "must be a mapping with campaign: or scenario:"})
		return nil, false
	}
	return root, true
}

func syntaxProblem(name string, data []byte, err error) Problem {
	p := Problem{File: name, Text: "is not YAML: " + err.Error()}
	m := yamlLine.FindStringSubmatch(err.Error())
	if m == nil {
		return p
	}
	p.Text = "is not YAML: " + m[2]
	p.Line, _ = strconv.Atoi(m[1])
	if strings.HasPrefix(m[2], "did not find expected") {
		p.Line++ // the library counts these from 0
	}
	lines := strings.Split(string(data), "\n")
	for _, i := range []int{p.Line, p.Line - 1} { // the library may name the line before
		if i >= 0 && i < len(lines) && strings.HasPrefix(strings.TrimLeft(lines[i], " "), "\t") {
			p.Line, p.Text = i+1, "is not YAML: lines are indented with spaces, not tabs"
			break
		}
	}
	return p
}

// kindOf tells what a file is by its first key words.
func (l *loader) kindOf(name string, root *yaml.Node) (kind string, ok bool) {
	var found []string
	for i := 0; i+1 < len(root.Content); i += 2 {
		if k := root.Content[i].Value; k == "campaign" || k == "scenario" {
			found = append(found, k)
		}
	}
	switch {
	case len(found) == 1 || (len(found) == 2 && found[0] == found[1]):
		return found[0], true
	case len(found) == 0:
		p := Problem{File: name, Line: root.Line, Text: "has neither campaign: nor scenario:; one of them gives the job its kind and name"}
		for i := 0; i+1 < len(root.Content); i += 2 {
			if near := metric.Nearest(root.Content[i].Value, []string{"campaign", "scenario"}); near != "" && root.Content[i].Value != "scenarios" {
				p.Line, p.Key, p.Suggestion = root.Content[i].Line, root.Content[i].Value, near
			}
		}
		l.problems = append(l.problems, p)
	default:
		l.problems = append(l.problems, Problem{File: name, Line: root.Line, Text: "has both campaign: and scenario:; a file is one of them"})
	}
	return "", false
}

// decoder returns one for a file whose keys live below prefix.
func (l *loader) decoder(name, prefix string) *decoder {
	return &decoder{file: name, prefix: prefix, problems: &l.problems, failed: &l.failed, at: l.at, nodes: &l.nodes, scenario: l.scenarioEntry}
}

// campaignFile reads a file of either kind into the campaign.
func (l *loader) campaignFile(name, dir string, data []byte) {
	l.dirs[name] = dir
	root, ok := l.parse(name, data)
	if !ok {
		return
	}
	kind, ok := l.kindOf(name, root)
	if !ok {
		return
	}
	l.decoded = true
	if kind == "campaign" {
		l.decoder(name, "").value(root, reflect.ValueOf(&l.campaign).Elem(), "")
		if len(l.campaign.Scenarios) == 0 && l.at["scenarios"].file == "" && !l.setsKey("scenarios") {
			l.problems = append(l.problems, Problem{File: name, Line: root.Line, Key: "scenarios", Text: "is missing: a campaign needs a list of built-in names (" + list(scenarios.BuiltIn()) + "), paths of YAML files, or scenarios"})
		}
		return
	}
	s := l.scenarioFile(name, dir, root, "scenarios[0]")
	l.alone(s)
}

// alone makes a campaign of a single scenario: it takes its name and the keys
// that describe the whole.
func (l *loader) alone(s scenarioFile) {
	const from = "scenarios[0]."
	l.campaign = plan.Campaign{Name: s.Name, Report: s.Report, Results: s.Results, Quick: s.Quick}
	l.campaign.Title, l.campaign.Question = s.Title, s.Question
	l.campaign.Author, l.campaign.Notes, l.campaign.Seed = s.Author, s.Notes, s.Seed
	s.Author, s.Notes, s.Seed = "", "", nil
	l.campaign.Scenarios = []scenarios.Scenario{s.Scenario}
	for path, pos := range l.at {
		key, ok := strings.CutPrefix(path, from)
		top, _, _ := strings.Cut(key, ".")
		switch {
		case !ok:
		case top == "report", top == "results", top == "quick", top == "title", top == "question", top == "author", top == "notes", top == "seed":
			l.at[key] = pos
		case key == "scenario":
			l.at["campaign"] = pos
		}
	}
}

// scenarioFile reads the root of a file with scenario:.
func (l *loader) scenarioFile(name, dir string, root *yaml.Node, path string) scenarioFile {
	l.dirs[name] = dir
	var s scenarioFile
	l.decoder(name, path+".").value(root, reflect.ValueOf(&s).Elem(), path)
	return s
}

// scenarioEntry reads an entry of scenarios: that is a name or a path.
func (l *loader) scenarioEntry(d *decoder, n *yaml.Node, path string) scenarios.Scenario {
	name := n.Value
	if !isPath(name) {
		if text, ok := scenarios.File(name); ok {
			return l.builtIn(name, text, path)
		}
		d.fail(n, path, metric.Nearest(name, scenarios.BuiltIn()), "unknown scenario; built in are %s, and a file is written with its ending .yaml", list(scenarios.BuiltIn()))
		return scenarios.Scenario{}
	}
	full := name
	if !filepath.IsAbs(full) {
		full = filepath.Join(l.dirs[d.file], name)
	}
	shown := shownBeside(d.file, name)
	data, ok := l.read(name, full, position{file: d.file, line: n.Line, key: d.key(path)})
	if !ok {
		l.failed = append(l.failed, path)
		return scenarios.Scenario{}
	}
	root, ok := l.parse(shown, data)
	if !ok {
		l.failed = append(l.failed, path)
		return scenarios.Scenario{}
	}
	kind, ok := l.kindOf(shown, root)
	if !ok {
		l.failed = append(l.failed, path)
		return scenarios.Scenario{}
	}
	if kind == "campaign" {
		d.fail(n, path, "", "is a campaign; a campaign lists scenarios only")
		return scenarios.Scenario{}
	}
	s := l.scenarioFile(shown, filepath.Dir(full), root, path)
	for _, key := range []string{"report", "results", "quick"} {
		if pos, given := l.at[path+"."+key]; given {
			l.warnings = append(l.warnings, fmt.Sprintf("%s: %s: counts only when the scenario is run by itself", pos, key))
			delete(l.at, path+"."+key)
		}
	}
	return s.Scenario
}

// builtIn reads a built-in scenario.
func (l *loader) builtIn(name string, text []byte, path string) scenarios.Scenario {
	shown := "built-in " + name + ".yaml"
	root, ok := l.parse(shown, text)
	if !ok {
		return scenarios.Scenario{}
	}
	return l.scenarioFile(shown, "", root, path).Scenario
}

// shownBeside is a file's name as one would write it from where the campaign's
// file was named.
func shownBeside(campaign, name string) string {
	if filepath.IsAbs(name) || !isPath(campaign) {
		return name
	}
	return filepath.ToSlash(filepath.Join(filepath.Dir(campaign), name))
}
