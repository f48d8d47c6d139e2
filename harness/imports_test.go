package harness

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// leaves may be imported by every package and import leaves only.
var leaves = []string{"harness/clock", "harness/expect", "harness/fault", "harness/metric", "harness/number", "harness/oneline"}

// arrows is the table of "The house": what each package may import of ours
// beside the leaves. A value that a stage hands on is made of values of the
// stages before, so a later stage may name those types too. A new arrow is a
// reviewed change here and in README's Architecture.
var arrows = map[string][]string{
	"harness":             {},
	"harness/load":        {},
	"harness/load/native": {"harness/load"},
	"harness/load/heylib": {"harness/load"},
	"harness/observe":     {},
	"harness/preflight":   {},
	"harness/stats":       {},
	"harness/keeper":      {},
	"scenarios":           {},
	"harness/lab":         {"scenarios", "harness/keeper"},
	"harness/plan":        {"scenarios", "harness/load"},
	"harness/config":      {"scenarios", "harness/plan"},
	"harness/record":      {"harness/load", "harness/observe", "harness/preflight"},
	"harness/campaign":    {"scenarios", "harness/plan", "harness/record", "harness/load", "harness/observe", "harness/preflight"},
	"harness/abcompat":    {"harness/load"},
	"harness/worker":      {"harness/load"},
	"harness/calibrate":   {"harness/load"},
	"harness/analysis":    {"harness/record", "harness/stats", "harness/load", "harness/observe", "harness/preflight"},
	"reporters/html":      {"harness/analysis", "harness/record", "harness/stats", "harness/load", "harness/preflight"},
	"reporters":           {"harness/analysis", "harness/stats", "harness/preflight", "reporters/html"},
	"harness/cli":         {anything},
	".":                   {"harness/cli"},
}

// anything stands for every package of ours but main.
const anything = "*"

// listed is what `go list -json` tells of a package.
type listed struct {
	ImportPath string
	Imports    []string
}

// TestImports compares the real imports, tests aside, with the table.
func TestImports(t *testing.T) {
	touchSources(t)
	seen := 0
	for _, goos := range []string{"linux", "darwin", "windows"} {
		for _, p := range list(t, goos) {
			seen++
			checkPackage(t, goos, p)
		}
	}
	if seen < 10 {
		t.Errorf("go list told of %d packages; this test has looked at too little", seen)
	}
}

// touchSources looks at every source file of the module, so that go test does
// not take an old result for good when one of them has changed: what go list
// reads is not known to it.
func touchSources(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		_, err = os.Stat(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func checkPackage(t *testing.T, goos string, p listed) {
	t.Helper()
	name := short(p.ImportPath)
	allowed, known := allowedFor(name)
	if !known {
		t.Errorf("package %s is not in the table of imports", name)
		return
	}
	for _, i := range p.Imports {
		if i != "abacus" && !strings.HasPrefix(i, "abacus/") {
			continue
		}
		target := short(i)
		if slices.Contains(allowed, anything) && target != "." || slices.Contains(allowed, target) || isLeaf(target) {
			continue
		}
		t.Errorf("GOOS=%s: %s imports %s, which the table of imports does not allow", goos, name, target)
	}
}

// allowedFor returns the imports of a package beside leaves. A package below
// one of the table may import what that one may, and the package itself.
func allowedFor(name string) (allowed []string, known bool) {
	if isLeaf(name) {
		return nil, true
	}
	if a, ok := arrows[name]; ok {
		return a, true
	}
	for parent := name; strings.Contains(parent, "/"); {
		parent = parent[:strings.LastIndexByte(parent, '/')]
		if a, ok := arrows[parent]; ok && parent != "harness" {
			return append(slices.Clone(a), parent), true
		}
	}
	return nil, false
}

func isLeaf(name string) bool { return slices.Contains(leaves, name) }

func short(importPath string) string {
	if importPath == "abacus" {
		return "."
	}
	return strings.TrimPrefix(importPath, "abacus/")
}

func list(t *testing.T, goos string) []listed {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports", "abacus/...")
	cmd.Env = append(cmd.Environ(), "GOOS="+goos, "CGO_ENABLED=0")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, &stderr)
	}
	var all []listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatalf("go list: %v", err)
		}
		all = append(all, p)
	}
}

// TestTableKeepsApart holds the table itself to the rules that it must not be
// widened past.
func TestTableKeepsApart(t *testing.T) {
	apart := []string{"harness/load", "harness/observe", "harness/preflight", "harness/lab"}
	for _, a := range apart {
		for _, b := range apart {
			if a != b && slices.Contains(arrows[a], b) {
				t.Errorf("the table lets %s import %s", a, b)
			}
		}
	}
	for name, allowed := range arrows {
		for _, target := range allowed {
			if strings.HasPrefix(target, "harness/load/") {
				t.Errorf("the table lets %s import the engine %s; only harness/cli may", name, target)
			}
			if !isLeaf(target) && target != anything {
				if _, ok := arrows[target]; !ok {
					t.Errorf("the table lets %s import %s, which it does not list", name, target)
				}
			}
			if slices.Contains(arrows[target], name) {
				t.Errorf("the table lets %s and %s import each other", name, target)
			}
		}
	}
}
