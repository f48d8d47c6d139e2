package campaign

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"abacus/harness/expect"
	"abacus/harness/fault"
	"abacus/harness/observe"
	"abacus/harness/plan"
	"abacus/harness/preflight"
	"abacus/harness/record"
)

// pageKey names a page of one variant.
type pageKey struct{ scenario, variant, page string }

func pageOf(c plan.Cell) pageKey { return pageKey{c.Scenario, c.Variant, c.Page} }

// bodyKey names a page whose body all variants of a scenario share.
type bodyKey struct{ scenario, page string }

// preflight fetches every target without load, compares what must be the
// same, and asks the status pages. What must not be loaded ends the campaign
// here.
func (c *Campaign) preflight(ctx context.Context) error {
	file := record.Preflight{}
	add := func(checks ...preflight.Check) {
		for _, check := range checks {
			file.Checks = append(file.Checks, check)
			c.event(Event{Kind: EventCheck, Check: &check})
		}
	}
	var refused []error
	var same []preflight.Page
	c.statuses = map[pageKey]int{}
	for _, cell := range c.Plan.Cells {
		key := pageOf(cell)
		if _, seen := c.statuses[key]; seen || ctx.Err() != nil {
			continue
		}
		t, err := c.preflightTarget(cell)
		if err != nil {
			return err
		}
		page, checks := preflight.CheckTarget(ctx, t, c.Bounds.Fetches)
		page.Path = cell.Page
		c.statuses[key] = page.Status
		file.Pages = append(file.Pages, page)
		add(checks...)
		refused = append(refused, mustNotLoad(cell, page, checks))
		if t.Expect.SameBody {
			same = append(same, page)
		}
	}
	add(preflight.SameBody(same)...)
	c.shareBodies(same)
	for _, check := range c.checkStatusPages(ctx) {
		add(check)
	}
	if ctx.Err() != nil {
		return nil
	}
	if err := c.Record.WritePreflight(file); err != nil {
		return err
	}
	c.event(Event{Kind: EventChecks, Text: tally(file.Checks)})
	if err := errors.Join(refused...); err != nil {
		return fault.Hint(err, "nothing was loaded; mend the target, or the expect key, and run again")
	}
	return nil
}

// mustNotLoad says why a target may not be loaded; nil when it may.
func mustNotLoad(cell plan.Cell, page preflight.Page, checks []preflight.Check) error {
	name := cell.Scenario + "/" + cell.Variant
	switch {
	case page.Error != "":
		return fmt.Errorf("%s: %s: %s", name, page.URL, page.Error)
	case page.RedirectElsewhere:
		return fmt.Errorf("%s: %s redirects to another host: %s", name, page.URL, page.Redirect)
	}
	for _, c := range checks {
		if c.Severity == preflight.Critical {
			return fmt.Errorf("%s: %s: %s", name, page.URL, c.Finding)
		}
	}
	return nil
}

// preflightTarget is a cell's target as the preflight fetches it.
func (c *Campaign) preflightTarget(cell plan.Cell) (preflight.Target, error) {
	_, job, err := c.job(cell)
	if err != nil {
		return preflight.Target{}, err
	}
	t := preflight.Target{
		Scenario: cell.Scenario, Variant: cell.Variant, Path: cell.Page,
		URL: job.URL, ConnectTo: job.ConnectTo, Method: job.Method, Body: job.Body,
		Timeout: job.Timeout, InsecureTLS: job.InsecureTLS, AcceptVariableLength: job.AcceptVariableLength,
	}
	for _, h := range job.Headers {
		t.Headers = append(t.Headers, preflight.Header(h))
	}
	if e := cell.Settings.Expect; e != nil {
		t.Expect = *e
	}
	return t, nil
}

// shareBodies keeps the hash of the first stable page of each scenario, so
// that answers during load are compared with it.
func (c *Campaign) shareBodies(pages []preflight.Page) {
	c.bodies = map[bodyKey]string{}
	for _, p := range pages {
		key := bodyKey{p.Scenario, p.Path}
		if _, ok := c.bodies[key]; !ok && p.Stable && p.SHA256 != "" {
			c.bodies[key] = p.SHA256
		}
	}
}

// expectations are a cell's rules during load.
func (c *Campaign) expectations(cell plan.Cell) (expect.Rules, bool) {
	e := cell.Settings.Expect
	if e == nil || e.Empty() {
		return expect.Rules{}, false
	}
	rules := *e
	if rules.SameBody {
		rules.BodySHA256 = c.bodies[bodyKey{cell.Scenario, cell.Page}]
	}
	return rules, true
}

// checkStatusPages polls the status page of each lab once.
func (c *Campaign) checkStatusPages(ctx context.Context) []preflight.Check {
	var checks []preflight.Check
	seen := map[*Lab]bool{}
	for _, cell := range c.Plan.Cells {
		lab := c.targets[cell.Index].lab
		if seen[lab] {
			continue
		}
		seen[lab] = true
		_, off := cell.Settings.StatusURL()
		s := preflight.StatusSeen{URL: lab.StatusURL, Wanted: !off}
		pollers := c.pollersFor(cell)
		if p := statusPoller(pollers); p != nil {
			look, cancel := context.WithTimeout(ctx, c.Bounds.StatusLook)
			sample := reading(look, p)
			cancel()
			s.Took, s.Error = time.Duration(sample.TookNS), sample.Error
			if st := sample.Status; st != nil {
				s.Version, s.MPM, s.Slots = st.ServerVersion, st.ServerMPM, len(st.Scoreboard)
				s.BusyWorkers, s.IdleWorkers, s.Extended = st.BusyWorkers, st.IdleWorkers, st.TotalAccesses != nil
			}
		}
		release(pollers)
		checks = append(checks, preflight.CheckStatus(s))
	}
	return checks
}

