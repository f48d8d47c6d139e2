package analysis

import (
	"fmt"
	"math"
	"strings"

	"abacus/harness/metric"
	"abacus/harness/number"
	"abacus/harness/record"
	"abacus/harness/stats"
)

// The outcomes of a goal.
const (
	GoalMet       = "met"
	GoalMissed    = "missed"
	GoalUndecided = "undecided"
)

// judgeGoals judges the campaign's goals on every cell and a scenario's on its
// own. A figure that repeats give is judged by its 95 % interval over runs: met
// when the whole interval keeps the goal, missed when none of it does, else
// undecided. What was counted or read off is judged as it stands.
func judgeGoals(m record.Manifest, a *Analysis, s *state) []GoalResult {
	var out []GoalResult
	judge := func(goal string, i int) {
		c := a.Cells[i]
		scope := Scope{Scenario: c.Scenario, Variant: c.Variant, Page: c.Page, Step: &c.Step}
		expr, err := metric.Parse(goal)
		if err != nil {
			out = append(out, GoalResult{Goal: goal, Scope: scope, Outcome: GoalUndecided, Evidence: "The goal cannot be read: " + err.Error()})
			return
		}
		if expr.OfBaseline && c.Variant == baselineOf(frameOf(m, c.Scenario), a.Cells) {
			return // the baseline is always 1 × itself
		}
		outcome, evidence := judgeGoal(expr, a, s, i, m)
		out = append(out, GoalResult{Goal: goal, Scope: scope, Outcome: outcome, Evidence: evidence})
	}
	for _, goal := range m.Goals {
		for i := range a.Cells {
			judge(goal, i)
		}
	}
	for _, sc := range m.Scenarios {
		for _, goal := range sc.Goals {
			for i := range a.Cells {
				if a.Cells[i].Scenario == sc.Name {
					judge(goal, i)
				}
			}
		}
	}
	return out
}

// GoalPlace names where a goal was judged, as far as the record has several
// scenarios, variants, pages or load levels.
func (a *Analysis) GoalPlace(g GoalResult) string {
	var parts []string
	s := g.Scope
	if s.Scenario != "" && len(a.Scenarios) > 1 {
		parts = append(parts, s.Scenario)
	}
	if s.Variant != "" && a.variantsOf(s.Scenario) > 1 {
		parts = append(parts, s.Variant)
	}
	if s.Page != "" {
		parts = append(parts, s.Page)
	}
	if s.Step != nil {
		level := connections(*s.Step)
		if !s.Step.KeepAlive {
			level += ", no keep-alive"
		}
		parts = append(parts, level)
	}
	if len(parts) == 0 {
		return s.Scenario
	}
	return strings.Join(parts, ", ")
}

// goalFigure is a figure that a goal is judged on.
type goalFigure struct {
	value float64
	// ci is the interval over runs; nil for a figure without one.
	ci *[2]float64
	// exact tells that the figure is a count or a reading, which has no interval.
	exact bool
	n     int
	// spread is that of the values over runs; nil for a ratio.
	spread *stats.Spread
}

func judgeGoal(e metric.Expr, a *Analysis, s *state, i int, m record.Manifest) (outcome, evidence string) {
	fig, ok := cellFigure(e, a.Cells[i], s.cells[i])
	if e.OfBaseline {
		fig, ok = ratioFigure(e, a, s, i, m)
	}
	if !ok {
		return GoalUndecided, fmt.Sprintf("No figure of %s here.", e.Metric)
	}
	if fig.exact {
		text := written(e, fig.value) + "."
		if e.Holds(fig.value) {
			return GoalMet, text
		}
		return GoalMissed, text
	}
	if fig.ci == nil {
		return GoalUndecided, fmt.Sprintf("%s in %s: without an interval nothing is decided.", written(e, fig.value), number.Plural(int64(fig.n), "run"))
	}
	return byInterval(e, *fig.ci), fmt.Sprintf("%s, %s.", withInterval(e, fig), number.Plural(int64(fig.n), "run"))
}

// withInterval writes a figure and its interval, in one unit and with one last
// digit: "20 ms (95 % interval 0 to 150)".
func withInterval(e metric.Expr, fig goalFigure) string {
	def, _ := metric.Lookup(e.Metric)
	unit, div := "", 1.0
	switch {
	case e.OfBaseline:
		unit = number.ThinSpace + "×"
	case def.Unit == metric.UnitNanoseconds:
		unit, div = number.DurationUnit(fig.value)
		unit = number.HardSpace + unit
	case def.Unit == metric.UnitPerSecond:
		unit = "/s"
	case def.Unit == metric.UnitBytesPerSecond:
		unit, div = number.HardSpace+"MiB/s", 1<<20
	}
	place := number.PlaceFor(fig.value/div, number.Half(fig.ci)/div)
	if fig.spread != nil {
		place = LastDigit(fig.spread, div)
	}
	return fmt.Sprintf("%s%s (95%s%% interval %s)", number.At(fig.value/div, place), unit, number.ThinSpace, number.BetweenAt(fig.ci[0]/div, fig.ci[1]/div, place))
}

