// Package config finds the configuration, reads it strictly, merges flags and
// environment over it, checks it, and hands over a campaign in which all
// defaults are filled in. Everything that is wrong is said at once, each with
// file, line, key, value and what is allowed; nothing has been started then.
package config

import (
	"cmp"
	"crypto/rand"
	_ "embed"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"abacus/harness/fault"
	"abacus/harness/metric"
	"abacus/harness/plan"
	"abacus/scenarios"
)

// The default campaign: the same bytes as config.yaml at the root, which a
// test holds (embedding cannot reach up).
//
//go:embed default.yaml
var defaultFile []byte

// DefaultFile is the text of the default campaign.
func DefaultFile() []byte { return append([]byte(nil), defaultFile...) }

// Input is everything that a configuration is made of.
type Input struct {
	// Args is what to run: nothing, a file or a built-in name, or URLs.
	Args []string
	// Flags hold those of RegisterFlags; nil is none set.
	Flags *pflag.FlagSet
	// Environ lists variables as KEY=value.
	Environ []string
	// Dir is the working directory; empty is the process's.
	Dir string
	// Set are key=value assignments beside those of the flag --set.
	Set []string
	// Quick asks for a short look, as the flag --quick does.
	Quick bool
	// DrawSeed gives the seed when none is set; nil draws at random.
	DrawSeed func() uint64
}

// Loaded is a configuration that may be run.
type Loaded struct {
	Campaign plan.Campaign
	// Origins tell for every value where it comes from.
	Origins []Origin
	// Warnings are sentences on what was accepted and may not be meant.
	Warnings []string
	// File is the file that was read, as the user knows it; empty for the
	// embedded default, a built-in scenario and URLs.
	File string
}

// Origin is one effective value.
type Origin struct {
	// Key is the path of the key: observe.interval, or for what stands in a
	// scenario scenarios.NAME.steps[0].concurrency.
	Key string `json:"key"`
	// Value is its YAML form on one line; secrets are redacted.
	Value string `json:"value"`
	// From is "flag --repeats", "env ABACUS_REPEATS", "config.yaml:5",
	// "default" or "drawn".
	From string `json:"from"`
}

// loader is one Load.
type loader struct {
	in       Input
	dir      string
	problems Problems
	warnings []string
	campaign plan.Campaign
	// at is the position of every value by its path in the campaign.
	at    map[string]position
	nodes int
	// dirs is the folder that relative paths of a file start from, by the
	// file's shown name.
	dirs map[string]string
	sets []override
	file string
	// decoded tells that there is a campaign to judge.
	decoded bool
	// failed lists the paths of values that could not be read.
	failed []string
}

// Load reads and merges the configuration. The error holds Problems
// (errors.As) and is an input fault.
func Load(in Input) (*Loaded, error) {
	dir, err := filepath.Abs(in.Dir)
	if err != nil {
		return nil, fmt.Errorf("find the working directory: %w", err)
	}
	l := &loader{in: in, dir: dir, at: map[string]position{}, dirs: map[string]string{}}
	l.sets = l.assignments()
	l.arguments()
	if l.decoded {
		l.merge()
		l.absolutePaths()
		l.fill()
		l.validate()
	}
	if len(l.problems) > 0 {
		l.sortProblems()
		return nil, fault.Input(l.problems, l.hint())
	}
	out := &Loaded{Campaign: l.campaign, Warnings: l.warnings, File: l.file}
	origins, err := l.origins()
	if err != nil {
		return nil, err
	}
	out.Origins = origins
	return out, nil
}

// hint says where to look what is allowed.
func (l *loader) hint() string {
	for _, p := range l.problems {
		if p.File != "argument" {
			return "nothing was started; `abacus init --full` shows every key with its default"
		}
	}
	return "nothing was started; `abacus init` lists the built-in scenarios, `abacus run --help` what else can be run"
}

// sortProblems puts them into the order of the lines; files keep the order in
// which they were read.
func (l *loader) sortProblems() {
	order := map[string]int{}
	for _, p := range l.problems {
		if _, seen := order[p.File]; !seen {
			order[p.File] = len(order)
		}
	}
	slices.SortStableFunc(l.problems, func(a, b Problem) int {
		return cmp.Or(order[a.File]-order[b.File], a.Line-b.Line)
	})
}

