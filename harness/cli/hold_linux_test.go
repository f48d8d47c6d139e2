package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"abacus/harness/record"
	"abacus/reporters"
)

// tiny is a campaign of 16 short runs on the demo.
const tiny = `campaign: tiny
scenarios:
  - scenario: tiny
    variants: [{name: apcu, path: /apcu}, {name: memcached, path: /memcached}]
    steps: {concurrency: [2, 4], requests: 400}
warmup: {requests: 50}
repeats: 4
seed: 7
`

// slow is a campaign whose runs take about a second each.
const slow = `campaign: slow
scenarios:
  - scenario: slow
    variants: [{name: delay, path: "/delay?ms=20"}]
    steps: {concurrency: 4, requests: 200}
warmup: {requests: 10}
repeats: 6
seed: 7
`

func campaignDir(t *testing.T, yaml string) string {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "config.yaml"), yaml)
	return dir
}

// readRuns reads every run of a record; a damaged file fails the test.
func readRuns(t *testing.T, dir string) (*record.Reader, []record.Run) {
	t.Helper()
	r, err := record.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	var list []record.Run
	for run, err := range r.Runs() {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, run)
	}
	return r, list
}

// A kill at any moment leaves no process, and a record that is readable and
// can be finished.
func TestKilledAtRandomMoments(t *testing.T) {
	moments := 10
	if testing.Short() {
		moments = 2
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range moments {
		after := time.Duration(rng.Int64N(int64(11 * time.Second)))
		t.Run(fmt.Sprintf("%d-after-%v", i, after.Round(time.Millisecond)), func(t *testing.T) {
			t.Parallel()
			dir := campaignDir(t, tiny)
			p := start(t, dir, "run")
			select {
			case <-time.After(after):
			case <-p.waited:
			}
			kill(t, p.cmd.Process.Pid, syscall.SIGKILL)
			<-p.waited
			eventually(t, 3*time.Second, "no process of it is left", func() bool { return len(p.family()) == 0 })
			if found, _ := filepath.Glob(filepath.Join(dir, "results", "tiny", "2*", "record.json")); len(found) == 0 {
				return // killed before it began
			}
			_, before := readRuns(t, recordDir(t, dir))
			code, _, stderr := runAbacus(t, dir, "run", "--resume", recordDir(t, dir))
			if code != ExitDone {
				t.Fatalf("resume: exit %d\n%s", code, stderr)
			}
			r, runs := readRuns(t, recordDir(t, dir))
			if len(runs) != 16 || r.Manifest.State != record.StateComplete || len(before) > 16 {
				t.Errorf("%d runs, then %d, state %s; want 16, complete", len(before), len(runs), r.Manifest.State)
			}
			for _, run := range runs {
				if !run.Good() || run.Result.Counts.Requests() != 400 {
					t.Errorf("run %d: good %v, %d requests", run.Seq, run.Good(), run.Result.Counts.Requests())
				}
			}
		})
	}
}

func TestInterruptedInTheMiddle(t *testing.T) {
	for _, c := range []struct {
		signal syscall.Signal
		code   int
	}{{syscall.SIGINT, ExitInterrupted}, {syscall.SIGTERM, ExitTerminated}} {
		t.Run(c.signal.String(), func(t *testing.T) {
			dir := campaignDir(t, slow)
			p := start(t, dir, "run")
			eventually(t, time.Minute, "two runs are written", func() bool { return runFiles(dir) >= 2 })
			kill(t, p.cmd.Process.Pid, c.signal)
			begun := time.Now()
			if code := p.wait(time.Minute); code != c.code {
				t.Errorf("exit %d, want %d", code, c.code)
			}
			// The promise is 3 s on a machine of its own; tests share theirs.
			if took := time.Since(begun); took > 10*time.Second {
				t.Errorf("ended after %v", took)
			}
			if left := p.family(); len(left) != 0 {
				t.Errorf("processes %v are left", left)
			}
			rec := recordDir(t, dir)
			r, runs := readRuns(t, rec)
			if r.Manifest.State != record.StateInterrupted || len(runs) < 2 {
				t.Errorf("state %s, %d runs", r.Manifest.State, len(runs))
			}
			page, err := os.ReadFile(filepath.Join(rec, "report.html"))
			if err != nil || !bytes.Contains(page, []byte("Incomplete")) {
				t.Errorf("the page is not marked incomplete (%v)", err)
			}
		})
	}
}

// labState is what a lab writes of itself into its folder.
func serverPIDs(t *testing.T, tmp string) []int {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(tmp, "abacus-lab-*", "lab.json"))
	if err != nil || len(found) != 1 {
		t.Fatalf("lab states %v, %v; want one", found, err)
	}
	data, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	var state struct {
		PIDs map[string][]int `json:"pids"`
	}
	if err := json.Unmarshal(data, &state); err != nil || len(state.PIDs["server"]) == 0 {
		t.Fatalf("lab state %s: %v", data, err)
	}
	return state.PIDs["server"]
}

