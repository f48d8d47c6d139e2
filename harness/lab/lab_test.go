//go:build unix

package lab

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"abacus/harness/keeper"
)

// The test binary starts itself again as what a lab needs, and as a program
// that holds a lab.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "keeper":
			keeper.DeafToSignals()
			_ = keeper.Serve(os.Stdin, os.Stdout)
			os.Exit(0)
		case "demo":
			os.Exit(roleDemo(os.Args[2:]))
		case "hold":
			os.Exit(roleHold(os.Args[2]))
		}
	}
	// A process with the race detector sleeps a second before it ends, unless
	// it is told not to.
	if err := os.Setenv("GORACE", "atexit_sleep_ms=0"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// roleDemo is what the command `abacus demo` does.
func roleDemo(args []string) int {
	c := DemoConfig{Version: "test"}
	for i := 0; i+1 < len(args); i += 2 {
		switch args[i] {
		case "--workers":
			c.Workers, _ = strconv.Atoi(args[i+1])
		case "--nonce":
			c.Nonce = args[i+1]
		case "--memcached":
			c.Memcached = args[i+1]
		}
	}
	if err := ServeDemo(context.Background(), c, os.Stdin, os.Stdout); err != nil {
		return 1
	}
	return 0
}

// roleHold starts a lab below temp, tells of it and holds it until SIGTERM.
func roleHold(temp string) int {
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer cancel()
	r, err := StartDemo(ctx, Options{Command: []string{os.Args[0]}, Temp: temp, Owner: "lab up"})
	if err != nil {
		panic(err)
	}
	if err := json.NewEncoder(os.Stdout).Encode(r); err != nil {
		panic(err)
	}
	select {
	case <-ctx.Done():
	case <-time.After(time.Minute):
	}
	if err := r.Stop(context.Background()); err != nil {
		panic(err)
	}
	return 0
}

// gone tells whether a process has ended, reaped or not.
func gone(pid int) bool {
	if err := syscall.Kill(pid, 0); errors.Is(err, syscall.ESRCH) {
		return true
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return errors.Is(err, fs.ErrNotExist) && runtime.GOOS == "linux"
	}
	i := bytes.LastIndexByte(stat, ')')
	return i >= 0 && i+2 < len(stat) && (stat[i+2] == 'Z' || stat[i+2] == 'X')
}

func within(t *testing.T, limit time.Duration, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(limit); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", limit, what)
		}
	}
}

