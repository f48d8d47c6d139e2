package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"abacus/harness/clock"
	"abacus/harness/fault"
	"abacus/harness/observe"
)

const (
	// watchStartTries is how many polls may fail before the first reading.
	watchStartTries = 3
	// leastInterval keeps a watch from becoming load.
	leastInterval = 20 * time.Millisecond
)

// watchFlags are the flags of `abacus watch`.
type watchFlags struct {
	interval, duration, timeout time.Duration
	count                       int
	json                        bool
	record, host                string
}

func newWatchCommand(env *Env) *cobra.Command {
	var f watchFlags
	cmd := &cobra.Command{
		Use:   "watch STATUS-URL",
		Short: "Live workers, rates and host figures of a server",
		Long: `Watch Apache's mod_status page and this machine: workers and scoreboard by letter,
requests and bytes per second from the growth of counters (never the averages since
start that the page itself shows), CPU, memory and swap.

On a terminal the picture is redrawn in place; in a pipe there is one line a second;
--json gives every sample as one line of JSON. ?auto is added to the URL, and
/server-status when it has no path. The host figures are those of the machine that
abacus runs on. One poll costs the server one request, which is taken off the rates.

The watch goes on until Ctrl-C, which is its normal end (exit status 0), --count or
--duration. A page that stops answering is said and tried again; if the first three
polls all fail, the watch ends with exit status 1.`,
		Example: `  abacus watch http://127.0.0.1:8080/server-status
  abacus watch http://127.0.0.1:8080/server-status --duration 30s --record load.ndjson
  abacus watch http://127.0.0.1:8080/server-status --json --count 10 | jq .status.busy_workers`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				return nil
			}
			return fault.Input(fmt.Errorf("watch takes one status URL, got %d arguments", len(args)), "for example `abacus watch http://127.0.0.1:8080/server-status`")
		},
		RunE: func(cmd *cobra.Command, args []string) error { return runWatch(cmd.Context(), env, f, args[0]) },
	}
	fl := cmd.Flags()
	fl.DurationVar(&f.interval, "interval", 200*time.Millisecond, "time between polls, at least 20ms")
	fl.IntVar(&f.count, "count", 0, "end after this many polls of the status page (0: no limit)")
	fl.DurationVar(&f.duration, "duration", 0, "end after this time (0: no limit)")
	fl.DurationVar(&f.timeout, "timeout", 2*time.Second, "give up one poll after this time")
	fl.BoolVar(&f.json, "json", false, "print every sample as one line of JSON")
	fl.StringVar(&f.record, "record", "", "also write the samples, as lines of JSON, to a new FILE")
	fl.StringVar(&f.host, "host", "", "send this Host header (a virtual host by its name)")
	return cmd
}

// watchURL checks the argument and completes it.
func watchURL(arg string) (string, error) {
	const example = "write it like http://127.0.0.1:8080/server-status"
	u, err := url.Parse(arg)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		hint := example
		if !strings.Contains(arg, "://") && arg != "" {
			hint = fmt.Sprintf("did you mean http://%s ?", strings.TrimLeft(arg, "/"))
		}
		return "", fault.Input(fmt.Errorf("%q is not a URL with http:// or https:// and a host", arg), hint)
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = "/server-status"
	}
	full, err := observe.StatusURL(u.String())
	return full, fault.Input(err, example)
}

// check says what is wrong with the flags.
func (f watchFlags) check() error {
	switch {
	case f.interval < leastInterval:
		return fault.Input(fmt.Errorf("--interval %v: must be at least %v", f.interval, leastInterval), "200ms sees five times a second")
	case f.count < 0:
		return fault.Input(fmt.Errorf("--count %d: must not be negative", f.count), "")
	case f.duration < 0:
		return fault.Input(fmt.Errorf("--duration %v: must not be negative", f.duration), "")
	case f.timeout <= 0:
		return fault.Input(fmt.Errorf("--timeout %v: must be positive", f.timeout), "")
	}
	return nil
}

