package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"abacus/harness/fault"
	"abacus/harness/preflight"
)

// Reader reads one record. Nothing in it is changed.
type Reader struct {
	dir      string
	Manifest Manifest
}

// Open reads the manifest of the record in dir.
func Open(dir string) (*Reader, error) {
	// A link such as results/x/latest is followed, so that the record's own
	// name is known.
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	r := &Reader{dir: dir}
	if err := r.read(ManifestFile, ManifestSchema, &r.Manifest); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fault.Input(fmt.Errorf("no record in %s: %w", dir, err), "name the folder of a record, such as results/quickstart/latest")
		}
		return nil, err
	}
	return r, nil
}

// Dir is the record's folder.
func (r *Reader) Dir() string { return r.dir }

// Name is campaign/time, the end of the folder's path.
func (r *Reader) Name() string {
	return filepath.ToSlash(filepath.Join(filepath.Base(filepath.Dir(r.dir)), filepath.Base(r.dir)))
}

// Environment reads environment.json; a record without one gives the zero
// value.
func (r *Reader) Environment() (e preflight.Environment, err error) {
	err = r.optional(EnvironmentFile, EnvironmentSchema, &e)
	return e, err
}

// Preflight reads preflight.json; a record without one gives the zero value.
func (r *Reader) Preflight() (p Preflight, err error) {
	err = r.optional(PreflightFile, PreflightSchema, &p)
	return p, err
}

// Idle reads idle.json; nil when the record has none.
func (r *Reader) Idle() (*IdleFile, error) {
	var i IdleFile
	err := r.read(IdleName, IdleSchema, &i)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return &i, nil
}

// CampaignYAML reads campaign.yaml, empty when there is none.
func (r *Reader) CampaignYAML() (string, error) {
	data, err := readRegular(filepath.Join(r.dir, CampaignFile))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return string(data), err
}

// Runs reads the run files one after another in order of their numbers. A
// damaged file gives an error that names it, and the reading goes on. A run
// that was cut short is given only where no whole one has its number.
func (r *Reader) Runs() iter.Seq2[Run, error] {
	return func(yield func(Run, error) bool) {
		names, err := r.runFiles()
		if err != nil {
			yield(Run{}, err)
			return
		}
		for _, name := range names {
			var run Run
			err := r.read(filepath.Join(RunsDir, name), RunSchema, &run)
			if !yield(run, err) {
				return
			}
		}
	}
}

// runFiles lists the run files in order, parts left out where a whole run of
// the same number stands beside.
func (r *Reader) runFiles() ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(r.dir, RunsDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list runs: %w", err)
	}
	whole := map[string]bool{}
	var names []string
	for _, e := range entries {
		name := e.Name()
		if !strings.HasSuffix(name, ".json") || strings.HasPrefix(name, ".") {
			continue
		}
		names = append(names, name)
		if !strings.HasSuffix(name, partSuffix) {
			whole[number(name)] = true
		}
	}
	names = slices.DeleteFunc(names, func(n string) bool {
		return strings.HasSuffix(n, partSuffix) && whole[number(n)]
	})
	// Numbers have four digits or more; compare them as numbers.
	slices.SortFunc(names, func(a, b string) int {
		na, nb := number(a), number(b)
		if len(na) != len(nb) {
			return len(na) - len(nb)
		}
		return strings.Compare(a, b)
	})
	return names, nil
}

func number(name string) string {
	n, _, _ := strings.Cut(name, "-")
	return n
}

func (r *Reader) optional(name string, schema int, v any) error {
	err := r.read(name, schema, v)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// read decodes one file and refuses a newer schema. Errors name the file and,
// where it is known, the field.
func (r *Reader) read(name string, schema int, v any) error {
	path := filepath.Join(r.dir, name)
	data, err := readRegular(path)
	if err != nil {
		return err
	}
	var head struct {
		Schema int `json:"schema"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return damaged(path, data, err)
	}
	if head.Schema > schema {
		return fault.Hint(fmt.Errorf("%s has schema %d, this abacus reads up to %d", path, head.Schema, schema), "use the abacus that wrote it, or a newer one")
	}
	if head.Schema < 1 {
		return fmt.Errorf("%s: schema is %d: not a file of a record", path, head.Schema)
	}
	if err := json.Unmarshal(data, v); err != nil {
		return damaged(path, data, err)
	}
	return nil
}

// mostBytes bounds each file of a record.
const mostBytes = 256 << 20

// readRegular reads a file of a record. Anything but a regular file is refused
// before it is opened: a FIFO would block, a device never end.
func readRegular(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no regular file", path)
	case info.Size() > mostBytes:
		return nil, fmt.Errorf("%s has %d bytes; at most %d (%d MiB) are read", path, info.Size(), mostBytes, mostBytes>>20)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, mostBytes+1))
	if err == nil && len(data) > mostBytes {
		return nil, fmt.Errorf("%s is larger than %d bytes", path, mostBytes) // it grew
	}
	return data, err
}

// damaged says where a file cannot be read.
func damaged(path string, data []byte, err error) error {
	var syntax *json.SyntaxError
	var typ *json.UnmarshalTypeError
	switch {
	case errors.As(err, &typ):
		return fmt.Errorf("%s: line %d: field %s: %s does not fit: %w", path, line(data, typ.Offset), typ.Field, typ.Value, err)
	case errors.As(err, &syntax):
		return fmt.Errorf("%s: line %d: damaged: %w", path, line(data, syntax.Offset), err)
	}
	return fmt.Errorf("%s: damaged: %w", path, err)
}

func line(data []byte, offset int64) int {
	offset = min(max(offset, 0), int64(len(data)))
	return 1 + strings.Count(string(data[:offset]), "\n")
}

// Find returns the folder of the record that arg names: a record's folder, a
// campaign's folder or name (its newest), or nothing (the newest record below
// results).
func Find(results, arg string) (string, error) {
	if arg == "" {
		return newest(results)
	}
	for _, dir := range []string{arg, filepath.Join(results, arg)} {
		if isRecord(dir) {
			return dir, nil
		}
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			if found, err := newest(dir); err == nil {
				return found, nil
			}
		}
	}
	return "", fault.Input(fmt.Errorf("no record at %s", arg), "name a record's folder, or a campaign below "+results)
}

func isRecord(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, ManifestFile))
	return err == nil
}

// newest is the record with the latest creation time in dir or one folder
// below it.
func newest(dir string) (string, error) {
	var best string
	var bestName string
	for _, pattern := range []string{"*", "*/*"} {
		found, err := filepath.Glob(filepath.Join(escapeGlob(dir), pattern, ManifestFile))
		if err != nil {
			return "", fmt.Errorf("search %s: %w", dir, err)
		}
		for _, f := range found {
			rec := filepath.Dir(f)
			if filepath.Base(rec) == LatestLink {
				continue
			}
			if name := filepath.Base(rec); bestName == "" || later(name, bestName) {
				best, bestName = rec, name
			}
		}
	}
	if best == "" {
		return "", fault.Input(fmt.Errorf("no record below %s", dir), "make one with `abacus run`")
	}
	return best, nil
}

// later compares folder names: the UTC second, then the number of a clash.
func later(a, b string) bool {
	cut := len(timeLayout)
	if len(a) < cut || len(b) < cut || a[:cut] != b[:cut] {
		return a > b
	}
	if len(a) != len(b) {
		return len(a) > len(b)
	}
	return a > b
}

func escapeGlob(s string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(s)
}
