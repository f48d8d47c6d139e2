package keeper

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// Options say how a keeper is started.
type Options struct {
	// Command is the keeper's argument list: this program's path, "keeper".
	Command []string
	// Temp is where the lab's folder is made; empty is the system's own place
	// ($TMPDIR).
	Temp string
	// Prefix begins the folder's name.
	Prefix string
}

// Keeper is the other side of a keeper process.
type Keeper struct {
	// PID is the keeper's process id.
	PID int
	// Dir is the lab's folder; the keeper removes it at the end.
	Dir string

	cmd   *exec.Cmd
	tail  *tail
	done  chan struct{} // closed when the process has ended
	open  chan event    // the answer to open
	ended string        // what the last event said went wrong

	writeMu sync.Mutex
	stdin   io.WriteCloser

	mu       sync.Mutex
	next     int
	children map[int]*Child
}

// Start starts a keeper and has it make its folder. The context bounds the
// start only: the keeper lives until Stop or this process's end.
func Start(ctx context.Context, o Options) (*Keeper, error) {
	if len(o.Command) == 0 {
		return nil, errors.New("start the keeper: no command")
	}
	temp := o.Temp
	if temp == "" {
		temp = os.TempDir()
	}
	cmd := exec.Command(o.Command[0], o.Command[1:]...)
	cmd.SysProcAttr = ownSession()
	k := &Keeper{cmd: cmd, tail: &tail{}, done: make(chan struct{}), open: make(chan event, 1), children: map[int]*Child{}}
	cmd.Stderr = k.tail
	cmd.WaitDelay = time.Second
	var err error
	if k.stdin, err = cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("start the keeper: %w", err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start the keeper: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the keeper: %w", err)
	}
	k.PID = cmd.Process.Pid
	go k.listen(stdout)
	if err := k.begin(ctx, temp, o.Prefix); err != nil {
		stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		return nil, errors.Join(err, k.Stop(stop))
	}
	return k, nil
}

// begin has the folder made.
func (k *Keeper) begin(ctx context.Context, temp, prefix string) error {
	if err := k.send(request{Op: "open", Temp: temp, Prefix: prefix}); err != nil {
		return err
	}
	select {
	case e := <-k.open:
		switch {
		case e.Error != "":
			return fmt.Errorf("start the keeper: %s", e.Error)
		case e.Version != protocolVersion:
			return fmt.Errorf("start the keeper: it speaks version %d, not %d", e.Version, protocolVersion)
		}
		k.Dir = e.Dir
		return nil
	case <-k.done:
		return fmt.Errorf("start the keeper: it ended at once%s", said(k.tail.String()))
	case <-ctx.Done():
		return fmt.Errorf("start the keeper: %w", context.Cause(ctx))
	}
}

func (k *Keeper) send(r request) error {
	line, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("keeper: %w", err)
	}
	k.writeMu.Lock()
	defer k.writeMu.Unlock()
	if _, err := k.stdin.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("tell the keeper: %w", err)
	}
	return nil
}

// listen hands the events out until the keeper ends.
func (k *Keeper) listen(stdout io.Reader) {
	lines := bufio.NewScanner(stdout)
	lines.Buffer(make([]byte, 0, 4096), maxLine)
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) == nil {
			k.deliver(e)
		}
	}
	_ = k.cmd.Wait()
	k.mu.Lock()
	for _, c := range k.children {
		c.lost()
	}
	k.mu.Unlock()
	close(k.done)
}

func (k *Keeper) deliver(e event) {
	k.mu.Lock()
	c := k.children[e.ID]
	k.mu.Unlock()
	switch {
	case e.Event == "ended":
		k.ended = e.Error // read only after done is closed
	case e.Event == "open", e.Event == "failed" && c == nil:
		select {
		case k.open <- e:
		default:
		}
	case c != nil:
		c.deliver(e)
	}
}