func missing(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// everyone lists all processes of a lab.
func everyone(r *Running) []int {
	pids := []int{r.KeeperPID}
	for _, list := range r.PIDs {
		pids = append(pids, list...)
	}
	return pids
}

func noMemcached(string) (string, error) { return "", exec.ErrNotFound }

func startLab(t *testing.T, o Options) *Running {
	t.Helper()
	o.Command = []string{os.Args[0]}
	if o.Temp == "" {
		o.Temp = t.TempDir()
	}
	r, err := StartDemo(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return r
}

func TestStartAndStop(t *testing.T) {
	r := startLab(t, Options{LookPath: noMemcached, Workers: 7})
	if r.Kind != "demo" || !strings.HasPrefix(r.BaseURL, "http://127.0.0.1:") || r.StatusURL != r.BaseURL+"/server-status?auto" {
		t.Errorf("lab %+v", r)
	}
	if len(r.PIDs["server"]) != 1 || len(r.PIDs["memcached"]) != 0 || r.PIDs["server"][0] == os.Getpid() {
		t.Errorf("processes %v, want a server of its own alone", r.PIDs)
	}
	if want := "embedded memcached-protocol server inside the demo process: memcached is not on the PATH"; len(r.Notes) != 1 || r.Notes[0] != want {
		t.Errorf("notes %q, want %q", r.Notes, want)
	}
	if r.Versions["demo"] != "test" || r.Versions["memcached"] != "" {
		t.Errorf("versions %v", r.Versions)
	}
	c := client(t)
	if f := auto(t, c, r.BaseURL); len(f["Scoreboard"]) != 7 {
		t.Errorf("scoreboard %q, want 7 workers", f["Scoreboard"])
	}
	if got := ask(t, c, "GET", r.BaseURL+"/memcached"); got.code != 200 || got.header.Get("X-Cache") != "miss" {
		t.Errorf("/memcached: %d, X-Cache %q", got.code, got.header.Get("X-Cache"))
	}
	if !r.Alive() || r.Ended() != "" {
		t.Error("the lab does not live")
	}
	if err := r.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	for _, pid := range everyone(r) {
		if !gone(pid) {
			t.Errorf("process %d is still there after Stop", pid)
		}
	}
	if !missing(r.Dir) || r.Alive() {
		t.Errorf("after Stop: folder missing %v, alive %v", missing(r.Dir), r.Alive())
	}
	if err := r.Stop(context.Background()); err != nil {
		t.Errorf("a second Stop: %v", err)
	}
}

func TestRealMemcachedBehindTheDemo(t *testing.T) {
	path := requireMemcached(t)
	r := startLab(t, Options{})
	if len(r.PIDs["memcached"]) != 1 || r.Versions["memcached"] == "" {
		t.Fatalf("processes %v, versions %v, notes %q: want the real memcached", r.PIDs, r.Versions, r.Notes)
	}
	if want := "memcached " + r.Versions["memcached"] + " from " + path + " on 127.0.0.1:"; len(r.Notes) != 1 || !strings.HasPrefix(r.Notes[0], want) {
		t.Errorf("notes %q, want %q…", r.Notes, want)
	}
	c := client(t)
	var bodies []string
	for _, page := range []string{"/apcu", "/memcached", "/memcached?persistent=1"} {
		for range 2 {
			bodies = append(bodies, ask(t, c, "GET", r.BaseURL+page).body)
		}
	}
	for _, b := range bodies {
		if b != bodies[0] || len(b) != 156 {
			t.Errorf("the pages differ: %q and %q", bodies[0], b)
		}
	}
	if got := ask(t, c, "GET", r.BaseURL+"/memcached"); got.header.Get("X-Cache") != "hit" {
		t.Errorf("X-Cache %q, want hit", got.header.Get("X-Cache"))
	}
	// It was really asked: one miss, then three hits.
	mc := newMemcachedClient(r.Notes[0][strings.LastIndex(r.Notes[0], " ")+1:], 1)
	_, err := mc.with(t.Context(), false, func(conn *memcachedConn) (bool, error) {
		stats, err := conn.stats()
		if stats["get_hits"] != "4" || stats["get_misses"] != "1" || stats["cmd_set"] != "1" {
			t.Errorf("memcached counted %s hits, %s misses, %s sets; want 4, 1, 1", stats["get_hits"], stats["get_misses"], stats["cmd_set"])
		}
		return false, err
	})
	if err != nil {
		t.Error(err)
	}
}

// A memcached that does not start is not the end of the lab.
func TestBrokenMemcached(t *testing.T) {
	r := startLab(t, Options{LookPath: func(string) (string, error) { return "/bin/false", nil }})
	if len(r.PIDs["memcached"]) != 0 || len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "/bin/false did not start: ") {
		t.Errorf("processes %v, notes %q", r.PIDs, r.Notes)
	}
	if got := ask(t, client(t), "GET", r.BaseURL+"/memcached"); got.code != 200 {
		t.Errorf("/memcached: %d", got.code)
	}
}

func TestDeadServerIsNoticed(t *testing.T) {
	r := startLab(t, Options{LookPath: noMemcached})
	if err := syscall.Kill(r.PIDs["server"][0], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	select {
	case <-r.Done():
	case <-time.After(10 * time.Second):
		t.Fatal("not noticed")
	}
	if r.Alive() || r.Ended() != "server was ended by a signal: killed" {
		t.Errorf("alive %v, ended %q", r.Alive(), r.Ended())
	}
}

// Without its memcached a lab is broken, though its server answers.
func TestDeadMemcachedIsNoticed(t *testing.T) {
	requireMemcached(t)
	r := startLab(t, Options{})
	if !r.Alive() || r.Ended() != "" {
		t.Fatalf("a new lab: alive %v, ended %q", r.Alive(), r.Ended())
	}
	if err := syscall.Kill(r.PIDs["memcached"][0], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	select {
	case <-r.Done():
	case <-time.After(10 * time.Second):
		t.Fatal("not noticed")
	}
	if r.Alive() || r.Ended() != "memcached was ended by a signal: killed" {
		t.Errorf("alive %v, ended %q", r.Alive(), r.Ended())
	}
	if gone(r.PIDs["server"][0]) {
		t.Error("the server ended, too: the test shows nothing")
	}
}

// A memcached that hangs is named, with what it had said.
func TestMemcachedThatHangs(t *testing.T) {
	dir := t.TempDir()
	for _, d := range []string{filepath.Dir(dir), dir} { // root's memcached runs as nobody
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	program := filepath.Join(dir, "memcached")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho warming up\necho the pool is stuck >&2\nexec sleep 60\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errors.New("not ready in time"))
	defer cancel()
	temp := t.TempDir()
	_, err := StartDemo(ctx, Options{Command: []string{os.Args[0]}, Temp: temp, LookPath: func(string) (string, error) { return program, nil }})
	if err == nil {
		t.Fatal("it started")
	}
	begin := "start the demo: not ready in time: " + program + " did not start: no answer on 127.0.0.1:"
	end := `s; it said "warming up\nthe pool is stuck"`
	if !strings.HasPrefix(err.Error(), begin) || !strings.HasSuffix(err.Error(), end) {
		t.Errorf("error\n%v\nwant\n%s…%s", err, begin, end)
	}
	if left, _ := filepath.Glob(filepath.Join(temp, "*")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

// A server that another program is in the place of is not taken for ours.
func TestNonce(t *testing.T) {
	_, url := startDemo(t, DemoConfig{Nonce: "right"})
	if err := proveNonce(t.Context(), url, "right"); err != nil {
		t.Error(err)
	}
	if err := proveNonce(t.Context(), url, "wrong"); err == nil || !strings.Contains(err.Error(), "another server than ours") {
		t.Errorf("a wrong nonce: %v", err)
	}
	if err := proveNonce(t.Context(), "http://127.0.0.1:1", "any"); err == nil {
		t.Error("no server at all was accepted")
	}
}

// A server that says nonsense or ends at once is an error, and nothing stays.
func TestServerThatDoesNotStart(t *testing.T) {
	temp := t.TempDir()
	for name, script := range map[string]string{
		"ends at once":  "#!/bin/sh\n[ \"$1\" = keeper ] && exec " + os.Args[0] + " keeper\necho no luck >&2\nexit 3\n",
		"says nonsense": "#!/bin/sh\n[ \"$1\" = keeper ] && exec " + os.Args[0] + " keeper\necho nonsense\ncat\n",
		"lies":          "#!/bin/sh\n[ \"$1\" = keeper ] && exec " + os.Args[0] + " keeper\necho '{\"url\":\"http://127.0.0.1:1\"}'\ncat\n",
	} {
		program := filepath.Join(t.TempDir(), "program")
		if err := os.WriteFile(program, []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
		r, err := StartDemo(t.Context(), Options{Command: []string{program}, Temp: temp, LookPath: noMemcached})
		if err == nil {
			t.Errorf("%s: started: %+v", name, r)
			_ = r.Stop(context.Background())
		}
		if name == "ends at once" && !strings.Contains(err.Error(), "ended with status 3: no luck") {
			t.Errorf("%s: %v: its last words are missing", name, err)
		}
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) != 0 {
		t.Errorf("left over: %v, %v", left, err)
	}
}

// hold starts a program that holds a lab, and returns both.
func hold(t *testing.T, temp string) (*exec.Cmd, *Running) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "hold", temp)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	r := &Running{}
	if err := json.NewDecoder(bufio.NewReader(out)).Decode(r); err != nil {
		t.Fatal(err)
	}
	return cmd, r
}

func allGone(r *Running) func() bool {
	return func() bool {
		for _, pid := range everyone(r) {
			if !gone(pid) {
				return false
			}
		}
		return missing(r.Dir)
	}
}

// The holder killed at any moment, with requests under way or without:
// nothing is left within 3 s.
func TestHolderKilled(t *testing.T) {
	for _, busy := range []bool{false, true} {
		cmd, r := hold(t, t.TempDir())
		if busy {
			for _, page := range []string{"/delay?ms=60000", "/memcached?persistent=1"} {
				go func() {
					if resp, err := http.Get(r.BaseURL + page); err == nil {
						resp.Body.Close()
					}
				}()
			}
			waitStatus(t, client(t), r.BaseURL, "a request under way", func(f map[string]string) bool { return f["BusyWorkers"] >= "2" })
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		within(t, 3*time.Second, "all processes and the folder gone", allGone(r))
	}
}

// The keeper killed: the servers end all the same.
func TestLabKeeperKilled(t *testing.T) {
	r := startLab(t, Options{})
	if err := syscall.Kill(r.KeeperPID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	within(t, 3*time.Second, "servers gone", func() bool {
		for _, pid := range everyone(r) {
			// Without a parent-death signal memcached stays, as documented.
			if !gone(pid) && (runtime.GOOS == "linux" || pid == r.PIDs["server"][0]) {
				return false
			}
		}
		return !r.Alive()
	})
	if err := r.Stop(context.Background()); err != nil {
		t.Error(err)
	}
	if !missing(r.Dir) {
		t.Error("the folder stays")
	}
}

func TestStateAndDown(t *testing.T) {
	temp := t.TempDir()
	if all, err := Labs(temp); err != nil || len(all) != 0 {
		t.Fatalf("labs in an empty folder: %v, %v", all, err)
	}
	cmd, r := hold(t, temp)
	// What is no lab is passed over.
	for _, name := range []string{"abacus-lab-empty", "abacus-lab-nonsense"} {
		if err := os.Mkdir(filepath.Join(temp, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(temp, "abacus-lab-nonsense", stateFile), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(r.Dir, filepath.Join(temp, "abacus-lab-symlink")); err != nil {
		t.Fatal(err)
	}
	all, err := Labs(temp)
	if err != nil || len(all) != 2 {
		t.Fatalf("labs: %v, %v; want one and a damaged one", all, err)
	}
	s := all[0]
	if s.Damaged != "" { // the names are random
		s = all[1]
	} else {
		all[0] = all[1]
	}
	if path := filepath.Join(temp, "abacus-lab-nonsense", stateFile); all[0].Dir != filepath.Dir(path) || !strings.HasPrefix(all[0].Damaged, path+" is damaged: ") {
		t.Errorf("the damaged one: %+v", all[0])
	}
	if err := all[0].Down(time.Second); err == nil || missing(all[0].Dir) {
		t.Errorf("the damaged one was taken down: %v", err)
	}
	if s.BaseURL != r.BaseURL || s.OwnerPID != cmd.Process.Pid || s.Owner != "lab up" || s.Dir != r.Dir || s.KeeperPID != r.KeeperPID {
		t.Errorf("state %+v of %+v", s, r)
	}
	if runtime.GOOS != "linux" {
		t.Skip("processes are told apart on Linux only")
	}
	if alive, err := s.OwnerAlive(); err != nil || !alive {
		t.Fatalf("alive %v, %v", alive, err)
	}
	// Another process of that number is not the holder.
	for name, change := range map[string]func(*State){
		"later start":     func(s *State) { s.OwnerStarted++ },
		"unknown start":   func(s *State) { s.OwnerStarted = 0 },
		"another program": func(s *State) { s.OwnerPID = 1; s.OwnerStarted = 0 },
	} {
		other := s
		change(&other)
		if alive, err := other.OwnerAlive(); alive {
			t.Errorf("%s: taken for the holder (%v)", name, err)
		}
	}
	if err := s.Down(5 * time.Second); err != nil {
		t.Fatal(err)
	}
	within(t, 3*time.Second, "all gone", allGone(r))
	if err := cmd.Wait(); err != nil {
		t.Errorf("the holder ended with %v, want an orderly end", err)
	}
}

// A state file that says nothing is not passed over: a lab may serve.
func TestDamagedState(t *testing.T) {
	for name, write := range map[string]func(path string) error{
		"is damaged: ":         func(p string) error { return os.WriteFile(p, []byte("{\"schema\": 1"), 0o644) },
		"is damaged: it names": func(p string) error { return os.WriteFile(p, []byte("{\"schema\": 1}"), 0o644) },
		"has schema 2":         func(p string) error { return os.WriteFile(p, []byte("{\"schema\": 2}"), 0o644) },
		"has 1048577 bytes":    func(p string) error { return os.WriteFile(p, make([]byte, 1<<20+1), 0o644) },
		"is no regular file":   func(p string) error { return syscall.Mkfifo(p, 0o644) },
	} {
		temp := t.TempDir()
		path := filepath.Join(temp, "abacus-lab-x", stateFile)
		if err := errors.Join(os.Mkdir(filepath.Dir(path), 0o755), write(path)); err != nil {
			t.Fatal(err)
		}
		all, err := Labs(temp)
		if err != nil || len(all) != 1 || !strings.HasPrefix(all[0].Damaged, path+" "+name) {
			t.Errorf("%s: labs %+v, %v", name, all, err)
		}
	}
}

// What a killed holder and a killed keeper left is removed.
func TestDownOfLeftovers(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("processes are told apart on Linux only")
	}
	temp := t.TempDir()
	cmd, r := hold(t, temp)
	for _, pid := range []int{r.KeeperPID, cmd.Process.Pid} {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	_ = cmd.Wait()
	within(t, 3*time.Second, "servers gone", func() bool { return gone(r.PIDs["server"][0]) })
	all, err := Labs(temp)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		t.Skip("the holder removed the folder before it was killed")
	}
	if alive, err := all[0].OwnerAlive(); err != nil || alive {
		t.Fatalf("alive %v, %v", alive, err)
	}
	if err := all[0].Down(time.Second); err != nil {
		t.Fatal(err)
	}
	if !missing(r.Dir) {
		t.Error("the leftover folder stays")
	}
}

func TestStartTicks(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("Linux only")
	}
	own, err := lookAt(os.Getpid())
	if err != nil || own.started == 0 || own.program != filepath.Base(os.Args[0]) {
		t.Errorf("this process is %+v, %v", own, err)
	}
	if _, err := lookAt(1 << 30); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a process that is not there: %v", err)
	}
}

// A start that is given up leaves nothing.
func TestStartIsCancelled(t *testing.T) {
	temp := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r, err := StartDemo(ctx, Options{Command: []string{os.Args[0]}, Temp: temp}); err == nil {
		t.Errorf("started: %+v", r)
		_ = r.Stop(context.Background())
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) != 0 {
		t.Errorf("left over: %v, %v", left, err)
	}
}

func TestListen(t *testing.T) {
	l, err := Listen()
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	host, port, _ := strings.Cut(l.Addr().String(), ":")
	if n, err := strconv.Atoi(port); host != "127.0.0.1" || err != nil || ephemeralLow() >= lowestPort+portsNeeded && (n < lowestPort || n >= ephemeralLow()) {
		t.Errorf("listens on %s", l.Addr())
	}
}
