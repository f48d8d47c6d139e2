package campaign

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"abacus/harness/load"
	"abacus/harness/plan"
	"abacus/harness/record"
)

// ladder is what a stop_if ends: the rising steps of one variant and page.
type ladder struct{ scenario, variant, page string }

// stopMark is the step (by its place in the scenario) from which on a ladder
// is given up.
type stopMark struct {
	step   int
	reason string
}

// endLimit bounds what is done after a campaign was cancelled: writing,
// cleanup hooks' own limit aside, and stopping the labs.
const endLimit = 20 * time.Second

// Run walks the plan. Whatever happens, what was measured is on disk, labs
// are stopped and cleanup hooks run. An error is about the campaign as a
// whole; runs that failed are counted in the outcome.
func (c *Campaign) Run(ctx context.Context) (out Outcome, err error) {
	c.keepSecrets()
	defer func() { out, err = c.end(ctx, err) }()
	if err := errors.Join(c.Record.WriteManifest(c.Manifest), c.Record.MarkLatest()); err != nil {
		return out, err
	}
	if len(c.Left()) == 0 {
		c.walked = true
		return out, nil
	}
	return out, c.stages(ctx)
}

// stages are all that is done until the last run.
func (c *Campaign) stages(ctx context.Context) error {
	if err := c.Record.WriteEnvironment(c.Needs.Environment(ctx)); err != nil {
		return err
	}
	log, err := c.runHooks(ctx, hookSetup, c.commands(func(cell plan.Cell) [][]string { return cell.Settings.Setup }))
	c.Manifest.Hooks = append(c.Manifest.Hooks, log...)
	if err != nil {
		return err
	}
	for _, stage := range []func(context.Context) error{c.startLabs, c.describeMachine, c.preflight, c.idle, c.warmUp, c.walk} {
		if err := stage(ctx); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return nil
		}
	}
	return nil
}

// commands lists the distinct commands that the cells name, in order.
func (c *Campaign) commands(of func(plan.Cell) [][]string) [][]string {
	var all [][]string
	for _, cell := range c.Plan.Cells {
		for _, args := range of(cell) {
			if !slices.ContainsFunc(all, func(have []string) bool { return slices.Equal(have, args) }) {
				all = append(all, args)
			}
		}
	}
	return all
}

// end stops the labs, runs the cleanup hooks and writes the last manifest,
// also after ctx was cancelled. cause is what ended the stages.
func (c *Campaign) end(ctx context.Context, cause error) (Outcome, error) {
	interrupted := ctx.Err() != nil && !c.walked
	if interrupted && errors.Is(cause, context.Canceled) {
		cause = nil // the signal's own consequence
	}
	ctx = context.WithoutCancel(ctx)
	errs := []error{cause}
	for _, args := range c.commands(func(cell plan.Cell) [][]string { return cell.Settings.Cleanup }) {
		// Each cleans up something of its own, so one that fails stops no other.
		log, err := c.runHooks(ctx, hookCleanup, [][]string{args})
		c.Manifest.Hooks = append(c.Manifest.Hooks, log...)
		errs = append(errs, err)
	}
	ctx, cancel := context.WithTimeout(ctx, endLimit)
	defer cancel()
	errs = append(errs, c.stopLabs(ctx))
	m := &c.Manifest
	now := c.Needs.Now().UTC()
	m.EndedAt = &now
	m.State, m.Reason = record.StateComplete, ""
	if cause != nil {
		m.State, m.Reason = record.StateFailed, c.Record.Secrets.Text(cause.Error())
	}
	if interrupted {
		m.State = record.StateInterrupted
		m.Reason = strings.TrimSuffix("stopped by a signal; "+m.Reason, "; ")
	}
	errs = append(errs, c.Record.WriteManifest(*m))
	return Outcome{Manifest: *m, Interrupted: interrupted, FailedRuns: c.failed}, errors.Join(errs...)
}

// Left are the runs that are still to be made, in order.
func (c *Campaign) Left() []plan.Run {
	return slices.DeleteFunc(slices.Clone(c.Plan.Runs), func(r plan.Run) bool {
		return c.finished[r.Seq] || c.isSkipped(r.Seq)
	})
}

// walk makes the runs in the plan's order.
func (c *Campaign) walk(ctx context.Context) error {
	rest := c.Left()
	for i, planned := range rest {
		if ctx.Err() != nil {
			return nil
		}
		cell := c.Plan.Cells[planned.Cell]
		if mark, ok := c.stopped[ladderOf(cell)]; ok && cell.StepIndex >= mark.step {
			c.Manifest.Skipped = append(c.Manifest.Skipped, record.SkippedRun{Seq: planned.Seq, Reason: mark.reason})
			if err := c.Record.WriteManifest(c.Manifest); err != nil {
				return err
			}
			continue
		}
		start := time.Now()
		run, err := c.one(ctx, planned, cell, rest[i+1:])
		if err != nil {
			return err
		}
		if run.Result == nil && ctx.Err() != nil {
			// Stopped before its load: there is nothing of it but what hooks did.
			c.Manifest.Hooks = append(c.Manifest.Hooks, run.Hooks...)
			return nil
		}
		if err := c.Record.WriteRun(run); err != nil {
			return err
		}
		c.pace.took(cell.Index, time.Since(start))
		c.count(run, cell)
		c.event(Event{Kind: EventRun, Run: &run, Done: len(c.Plan.Runs) - len(rest) + i + 1, Total: len(c.Plan.Runs), Left: c.pace.left(rest[i+1:])})
		if run.CutShort() {
			return nil
		}
	}
	c.walked = true
	return nil
}