// arguments finds out what is to be run and reads it.
func (l *loader) arguments() {
	args := l.in.Args
	var urls int
	for _, a := range args {
		if isURL(a) {
			urls++
		}
	}
	switch {
	case len(args) == 0:
		l.defaultCampaign()
	case urls == len(args):
		l.urls(args)
	case urls > 0:
		l.argument("", "files and URLs cannot be mixed; give one file or name, or only URLs")
	case len(args) > 1:
		l.argument(args[1], "only one file or name can be run; a campaign lists several under scenarios:")
	case isPath(args[0]):
		full := args[0]
		if !filepath.IsAbs(full) {
			full = filepath.Join(l.dir, full)
		}
		if data, ok := l.read(args[0], full, position{file: "argument"}); ok {
			l.file = args[0]
			l.campaignFile(args[0], filepath.Dir(full), data)
		}
	default:
		l.named(args[0])
	}
}

func (l *loader) argument(value, text string) {
	l.problems = append(l.problems, Problem{File: "argument", Value: value, HasValue: value != "", Text: text})
}

// defaultCampaign reads ./config.yaml, or the embedded one when there is none.
func (l *loader) defaultCampaign() {
	path := filepath.Join(l.dir, "config.yaml")
	if _, err := os.Lstat(path); err != nil {
		l.campaignFile("built-in config.yaml", l.dir, defaultFile)
		return
	}
	if data, ok := l.read("config.yaml", path, position{file: "working directory"}); ok {
		l.file = "config.yaml"
		l.campaignFile("config.yaml", l.dir, data)
	}
}

// named runs a built-in scenario by itself.
func (l *loader) named(name string) {
	text, ok := scenarios.File(name)
	if ok {
		l.campaignFile("built-in "+name+".yaml", l.dir, text)
		return
	}
	p := Problem{File: "argument", Value: name, HasValue: true, Suggestion: metric.Nearest(name, scenarios.BuiltIn()),
		Text: "unknown scenario; built in are " + list(scenarios.BuiltIn()) + "; a file is written with its ending .yaml, a URL with http://"}
	switch {
	case p.Suggestion != "":
	case looksLikeHost(name):
		p.Suggestion = "http://" + name + "/"
	default:
		if _, err := os.Stat(filepath.Join(l.dir, name+".yaml")); err == nil {
			p.Suggestion = name + ".yaml"
		}
	}
	l.problems = append(l.problems, p)
}

// drawSeed gives a seed of at most nine digits, which people can retype.
func (l *loader) drawSeed() uint64 {
	if l.in.DrawSeed != nil {
		return l.in.DrawSeed()
	}
	var b [8]byte
	rand.Read(b[:]) // never fails, by its documentation
	return 1 + binary.BigEndian.Uint64(b[:])%999_999_999
}

// absolutePaths resolves the files that keys name against the folder of the
// configuration file, so that a recorded campaign finds them again.
func (l *loader) absolutePaths() {
	fix := func(path string, to *string) {
		if *to == "" || filepath.IsAbs(*to) {
			return
		}
		dir, ok := l.dirs[l.at[path].file]
		if !ok || dir == "" {
			dir = l.dir
		}
		*to = filepath.Join(dir, *to)
	}
	fix("body_file", &l.campaign.BodyFile)
	for i := range l.campaign.Scenarios {
		s := &l.campaign.Scenarios[i]
		path := fmt.Sprintf("scenarios[%d]", i)
		fix(path+".body_file", &s.BodyFile)
		for j := range s.Variants {
			v := &s.Variants[j]
			at := fmt.Sprintf("%s.variants[%d]", path, j)
			fix(at+".body_file", &v.BodyFile)
			for k := range v.Source {
				if !strings.HasPrefix(l.at[at].file, "built-in ") {
					fix(fmt.Sprintf("%s.source[%d]", at, k), &v.Source[k])
				}
			}
		}
	}
}
