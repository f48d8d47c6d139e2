package keeper

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"time"
)

// child is a process that the keeper started.
type child struct {
	role  string
	grace time.Duration
	cmd   *exec.Cmd
	stdin io.Closer
	tail  *tail
	done  chan struct{} // closed when it has ended and was reported

	mu sync.Mutex
	// reaped says that the process id is free again and must not be
	// signalled any more.
	reaped bool
}

// starter starts all children from one thread that lives as long as the
// keeper: the parent-death signal is tied to the thread, not to the process.
type starter struct {
	requests chan func()
}

func newStarter() *starter {
	s := &starter{requests: make(chan func())}
	go func() {
		runtime.LockOSThread() // never unlocked: the thread must not end
		for f := range s.requests {
			f()
		}
	}()
	return s
}

// start starts a process and returns it with its standard output.
func (s *starter) start(spec Spec) (*child, io.Reader, error) {
	cmd := exec.Command(spec.Argv[0], spec.Argv[1:]...)
	cmd.Dir, cmd.Env = spec.Dir, spec.Env
	if err := detach(cmd, spec); err != nil {
		return nil, nil, err
	}
	c := &child{role: spec.Role, grace: spec.Grace, cmd: cmd, tail: &tail{}, done: make(chan struct{})}
	if c.grace <= 0 {
		c.grace = DefaultGrace
	}
	cmd.Stderr = c.tail
	// A grandchild that holds the pipes open must not hold up the keeper.
	cmd.WaitDelay = time.Second
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	c.stdin = stdin
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	started := make(chan error)
	s.requests <- func() { started <- cmd.Start() }
	if err := <-started; err != nil {
		return nil, nil, err
	}
	return c, stdout, nil
}

// wait waits for the process's end, ends what is left of its group, and reaps
// it. Its output must have been read to the end before, which read tells.
func (c *child) wait(read <-chan struct{}) Exit {
	waitable := blockUntilExited(c.cmd.Process.Pid)
	if waitable {
		c.mu.Lock()
		// The leader is a zombie still, so its group's number is ours.
		_ = signalGroup(c.cmd.Process.Pid, os.Kill)
		c.reaped = true
		c.mu.Unlock()
	}
	select {
	case <-read:
	case <-time.After(time.Second):
	}
	_ = c.cmd.Wait() // what it says is in ProcessState
	c.mu.Lock()
	c.reaped = true
	c.mu.Unlock()
	return exitOf(c.cmd, c.tail.String())
}

// signal sends to the child's process group unless it has ended.
func (c *child) signal(s os.Signal) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.reaped {
		_ = signalGroup(c.cmd.Process.Pid, s)
	}
}

// stop ends the child: end of input and SIGTERM, then SIGKILL after its grace.
func (c *child) stop() error {
	_ = c.stdin.Close()
	c.signal(terminate)
	if c.ended(c.grace) {
		return nil
	}
	c.signal(os.Kill)
	if c.ended(time.Second) {
		return nil
	}
	return fmt.Errorf("%s (process %d) is still there after SIGKILL", c.role, c.cmd.Process.Pid)
}

// ended waits for the child's end, at most for the given time.
func (c *child) ended(within time.Duration) bool {
	t := time.NewTimer(within)
	defer t.Stop()
	select {
	case <-c.done:
		return true
	case <-t.C:
		return false
	}
}

// tailBytes is how much of a child's standard error is kept.
const tailBytes = 4096

// tail keeps the end of what is written to it.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p...)
	if cut := len(t.buf) - tailBytes; cut > 0 {
		t.buf = append(t.buf[:0], t.buf[cut:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.buf)
}