// Launch has the keeper start a process.
func (k *Keeper) Launch(ctx context.Context, spec Spec) (*Child, error) {
	c := &Child{Role: spec.Role, keeper: k, started: make(chan event, 1), lines: make(chan string, forwardLines), done: make(chan struct{})}
	k.mu.Lock()
	k.next++
	c.id = k.next
	k.children[c.id] = c
	k.mu.Unlock()
	if err := k.send(request{Op: "start", ID: c.id, Spec: &spec}); err != nil {
		return nil, fmt.Errorf("start %s: %w", spec.Role, err)
	}
	select {
	case e := <-c.started:
		if e.Error != "" {
			return nil, errors.New(e.Error)
		}
		c.PID = e.PID
		return c, nil
	case <-k.done:
		return nil, fmt.Errorf("start %s: the keeper ended%s", spec.Role, said(k.tail.String()))
	case <-ctx.Done():
		return nil, fmt.Errorf("start %s: %w", spec.Role, context.Cause(ctx))
	}
}

// Done is closed when the keeper process has ended, and with it everything
// that it held.
func (k *Keeper) Done() <-chan struct{} { return k.done }

// Stop has everything stopped and the folder removed, and waits for it. When
// the context ends first, the keeper is killed; its children then end by
// their lifelines. Stop may be called again.
func (k *Keeper) Stop(ctx context.Context) error {
	k.writeMu.Lock()
	_ = k.stdin.Close() // the end of input says all there is to say
	k.writeMu.Unlock()
	var late error
	select {
	case <-k.done:
	case <-ctx.Done():
		late = fmt.Errorf("stop the keeper: %w", context.Cause(ctx))
		_ = k.cmd.Process.Kill()
		select {
		case <-k.done:
		case <-time.After(2 * time.Second):
			return late
		}
	}
	var err error
	if k.ended != "" {
		err = fmt.Errorf("stop the lab: %s", k.ended)
	}
	if k.Dir != "" {
		// Only a keeper that was killed leaves the folder behind.
		if e := os.RemoveAll(k.Dir); e != nil {
			err = errors.Join(err, fmt.Errorf("remove the lab's folder: %w", e))
		}
	}
	return errors.Join(late, err)
}

// Child is a process that a keeper holds for this one.
type Child struct {
	Role string
	PID  int

	id      int
	keeper  *Keeper
	started chan event
	lines   chan string
	done    chan struct{}
	once    sync.Once
	exit    Exit
}

func (c *Child) deliver(e event) {
	switch e.Event {
	case "started", "failed":
		select {
		case c.started <- e:
		default:
		}
	case "line":
		select {
		case c.lines <- e.Text:
		default: // more lines than the keeper passes on; none is expected
		}
	case "exited":
		c.finish(Exit{Code: e.Code, Signal: e.Signal, Stderr: e.Stderr})
	}
}

func (c *Child) finish(e Exit) {
	c.once.Do(func() {
		c.exit = e
		close(c.done)
	})
}

// lost notes that the keeper is gone without having reported this child.
func (c *Child) lost() { c.finish(Exit{Code: -1, Stderr: "the keeper is gone"}) }

// Line waits for the child's next line on standard output; only its first
// sixteen are passed on.
func (c *Child) Line(ctx context.Context) (string, error) {
	select {
	case line := <-c.lines:
		return line, nil
	default:
	}
	select {
	case line := <-c.lines:
		return line, nil
	case <-c.done:
		return "", fmt.Errorf("%s %s", c.Role, c.exit)
	case <-ctx.Done():
		return "", fmt.Errorf("wait for %s: %w", c.Role, context.Cause(ctx))
	}
}

// Stop has the keeper end this child and waits for it.
func (c *Child) Stop(ctx context.Context) error {
	if err := c.keeper.send(request{Op: "stop", ID: c.id}); err != nil {
		return err
	}
	select {
	case <-c.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("stop %s: %w", c.Role, context.Cause(ctx))
	}
}

// Done is closed when the child has ended.
func (c *Child) Done() <-chan struct{} { return c.done }

// Exit tells how the child ended. It may be asked only after Done.
func (c *Child) Exit() Exit { return c.exit }

// String says how a process ended, with its last words.
func (e Exit) String() string {
	how := fmt.Sprintf("ended with status %d", e.Code)
	if e.Signal != "" {
		how = "was ended by a signal: " + e.Signal
	}
	return how + said(e.Stderr)
}

// said adds the last words of a process, if any.
func said(stderr string) string {
	if stderr = strings.TrimSpace(stderr); stderr == "" {
		return ""
	}
	return ": " + stderr
}
