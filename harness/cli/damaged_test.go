package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"abacus/harness/analysis"
	"abacus/harness/record"
	"abacus/reporters"
)

// copyOfRecord copies the record of the first schema.
func copyOfRecord(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "record", "testdata", "schema1"))); err != nil {
		t.Fatal(err)
	}
	return dir
}

// The figures need the manifest and the runs: a record whose other files are
// damaged has its page all the same, which says so.
func TestDamagedFilesBesideTheRuns(t *testing.T) {
	whole, _, err := analyse(copyOfRecord(t))
	if err != nil {
		t.Fatal(err)
	}
	all := []string{record.EnvironmentFile, record.PreflightFile, record.IdleName, record.CampaignFile}
	for _, tt := range []struct {
		name  string
		files []string
		title string
		spoil func(path string) error
	}{
		{"cut short", all[:1], "1 file beside the runs cannot be read.", func(p string) error { return os.WriteFile(p, []byte(`{"schema": 1, "`), 0o644) }},
		{"of another type", all[1:2], "1 file beside the runs cannot be read.", func(p string) error {
			return os.WriteFile(p, []byte(`{"schema": 1, "checks": 7, "pages": 7, "targets": 7}`), 0o644)
		}},
		{"newer", all[2:3], "1 file beside the runs cannot be read.", func(p string) error { return os.WriteFile(p, []byte(`{"schema": 99}`), 0o644) }},
		{"folders", all, "4 files beside the runs cannot be read.", func(p string) error { return os.Mkdir(p, 0o755) }},
	} {
		dir := copyOfRecord(t)
		for _, f := range tt.files {
			path := filepath.Join(dir, f)
			if err := os.RemoveAll(path); err != nil {
				t.Fatal(err)
			}
			if err := tt.spoil(path); err != nil {
				t.Fatal(err)
			}
		}
		a, _, err := analyse(dir)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		var found *analysis.Finding
		for i, f := range a.Findings {
			if f.ID == "record_damaged" {
				found = &a.Findings[i]
			}
		}
		if found == nil || found.Title != tt.title || !strings.Contains(found.Evidence, tt.files[0]) {
			t.Errorf("%s: finding %+v, want %q and %s named", tt.name, found, tt.title, tt.files[0])
		}
		if a.Cells[0].Throughput.Mean != whole.Cells[0].Throughput.Mean || a.FinishedRuns != 5 {
			t.Errorf("%s: the figures changed", tt.name)
		}
		for _, f := range reporters.Formats() {
			var b bytes.Buffer
			if err := f.Reporter.Report(&b, a); err != nil || !strings.Contains(b.String(), "beside the runs cannot be read") {
				t.Errorf("%s: %s: %v, %d bytes; want the damage in them", tt.name, f.Name, err, b.Len())
			}
		}
	}
	dir := copyOfRecord(t)
	if err := os.WriteFile(filepath.Join(dir, record.ManifestFile), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := analyse(dir); err == nil || !strings.Contains(err.Error(), record.ManifestFile) {
		t.Errorf("a damaged manifest: %v, want an error that names it", err)
	}
}
