package main

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"abacus/harness/lab"
)

// readmeServer is where the README's examples suppose a server; the test puts
// the demo there.
const readmeServer = "http://127.0.0.1:8080"

// TestReadmeCommands runs every command that the README shows, block by block
// in its order, in a folder of its own. `go test ./...` is this very run, and
// the main job is left to the long form.
func TestReadmeCommands(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	if len(blocks) < 5 {
		t.Fatalf("the README has %d blocks of commands: this test has looked at too little", len(blocks))
	}
	if first, second := blocks[0][1], blocks[1][1]; first != "go run . run\n" || second != "go test ./...\n" {
		t.Errorf("the README opens with %q and %q", first, second)
	}
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	url := demo(t)
	for _, b := range blocks {
		script := strings.ReplaceAll(b[1], readmeServer, url)
		switch {
		case script == "go test ./...\n":
			continue
		case script == "go run . run\n" && testing.Short():
			continue
		case strings.HasPrefix(script, "go "):
			// What is built of the source is built in the source's folder.
			script = strings.NewReplacer("-o abacus .", "-o "+filepath.Join(dir, "abacus")+" .").Replace(script)
			for line := range strings.Lines(script) {
				in := dir
				if strings.HasPrefix(line, "go ") {
					in = root
				}
				shell(t, in, dir, line)
			}
		default:
			shell(t, dir, dir, script)
		}
	}
}

// shell runs a script as a person would, with the results in their own folder.
func shell(t *testing.T, in, results, script string) {
	t.Helper()
	cmd := exec.Command("sh", "-e", "-c", script)
	cmd.Dir = in
	cmd.Env = append(os.Environ(), "ABACUS_RESULTS="+filepath.Join(results, "results"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s", strings.TrimSpace(script), err, out)
	}
}

// demo serves the demo's pages inside this process.
func demo(t *testing.T) string {
	t.Helper()
	d, err := lab.NewDemo(lab.DemoConfig{})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- d.Serve(l) }()
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		<-done
	})
	return "http://" + l.Addr().String()
}
