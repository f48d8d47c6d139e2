package campaign

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
	c.stopped = map[ladder]stopMark{}
	c.idleBusy = 1
	defer func() {
		err = errors.Join(err, c.end(ctx, err, &out))
	}()
	if err := c.Record.WriteManifest(c.Manifest); err != nil {
		return out, err
	}
	if err := c.Record.WriteEnvironment(c.Needs.Environment(ctx)); err != nil {
		return out, err
	}
	log, err := c.runHooks(ctx, hookSetup, c.commands(func(cell plan.Cell) [][]string { return cell.Settings.Setup }))
	c.Manifest.Hooks = append(c.Manifest.Hooks, log...)
	if err != nil {
		return out, err
	}
	for _, stage := range []func(context.Context) error{c.startLabs, c.describeMachine, c.preflight, c.idle, c.warmUp, c.walk} {
		if err := stage(ctx); err != nil {
			return out, err
		}
		if ctx.Err() != nil {
			return out, nil
		}
	}
	return out, nil
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
// also after ctx was cancelled.
func (c *Campaign) end(ctx context.Context, cause error, out *Outcome) error {
	interrupted := ctx.Err() != nil
	ctx = context.WithoutCancel(ctx)
	var errs []error
	log, err := c.runHooks(ctx, hookCleanup, c.commands(func(cell plan.Cell) [][]string { return cell.Settings.Cleanup }))
	c.Manifest.Hooks = append(c.Manifest.Hooks, log...)
	ctx, cancel := context.WithTimeout(ctx, endLimit)
	defer cancel()
	errs = append(errs, err, c.stopLabs(ctx))
	m := &c.Manifest
	now := c.Needs.Now().UTC()
	m.EndedAt = &now
	switch {
	case interrupted:
		m.State, m.Reason = record.StateInterrupted, "stopped by a signal"
	case cause != nil:
		m.State, m.Reason = record.StateFailed, cause.Error()
	default:
		m.State, m.Reason = record.StateComplete, ""
	}
	errs = append(errs, c.Record.WriteManifest(*m), c.Record.MarkLatest())
	out.Manifest, out.Interrupted = *m, interrupted
	out.FailedRuns = c.failed
	return errors.Join(errs...)
}

// walk makes the runs in the plan's order.
func (c *Campaign) walk(ctx context.Context) error {
	var rest []plan.Run
	for _, r := range c.Plan.Runs {
		if !c.Finished[r.Seq] && !c.isSkipped(r.Seq) {
			rest = append(rest, r)
		}
	}
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
		if err := c.Record.WriteRun(run); err != nil {
			return err
		}
		c.pace.took(cell.Index, time.Since(start))
		interrupted := ctx.Err() != nil
		if !run.Good() && !interrupted {
			c.failed++
		}
		if run.Stopped != "" {
			c.stopped[ladderOf(cell)] = stopMark{step: cell.StepIndex, reason: fmt.Sprintf("given up after run %d: %s", run.Seq, run.Stopped)}
		}
		c.event(Event{Kind: EventRun, Run: &run, Done: len(c.Plan.Runs) - len(rest) + i + 1, Total: len(c.Plan.Runs), Left: c.pace.left(rest[i+1:])})
	}
	return nil
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
	run.Settle = c.settle(ctx, cell, pollers)
	log, err := c.runHooks(ctx, hookPrepare, cell.Settings.Prepare)
	run.Hooks = log
	if err != nil {
		run.Void = err.Error()
		return run, nil
	}
	c.load(ctx, &run, cell, job, pollers, rest)
	log, err = c.runHooks(ctx, hookConclude, cell.Settings.Conclude)
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
	case err != nil:
		run.Error = err.Error()
	case lab.Alive != nil && !lab.Alive():
		run.Error = fmt.Sprintf("the %s server's process is gone", lab.Kind)
	case res == nil:
		run.Error = "the engine gave no result"
	case res.Counts.Complete == 0 && ctx.Err() == nil:
		run.Error = "no request was answered"
	}
}