func TestDemoKilledInTheMiddle(t *testing.T) {
	dir := campaignDir(t, slow)
	p := start(t, dir, "run")
	eventually(t, time.Minute, "a run is written", func() bool { return runFiles(dir) >= 1 })
	for _, pid := range serverPIDs(t, p.tmp) {
		kill(t, pid, syscall.SIGKILL)
	}
	if code := p.wait(2 * time.Minute); code != ExitFailed {
		t.Errorf("exit %d, want %d\n%s", code, ExitFailed, p.stderr.String())
	}
	r, runs := readRuns(t, recordDir(t, dir))
	if len(runs) != 6 || r.Manifest.State != record.StateComplete {
		t.Fatalf("%d runs, state %s; want all 6, complete", len(runs), r.Manifest.State)
	}
	last := runs[5]
	if last.Good() || last.Result == nil || last.Result.Counts.Connect != 200 {
		t.Errorf("the last run: %+v; want 200 connect failures", last.Result)
	}
}

// wrong configurations start nothing.
func TestWrongConfigurationStartsNothing(t *testing.T) {
	dir := campaignDir(t, "campaign: x\nscenarios: [static-laddr]\nrepeats: \"7\"\nlab: demo\n")
	code, stdout, stderr := runAbacus(t, dir, "run")
	if code != ExitInput || stdout != "" {
		t.Errorf("exit %d, stdout %q", code, stdout)
	}
	for _, want := range []string{"config.yaml:2", "static-laddr", "static-ladder", "config.yaml:3", "repeats"} {
		if !strings.Contains(stderr, want) {
			t.Errorf("stderr lacks %q:\n%s", want, stderr)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "results")); !os.IsNotExist(err) {
		t.Errorf("a results folder was made: %v", err)
	}
}

// A results folder that is full or read-only is said before the first request.
func TestResultsFolderThatCannotTakeTheRecord(t *testing.T) {
	for _, c := range []struct{ name, options string }{
		{"full", "size=1m"},
		{"read-only", "ro"},
	} {
		t.Run(c.name, func(t *testing.T) {
			requests := 0
			server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { requests++ }))
			defer server.Close()
			dir := t.TempDir()
			script := `mkdir results && mount -t tmpfs -o "$1" none results && exec abacus run --quick "$2"`
			cmd := exec.Command("unshare", "--mount", "sh", "-c", script, "sh", c.options, server.URL+"/")
			cmd.Dir = dir
			out, err := cmd.CombinedOutput()
			if cmd.ProcessState == nil || bytes.Contains(out, []byte("unshare:")) || bytes.Contains(out, []byte("mount:")) {
				needsLab(t, fmt.Sprintf("a mount namespace: %v %s", err, out))
			}
			if code := cmd.ProcessState.ExitCode(); code != ExitFailed {
				t.Errorf("exit %d, want %d: %s", code, ExitFailed, out)
			}
			if !bytes.Contains(out, []byte("results")) || !bytes.Contains(out, []byte("cannot be written")) || !bytes.Contains(out, []byte("hint: ")) {
				t.Errorf("output: %s", out)
			}
			if requests != 0 {
				t.Errorf("%d requests were made", requests)
			}
		})
	}
}

// needsLab skips a test that lacks something of the lab, or fails it where
// nothing may be skipped.
func needsLab(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("ABACUS_REQUIRE_LAB") != "" {
		t.Fatal("needs " + what)
	}
	t.Skip("needs " + what)
}

// hostile serves a page and a bad status page.
func hostile(t *testing.T, status http.HandlerFunc) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/page", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello") })
	mux.HandleFunc("/status", status)
	s := httptest.NewServer(mux)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

