package analysis

import (
	"math"
	"slices"

	"abacus/harness/load"
	"abacus/harness/number"
	"abacus/harness/record"
	"abacus/harness/stats"
)

// cellState gathers the runs of one cell. Its memory does not grow with the
// number of requests, and by a few numbers per run.
type cellState struct {
	cell   record.Cell
	points []Point
	good   int
	void   int
	failed int

	total, connect, waiting, processing *load.Distribution
	counts                              load.Counts
	hasResult                           bool
	documentBytes                       *int64
	// perRun holds each good run's latency figures, by figure.
	perRun map[string][]float64

	clientCPU, serverCPU, clientShare ratioSum
	seen                              cellSeen
}

// ratioSum is a mean weighted by its divisor, over the runs that have it.
type ratioSum struct{ above, below float64 }

func (r *ratioSum) add(above, below float64) {
	if below > 0 {
		r.above += above
		r.below += below
	}
}

func (r ratioSum) value() *float64 {
	if r.below <= 0 {
		return nil
	}
	v := r.above / r.below
	return &v
}

func newCellState(c record.Cell) *cellState {
	return &cellState{cell: c, perRun: map[string][]float64{}}
}

// quantiles are the latency percentiles of a cell, by the name of the figure.
func quantiles() []struct {
	name string
	at   float64
} {
	return []struct {
		name string
		at   float64
	}{{"p50", .5}, {"p75", .75}, {"p90", .9}, {"p95", .95}, {"p99", .99}, {"p999", .999}}
}

func (c *cellState) add(run record.Run, d defaults) {
	p := Point{Seq: run.Seq, Round: run.Round}
	p.State, p.Bad = bad(run)
	switch p.State {
	case "":
		c.good++
	case stateVoid:
		c.void++
	case stateFailed, stateStopped:
		c.failed++
	}
	if r := run.Result; r != nil {
		c.hasResult = true
		c.counts.Merge(r.Counts)
		p.Complete, p.Failed = &r.Counts.Complete, &r.Counts.Failed
		if c.documentBytes == nil && r.DocumentBytes != nil {
			v := *r.DocumentBytes
			c.documentBytes = &v
		}
		fillPoint(&p, r)
		if p.Bad == "" {
			c.addFigures(r)
			c.addUse(run, d)
		}
	}
	c.seen.add(run, p)
	c.points = append(c.points, p)
}

// The states of a run that is in no figure.
const (
	stateVoid        = "void"
	stateFailed      = "failed"
	stateStopped     = "stopped"
	stateInterrupted = "interrupted"
)

// bad says in which way and why a run is in no figure; both are empty for a
// good one.
func bad(run record.Run) (state, why string) {
	switch {
	case run.Good():
		return "", ""
	case run.Void != "":
		return stateVoid, run.Void
	case run.Stopped != "":
		return stateStopped, "stopped early: " + run.Stopped
	case run.Error != "":
		return stateFailed, run.Error
	case run.Result == nil:
		return stateFailed, "the engine gave no result"
	case run.Result.Interrupted:
		return stateInterrupted, "interrupted"
	}
	return stateFailed, "no answer was whole"
}

// Fate says in which way and why a run is in no figure: "void: the client was
// the limit". It is empty for a good run.
func (p Point) Fate() string {
	switch p.State {
	case stateStopped, stateInterrupted: // Bad says which by itself
		return p.Bad
	case "":
		return ""
	}
	return p.State + ": " + p.Bad
}

// StoppedRuns is how many of the cell's failed runs were ended by stop_if.
func (c Cell) StoppedRuns() int {
	n := 0
	for _, p := range c.Points {
		if p.State == stateStopped {
			n++
		}
	}
	return n
}

func fillPoint(p *Point, r *load.Result) {
	if v, ok := r.ThroughputPerS(); ok && r.Counts.Complete > 0 {
		p.Throughput = &v
	}
	if r.Total == nil {
		return
	}
	if v, ok := r.Total.Mean(); ok {
		p.MeanNS = &v
	}
	for _, q := range []struct {
		at float64
		to **float64
	}{{.5, &p.P50NS}, {.95, &p.P95NS}, {.99, &p.P99NS}} {
		if v, ok := r.Total.Quantile(q.at); ok {
			f := float64(v)
			*q.to = &f
		}
	}
}

