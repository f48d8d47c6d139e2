//go:build unix

package worker

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"abacus/harness/load"
)

// parentRole runs a job through Engine and prints the child's pid as soon as
// load has begun.
func parentRole(engine string) int {
	exe, err := os.Executable()
	if err != nil {
		panic(err)
	}
	var pid int
	e := &Engine{
		Command: []string{exe}, Env: append(os.Environ(), roleVar+"=serve="+engine),
		Started: func(p int) {
			pid = p
			if engine == "ignores stop" {
				fmt.Println(pid)
			}
		},
	}
	told := false
	_, _ = e.Run(context.Background(), fakeJob(1), func(load.Progress) {
		if !told {
			told = true
			fmt.Println(pid)
		}
	})
	return 0
}

// plainParentRole starts the child without any belt but the pipes.
func plainParentRole(engine string) int {
	exe, err := os.Executable()
	if err != nil {
		panic(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), roleVar+"=serve="+engine)
	in, err := cmd.StdinPipe()
	if err != nil {
		panic(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		panic(err)
	}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	line, _ := json.Marshal(request{Version: Version, Job: fakeJob(1)})
	_, _ = in.Write(append(line, '\n'))
	fmt.Println(cmd.Process.Pid)
	r := bufio.NewReader(out)
	for {
		if _, err := readRecord(r); err != nil {
			return 1
		}
	}
}

// TestParentKilled: whatever a killed parent leaves ends soon, also with an
// engine that does not listen.
func TestParentKilled(t *testing.T) {
	for _, role := range []string{
		"parent=until stopped", "parent=ignores stop",
		"plain parent=until stopped", "plain parent=ignores stop",
	} {
		t.Run(role, func(t *testing.T) {
			exe, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			parent := exec.Command(exe)
			parent.Env = append(os.Environ(), roleVar+"="+role)
			out, err := parent.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := parent.Start(); err != nil {
				t.Fatal(err)
			}
			line, err := bufio.NewReader(out).ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			pid, err := strconv.Atoi(strings.TrimSpace(line))
			if err != nil {
				t.Fatal(err)
			}
			if err := syscall.Kill(pid, 0); err != nil {
				t.Fatalf("the worker %d is not there: %v", pid, err)
			}
			if err := parent.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = parent.Wait()
			if !endsWithin(pid, 3*time.Second) {
				_ = syscall.Kill(pid, syscall.SIGKILL)
				t.Errorf("the worker %d lives on 3 s after its parent", pid)
			}
		})
	}
}

// endsWithin polls until the process is gone, or a zombie that nobody has
// taken yet.
func endsWithin(pid int, d time.Duration) bool {
	for deadline := time.Now().Add(d); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			return true
		}
		if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil {
			if _, rest, ok := strings.Cut(string(stat), ") "); ok && strings.HasPrefix(rest, "Z") {
				return true
			}
		}
	}
	return false
}
