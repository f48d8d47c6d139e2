package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"abacus/harness/plan"
	"abacus/scenarios"
)

// FuzzLoad feeds whole files: no panic, an error means Problems and nothing
// else, and what loads can be planned, written and loaded again.
func FuzzLoad(f *testing.F) {
	seeds := []string{everything, smallScenario, string(DefaultFile()), string(FullFile())}
	for _, name := range scenarios.BuiltIn() {
		text, _ := scenarios.File(name)
		seeds = append(seeds, string(text))
	}
	files, err := filepath.Glob("testdata/bad/*.yaml")
	if err != nil || len(files) == 0 {
		f.Fatal("no wrong configurations to begin with", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		seeds = append(seeds, string(text))
	}
	for _, s := range seeds {
		f.Add(s)
	}
	env := []string{"TOKEN=x"}
	f.Fuzz(func(t *testing.T, text string) {
		dir := t.TempDir()
		load := func(name, text string) (*Loaded, error) {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			return Load(Input{Args: []string{"./" + name}, Dir: dir, Environ: env, DrawSeed: func() uint64 { return 1 }})
		}
		l, err := load("a.yaml", text)
		if err != nil {
			var problems Problems
			if l != nil || !errors.As(err, &problems) || len(problems) == 0 {
				t.Fatalf("%v, %v", l, err)
			}
			for _, p := range problems {
				if p.File == "" || p.Text == "" {
					t.Fatalf("a problem without place or text: %+v", p)
				}
			}
			return
		}
		if _, err := plan.Expand(l.Campaign, *l.Campaign.Seed); err != nil {
			t.Fatalf("loads, but cannot be planned: %v", err)
		}
		stored, err := MarshalCampaign(l.Campaign)
		if err != nil {
			t.Fatal(err)
		}
		again, err := load("b.yaml", string(stored))
		if err != nil {
			if strings.Contains(string(stored), redacted) {
				return
			}
			t.Fatalf("does not load again: %v\n%s", err, stored)
		}
		if diff := cmp.Diff(l.Campaign, again.Campaign); diff != "" {
			t.Fatalf("changed on the way:\n%s\n%s", diff, stored)
		}
	})
}

// FuzzSet feeds assignments: no panic, and what loads can be planned.
func FuzzSet(f *testing.F) {
	for _, s := range []string{
		"steps.concurrency=20", "steps.requests=[5, 6]", "steps.x.y=1", "steps={concurrency: 1, requests: 1}", "steps.duration=1s",
		"observe.interval=1s", "headers.A=b", "stop_if=[]", "warmup.requests=3", "scenarios=[static-ladder]", "lab=demo", "repeats={min: 1}", "a.b=c",
	} {
		f.Add(s, "steps.concurrency=3")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "s.yaml"), []byte(smallScenario), 0o644); err != nil {
			t.Fatal(err)
		}
		l, err := Load(Input{Args: []string{"s.yaml"}, Dir: dir, Set: []string{a, b}, DrawSeed: func() uint64 { return 1 }})
		if err != nil {
			var problems Problems
			if !errors.As(err, &problems) || len(problems) == 0 {
				t.Fatalf("%v", err)
			}
			return
		}
		if _, err := plan.Expand(l.Campaign, *l.Campaign.Seed); err != nil {
			t.Fatalf("loads, but cannot be planned: %v", err)
		}
	})
}