// byInterval judges a goal on an interval of a figure that varies.
func byInterval(e metric.Expr, ci [2]float64) string {
	inside := ci[0] <= e.Value && e.Value <= ci[1]
	switch {
	case e.Op == "==" && ci[0] == ci[1], e.Op == "!=" && ci[0] == ci[1]:
	case inside && (e.Op == "==" || e.Op == "!="):
		return GoalUndecided
	}
	low, high := e.Holds(ci[0]), e.Holds(ci[1])
	switch {
	case low && high:
		return GoalMet
	case !low && !high:
		return GoalMissed
	}
	return GoalUndecided
}

// cellFigure finds the figure of a cell that an expression is about.
func cellFigure(e metric.Expr, c Cell, st *cellState) (goalFigure, bool) {
	if name, known := perRunName(e.Metric); known {
		values := st.perRun[name]
		if e.Metric == metricThroughput {
			values = goodPoints(c, func(p Point) *float64 { return p.Throughput })
		}
		d := spread(values, false)
		if d == nil {
			return goalFigure{}, false
		}
		f := goalFigure{value: d.Mean, n: d.N, spread: d}
		// Without intervals (a quick look) nothing is decided.
		if c.Throughput != nil && c.Throughput.CI95 != nil {
			f.ci = d.CI95
		}
		return f, true
	}
	v, ok := exactFigure(e.Metric, c, st)
	if !ok {
		return goalFigure{}, false
	}
	if e.Percent {
		requests := st.counts.Requests()
		if requests <= 0 {
			return goalFigure{}, false
		}
		v /= float64(requests)
	}
	return goalFigure{value: v, exact: true}, true
}

// perRunName maps a metric to the values kept per run.
func perRunName(id string) (string, bool) {
	switch id {
	case metricThroughput:
		return "throughput", true
	case "latency_mean_ns", "total_ns":
		return "mean", true
	case "p50", "p75", "p90", "p95", "p99", "p999", "max":
		return id, true
	case "connect_ns":
		return "connect", true
	case "waiting_ns":
		return "waiting", true
	case "processing_ns":
		return "processing", true
	case "bytes_per_s":
		return "bytes", true
	}
	return "", false
}

// exactFigure is a count over all runs of the cell, or a reading.
func exactFigure(id string, c Cell, st *cellState) (float64, bool) {
	whole := func(p *int64) (float64, bool) { return deref(p), p != nil }
	real := func(p *float64) (float64, bool) {
		if p == nil {
			return 0, false
		}
		return *p, true
	}
	if !st.hasResult {
		return 0, false
	}
	switch id {
	case "complete":
		return float64(c.Complete), true
	case "failed":
		return float64(c.Failed), true
	case "failed_connect", "failed_receive", "failed_length", "failed_timeout", "failed_exception":
		n, known := c.FailedBy[id[len("failed_"):]]
		return float64(n), known
	case "non_2xx":
		return float64(c.Non2xx), true
	case "reconnects":
		return whole(c.Reconnects)
	case "busy_workers_peak":
		return whole(c.BusyWorkersPeak)
	case "idle_workers_min":
		return whole(c.IdleWorkersMin)
	case "client_cpu_ns_per_request":
		return real(c.ClientCPUNSPerRequest)
	case "server_cpu_ns_per_request":
		return real(c.ServerCPUNSPerRequest)
	case "client_cpu_share":
		return real(c.ClientCPUShare)
	}
	return 0, false
}

// ratioFigure is the cell's figure over the baseline's: the paired ratio for
// throughput and p95, for others the quotient, which has no interval and
// decides nothing.
func ratioFigure(e metric.Expr, a *Analysis, s *state, i int, m record.Manifest) (goalFigure, bool) {
	c := a.Cells[i]
	for _, p := range pairUp(a.Cells, c.Scenario, baselineOf(frameOf(m, c.Scenario), a.Cells)) {
		if p.a != i {
			continue
		}
		if e.Metric == metricThroughput || e.Metric == metricP95 {
			k := compare(c, a.Cells[p.b], e.Metric, false, 0, a.Quick)
			if k.Ratio == nil {
				return goalFigure{}, false
			}
			return goalFigure{value: *k.Ratio, ci: k.CI95, n: k.N}, true
		}
		mine, ok1 := cellFigure(e, c, s.cells[i])
		base, ok2 := cellFigure(e, a.Cells[p.b], s.cells[p.b])
		if !ok1 || !ok2 || base.value == 0 {
			return goalFigure{}, false
		}
		return goalFigure{value: mine.value / base.value, n: mine.n}, true
	}
	return goalFigure{}, false
}

// written writes a figure without an interval in the unit of its metric.
func written(e metric.Expr, v float64) string {
	def, _ := metric.Lookup(e.Metric)
	switch {
	case e.OfBaseline:
		return number.Times(v, math.NaN())
	case e.Percent:
		return number.Percent(v)
	case def.Unit == metric.UnitNanoseconds:
		return number.Duration(v)
	case def.Unit == metric.UnitPerSecond:
		return number.Sig3(v) + "/s"
	case def.Unit == metric.UnitBytesPerSecond:
		return number.Bytes(v) + "/s"
	case v == math.Trunc(v) && math.Abs(v) < 1e15:
		return number.Count(int64(v))
	}
	return number.Sig3(v)
}