func TestBadStatusPagesDoNotTouchTheLoad(t *testing.T) {
	for _, c := range []struct {
		name   string
		status http.HandlerFunc
	}{
		{"garbage", func(w http.ResponseWriter, _ *http.Request) { w.Write(bytes.Repeat([]byte{0, 255, '<'}, 999)) }},
		{"endless", func(w http.ResponseWriter, r *http.Request) {
			line := []byte(strings.Repeat("x", 1000) + "\n")
			for r.Context().Err() == nil {
				if _, err := w.Write(line); err != nil {
					return
				}
			}
		}},
		{"slow", func(_ http.ResponseWriter, r *http.Request) {
			select {
			case <-r.Context().Done():
			case <-time.After(30 * time.Second):
			}
		}},
		{"forbidden", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := hostile(t, c.status)
			dir := t.TempDir()
			write(t, filepath.Join(dir, "c.yaml"), fmt.Sprintf(`scenario: bad
url: %s/page
server: {status: "%s/status"}
steps: {concurrency: 2, requests: 500}
warmup: {requests: 10}
`, s.URL, s.URL))
			code, _, stderr := runAbacus(t, dir, "run", "--quick", "./c.yaml")
			if code != ExitDone {
				t.Fatalf("exit %d\n%s", code, stderr)
			}
			rec := recordDir(t, dir)
			_, runs := readRuns(t, rec)
			if len(runs) != 1 || !runs[0].Good() || runs[0].Result.Counts.Failed != 0 {
				t.Errorf("the load was touched: %+v", runs)
			}
			page, err := os.ReadFile(filepath.Join(rec, "report.html"))
			if err != nil || !bytes.Contains(page, []byte("not observed")) {
				t.Errorf("the page does not say that workers were not observed (%v)", err)
			}
		})
	}
}

// A server whose every text is an attack is shown as text.
func TestHostileServerIsShownAsText(t *testing.T) {
	const attack = `</script><script>alert(1)</script>`
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, name := range []string{"Server", "X-Cache", "Etag", "Via", "Cache-Control", "Content-Type", "Vary", "Age", "X-Powered-By", "Cf-Ray"} {
			w.Header().Set(name, attack)
		}
		io.WriteString(w, attack)
	}))
	defer s.Close()
	dir := t.TempDir()
	code, _, stderr := runAbacus(t, dir, "run", "--quick", s.URL+"/page?q=</script><script>alert(1)</script>")
	if code != ExitDone {
		t.Fatalf("exit %d\n%s", code, stderr)
	}
	page, err := os.ReadFile(filepath.Join(recordDir(t, dir), "report.html"))
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(page, []byte("<script>alert(1)")) {
		t.Error("the attack stands in the page as markup")
	}
	if !bytes.Contains(page, []byte("alert(1)")) {
		t.Error("the attack is not shown at all: this test would see nothing")
	}
}

// hey makes exactly as many requests as the native engine, in every cell.
func TestHeyMakesTheSameRequests(t *testing.T) {
	yaml := `campaign: counts
scenarios:
  - scenario: counts
    variants: [{name: apcu, path: /apcu}]
    steps:
      - {concurrency: 30, requests: 1000}
      - {concurrency: 7, requests: 100, keepalive: false}
      - {concurrency: 50, requests: 60}
warmup: {requests: 10}
repeats: 1
`
	want := []int64{1000, 100, 60}
	for _, engine := range []string{"native", "hey"} {
		dir := campaignDir(t, yaml)
		code, _, stderr := runAbacus(t, dir, "run", "--engine", engine)
		if code != ExitDone {
			t.Fatalf("%s: exit %d\n%s", engine, code, stderr)
		}
		_, runs := readRuns(t, recordDir(t, dir))
		if len(runs) != len(want) {
			t.Fatalf("%s: %d runs, want %d", engine, len(runs), len(want))
		}
		for i, run := range runs {
			if got := run.Result.Counts.Complete; got != want[i] || run.Result.Engine != engine {
				t.Errorf("%s run %d: %d complete by %s, want %d", engine, i, got, run.Result.Engine, want[i])
			}
		}
	}
}

// The same record gives the same bytes in every format.
func TestRenderingTwiceGivesTheSameBytes(t *testing.T) {
	dir := campaignDir(t, tiny)
	if code, _, stderr := runAbacus(t, dir, "run", "--quick"); code != ExitDone {
		t.Fatalf("exit %d\n%s", code, stderr)
	}
	rec := recordDir(t, dir)
	for _, f := range reporters.Formats() {
		var out [2]bytes.Buffer
		for i := range out {
			a, _, err := analyse(rec)
			if err != nil {
				t.Fatal(err)
			}
			if err := f.Reporter.Report(&out[i], a); err != nil {
				t.Fatal(err)
			}
		}
		if out[0].Len() == 0 || !bytes.Equal(out[0].Bytes(), out[1].Bytes()) {
			t.Errorf("%s: %d and %d bytes, not the same", f.Name, out[0].Len(), out[1].Len())
		}
	}
	first, err := os.ReadFile(filepath.Join(rec, "report.html"))
	if err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := runAbacus(t, dir, "report"); code != ExitDone {
		t.Fatalf("report: exit %d\n%s", code, stderr)
	}
	second, err := os.ReadFile(filepath.Join(rec, "report.html"))
	if err != nil || !bytes.Equal(first, second) {
		t.Errorf("the page that run left and the one of report differ (%v)", err)
	}
}
