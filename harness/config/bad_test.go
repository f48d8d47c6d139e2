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
