//go:build unix

package worker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"abacus/harness/fault"
	"abacus/harness/load"
)

// roleVar makes the test binary play a part of its own: a worker with a fake
// engine, or a parent that starts one.
const roleVar = "ABACUS_WORKER_TEST_ROLE"

func TestMain(m *testing.M) {
	role := os.Getenv(roleVar)
	if role == "" {
		// A process with the race detector sleeps a second before it ends,
		// unless it is told not to.
		if err := os.Setenv("GORACE", "atexit_sleep_ms=0"); err != nil {
			panic(err)
		}
		os.Exit(m.Run())
	}
	name, arg, _ := strings.Cut(role, "=")
	os.Exit(roles[name](arg))
}

// roles are what the test binary can be.
var roles = map[string]func(arg string) int{
	"serve": func(engine string) int {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
		defer stop()
		if err := Serve(ctx, os.Stdin, os.Stdout, fakes[engine]); err != nil {
			fmt.Fprintln(os.Stderr, "worker:", err)
			return 1
		}
		return 0
	},
	// raw prints its argument, unquoted, instead of speaking the protocol.
	"raw": func(arg string) int {
		text, err := strconv.Unquote(arg)
		if err != nil {
			panic(err)
		}
		fmt.Print(text)
		return 0
	},
	"endless line": func(string) int {
		piece := strings.Repeat("x", 1<<20)
		for {
			if _, err := io.WriteString(os.Stdout, piece); err != nil {
				return 1
			}
		}
	},
	"exit": func(arg string) int {
		fmt.Fprintln(os.Stderr, "said before\x1b[31m it went")
		code, _ := strconv.Atoi(arg)
		return code
	},
	// result and then: a good result, and another end than a good one.
	"after result": func(arg string) int {
		out := &output{w: os.Stdout}
		_ = out.write(record{Type: typeResult, Result: &load.Result{Engine: "fake", Counts: load.Counts{Complete: 7}}})
		switch arg {
		case "hang":
			select {}
		case "twice":
			_ = out.write(record{Type: typeResult, Result: &load.Result{Engine: "fake"}})
			return 0
		}
		return 3
	},
	// orphan leaves a child of its own behind, which holds its output; the
	// result's note is that one's pid.
	"orphan": func(string) int {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), roleVar+"=holder")
		cmd.Stdout = os.Stdout
		if err := cmd.Start(); err != nil {
			panic(err)
		}
		_ = (&output{w: os.Stdout}).write(record{Type: typeResult, Result: &load.Result{Engine: "fake", Notes: []string{strconv.Itoa(cmd.Process.Pid)}}})
		return 0
	},
	"holder": func(string) int { time.Sleep(time.Minute); return 0 },
	"deaf": func(string) int { // does not notice that it should stop
		out := &output{w: os.Stdout}
		_ = out.write(record{Type: typeProgress, Progress: &load.Progress{ElapsedNS: 5e9, Counts: load.Counts{Complete: 41}}})
		select {}
	},
	"parent":       parentRole,
	"plain parent": plainParentRole,
}

// fakes are engines for the worker role.
var fakes = map[string]Func{
	"counting": func(_ context.Context, job load.Job, progress func(load.Progress)) (*load.Result, error) {
		res := &load.Result{Engine: job.Engine, Total: load.NewDistribution(), ElapsedNS: 5}
		for i := range job.Requests {
			res.Counts.Complete++
			res.Total.Record(i + 1)
			progress(load.Progress{ElapsedNS: i + 1, Counts: res.Counts})
		}
		return res, nil
	},
	"until stopped": untilStopped,
	"error": func(context.Context, load.Job, func(load.Progress)) (*load.Result, error) {
		return nil, fault.Input(errors.New("url \"gopher://x\": scheme must be http or https"), "use http")
	},
	"error with part": func(context.Context, load.Job, func(load.Progress)) (*load.Result, error) {
		return &load.Result{Engine: "fake", Counts: load.Counts{Complete: 3}}, errors.New("broke off")
	},
	"nothing": func(context.Context, load.Job, func(load.Progress)) (*load.Result, error) { return nil, nil },
	"panic":   func(context.Context, load.Job, func(load.Progress)) (*load.Result, error) { panic("boom") },
	"panic elsewhere": func(_ context.Context, _ load.Job, progress func(load.Progress)) (*load.Result, error) {
		progress(load.Progress{ElapsedNS: 3e9, Counts: load.Counts{Complete: 12, Failed: 1, Timeout: 1}})
		time.Sleep(100 * time.Millisecond) // lets the report out; the test waits for nothing
		go panic("boom in a goroutine")
		select {}
	},
	"exit": func(context.Context, load.Job, func(load.Progress)) (*load.Result, error) {
		os.Exit(4)
		return nil, nil
	},
	"ignores stop": func(context.Context, load.Job, func(load.Progress)) (*load.Result, error) {
		select {}
	},
	"burns": func(context.Context, load.Job, func(load.Progress)) (*load.Result, error) {
		for begin, _, _ := cpuTimes(); ; {
			if now, _, ok := cpuTimes(); !ok || now-begin > 50e6 {
				return &load.Result{Engine: "fake"}, nil
			}
		}
	},
}

// untilStopped reports often and ends only when it is told to.
func untilStopped(ctx context.Context, job load.Job, progress func(load.Progress)) (*load.Result, error) {
	res := &load.Result{Engine: job.Engine}
	t := time.NewTicker(10 * time.Millisecond)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			res.Interrupted = true
			return res, nil
		case <-t.C:
			res.Counts.Complete++
			res.ElapsedNS += 1e7
			progress(load.Progress{ElapsedNS: res.ElapsedNS, Counts: res.Counts})
		}
	}
}

// as returns an Engine whose child plays the role.
func as(t *testing.T, role string) *Engine {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return &Engine{Command: []string{exe}, Env: append(os.Environ(), roleVar+"="+role)}
}

func fakeJob(n int64) load.Job {
	return load.Job{Engine: "fake", URL: "http://127.0.0.1:1/", Concurrency: 1, Requests: n, Timeout: time.Second}
}