// addFigures takes a good run's distributions into the cell's.
func (c *cellState) addFigures(r *load.Result) {
	for _, d := range []struct {
		to   **load.Distribution
		from *load.Distribution
	}{{&c.total, r.Total}, {&c.connect, r.Connect}, {&c.waiting, r.Waiting}, {&c.processing, r.Processing}} {
		if d.from == nil || d.from.Count() == 0 {
			continue
		}
		if *d.to == nil {
			*d.to = load.NewDistribution()
		}
		(*d.to).Merge(d.from)
	}
	keep := func(name string, v float64, ok bool) {
		if ok {
			c.perRun[name] = append(c.perRun[name], v)
		}
	}
	for name, d := range map[string]*load.Distribution{"connect": r.Connect, "waiting": r.Waiting, "processing": r.Processing} {
		if d != nil {
			v, ok := d.Mean()
			keep(name, v, ok)
		}
	}
	if n := received(r.Counts); n != nil && r.ElapsedNS > 0 {
		keep("bytes", float64(*n)/(float64(r.ElapsedNS)/1e9), true)
	}
	if r.Total == nil {
		return
	}
	mean, ok := r.Total.Mean()
	keep("mean", mean, ok)
	for _, q := range quantiles() {
		v, ok := r.Total.Quantile(q.at)
		keep(q.name, float64(v), ok)
	}
	longest, ok := r.Total.Max()
	keep("max", float64(longest), ok)
}

// addUse takes what client and server spent on a good run.
func (c *cellState) addUse(run record.Run, d defaults) {
	r := run.Result
	requests := float64(r.Counts.Requests())
	if r.Usage != nil {
		cpu := float64(r.Usage.CPUUserNS + r.Usage.CPUSystemNS)
		c.clientCPU.add(cpu, requests)
		cores := r.Usage.Cores
		if cores <= 0 {
			cores = d.cores
		}
		c.clientShare.add(cpu, float64(r.ElapsedNS)*float64(cores))
	}
	if cpu, ok := serverCPU(run.Series, r.ElapsedNS); ok {
		c.serverCPU.add(cpu, requests)
	}
}

// close turns what was gathered into the cell's line.
func (c *cellState) close(m record.Manifest) Cell {
	k := c.cell
	slices.SortStableFunc(c.points, func(a, b Point) int {
		if a.Round != b.Round {
			return a.Round - b.Round
		}
		return a.Seq - b.Seq
	})
	out := Cell{
		Scenario: k.Scenario, Variant: k.Variant, Page: k.Page, Engine: k.Engine, Lab: k.Lab, URL: k.URL, Baseline: k.Baseline,
		Step: k.Step, Label: label(k.Step), Runs: c.good, VoidRuns: c.void, FailedRuns: c.failed, PlannedRuns: m.Rounds,
		Complete: c.counts.Complete, Failed: c.counts.Failed, Non2xx: c.counts.Non2xx, FailedBy: map[string]int64{},
		Reconnects: c.counts.Reconnects, Bytes: received(c.counts), DocumentBytes: c.documentBytes,
		ClientCPUNSPerRequest: c.clientCPU.value(), ServerCPUNSPerRequest: c.serverCPU.value(), ClientCPUShare: c.clientShare.value(),
		WithinRun: WithinRun{Connect: within(c.connect), Waiting: within(c.waiting), Processing: within(c.processing), Total: within(c.total)},
		Points:    c.points, Percentiles: percentileCurve(c.total),
	}
	if out.Points == nil {
		out.Points = []Point{}
	}
	if c.hasResult {
		for _, kind := range load.Kinds() {
			if n, known := c.counts.ByKind(kind); known {
				out.FailedBy[string(kind)] = n
			}
		}
	}
	var perS []float64
	for _, p := range c.points {
		if p.Bad == "" && p.Throughput != nil {
			perS = append(perS, *p.Throughput)
		}
	}
	out.Throughput = spread(perS, m.Quick)
	out.Latency = c.latency(m.Quick)
	c.seen.fill(&out)
	return out
}

// received is bytes of headers and bodies; nil when the bodies' are unknown.
func received(c load.Counts) *int64 {
	if c.BodyBytes == nil {
		return nil
	}
	n := *c.BodyBytes
	if c.HeaderBytes != nil {
		n += *c.HeaderBytes
	}
	return &n
}

