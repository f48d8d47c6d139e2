package keeper

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

// DefaultGrace is how long a child may take to end on SIGTERM before SIGKILL.
// Apache takes 0.1 to 0.4 s, and all must be gone within 3 s.
const DefaultGrace = 1200 * time.Millisecond

// Serve is the keeper: it obeys the requests on in and reports on out until
// in ends, then stops every child and removes the folder. The error says what
// could not be undone.
func Serve(in io.Reader, out io.Writer) error {
	h := &holder{out: json.NewEncoder(out), starter: newStarter(), children: map[int]*child{}}
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 0, 4096), maxLine)
	for lines.Scan() {
		var r request
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			h.emit(event{Event: "failed", Error: fmt.Sprintf("keeper: a request that is not JSON: %v", err)})
			continue
		}
		if r.Op == "end" {
			break
		}
		h.obey(r)
	}
	// A read error is treated as the end of input: nobody is left to ask.
	err := h.release()
	last := event{Event: "ended"}
	if err != nil {
		last.Error = err.Error()
	}
	h.emit(last)
	return err
}

// holder is the keeper's state. Requests are obeyed one at a time; children
// end in goroutines of their own.
type holder struct {
	starter *starter

	outMu sync.Mutex
	out   *json.Encoder

	dir string

	mu       sync.Mutex
	children map[int]*child
}

// emit writes one event. That nobody reads any more is no reason to stop
// stopping: errors are dropped.
func (h *holder) emit(e event) {
	h.outMu.Lock()
	defer h.outMu.Unlock()
	_ = h.out.Encode(e)
}

func (h *holder) obey(r request) {
	switch r.Op {
	case "open":
		if err := h.open(r); err != nil {
			h.emit(event{Event: "failed", Error: err.Error()})
			return
		}
		h.emit(event{Event: "open", Version: protocolVersion, PID: os.Getpid(), Dir: h.dir})
	case "start":
		if err := h.start(r); err != nil {
			h.emit(event{Event: "failed", ID: r.ID, Error: err.Error()})
		}
	case "stop":
		if c := h.child(r.ID); c != nil {
			go c.stop()
		}
	default:
		h.emit(event{Event: "failed", ID: r.ID, Error: fmt.Sprintf("keeper: unknown request %q", r.Op)})
	}
}

// open makes the lab's folder. The keeper makes it, not the lab, so that
// there is never a folder without someone who removes it.
func (h *holder) open(r request) error {
	if h.dir != "" {
		return errors.New("keeper: the folder is open already")
	}
	dir, err := os.MkdirTemp(r.Temp, r.Prefix)
	if err != nil {
		return fmt.Errorf("make the lab's folder: %w", err)
	}
	h.dir = dir
	// Servers that drop their rights must be able to reach files below it by
	// name, but nobody else needs to list it.
	if err := os.Chmod(dir, 0o711); err != nil {
		return fmt.Errorf("make the lab's folder: %w", err)
	}
	return nil
}

func (h *holder) child(id int) *child {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.children[id]
}

func (h *holder) start(r request) error {
	switch {
	case r.Spec == nil || len(r.Spec.Argv) == 0:
		return errors.New("keeper: start without a command")
	case h.child(r.ID) != nil:
		return fmt.Errorf("keeper: child %d was started already", r.ID)
	}
	spec := *r.Spec
	if spec.Dir == "" {
		spec.Dir = h.dir
	}
	c, stdout, err := h.starter.start(spec)
	if err != nil {
		return fmt.Errorf("start %s: %w", spec.Role, err)
	}
	h.mu.Lock()
	h.children[r.ID] = c
	h.mu.Unlock()
	h.emit(event{Event: "started", ID: r.ID, PID: c.cmd.Process.Pid})
	read := make(chan struct{})
	go func() {
		defer close(read)
		forward(stdout, func(text string) { h.emit(event{Event: "line", ID: r.ID, Text: text}) })
	}()
	go func() {
		exit := c.wait(read)
		h.emit(event{Event: "exited", ID: r.ID, Code: exit.Code, Signal: exit.Signal, Stderr: exit.Stderr})
		close(c.done)
	}()
	return nil
}

// release stops all children at once and removes the folder.
func (h *holder) release() error {
	h.mu.Lock()
	all := make([]*child, 0, len(h.children))
	for _, c := range h.children {
		all = append(all, c)
	}
	h.mu.Unlock()
	errs := make([]error, len(all), len(all)+1)
	var wg sync.WaitGroup
	for i, c := range all {
		wg.Go(func() { errs[i] = c.stop() })
	}
	wg.Wait()
	if h.dir != "" {
		if err := os.RemoveAll(h.dir); err != nil {
			errs = append(errs, fmt.Errorf("remove the lab's folder: %w", err))
		}
	}
	return errors.Join(errs...)
}

const (
	forwardLines = 16   // lines of a child's output that are passed on
	forwardBytes = 4096 // bytes of one such line
)

// forward passes on the first lines of a child's output and reads on, so that
// a talkative child neither blocks nor fills the pipe to the lab.
func forward(r io.Reader, line func(string)) {
	in := bufio.NewReaderSize(r, forwardBytes)
	for range forwardLines {
		text, more, err := in.ReadLine()
		if err != nil {
			return
		}
		line(string(text))
		for more && err == nil {
			_, more, err = in.ReadLine()
		}
	}
	_, _ = io.Copy(io.Discard, in)
}

// exitOf tells how a finished command ended.
func exitOf(cmd *exec.Cmd, stderr string) Exit {
	e := Exit{Code: -1, Stderr: stderr}
	if cmd.ProcessState != nil {
		e.Code = cmd.ProcessState.ExitCode()
		e.Signal = signalName(cmd.ProcessState)
	}
	return e
}