func statusPoller(pollers []Poller) Poller { return pollerNamed(pollers, sourceStatus) }

func pollerNamed(pollers []Poller, name string) Poller {
	for _, p := range pollers {
		if p.Name() == name {
			return p
		}
	}
	return nil
}

// idle takes the idle baseline on the first cell's target.
func (c *Campaign) idle(ctx context.Context) error {
	cell := c.Plan.Cells[0]
	t, err := c.preflightTarget(cell)
	if err != nil {
		return err
	}
	pollers := c.pollersFor(cell)
	defer release(pollers)
	in := preflight.IdleInput{
		Duration: c.Bounds.Idle, Interval: c.interval(cell), Singles: c.Bounds.Singles, Target: t,
	}
	if ports, ok := observe.ClientPorts(); ok {
		in.Machine.Ports = ports.Len()
	}
	port := c.targets[cell.Index].port
	if p := pollerNamed(pollers, sourceHost); p != nil {
		in.Host = func(ctx context.Context) (preflight.HostSeen, error) { return hostSeen(ctx, p, port) }
	}
	if p := statusPoller(pollers); p != nil {
		in.Workers = func(ctx context.Context) (preflight.WorkersSeen, error) { return workersSeen(ctx, p) }
	}
	idle := preflight.MeasureIdle(ctx, in)
	if ctx.Err() != nil {
		return nil
	}
	if idle.BusyWorkers != nil {
		c.idleBusy = max(*idle.BusyWorkers, 1)
	}
	c.event(Event{Kind: EventIdle, Text: idle.Reason})
	return c.Record.WriteIdle(idle)
}

// hostSeen is one reading of the machine as the preflight takes it. Of the
// sockets in TIME_WAIT only those count that hold a client port towards the
// target: the others, where the server closed first, run out of nothing.
func hostSeen(ctx context.Context, p Poller, port int) (preflight.HostSeen, error) {
	r, err := p.Poll(ctx)
	if err != nil {
		return preflight.HostSeen{}, err
	}
	if r.Host == nil {
		return preflight.HostSeen{}, errors.New("no reading of the machine")
	}
	h := r.Host
	s := preflight.HostSeen{
		BusyNS: h.CPU.BusyNS(), TotalNS: h.CPU.TotalNS(), StealNS: h.CPU.StealNS, IOWaitNS: h.CPU.IOWaitNS,
		Load1: h.Load1, MemAvailableBytes: h.MemAvailableBytes, MemTotalBytes: h.MemTotalBytes,
	}
	if n, err := observe.ClientTimeWait(port); err == nil {
		held := int64(n)
		s.TimeWait = &held
	}
	if h.SwapInBytes != nil && h.SwapOutBytes != nil {
		moved := *h.SwapInBytes + *h.SwapOutBytes
		s.SwapMovedBytes = &moved
	}
	return s, nil
}

// workersSeen is one reading of the status page as the preflight takes it.
func workersSeen(ctx context.Context, p Poller) (preflight.WorkersSeen, error) {
	r, err := p.Poll(ctx)
	if err != nil {
		return preflight.WorkersSeen{}, err
	}
	if r.Status == nil {
		return preflight.WorkersSeen{}, errors.New("no reading of the status page")
	}
	return preflight.WorkersSeen{
		BusyWorkers: r.Status.BusyWorkers, IdleWorkers: r.Status.IdleWorkers,
		TotalAccesses: r.Status.TotalAccesses, UptimeS: r.Status.UptimeS,
	}, nil
}

// tally counts checks in words: "14 passed, 1 note".
func tally(checks []preflight.Check) string {
	n := map[preflight.Severity]int{}
	for _, c := range checks {
		n[c.Severity]++
	}
	parts := []string{fmt.Sprintf("%d passed", n[preflight.OK])}
	for _, s := range []struct {
		severity  preflight.Severity
		one, many string
	}{
		{preflight.Info, "note", "notes"}, {preflight.Warning, "warning", "warnings"},
		{preflight.Critical, "critical", "critical"}, {preflight.NotSeen, "not seen", "not seen"},
	} {
		switch k := n[s.severity]; {
		case k == 1:
			parts = append(parts, "1 "+s.one)
		case k > 1:
			parts = append(parts, fmt.Sprintf("%d %s", k, s.many))
		}
	}
	return strings.Join(parts, ", ")
}

// cacheProbes is how many single requests ask a page for its cache state.
const cacheProbes = 5

// cacheMisses fetches a page that names its cache state in X-Cache a few
// times and says so when it still misses; "" for all hits and for pages
// without the header.
func (c *Campaign) cacheMisses(ctx context.Context, cell plan.Cell) string {
	t, err := c.preflightTarget(cell)
	if err != nil {
		return ""
	}
	page, _ := preflight.CheckTarget(ctx, t, 1)
	if _, ok := page.Headers["X-Cache"]; !ok {
		return ""
	}
	misses := 0
	for range cacheProbes {
		page, _ := preflight.CheckTarget(ctx, t, 1)
		if !strings.Contains(strings.ToLower(page.Headers["X-Cache"]), "hit") {
			misses++
		}
	}
	if misses == 0 {
		return ""
	}
	return fmt.Sprintf("the cache still misses: %d of %d answers after the warm-up were no hit", misses, cacheProbes)
}
