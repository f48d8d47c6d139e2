package lab

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"abacus/harness/keeper"
)

// dirPrefix begins the names of the labs' folders.
const dirPrefix = "abacus-lab-"

// startTimeout bounds the start of one server.
const startTimeout = 15 * time.Second

// stopTimeout bounds the orderly end of a lab.
const stopTimeout = 3 * time.Second

// Kinds are the labs that can be started.
func Kinds() []string { return []string{"demo"} }

// Options say how a lab is started.
type Options struct {
	// Command begins every command line of a process of ours: this program's
	// path. Required.
	Command []string
	// Workers is the size of the demo's worker pool; 0 is DefaultWorkers.
	Workers int
	// LookPath finds programs; nil is exec.LookPath.
	LookPath func(string) (string, error)
	// Owner says in the lab's state file who holds it: "lab up" or "run".
	// Empty is "run".
	Owner string
	// Temp is where the lab's folder is made; empty is $TMPDIR.
	Temp string
}

// Running is a lab that serves.
type Running struct {
	Kind      string `json:"kind"`       // demo
	BaseURL   string `json:"base_url"`   // http://127.0.0.1:PORT
	StatusURL string `json:"status_url"` // …/server-status?auto
	// PIDs are the serving processes by role: server, and memcached unless
	// the server holds that itself.
	PIDs map[string][]int `json:"pids"`
	// Notes say what a reader of the result should know about the lab.
	Notes []string `json:"notes,omitempty"`
	// Versions are those of the parts: demo, memcached.
	Versions map[string]string `json:"versions,omitempty"`
	// Dir is the lab's temporary folder, removed by Stop.
	Dir string `json:"dir"`
	// KeeperPID is the process that holds the lab.
	KeeperPID int `json:"keeper_pid"`

	keeper *keeper.Keeper
	parts  []*keeper.Child // all that the lab needs, in the order of their start
	over   chan struct{}   // closed when the first of them has ended
	stop   sync.Once
	err    error
}

// StartDemo starts the demo, with the real memcached behind it when there is
// one. The context bounds the start only; the lab serves until Stop, or until
// this process ends, however it does.
func StartDemo(ctx context.Context, o Options) (*Running, error) {
	if len(o.Command) == 0 {
		return nil, errors.New("start the demo: no command")
	}
	if o.LookPath == nil {
		o.LookPath = exec.LookPath
	}
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, fmt.Errorf("not ready within %v", startTimeout))
	defer cancel()
	k, err := keeper.Start(ctx, keeper.Options{Command: command(o, "keeper"), Temp: o.Temp, Prefix: dirPrefix})
	if err != nil {
		return nil, fmt.Errorf("start the demo: %w", err)
	}
	r := &Running{Kind: "demo", PIDs: map[string][]int{}, Versions: map[string]string{}, Dir: k.Dir, KeeperPID: k.PID, keeper: k, over: make(chan struct{})}
	if err := r.startAll(ctx, o); err != nil {
		stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
		defer cancel()
		return nil, errors.Join(fmt.Errorf("start the demo: %w", err), r.Stop(stop))
	}
	return r, nil
}

func command(o Options, args ...string) []string {
	return append(append([]string(nil), o.Command...), args...)
}

func (r *Running) startAll(ctx context.Context, o Options) error {
	mc, why := r.startMemcached(ctx, o.LookPath)
	switch err := ctx.Err(); {
	case errors.Is(err, context.DeadlineExceeded) && why != "":
		return fmt.Errorf("%w: %s", context.Cause(ctx), why)
	case err != nil:
		return context.Cause(ctx)
	}
	server, err := r.startServer(ctx, o, mc)
	if err != nil {
		return err
	}
	if mc == nil {
		r.Notes = append(r.Notes, "embedded memcached-protocol server inside the demo process: "+why)
	} else {
		r.PIDs["memcached"] = []int{mc.child.PID}
		r.Versions["memcached"] = mc.version
		r.Notes = append(r.Notes, fmt.Sprintf("memcached %s from %s on %s", mc.version, mc.path, mc.address))
		r.parts = append(r.parts, mc.child)
	}
	r.parts = append(r.parts, server)
	r.watch()
	owner := o.Owner
	if owner == "" {
		owner = "run"
	}
	return writeState(r, owner)
}

// startServer starts the demo's process and makes sure that it is the one
// that answers.
func (r *Running) startServer(ctx context.Context, o Options, mc *memcachedProcess) (*keeper.Child, error) {
	workers := o.Workers
	if workers == 0 {
		workers = DefaultWorkers
	}
	nonce := rand.Text()
	args := []string{"demo", "--workers", strconv.Itoa(workers), "--nonce", nonce}
	if mc != nil {
		args = append(args, "--memcached", mc.address)
	}
	child, err := r.keeper.Launch(ctx, keeper.Spec{Role: "server", Argv: command(o, args...)})
	if err != nil {
		return nil, err
	}
	line, err := child.Line(ctx)
	if err != nil {
		return nil, err
	}
	var ready Ready
	if err := json.Unmarshal([]byte(line), &ready); err != nil {
		return nil, fmt.Errorf("the server's first line is not what was expected: %.200q: %w", line, err)
	}
	if err := proveNonce(ctx, ready.URL, nonce); err != nil {
		return nil, err
	}
	select {
	case <-child.Done():
		return nil, fmt.Errorf("the server %s", child.Exit())
	default:
	}
	r.BaseURL, r.StatusURL = ready.URL, ready.URL+"/server-status?auto"
	r.PIDs["server"] = []int{child.PID}
	r.Versions["demo"] = ready.Version
	return child, nil
}

// proveNonce asks the server for the word that only ours knows: another
// server could sit on the port.
func proveNonce(ctx context.Context, base, nonce string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/nonce", nil)
	if err != nil {
		return fmt.Errorf("ask the server: %w", err)
	}
	transport := &http.Transport{DisableKeepAlives: true, Proxy: nil}
	defer transport.CloseIdleConnections()
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return fmt.Errorf("ask the server at %s: %w", base, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1024))
	if err != nil {
		return fmt.Errorf("ask the server at %s: %w", base, err)
	}
	if strings.TrimSpace(string(body)) != nonce {
		return fmt.Errorf("another server than ours answers at %s", base)
	}
	return nil
}

// watch notices the first end of a process that the lab needs.
func (r *Running) watch() {
	var once sync.Once
	for _, c := range r.parts {
		go func() {
			<-c.Done()
			once.Do(func() { close(r.over) })
		}()
	}
}

// Done is closed when a process that the lab needs has ended, by Stop or by
// itself.
func (r *Running) Done() <-chan struct{} { return r.over }

// Alive tells whether every process that the lab needs still lives.
func (r *Running) Alive() bool { return r.Ended() == "" }

// Ended says which process that the lab needs has ended, and how: "memcached
// was ended by a signal: killed". It is empty while all of them live.
func (r *Running) Ended() string {
	for _, c := range r.parts {
		select {
		case <-c.Done():
			return c.Role + " " + c.Exit().String()
		default:
		}
	}
	return ""
}

// Stop ends everything and removes the folder. It is bounded by the context,
// and by itself when that has no deadline. A second call does nothing and
// returns what the first did.
func (r *Running) Stop(ctx context.Context) error {
	r.stop.Do(func() {
		ctx, cancel := context.WithTimeout(ctx, stopTimeout)
		defer cancel()
		r.err = r.keeper.Stop(ctx)
	})
	return r.err
}
