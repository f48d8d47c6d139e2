package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"abacus/harness/fault"
	"abacus/harness/lab"
)

// ownerLabUp marks the labs that lab down may stop; others belong to a
// campaign.
const ownerLabUp = "lab up"

// labStopTimeout bounds the wait for a lab's end.
const labStopTimeout = 5 * time.Second

func newLabCommand(env *Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "lab",
		Short:   "Start, list and stop a lab by itself",
		Long:    "A lab is a server that abacus starts on a loopback port, with all that it needs, in a\ntemporary folder. `abacus run` starts its own; these commands start one to look at.",
		Example: "  abacus lab up demo     serve the demo until Ctrl-C\n  abacus lab status      in another terminal: which labs run, and where\n  abacus lab down        stop it from there",
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newLabUpCommand(env), newLabDownCommand(env), newLabStatusCommand(env))
	return cmd
}

func newLabUpCommand(env *Env) *cobra.Command {
	var asJSON bool
	var workers int
	cmd := &cobra.Command{
		Use:   "up [KIND]",
		Short: "Start a lab and hold it until Ctrl-C",
		Long: "Starts a lab, prints its addresses and holds it until Ctrl-C (or `abacus lab down`); then\n" +
			"all of it is gone. The only kind in this version is demo: a static page, an object from\n" +
			"two caches, pages that misbehave on purpose, and a status page in mod_status's format.",
		Example: "  abacus lab up demo\n  abacus lab up demo --workers 10\n  abacus lab up demo --json",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkKind(args); err != nil {
				return err
			}
			return labUp(cmd.Context(), env, workers, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the addresses as one line of JSON")
	cmd.Flags().IntVar(&workers, "workers", lab.DefaultWorkers, "how many requests the server serves at once")
	return cmd
}

// checkKind refuses labs that this version cannot start.
func checkKind(args []string) error {
	kinds := strings.Join(lab.Kinds(), ", ")
	hint := "labs of this version: " + kinds + "; apache and nginx come later"
	switch {
	case len(args) > 1:
		return fault.Input(fmt.Errorf("lab up: one kind at a time, not %d", len(args)), hint)
	case len(args) == 1 && args[0] != "demo":
		return fault.Input(fmt.Errorf("lab up: there is no lab %q", args[0]), hint)
	}
	return nil
}

func labUp(ctx context.Context, env *Env, workers int, asJSON bool) error {
	if workers < 1 || workers > lab.MaxWorkers {
		return fault.Input(fmt.Errorf("lab up: --workers %d: from 1 to %d are possible", workers, lab.MaxWorkers), "")
	}
	r, err := lab.StartDemo(ctx, lab.Options{Command: []string{env.Executable}, Workers: workers, Owner: ownerLabUp, Temp: env.Getenv("TMPDIR")})
	if err != nil {
		if ctx.Err() != nil {
			return exitStatus(ExitDone) // Ctrl-C while it was starting
		}
		return err
	}
	printErr := printLab(env, r, asJSON)
	var ended error
	if printErr == nil {
		select {
		case <-ctx.Done():
		case <-r.Done():
			ended = fmt.Errorf("the lab's %s", r.Ended())
		}
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), labStopTimeout)
	defer cancel()
	if err := errors.Join(printErr, ended, r.Stop(stop)); err != nil {
		return err
	}
	if !asJSON {
		fmt.Fprintln(env.Stderr, "stopped, nothing is left")
	}
	return nil
}

func printLab(env *Env, r *lab.Running, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(env.Stdout).Encode(r)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s serves at %s\n\n", r.Kind, r.BaseURL)
	for _, p := range []struct{ path, what string }{
		{"/static.html", "one page of 37,519 bytes"},
		{"/apcu", "an object from a cache inside the server"},
		{"/memcached", "the same from memcached, a new connection each time"},
		{"/memcached?persistent=1", "the same over kept connections"},
		{"/delay?ms=20", "answers late on purpose"},
		{"/server-status", "its workers and counters, for people"},
		{"/server-status?auto", "the same for machines"},
	} {
		fmt.Fprintf(&b, "  %-48s %s\n", r.BaseURL+p.path, p.what)
	}
	b.WriteByte('\n')
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "%s\n", n)
	}
	fmt.Fprintf(&b, "To measure it, in another terminal:  abacus run %s/static.html --status-url '%s'\nCtrl-C stops it.\n", r.BaseURL, r.StatusURL)
	if _, err := fmt.Fprint(env.Stdout, b.String()); err != nil {
		return fmt.Errorf("print the lab's addresses: %w", err)
	}
	return nil
}

// labStatus is one line of lab status.
type labStatus struct {
	lab.State
	// Alive is absent where the system does not tell.
	Alive *bool `json:"alive,omitempty"`
}

