package campaign

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"abacus/harness/plan"
	"abacus/harness/preflight"
	"abacus/harness/record"
)

// Continue takes over what an earlier record has: its frame, the runs that
// ended, and the ladders that were given up. A damaged run file counts as not
// done, so it is measured again. The server is a new one, so its warm-ups take
// the place of those of the earlier start. A plan that puts other runs in the
// places of those that ended cannot go on with them: that is an error.
func (c *Campaign) Continue(r *record.Reader) error {
	c.Manifest = r.Manifest
	c.Manifest.State, c.Manifest.Reason, c.Manifest.EndedAt = record.StateRunning, "", nil
	c.finished = map[int]bool{}
	cells := make([]record.Cell, len(c.Plan.Cells))
	for i, cell := range c.Plan.Cells {
		cells[i] = recordCell(cell)
	}
	if !slices.Equal(cells, r.Manifest.Cells) || len(c.Plan.Runs) != r.Manifest.PlannedRuns {
		return errors.New("the load levels, variants or repeats are not those of the record")
	}
	for run, err := range r.Runs() {
		if err != nil || run.CutShort() {
			continue
		}
		if run.Seq < 1 || run.Seq > len(c.Plan.Runs) {
			return fmt.Errorf("the record has a run %d, the plan has 1 to %d", run.Seq, len(c.Plan.Runs))
		}
		planned := c.Plan.Runs[run.Seq-1]
		if planned.Cell != run.CellIndex || planned.Round != run.Round {
			return fmt.Errorf("the order of runs is not that of the record: run %d was another one", run.Seq)
		}
		c.finished[run.Seq] = true
		c.count(run, c.Plan.Cells[planned.Cell])
	}
	if len(c.finished) == 0 || len(c.Left()) == 0 {
		return nil
	}
	// The idle baseline is taken anew; that the earlier runs were begun on a
	// machine that was not calm must not be forgotten with the old one.
	idle, err := r.Idle()
	if err != nil {
		return err
	}
	if idle != nil && !calm(idle.Idle) {
		c.Manifest.Differences = append(c.Manifest.Differences, "the machine before the earlier start: "+idle.Reason)
	}
	return nil
}

// calm tells whether an idle baseline found nothing to object to.
func calm(i preflight.Idle) bool {
	return i.MayStart && !slices.ContainsFunc(i.Checks, func(c preflight.Check) bool {
		return c.Severity == preflight.Warning || c.Severity == preflight.Critical
	})
}

// Differences compares the plan and machine of a record with those of now. An
// empty list allows to go on.
func Differences(r *record.Reader, p *plan.Plan, fingerprint string, now preflight.Environment) ([]string, error) {
	var d []string
	if r.Manifest.Fingerprint != fingerprint {
		d = append(d, "the campaign's configuration is not the one that the record was begun with")
	}
	if r.Manifest.PlannedRuns != len(p.Runs) {
		d = append(d, fmt.Sprintf("the plan has %d runs, the record's had %d", len(p.Runs), r.Manifest.PlannedRuns))
	}
	then, err := r.Environment()
	if err != nil {
		return nil, err
	}
	compare := func(what, was, is string) {
		if was != is {
			d = append(d, fmt.Sprintf("%s was %q, is %q", what, was, is))
		}
	}
	compare("abacus", then.AbacusVersion, now.AbacusVersion)
	compare("operating system", then.OS+" "+then.Platform, now.OS+" "+now.Platform)
	compare("kernel", then.Kernel, now.Kernel)
	compare("architecture", then.Arch, now.Arch)
	compare("CPU", then.CPUModel, now.CPUModel)
	compare("number of CPUs", fmt.Sprint(then.CPUs), fmt.Sprint(now.CPUs))
	compare("governor", then.Governor, now.Governor)
	compare("memory", fmt.Sprint(then.MemBytes), fmt.Sprint(now.MemBytes))
	for _, name := range slices.Sorted(maps.Keys(then.Versions)) {
		if is, ok := now.Versions[name]; ok {
			compare(name, then.Versions[name], is)
		}
	}
	return d, nil
}
