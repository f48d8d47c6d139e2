package campaign

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"abacus/harness/record"
)

// The kinds of hooks.
const (
	hookSetup    = "setup"
	hookPrepare  = "prepare"
	hookConclude = "conclude"
	hookCleanup  = "cleanup"
)

// hookTail is how much of a hook's output is kept: its end.
const hookTail = 4 << 10

// runHooks runs the commands one after another and stops at the first that
// fails. What was run is returned whatever came of it, but for a command that
// the end of ctx ended: that one did not fail, and the error is ctx's.
func (c *Campaign) runHooks(ctx context.Context, kind string, commands [][]string) ([]record.Hook, error) {
	var log []record.Hook
	for _, args := range commands {
		h := runHook(ctx, kind, args, c.Bounds.HookTimeout)
		if h.Error != "" && ctx.Err() != nil {
			return log, fmt.Errorf("%s hook %s: %w", kind, strings.Join(args, " "), ctx.Err())
		}
		log = append(log, h)
		if h.Error != "" {
			return log, fmt.Errorf("%s hook %s: %s", kind, strings.Join(args, " "), h.Error)
		}
	}
	return log, nil
}

// runHook runs one argument list, no shell involved, within a time limit. Its
// whole process group is ended when the limit is over.
func runHook(ctx context.Context, kind string, args []string, limit time.Duration) record.Hook {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	out := &tail{most: hookTail}
	cmd.Stdout, cmd.Stderr = out, out
	ownGroup(cmd)
	cmd.WaitDelay = time.Second
	start := time.Now()
	err := cmd.Run()
	if errors.Is(err, exec.ErrWaitDelay) {
		// It has ended well and left something in the background that holds
		// its output: a server that a setup hook starts, say.
		err = nil
	}
	h := record.Hook{Kind: kind, Args: args, TookNS: time.Since(start).Nanoseconds(), Output: out.String()}
	if cmd.ProcessState != nil && cmd.ProcessState.Exited() {
		code := cmd.ProcessState.ExitCode()
		h.ExitCode = &code
	}
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		h.Error = fmt.Sprintf("not done after %v, ended", limit)
	case err != nil:
		h.Error = err.Error()
	}
	return h
}

// tail keeps the last bytes that are written to it.
type tail struct {
	buf  bytes.Buffer
	most int
}

func (t *tail) Write(p []byte) (int, error) {
	t.buf.Write(p)
	if over := t.buf.Len() - t.most; over > 0 {
		t.buf.Next(over)
	}
	return len(p), nil
}

func (t *tail) String() string { return strings.ToValidUTF8(t.buf.String(), "�") }
