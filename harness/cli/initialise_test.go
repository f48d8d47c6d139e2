package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"abacus/harness/config"
	"abacus/scenarios"
)

// inFolder runs one command line in a folder and returns what came of it.
func inFolder(t *testing.T, dir string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	t.Chdir(dir)
	var out, errs bytes.Buffer
	env := &Env{
		Args: append([]string{"abacus"}, args...), Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs,
		Getenv: func(string) string { return "" }, Environ: func() []string { return []string{"TOKEN=x"} }, Executable: "/nowhere/abacus",
	}
	code = Run(context.Background(), env)
	return code, out.String(), errs.String()
}

func TestInitLists(t *testing.T) {
	code, stdout, stderr := inFolder(t, t.TempDir(), "init")
	if code != ExitDone || stderr != "" {
		t.Fatalf("exit %d, %s", code, stderr)
	}
	for _, name := range append(scenarios.BuiltIn(), "config") {
		if n := strings.Count("\n"+stdout, "\n"+name+" "); n != 1 {
			t.Errorf("%s has %d lines, want one:\n%s", name, n, stdout)
		}
	}
	if !strings.Contains(stdout, "1 variant, 6 load levels\n") || !strings.Contains(stdout, "2 variants, 1 load level\n") {
		t.Errorf("extents are missing:\n%s", stdout)
	}
}

func TestInitWritesWhatRuns(t *testing.T) {
	dir := t.TempDir()
	for _, name := range append(scenarios.BuiltIn(), "config") {
		code, stdout, stderr := inFolder(t, dir, "init", name)
		if code != ExitDone || !strings.Contains(stdout, "wrote "+name+".yaml") {
			t.Fatalf("%s: exit %d, %s%s", name, code, stdout, stderr)
		}
		path := filepath.Join(dir, name+".yaml")
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm()&^0o644 != 0 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
		if _, err := config.Load(config.Input{Args: []string{path}, Dir: dir}); err != nil {
			t.Errorf("%s does not load: %v", name, err)
		}
		if err := os.WriteFile(path, []byte("mine"), 0o644); err != nil {
			t.Fatal(err)
		}
		code, _, stderr = inFolder(t, dir, "init", name)
		if kept, _ := os.ReadFile(path); code != ExitInput || string(kept) != "mine" || !strings.Contains(stderr, "exists already\nhint: ") {
			t.Errorf("%s, a second time: exit %d, file %.20q, %s", name, code, kept, stderr)
		}
		code, _, stderr = inFolder(t, dir, "init", name, "--force")
		if now, _ := os.ReadFile(path); code != ExitDone || bytes.Equal(now, []byte("mine")) {
			t.Errorf("%s, forced: exit %d, file %.20q, %s", name, code, now, stderr)
		}
	}
}

func TestInitOutput(t *testing.T) {
	dir := t.TempDir()
	code, stdout, _ := inFolder(t, dir, "init", "engine-check", "-o", "-")
	if want, _ := scenarios.File("engine-check"); code != ExitDone || stdout != string(want) {
		t.Errorf("exit %d:\n%s", code, stdout)
	}
	if code, _, stderr := inFolder(t, dir, "init", "engine-check", "-o", "my.yaml"); code != ExitDone {
		t.Errorf("exit %d, %s", code, stderr)
	}
	code, stdout, _ = inFolder(t, dir, "init", "--full")
	if code != ExitDone || stdout != string(config.FullFile()) {
		t.Errorf("exit %d, %d bytes", code, len(stdout))
	}
	if code, _, stderr := inFolder(t, dir, "init", "--full", "-o", "full.yaml"); code != ExitDone {
		t.Errorf("exit %d, %s", code, stderr)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	if len(files) != 2 {
		t.Errorf("files %v, want full.yaml and my.yaml", files)
	}
	for _, f := range files {
		if _, err := config.Load(config.Input{Args: []string{f}, Dir: dir}); err != nil {
			t.Errorf("%s does not load: %v", f, err)
		}
	}
	code, _, stderr := inFolder(t, dir, "init", "engine-check", "-o", "no/such/folder.yaml")
	if code != ExitFailed || !strings.Contains(stderr, "write no/such/folder.yaml") {
		t.Errorf("exit %d, %s", code, stderr)
	}
}

func TestInitRefuses(t *testing.T) {
	for _, tt := range []struct {
		args string
		want string
	}{
		{"init cache-comparision", "abacus: there is no built-in scenario \"cache-comparision\"\nhint: did you mean cache-comparison? abacus init lists the names\n"},
		{"init ../config", "abacus: there is no built-in scenario \"../config\"\nhint: "},
		{"init a b", "abacus: init takes one name, not 2\nhint: "},
		{"init --full static-ladder", "abacus: --full shows all keys"},
		{"init -o x.yaml", "abacus: -o needs a name to write\nhint: "},
		{"init --fool", "abacus: unknown flag: --fool\nhint: see `abacus init --help`\n"},
	} {
		dir := t.TempDir()
		code, stdout, stderr := inFolder(t, dir, strings.Fields(tt.args)...)
		files, _ := filepath.Glob(filepath.Join(dir, "*"))
		if code != ExitInput || stdout != "" || !strings.HasPrefix(stderr, tt.want) || len(files) != 0 {
			t.Errorf("%s: exit %d, stdout %q, files %v, stderr:\n%s", tt.args, code, stdout, files, stderr)
		}
	}
}
