//go:build unix

package keeper

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The test binary starts itself again in the roles of this table.
func TestMain(m *testing.M) {
	roles := map[string]func(){
		"keeper":   func() { DeafToSignals(); _ = Serve(os.Stdin, os.Stdout) },
		"child":    roleChild,
		"stubborn": roleStubborn,
		"family":   roleFamily,
		"parent":   roleParent,
		"env":      func() { fmt.Println(os.Getenv("WORD")); dir, _ := os.Getwd(); fmt.Println(dir) },
		"fail":     func() { fmt.Fprintln(os.Stderr, "no luck"); os.Exit(3) },
		"talk": func() {
			for i := range 100000 {
				fmt.Printf("line %d\n", i)
			}
			fmt.Fprintln(os.Stderr, "said all")
		},
	}
	if len(os.Args) > 1 {
		if role, ok := roles[os.Args[1]]; ok {
			role()
			os.Exit(0)
		}
	}
	// A process with the race detector sleeps a second before it ends, unless
	// it is told not to.
	if err := os.Setenv("GORACE", "atexit_sleep_ms=0"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// roleChild lives as long as its standard input.
func roleChild() {
	fmt.Println("ready")
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// roleStubborn ends for nothing but SIGKILL.
func roleStubborn() {
	signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	fmt.Println("ready")
	time.Sleep(time.Minute)
}

// roleFamily has a child of its own in its group, which nothing but a signal
// to the group reaches, and tells its number.
func roleFamily() {
	cmd := exec.Command(os.Args[0], "stubborn")
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	fmt.Println(cmd.Process.Pid)
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// roleParent holds a keeper with two children and tells all numbers.
func roleParent() {
	k, err := Start(context.Background(), Options{Command: []string{os.Args[0], "keeper"}, Temp: os.Args[2], Prefix: "test-"})
	if err != nil {
		panic(err)
	}
	pids := []int{k.PID}
	for _, role := range []string{"child", "stubborn"} {
		c, err := k.Launch(context.Background(), Spec{Role: role, Argv: []string{os.Args[0], role}})
		if err != nil {
			panic(err)
		}
		if _, err := c.Line(context.Background()); err != nil {
			panic(err)
		}
		pids = append(pids, c.PID)
	}
	if err := json.NewEncoder(os.Stdout).Encode(pids); err != nil {
		panic(err)
	}
	time.Sleep(time.Minute)
}

// gone tells whether a process has ended; one that nobody has reaped counts
// as ended.
func gone(pid int) bool {
	if err := syscall.Kill(pid, 0); errors.Is(err, syscall.ESRCH) {
		return true
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	if i := bytes.LastIndexByte(stat, ')'); i >= 0 && i+2 < len(stat) {
		return stat[i+2] == 'Z' || stat[i+2] == 'X'
	}
	return false
}

// within polls until the condition holds.
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

func start(t *testing.T) *Keeper {
	t.Helper()
	k, err := Start(t.Context(), Options{Command: []string{os.Args[0], "keeper"}, Temp: t.TempDir(), Prefix: "test-"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := k.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	return k
}

func launch(t *testing.T, k *Keeper, role string) *Child {
	t.Helper()
	c, err := k.Launch(t.Context(), Spec{Role: role, Argv: []string{os.Args[0], role}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func line(t *testing.T, c *Child) string {
	t.Helper()
	text, err := c.Line(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func stop(t *testing.T, k *Keeper) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := k.Stop(ctx); err != nil {
		t.Fatal(err)
	}
}

func TestStopEndsEverything(t *testing.T) {
	k := start(t)
	info, err := os.Stat(k.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode().Perm(); got != 0o711 {
		t.Errorf("the folder's mode is %o, want 711", got)
	}
	if err := os.WriteFile(filepath.Join(k.Dir, "file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	var pids []int
	for _, role := range []string{"child", "stubborn"} {
		c := launch(t, k, role)
		if got := line(t, c); got != "ready" {
			t.Fatalf("%s says %q", role, got)
		}
		if gone(c.PID) {
			t.Fatalf("%s does not live", role)
		}
		pids = append(pids, c.PID)
	}
	begin := time.Now()
	stop(t, k)
	if took := time.Since(begin); took > 3*time.Second {
		t.Errorf("the end took %v", took)
	}
	for _, pid := range append(pids, k.PID) {
		if !gone(pid) {
			t.Errorf("process %d is still there after Stop", pid)
		}
	}
	if !missing(k.Dir) {
		t.Errorf("the folder is still there after Stop")
	}
	stop(t, k) // once more does nothing
}

// Everything ends when the parent is killed, which can say nothing any more.
func TestParentKilled(t *testing.T) {
	temp := t.TempDir()
	parent := exec.Command(os.Args[0], "parent", temp)
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	var pids []int
	if err := json.NewDecoder(bufio.NewReader(out)).Decode(&pids); err != nil || len(pids) != 3 {
		t.Fatalf("%v, %v", pids, err)
	}
	for _, pid := range pids {
		if gone(pid) {
			t.Fatalf("process %d does not live before the kill", pid)
		}
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait()
	within(t, 3*time.Second, "keeper and children gone", func() bool {
		return gone(pids[0]) && gone(pids[1]) && gone(pids[2])
	})
	left, err := os.ReadDir(temp)
	if err != nil || len(left) != 0 {
		t.Errorf("left over: %v, %v", left, err)
	}
}

// A keeper that is killed takes its children along: by their standard input,
// and where the system has it by the parent-death signal.
func TestKeeperKilled(t *testing.T) {
	k := start(t)
	gentle := launch(t, k, "child")
	line(t, gentle)
	pids := []int{gentle.PID}
	if parentDeathSignal {
		c := launch(t, k, "stubborn")
		line(t, c)
		pids = append(pids, c.PID)
	}
	if err := syscall.Kill(k.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	within(t, 3*time.Second, "children gone", func() bool {
		for _, pid := range pids {
			if !gone(pid) {
				return false
			}
		}
		return true
	})
	select {
	case <-gentle.Done():
		if got := gentle.Exit().String(); !strings.Contains(got, "keeper is gone") {
			t.Errorf("the child's end is told as %q", got)
		}
	case <-time.After(3 * time.Second):
		t.Fatal("the end of the keeper is not noticed")
	}
	if missing(k.Dir) {
		t.Error("who removed the folder?")
	}
	stop(t, k)
	if !missing(k.Dir) {
		t.Error("Stop leaves the folder of a keeper that was killed")
	}
}

// Signals of a terminal are for the program that holds the keeper.
func TestKeeperIsDeaf(t *testing.T) {
	k := start(t)
	c := launch(t, k, "child")
	line(t, c)
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if err := syscall.Kill(k.PID, s); err != nil {
			t.Fatal(err)
		}
	}
	// It still obeys.
	if got := line(t, launch(t, k, "child")); got != "ready" {
		t.Errorf("after the signals a child says %q", got)
	}
	if gone(c.PID) {
		t.Error("a signal to the keeper ended a child")
	}
	pgid, err := syscall.Getpgid(k.PID)
	if err != nil || pgid == syscall.Getpgrp() {
		t.Errorf("the keeper is in this process's group: %d, %v", pgid, err)
	}
	if pgid, err := syscall.Getpgid(c.PID); err != nil || pgid != c.PID {
		t.Errorf("the child leads no group of its own: %d, %v", pgid, err)
	}
}

// A child's own children go with it: when it ends by itself, and by Stop.
func TestGroupGoesToo(t *testing.T) {
	if !parentDeathSignal {
		t.Skip("what a child leaves behind when it ends by itself is collected on Linux only")
	}
	k := start(t)
	c := launch(t, k, "family")
	grandchild, err := strconv.Atoi(line(t, c))
	if err != nil {
		t.Fatal(err)
	}
	if gone(grandchild) {
		t.Fatal("the grandchild does not live")
	}
	if err := c.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	within(t, 3*time.Second, "grandchild gone", func() bool { return gone(grandchild) })
}

func TestChildThatDiesIsNoticed(t *testing.T) {
	k := start(t)
	c := launch(t, k, "fail")
	select {
	case <-c.Done():
	case <-time.After(5 * time.Second):
		t.Fatal("not noticed")
	}
	if e := c.Exit(); e.Code != 3 || e.Signal != "" || e.Stderr != "no luck\n" {
		t.Errorf("exit %+v, want status 3 and its words", e)
	}
	if _, err := c.Line(t.Context()); err == nil || !strings.Contains(err.Error(), "fail ended with status 3: no luck") {
		t.Errorf("waiting for its line: %v", err)
	}
	killed := launch(t, k, "stubborn")
	line(t, killed)
	if err := syscall.Kill(killed.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	select {
	case <-killed.Done():
	case <-time.After(5 * time.Second):
		t.Fatal("not noticed")
	}
	if e := killed.Exit(); e.Code != -1 || e.Signal != "killed" {
		t.Errorf("exit %+v, want killed", e)
	}
}

func TestEnvironmentAndFolder(t *testing.T) {
	k := start(t)
	c, err := k.Launch(t.Context(), Spec{Role: "env", Argv: []string{os.Args[0], "env"}, Env: []string{"WORD=mellon"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := line(t, c); got != "mellon" {
		t.Errorf("the variable is %q", got)
	}
	want, err := filepath.EvalSymlinks(k.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if got := line(t, c); got != want {
		t.Errorf("the working folder is %q, want the lab's, %q", got, want)
	}
}

// A child that talks much is neither blocked nor allowed to flood.
func TestTalkativeChild(t *testing.T) {
	k := start(t)
	c := launch(t, k, "talk")
	select {
	case <-c.Done():
	case <-time.After(10 * time.Second):
		t.Fatal("it does not come to its end")
	}
	for i := range forwardLines {
		if got, want := line(t, c), fmt.Sprintf("line %d", i); got != want {
			t.Errorf("line %d is %q", i, got)
		}
	}
	if got, err := c.Line(t.Context()); err == nil {
		t.Errorf("a line more than is passed on: %q", got)
	}
}

func TestCannotStart(t *testing.T) {
	k := start(t)
	_, err := k.Launch(t.Context(), Spec{Role: "ghost", Argv: []string{"/no/such/program"}})
	if err == nil || !strings.Contains(err.Error(), "start ghost: ") || !strings.Contains(err.Error(), "/no/such/program") {
		t.Errorf("a program that is not there: %v", err)
	}
	if _, err := k.Launch(t.Context(), Spec{Role: "empty"}); err == nil {
		t.Error("an empty command was started")
	}
	id := uint32(1)
	if _, err := k.Launch(t.Context(), Spec{Role: "half", Argv: []string{os.Args[0], "child"}, UID: &id}); err == nil {
		t.Error("a user without a group was taken")
	}
	if got := line(t, launch(t, k, "child")); got != "ready" {
		t.Errorf("after failures a child says %q", got)
	}
}

func TestKeeperCannotStart(t *testing.T) {
	for name, o := range map[string]Options{
		"no command":        {},
		"no program":        {Command: []string{"/no/such/program"}},
		"ends at once":      {Command: []string{os.Args[0], "fail"}},
		"no place":          {Command: []string{os.Args[0], "keeper"}, Temp: "/no/such/folder"},
		"speaks otherwise":  {Command: []string{os.Args[0], "env"}},
		"an unusual prefix": {Command: []string{os.Args[0], "keeper"}, Temp: t.TempDir(), Prefix: "a/b"},
	} {
		k, err := Start(t.Context(), o)
		if err == nil {
			t.Errorf("%s: started", name)
			stop(t, k)
		}
	}
}

// Requests that make no sense are refused, and the end comes all the same.
func TestServeRefuses(t *testing.T) {
	var out bytes.Buffer
	in := strings.NewReader("nonsense\n" + `{"op":"dance"}` + "\n" + `{"op":"start","id":1}` + "\n" + `{"op":"stop","id":9}` + "\n")
	if err := Serve(in, &out); err != nil {
		t.Fatal(err)
	}
	var got []string
	for l := range strings.Lines(out.String()) {
		var e event
		if err := json.Unmarshal([]byte(l), &e); err != nil {
			t.Fatal(err)
		}
		got = append(got, e.Event)
	}
	if want := "failed failed failed ended"; strings.Join(got, " ") != want {
		t.Errorf("events %v, want %s", got, want)
	}
}

func TestTailKeepsTheEnd(t *testing.T) {
	tl := &tail{}
	for i := range 2000 {
		fmt.Fprintf(tl, "%07d\n", i)
	}
	got := tl.String()
	if len(got) != tailBytes || !strings.HasSuffix(got, "0001998\n0001999\n") {
		t.Errorf("%d bytes ending in %q", len(got), got[max(0, len(got)-16):])
	}
}