// spread describes values of a quantity that cannot be negative, nil for none.
// Its interval is cut at 0, which a wide one of few runs would pass. A quick
// look has no interval.
func spread(values []float64, quick bool) *stats.Spread {
	s, ok := stats.Describe(values)
	if !ok {
		return nil
	}
	if quick {
		s.CI95 = nil
	}
	if s.CI95 != nil && s.Mean >= 0 {
		s.CI95[0] = max(0, s.CI95[0])
	}
	return &s
}

// LastDigit is the exponent of the last digit with which mean, standard
// deviation and interval of a spread are written, in the unit that divisor
// makes of the spread's own (1 for the same).
func LastDigit(s *stats.Spread, divisor float64) int {
	sd := math.NaN()
	if s.SD != nil {
		sd = *s.SD / divisor
	}
	half := math.NaN()
	if s.CI95 != nil {
		// The upper half: the lower one may be cut at 0.
		half = (s.CI95[1] - s.Mean) / divisor
	}
	return number.PlaceShared(s.Mean/divisor, half, sd)
}

func (c *cellState) latency(quick bool) Latency {
	l := Latency{}
	to := map[string]*Figure{"p50": &l.P50, "p75": &l.P75, "p90": &l.P90, "p95": &l.P95, "p99": &l.P99, "p999": &l.P999}
	for _, q := range quantiles() {
		to[q.name].Runs = spread(c.perRun[q.name], quick)
		if c.total == nil {
			continue
		}
		if v, ok := c.total.Quantile(q.at); ok {
			f := float64(v)
			to[q.name].Value = &f
		}
	}
	l.Mean.Runs, l.Max.Runs = spread(c.perRun["mean"], quick), spread(c.perRun["max"], quick)
	if c.total != nil {
		if v, ok := c.total.Mean(); ok {
			l.Mean.Value = &v
		}
		if v, ok := c.total.Max(); ok {
			f := float64(v)
			l.Max.Value = &f
		}
	}
	return l
}

func within(d *load.Distribution) *Within {
	if d == nil || d.Count() == 0 {
		return nil
	}
	w := &Within{Count: d.Count()}
	// All are there, since something was recorded.
	w.Mean, _ = d.Mean()
	w.Min, _ = d.Min()
	w.Median, _ = d.Quantile(.5)
	w.Max, _ = d.Max()
	if sd, ok := d.StdDev(); ok {
		w.SD = &sd
	}
	return w
}

// percentileCurve is the quantile curve for a plot whose axis spreads the
// tail: ten steps to each decade of "one in n", as far as answers reach.
func percentileCurve(d *load.Distribution) []Percentile {
	if d == nil || d.Count() == 0 {
		return nil
	}
	n := float64(d.Count())
	shares := []float64{0, .05, .1, .15, .2, .25, .3, .35, .4, .45, .5, .55, .6, .65, .7, .75, .8, .85, .9}
	for tail := .1; tail*n > 1 && tail > 1e-9; tail /= 10 {
		for _, part := range []float64{.8, .65, .5, .4, .3, .25, .2, .15, .125, .1} {
			if tail*part*n < 1 {
				break
			}
			shares = append(shares, 1-tail*part)
		}
	}
	shares = append(shares, 1)
	var curve []Percentile
	for _, q := range shares {
		q = math.Round(q*1e12) / 1e12 // 0.92, not 0.9199999999999999
		v, ok := d.Quantile(q)
		if !ok {
			continue
		}
		p := Percentile{Q: q, NS: v, Beyond: beyond(d.Count(), q)}
		if len(curve) > 0 && (p.Q <= curve[len(curve)-1].Q || p.NS < curve[len(curve)-1].NS) {
			continue
		}
		curve = append(curve, p)
	}
	return curve
}

// beyond is how many of n values lie past the share q: n less the rank that
// the quantile stands at. The small term keeps 0.9 × 10 from becoming 9.000…1.
func beyond(n int64, q float64) int64 {
	rank := q * float64(n)
	whole := int64(rank + 1e-6)
	if rank-float64(whole) > 1e-6 {
		whole++
	}
	return max(0, n-whole)
}
