package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"abacus/harness/fault"
	"abacus/harness/preflight"
)

// The files of a record.
const (
	ManifestFile    = "record.json"
	CampaignFile    = "campaign.yaml"
	EnvironmentFile = "environment.json"
	PreflightFile   = "preflight.json"
	IdleName        = "idle.json"
	RunsDir         = "runs"
	LatestLink      = "latest"
	lockFile        = ".lock"
	partSuffix      = "-part.json"
)

// timeLayout is the folder's name: the UTC second, without characters that
// file systems dislike.
const timeLayout = "2006-01-02T15-04-05Z"

// Writer writes one record. It holds the record's lock until Close.
type Writer struct {
	dir  string
	lock *os.File
	// Secrets are kept out of what is written as JSON.
	Secrets Secrets
}

// Create makes results/<campaign>/<UTC second>/ with its runs folder, takes
// its lock, and proves that need bytes can be written there, so that a full
// or read-only folder is said before anything is measured. On a clash the
// name gets -2, -3 and so on.
func Create(results, campaign string, now time.Time, need int64) (*Writer, error) {
	parent := filepath.Join(results, campaign)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return nil, folderError(parent, err)
	}
	stamp := now.UTC().Format(timeLayout)
	for n := 1; n < 1000; n++ {
		name := stamp
		if n > 1 {
			name = fmt.Sprintf("%s-%d", stamp, n)
		}
		dir := filepath.Join(parent, name)
		switch err := os.Mkdir(dir, 0o755); {
		case errors.Is(err, fs.ErrExist):
			continue
		case err != nil:
			return nil, folderError(dir, err)
		}
		w, err := open(dir)
		if err == nil {
			err = w.probe(need)
		}
		if err != nil {
			// Nothing is in it yet that anyone could miss.
			_ = os.RemoveAll(dir)
			return nil, folderError(dir, err)
		}
		return w, nil
	}
	return nil, fmt.Errorf("no free name below %s for %s", parent, stamp)
}

// Reopen takes an existing record to go on with it.
func Reopen(dir string) (*Writer, error) {
	if _, err := os.Stat(filepath.Join(dir, ManifestFile)); err != nil {
		return nil, fault.Input(fmt.Errorf("resume %s: %w", dir, err), "name the folder of a record, such as results/quickstart/latest")
	}
	return open(dir)
}

func open(dir string) (*Writer, error) {
	if err := os.MkdirAll(filepath.Join(dir, RunsDir), 0o755); err != nil {
		return nil, err
	}
	lock, err := takeLock(filepath.Join(dir, lockFile))
	if err != nil {
		return nil, fault.Input(fmt.Errorf("lock %s: %w", dir, err), "another abacus is writing this record; wait for it or stop it first")
	}
	return &Writer{dir: dir, lock: lock}, nil
}

func folderError(dir string, err error) error {
	return fault.Hint(fmt.Errorf("results folder %s cannot be written: %w", dir, err), "free some space or choose another folder with --results DIR")
}

// probe writes and syncs need bytes, then removes them.
func (w *Writer) probe(need int64) (err error) {
	f, err := os.CreateTemp(w.dir, ".probe-*")
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, f.Close(), os.Remove(f.Name()))
	}()
	chunk := make([]byte, 64<<10)
	for need > 0 {
		n, err := f.Write(chunk[:min(int64(len(chunk)), need)])
		if err != nil {
			return err
		}
		need -= int64(n)
	}
	return f.Sync()
}

// Dir is the record's folder.
func (w *Writer) Dir() string { return w.dir }

// Close lets go of the lock. The file is removed while the lock is held: once
// it is free, another writer may hold it.
func (w *Writer) Close() error {
	path := filepath.Join(w.dir, lockFile)
	removed := os.Remove(path)
	err := w.lock.Close()
	if removed != nil && !errors.Is(removed, fs.ErrNotExist) {
		removed = os.Remove(path) // Windows removes no open file
	}
	if errors.Is(removed, fs.ErrNotExist) {
		removed = nil
	}
	return errors.Join(removed, err)
}

// WriteManifest replaces record.json.
func (w *Writer) WriteManifest(m Manifest) error {
	m.Schema = ManifestSchema
	return w.writeJSON(ManifestFile, m)
}

// WriteEnvironment replaces environment.json.
func (w *Writer) WriteEnvironment(e preflight.Environment) error {
	e.Schema = EnvironmentSchema
	return w.writeJSON(EnvironmentFile, e)
}

// WritePreflight replaces preflight.json.
func (w *Writer) WritePreflight(p Preflight) error {
	p.Schema = PreflightSchema
	return w.writeJSON(PreflightFile, p)
}

// WriteIdle replaces idle.json.
func (w *Writer) WriteIdle(i preflight.Idle) error {
	return w.writeJSON(IdleName, IdleFile{Schema: IdleSchema, Idle: i})
}

// WriteCampaign writes campaign.yaml.
func (w *Writer) WriteCampaign(yaml []byte) error { return w.WriteFile(CampaignFile, yaml) }

// WriteRun writes one run file. A run that was cut short gets a name of its
// own, so that a later, whole run of the same number replaces nothing.
func (w *Writer) WriteRun(r Run) error {
	r.Schema = RunSchema
	name := runName(r)
	if r.CutShort() {
		name = strings.TrimSuffix(name, ".json") + partSuffix
	}
	return w.writeJSON(filepath.Join(RunsDir, name), r)
}

// runName is NNNN-variant-cC-rR.json, safe on every file system.
func runName(r Run) string {
	safe := strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_':
			return c
		}
		return '-'
	}, r.Cell.Scenario+"-"+r.Cell.Variant)
	return fmt.Sprintf("%04d-%.80s-c%d-r%d.json", r.Seq, safe, r.Cell.Step.Concurrency, r.Round)
}

func (w *Writer) writeJSON(name string, v any) error {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetIndent("", " ")
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("encode %s: %w", name, err)
	}
	return w.WriteFile(name, w.Secrets.json(buf.Bytes()))
}

// WriteFile writes a file of the record whole: to a temporary name, synced,
// renamed, so that a reader never sees half of it.
func (w *Writer) WriteFile(name string, data []byte) error {
	return WriteFile(filepath.Join(w.dir, name), data)
}

// WriteFile writes path whole or not at all.
func WriteFile(path string, data []byte) error {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, ".tmp-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return fmt.Errorf("write %s: %w", path, err)
	}
	return syncDir(dir)
}

// MarkLatest points <campaign>/latest to this record, unless it points to a
// newer one already. Where there can be no symbolic links, there is none.
func (w *Writer) MarkLatest() error {
	link := filepath.Join(filepath.Dir(w.dir), LatestLink)
	name := filepath.Base(w.dir)
	switch info, err := os.Lstat(link); {
	case err != nil:
	case info.Mode()&fs.ModeSymlink == 0:
		return fmt.Errorf("%s is not a link: left as it is", link)
	default:
		if to, err := os.Readlink(link); err == nil && later(to, name) && isRecord(filepath.Join(filepath.Dir(w.dir), to)) {
			return nil
		}
	}
	tmp := fmt.Sprintf("%s.%d", link, os.Getpid())
	switch err := os.Symlink(name, tmp); {
	case errors.Is(err, fs.ErrPermission), errors.Is(err, errors.ErrUnsupported):
		return nil // this file system, or this user on Windows
	case err != nil:
		return fmt.Errorf("link %s: %w", link, err)
	}
	if err := os.Rename(tmp, link); err != nil {
		_ = os.Remove(tmp)
		return fmt.Errorf("link %s: %w", link, err)
	}
	return nil
}