func runWatch(ctx context.Context, env *Env, f watchFlags, arg string) (err error) {
	full, err := watchURL(arg)
	if err != nil {
		return err
	}
	if err := f.check(); err != nil {
		return err
	}
	poller := observe.NewStatusPoller(full, f.host, f.timeout)
	poller.UserAgent = "abacus/" + Version + " (watch)"
	defer poller.Close()
	w := &watching{
		flags: f, shown: shownURL(full),
		status: poller.Poll, machine: observe.NewHostPoller().Poll,
		out: env.Stdout, begun: clock.Now(), term: terminalOf(env, env.Stdout),
	}
	if f.record != "" {
		file, err := os.OpenFile(f.record, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if errors.Is(err, fs.ErrExist) {
			return fault.Input(fmt.Errorf("--record %s: the file is there already", f.record), "name another file, or remove it")
		}
		if err != nil {
			return fault.Input(fmt.Errorf("--record: %w", err), "")
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		w.file = file
	}
	if f.duration > 0 {
		limited, cancel := context.WithTimeout(ctx, f.duration)
		defer cancel()
		err = w.run(limited)
	} else {
		err = w.run(ctx)
	}
	// Ctrl-C is how a watch ends; SIGTERM came from someone else.
	if err == nil && ctx.Err() != nil && interruptedStatus(ctx) == ExitTerminated {
		return exitStatus(ExitTerminated)
	}
	return err
}

// shownURL is the URL without a password and without ?auto.
func shownURL(full string) string {
	u, err := url.Parse(full)
	if err != nil {
		return full
	}
	u.RawQuery = strings.TrimSuffix(strings.TrimSuffix(u.RawQuery, "auto"), "&")
	return u.Redacted()
}

// watching is one watch under way. The status page is polled beside the loop,
// so that a slow one holds up neither the host's figures nor Ctrl-C.
type watching struct {
	flags           watchFlags
	shown           string
	status, machine func(context.Context) (observe.Reading, error)
	out             io.Writer
	file            io.Writer
	term            terminal
	begun           int64

	view   watchView
	polls  int // begun
	ended  int
	last   *observe.Sample // host, for its rates
	drawn  int             // lines of the picture on the terminal
	lineAt time.Time       // of the last plain line
}

// watchLine is one line of JSON: a sample, when it was taken, and what
// happened since the one before.
type watchLine struct {
	Source string    `json:"source"`
	Time   time.Time `json:"time"`
	observe.Sample
	Rates *observe.StatusRates `json:"rates,omitempty"`
	Use   *observe.HostUse     `json:"use,omitempty"`
}

// run watches until ctx is done or the count is reached.
func (w *watching) run(ctx context.Context) error {
	ticker := time.NewTicker(w.flags.interval)
	defer ticker.Stop()
	pollCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	var inFlight chan observe.Sample
	tick := func() error {
		if err := w.takeHost(sampleOf(ctx, w.machine)); err != nil {
			return err
		}
		if inFlight != nil {
			w.view.skipped++
			return nil
		}
		w.polls++
		answer := make(chan observe.Sample, 1)
		inFlight = answer
		go func() { answer <- sampleOf(pollCtx, w.status) }()
		return nil
	}
	if err := tick(); err != nil {
		return err
	}
	for {
		select {
		case <-ctx.Done():
			return w.end()
		case <-ticker.C:
			if err := tick(); err != nil {
				return err
			}
		case s := <-inFlight:
			inFlight = nil
			if ctx.Err() != nil {
				return w.end()
			}
			w.ended++
			if err := w.takeStatus(s); err != nil {
				return err
			}
			if w.view.good == 0 && (w.ended >= watchStartTries || w.ended == w.flags.count) {
				return errors.Join(w.finish(), w.unreachable(s.Error))
			}
			if w.flags.count > 0 && w.ended >= w.flags.count {
				return w.end()
			}
		}
	}
}

// unreachable is why a watch that never saw anything ends.
func (w *watching) unreachable(reason string) error {
	hint := "is the server running, and is this the page of mod_status? Try curl '" + w.shown + "?auto'"
	return fault.Hint(fmt.Errorf("watch %s: the first %d polls all failed: %s", w.shown, w.ended, reason), hint)
}

// sampleOf takes one reading in time.
func sampleOf(ctx context.Context, poll func(context.Context) (observe.Reading, error)) observe.Sample {
	s := observe.Sample{AtNS: clock.Now()}
	r, err := poll(ctx)
	s.TookNS = clock.Now() - s.AtNS
	if err != nil {
		s.Error = observe.ErrorText(err)
	} else {
		s.Reading = r
	}
	return s
}

func (w *watching) takeHost(s observe.Sample) error {
	line := watchLine{Source: "host", Sample: s}
	if w.last != nil && s.Host != nil {
		use := observe.HostRates(*w.last, s)
		line.Use = &use
	}
	if s.Host != nil {
		w.last = &s
	}
	w.view.addHost(s)
	return w.emit(line)
}

func (w *watching) takeStatus(s observe.Sample) error {
	line := watchLine{Source: "status", Sample: s}
	if prev, polls, ok := w.view.newest(w.polls); ok && s.Status != nil {
		rates := observe.Rates(prev, s, polls)
		line.Rates = &rates
	}
	w.view.addStatus(s, w.polls)
	if err := w.emit(line); err != nil {
		return err
	}
	return w.show(time.Now())
}

// emit writes a sample as JSON where that is wanted.
func (w *watching) emit(line watchLine) error {
	if w.file == nil && !w.flags.json {
		return nil
	}
	line.Time = time.Now().Add(-time.Duration(clock.Now() - line.AtNS)).UTC().Round(time.Microsecond)
	line.AtNS -= w.begun
	data, err := json.Marshal(line)
	if err != nil {
		return fmt.Errorf("write sample: %w", err)
	}
	data = append(data, '\n')
	if w.file != nil {
		if _, err := w.file.Write(data); err != nil {
			return fmt.Errorf("--record: %w", err)
		}
	}
	if w.flags.json {
		if _, err := w.out.Write(data); err != nil {
			return fmt.Errorf("write sample: %w", err)
		}
	}
	return nil
}

// show redraws the picture on a terminal, or prints a line once a second.
func (w *watching) show(now time.Time) error {
	switch {
	case w.flags.json:
		return nil
	case w.term.live:
		return w.redraw()
	case now.Sub(w.lineAt) < time.Second:
		return nil
	}
	w.lineAt = now
	_, err := fmt.Fprintln(w.out, w.view.line(now))
	return err
}

// redraw puts the picture in the place of the last one, in one write, so that
// it does not flicker.
func (w *watching) redraw() error {
	var b bytes.Buffer
	if w.drawn > 0 {
		fmt.Fprintf(&b, "\x1b[%dA\r", w.drawn)
	}
	lines := w.view.picture(w.shown, w.term)
	for _, l := range lines {
		b.WriteString(l + "\x1b[K\n")
	}
	b.WriteString("\x1b[J")
	w.drawn = len(lines)
	_, err := w.out.Write(b.Bytes())
	return err
}

// end closes a watch that ended as it should.
func (w *watching) end() error {
	if err := w.finish(); err != nil || w.flags.json {
		return err
	}
	_, err := fmt.Fprintln(w.out, w.view.summary(time.Duration(clock.Now()-w.begun)))
	return err
}

// finish prints the newest state where the once-a-second rule held it back.
func (w *watching) finish() error {
	if w.flags.json || w.term.live || !w.view.unseen {
		return nil
	}
	_, err := fmt.Fprintln(w.out, w.view.line(time.Now()))
	return err
}