// count takes a run that is over into account: one that failed, and one that
// ended its ladder.
func (c *Campaign) count(run record.Run, cell plan.Cell) {
	if !run.Good() && !run.CutShort() {
		c.failed++
	}
	if run.Stopped == "" {
		return
	}
	if c.stopped == nil {
		c.stopped = map[ladder]stopMark{}
	}
	c.stopped[ladderOf(cell)] = stopMark{step: cell.StepIndex, reason: fmt.Sprintf("given up after run %d: %s", run.Seq, run.Stopped)}
}

func ladderOf(c plan.Cell) ladder { return ladder{c.Scenario, c.Variant, c.Page} }

func (c *Campaign) isSkipped(seq int) bool {
	return slices.ContainsFunc(c.Manifest.Skipped, func(s record.SkippedRun) bool { return s.Seq == seq })
}

// one makes one run: waits for idle, runs the hooks and the load, watches.
// Its error is about the campaign; what went wrong with the run stands in it.
func (c *Campaign) one(ctx context.Context, planned plan.Run, cell plan.Cell, rest []plan.Run) (record.Run, error) {
	run := record.Run{Seq: planned.Seq, CellIndex: cell.Index, Round: planned.Round, Block: planned.Block, Cell: recordCell(cell)}
	stored, job, err := c.job(cell)
	if err != nil {
		return run, err
	}
	run.Job = stored
	pollers := c.pollersFor(cell)
	defer release(pollers)
	run.Settle = c.settle(ctx, cell, pollers)
	log, err := c.runHooks(ctx, hookPrepare, cell.Settings.Prepare)
	run.Hooks = log
	if err != nil {
		run.Void = err.Error()
		return run, nil
	}
	c.load(ctx, &run, cell, job, pollers, rest)
	// It undoes what prepare did, so a signal does not keep it from that.
	log, err = c.runHooks(context.WithoutCancel(ctx), hookConclude, cell.Settings.Conclude)
	run.Hooks = append(run.Hooks, log...)
	if err != nil {
		c.note(fmt.Sprintf("run %d: %v", run.Seq, err))
	}
	return run, nil
}

// load runs the job with the pollers beside it and judges how it ended.
func (c *Campaign) load(ctx context.Context, run *record.Run, cell plan.Cell, job load.Job, pollers []Poller, rest []plan.Run) {
	stop, err := newStopper(cell.Settings.StopIf)
	if err != nil {
		run.Error = err.Error()
		return
	}
	runCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	watched := watch(ctx, pollers, job.Interval)
	left := c.pace.left(rest)
	live := false
	res, err := c.Needs.Engine.Run(runCtx, job, func(p load.Progress) {
		live = live || p.Interval != nil
		if why := stop.check(p); why != "" && run.Stopped == "" {
			run.Stopped = why
			cancel()
		}
		c.event(Event{Kind: EventProgress, Run: run, Progress: &p, Workers: watched.workers(),
			Done: len(c.Plan.Runs) - len(rest) - 1, Total: len(c.Plan.Runs), Left: left})
	})
	zero := int64(0)
	if res != nil {
		zero = res.StartMonoNS
		started := res.StartedAt
		run.StartedAt, run.ClockNS, run.Result = &started, zero, res
	}
	run.Series = watched.stop(zero)
	if res != nil && !live {
		run.Stopped = stop.checkAll(res.Intervals)
	}
	switch lab := c.targets[cell.Index].lab; {
	case ctx.Err() != nil && (res == nil || res.Interrupted):
		// Cut short by a signal, which says nothing of the run.
	case err != nil:
		run.Error = err.Error()
	case lab.Alive != nil && !lab.Alive():
		run.Error = fmt.Sprintf("the %s lab is broken: %s", lab.Kind, lab.Ended())
	case res == nil:
		run.Error = "the engine gave no result"
	case res.Counts.Complete == 0:
		run.Error = "no request was answered"
	default:
		run.Void = c.untrue(cell, res)
	}
	run.Error, run.Void = c.Record.Secrets.Text(run.Error), c.Record.Secrets.Text(run.Void)
}

// untrue says why a run's answers are not the page that was meant: more than
// half of them broke an expectation, or had an error's status where the page
// without load had none. Figures of such a run would be of something else.
func (c *Campaign) untrue(cell plan.Cell, res *load.Result) string {
	if e := res.Expect; e != nil && e.Unmet*2 > e.Checked {
		return fmt.Sprintf("%d of %d sampled answers were not what expect asks for: %s", e.Unmet, e.Checked, strings.Join(e.Examples, "; "))
	}
	if n := res.Counts; c.statuses[pageOf(cell)]/100 == 2 && n.Non2xx*2 > n.Complete {
		return fmt.Sprintf("%d of %d answers had a status other than 2xx, which the page without load had", n.Non2xx, n.Complete)
	}
	return ""
}
