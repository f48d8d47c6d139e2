package config

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"abacus/harness/fault"
)

var update = flag.Bool("update", false, "write the expected problems of testdata/bad anew; read each before you commit it")

// TestBad loads wrong files and compares all their problems with the text
// beside them. A new rule means a new pair of files.
func TestBad(t *testing.T) {
	files, err := filepath.Glob("testdata/bad/*.yaml")
	if err != nil || len(files) < 25 {
		t.Fatalf("%d wrong configurations, %v; at least 25 must be there", len(files), err)
	}
	for _, file := range files {
		name := filepath.Base(file)
		t.Run(name, func(t *testing.T) {
			l, err := Load(Input{Args: []string{"./" + name}, Dir: "testdata/bad"})
			if err == nil {
				t.Fatalf("loaded, as %+v", l.Campaign)
			}
			if l != nil {
				t.Errorf("an error and a campaign: %+v", l)
			}
			var problems Problems
			if !errors.As(err, &problems) || len(problems) == 0 || !fault.IsInput(err) || fault.HintOf(err) == "" {
				t.Fatalf("%T %v: must be Problems, an input fault with a hint", err, err)
			}
			var lines []string
			for _, p := range problems {
				lines = append(lines, p.String())
			}
			got := strings.Join(lines, "\n") + "\n"
			golden := strings.TrimSuffix(file, ".yaml") + ".txt"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

func TestProblemsAsText(t *testing.T) {
	one := Problem{File: "a.yaml", Line: 3, Key: "repeats", Value: "x\n", HasValue: true, Text: "must be a number", Suggestion: "6"}
	const line = `a.yaml:3: repeats: value "x\n": must be a number; did you mean "6"?`
	if got := (Problems{one}).Error(); got != line {
		t.Errorf("got %s, want %s", got, line)
	}
	if got, want := (Problems{one, {File: "flag --set", Text: "is wrong"}}).Error(), "2 problems in the configuration:\n  "+line+"\n  flag --set: is wrong"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	lines := strings.Split(make(Problems, 53).Error(), "\n")
	if len(lines) != 52 || lines[51] != "  and 3 more" {
		t.Errorf("%d lines, last %q", len(lines), lines[len(lines)-1])
	}
	one.Value = strings.Repeat("ü", 100)
	if got := one.String(); !strings.Contains(got, `"`+strings.Repeat("ü", 79)+`…"`) {
		t.Errorf("a long value is not cut: %s", got)
	}
}