func labStatuses(env *Env) ([]labStatus, error) {
	states, err := lab.Labs(env.Getenv("TMPDIR"))
	if err != nil {
		return nil, err
	}
	all := make([]labStatus, 0, len(states))
	for _, s := range states {
		l := labStatus{State: s}
		if alive, err := s.OwnerAlive(); err == nil {
			l.Alive = &alive
		}
		all = append(all, l)
	}
	return all, nil
}

// stale tells that the lab's holder is known to be gone.
func (l labStatus) stale() bool { return l.Alive != nil && !*l.Alive }

func newLabStatusCommand(env *Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "status",
		Short:   "List the running labs of this user",
		Example: "  abacus lab status\n  abacus lab status --json",
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			all, err := labStatuses(env)
			if err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(env.Stdout).Encode(all)
			}
			if len(all) == 0 {
				_, err := fmt.Fprintln(env.Stdout, "no lab is running")
				return err
			}
			for _, l := range all {
				if _, err := fmt.Fprintln(env.Stdout, l.line()); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return cmd
}

func (l labStatus) line() string {
	if l.Damaged != "" {
		return fmt.Sprintf("a lab in %s that may still serve: its state file cannot be read: %s", l.Dir, l.Damaged)
	}
	if l.stale() {
		return fmt.Sprintf("%s  left over in %s: its holder (process %d) is gone; `abacus lab down` removes it", l.Kind, l.Dir, l.OwnerPID)
	}
	return fmt.Sprintf("%s  %s  since %s, held by process %d (abacus %s), %s", l.Kind, l.BaseURL,
		l.Started.Local().Format("2006-01-02 15:04:05"), l.OwnerPID, l.Owner, l.Dir)
}

func newLabDownCommand(env *Env) *cobra.Command {
	var every bool
	cmd := &cobra.Command{
		Use:   "down [URL|FOLDER]",
		Short: "Stop a lab that `abacus lab up` started",
		Long: "Asks the abacus that holds the lab to end it, and waits until all of it is gone. What a\n" +
			"killed lab left behind is removed. Labs of a running campaign are left alone.",
		Example: "  abacus lab down\n  abacus lab down http://127.0.0.1:24680\n  abacus lab down --all",
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fault.Input(fmt.Errorf("lab down: one lab at a time, not %d", len(args)), "`abacus lab down --all` stops all of them")
			}
			all, err := labStatuses(env)
			if err != nil {
				return err
			}
			chosen, err := chooseLabs(all, args, every)
			if err != nil {
				return err
			}
			return stopLabs(env, chosen)
		},
	}
	cmd.Flags().BoolVar(&every, "all", false, "stop all of them")
	return cmd
}

// chooseLabs picks what lab down is to stop.
func chooseLabs(all []labStatus, args []string, every bool) ([]labStatus, error) {
	var mine, damaged []labStatus
	var lines []string
	for _, l := range all {
		named := len(args) == 1 && (strings.TrimSuffix(args[0], "/") == l.BaseURL || strings.TrimSuffix(args[0], "/") == l.Dir)
		if l.Damaged != "" {
			if named {
				return nil, unknownHolder(l)
			}
			damaged = append(damaged, l)
			continue
		}
		if l.Owner != ownerLabUp && !l.stale() {
			if named {
				return nil, fault.Input(fmt.Errorf("lab down: the lab at %s belongs to a running campaign (process %d)", l.BaseURL, l.OwnerPID),
					"press Ctrl-C where the campaign runs")
			}
			continue
		}
		if named {
			return []labStatus{l}, nil
		}
		mine = append(mine, l)
		lines = append(lines, l.BaseURL)
	}
	if every {
		mine = append(mine, damaged...) // each an error of its own; the others are stopped
	}
	switch {
	case len(args) == 0 && len(mine) == 0 && len(damaged) > 0:
		return nil, unknownHolder(damaged[0])
	case len(args) == 1:
		return nil, fault.Input(fmt.Errorf("lab down: no lab is running at %s", args[0]), "`abacus lab status` lists them")
	case len(mine) > 1 && !every:
		return nil, fault.Input(fmt.Errorf("lab down: %d labs are running: %s", len(mine), strings.Join(lines, ", ")), "name one, or stop all with --all")
	}
	return mine, nil
}

// unknownHolder says that a lab cannot be stopped from here.
func unknownHolder(l labStatus) error {
	return fault.Input(fmt.Errorf("lab down: what holds the lab in %s is not known: %s", l.Dir, l.Damaged),
		"press Ctrl-C where the lab was started; that removes the folder, too")
}

func stopLabs(env *Env, labs []labStatus) error {
	if len(labs) == 0 {
		_, err := fmt.Fprintln(env.Stdout, "no lab is running")
		return err
	}
	var errs []error
	for _, l := range labs {
		what := "stopped"
		if l.stale() {
			what = "removed what was left of"
		}
		if err := l.Down(labStopTimeout); err != nil {
			errs = append(errs, err)
			continue
		}
		if _, err := fmt.Fprintf(env.Stdout, "%s %s at %s\n", what, l.Kind, l.BaseURL); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
