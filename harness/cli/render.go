package cli

import (
	"bytes"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"abacus/harness/analysis"
	"abacus/harness/fault"
	"abacus/harness/preflight"
	"abacus/harness/record"
	"abacus/reporters"
)

// analyse reads a record and judges it. Only a record without a readable
// manifest is an error; other files that are damaged become findings.
func analyse(dir string) (*analysis.Analysis, *record.Reader, error) {
	r, err := record.Open(dir)
	if err != nil {
		return nil, nil, err
	}
	in := analysis.Input{Name: r.Name(), Manifest: r.Manifest, Runs: r.Runs()}
	// What stands beside the runs is not needed for the figures.
	damaged := func(err error) bool {
		if err != nil {
			in.Damaged = append(in.Damaged, err)
		}
		return err != nil
	}
	// Of a file that is read in part only, nothing is shown.
	if in.Environment, err = r.Environment(); damaged(err) {
		in.Environment = preflight.Environment{}
	}
	if in.Preflight, err = r.Preflight(); damaged(err) {
		in.Preflight = record.Preflight{}
	}
	if in.Idle, err = r.Idle(); damaged(err) {
		in.Idle = nil
	}
	if in.CampaignYAML, err = r.CampaignYAML(); damaged(err) {
		in.CampaignYAML = ""
	}
	a, err := analysis.Analyse(in)
	if err != nil {
		return nil, nil, fmt.Errorf("analyse %s: %w", dir, err)
	}
	return a, r, nil
}

// formatsNamed looks the names up, all before anything is rendered.
func formatsNamed(names []string) ([]reporters.Format, error) {
	var list []reporters.Format
	for _, name := range names {
		f, ok := reporters.Lookup(strings.TrimSpace(name))
		if !ok {
			var known []string
			for _, f := range reporters.Formats() {
				known = append(known, f.Name)
			}
			return nil, fault.Input(fmt.Errorf("unknown format %q", name), "known formats: "+strings.Join(known, ", "))
		}
		list = append(list, f)
	}
	return list, nil
}

// renderFile renders one format in memory and puts it into dir whole. It
// returns the file's path.
func renderFile(a *analysis.Analysis, f reporters.Format, dir string) (string, error) {
	var buf bytes.Buffer
	if err := f.Reporter.Report(&buf, a); err != nil {
		return "", fmt.Errorf("render %s: %w", f.Name, err)
	}
	path := filepath.Join(dir, f.File)
	return path, record.WriteFile(path, buf.Bytes())
}

// fileURL is the file:// link of a path.
func fileURL(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return ""
	}
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(abs)}).String()
}

// display shortens a path to one relative to the working folder where that
// is shorter to read.
func display(path string) string {
	wd, err := os.Getwd()
	if err != nil {
		return path
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	if rel, err := filepath.Rel(wd, abs); err == nil && !strings.HasPrefix(rel, "..") {
		return rel
	}
	return path
}
