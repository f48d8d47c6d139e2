package campaign

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"abacus/harness/load"
	"abacus/harness/number"
	"abacus/harness/plan"
	"abacus/harness/record"
	"abacus/scenarios"
)

const (
	// steadyWindows in a row must lie within steadySpread (greatest minus
	// least over mean) for a server to count as warm.
	steadyWindows = 3
	steadySpread  = 0.05
	// warmEngine warms up whatever engine measures: it reports every window,
	// and only the server is to be warmed.
	warmEngine = "native"
)

// warmUp sends each distinct request under load once, before any figure is
// taken, at its highest level, until the server is steady or the bound is
// reached. Two engines that ask for the same are one.
func (c *Campaign) warmUp(ctx context.Context) error {
	highest := map[string]plan.Cell{}
	var order []string
	for _, cell := range c.Plan.Cells {
		stored, _, err := c.job(cell)
		if err != nil {
			return err
		}
		k := fmt.Sprintf("%s %s %s %t %q %q %s", stored.Method, stored.URL, stored.ConnectTo, stored.KeepAlive, stored.Headers, stored.Body, cell.Settings.BodyFile)
		best, ok := highest[k]
		if !ok {
			order = append(order, k)
		}
		if !ok || cell.Step.Concurrency > best.Step.Concurrency {
			highest[k] = cell
		}
	}
	var made []record.Warmup
	for _, k := range order {
		if ctx.Err() != nil {
			return nil
		}
		cell := highest[k]
		w, err := c.warmCell(ctx, cell)
		if err != nil {
			return err
		}
		// A resumed record has those of its first start until there are new ones.
		made = append(made, w)
		c.Manifest.Warmups = made
		c.event(Event{Kind: EventWarmup, Text: fmt.Sprintf("%s %s: %s", cell.Scenario, cell.Variant, w.Reason)})
	}
	return c.Record.WriteManifest(c.Manifest)
}

// warmCell warms one cell's target up. Failing load is no error: the runs
// will say what is wrong.
func (c *Campaign) warmCell(ctx context.Context, cell plan.Cell) (record.Warmup, error) {
	_, job, err := c.job(cell)
	if err != nil {
		return record.Warmup{}, err
	}
	rule := cell.Settings.Warmup
	if rule == nil {
		rule = &scenarios.Warmup{Until: "steady"}
	}
	job.Engine, job.Requests, job.Duration = warmEngine, rule.Requests, time.Duration(rule.Duration)
	job.Interval = c.Bounds.WarmupWindow
	job.SampleEvery = 0
	steady := rule.Until == "steady"
	w := record.Warmup{Cell: recordCell(cell), Fixed: !steady}
	if job.Requests == 0 && job.Duration == 0 {
		job.Duration = c.Bounds.WarmupMax
	}
	pollers := c.pollersFor(cell)
	defer release(pollers)
	watched := watch(ctx, pollers, c.Bounds.WarmupWindow)
	runCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	var workers []int64
	start := time.Now()
	res, err := c.Needs.Engine.Run(runCtx, job, func(p load.Progress) {
		if p.Interval == nil || p.Interval.LengthNS <= 0 {
			return
		}
		w.WindowsPerS = append(w.WindowsPerS, float64(p.Interval.Complete)/(float64(p.Interval.LengthNS)/1e9))
		if s := watched.workers(); s != nil && s.BusyWorkers != nil && s.IdleWorkers != nil {
			workers = append(workers, *s.BusyWorkers+*s.IdleWorkers)
		}
		if steady && isSteady(w.WindowsPerS) && !growing(workers) {
			w.Steady = true
			cancel()
		}
	})
	watched.stop(0)
	took := time.Since(start)
	w.TookNS = took.Nanoseconds()
	if res != nil {
		w.Requests = res.Counts.Requests()
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		w.Error = err.Error()
	}
	w.Reason = c.warmReason(ctx, cell, &w, steady, took)
	return w, nil
}

// warmReason says how the warm-up ended, and asks a page that names its cache
// state whether it hits now.
func (c *Campaign) warmReason(ctx context.Context, cell plan.Cell, w *record.Warmup, wanted bool, took time.Duration) string {
	after := took.Round(100 * time.Millisecond)
	if miss := c.cacheMisses(ctx, cell); miss != "" {
		w.Steady = false
		return miss
	}
	switch {
	case w.Steady:
		return fmt.Sprintf("steady after %v", after)
	case !wanted:
		return fmt.Sprintf("%s in %v", number.Plural(w.Requests, "request"), after)
	case len(w.WindowsPerS) < steadyWindows:
		return fmt.Sprintf("too few windows to tell in %v", after)
	}
	last := w.WindowsPerS[len(w.WindowsPerS)-steadyWindows:]
	return fmt.Sprintf("not steady after %v: the last %d windows went from %s to %s requests/s", after, steadyWindows, number.Count(int64(slices.Min(last)+0.5)), number.Count(int64(slices.Max(last)+0.5)))
}

// isSteady tells whether the last windows are within steadySpread.
func isSteady(perS []float64) bool {
	if len(perS) < steadyWindows+1 {
		// The first window holds the connections' opening.
		return false
	}
	last := perS[len(perS)-steadyWindows:]
	sum := 0.0
	for _, v := range last {
		sum += v
	}
	return sum > 0 && (slices.Max(last)-slices.Min(last))/(sum/steadyWindows) <= steadySpread
}

// growing tells whether the number of workers still rose over the last
// readings.
func growing(workers []int64) bool {
	if len(workers) < 2 {
		return false
	}
	return workers[len(workers)-1] > workers[len(workers)-2]
}
