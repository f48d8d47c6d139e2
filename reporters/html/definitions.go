package html

import (
	"fmt"
	"strings"

	"abacus/harness/analysis"
	"abacus/harness/metric"
	"abacus/harness/number"
)

// definition is one entry of the last section.
type definition struct{ Term, ID, Text string }

// definitions are the words of the page, then the table of metrics.
func definitions(a *analysis.Analysis) []definition {
	out := []definition{
		{Term: "Run, round", Text: "A run is one load level once; a round is one pass over all of them. Variants of one level within one round are compared with each other, so that drift falls on all alike."},
		{Term: "sd between runs", Text: "Sample standard deviation (n − 1) of one figure over the runs of a load level. It says how well the figure repeats."},
		{Term: "sd within runs", Text: "Sample standard deviation over all single requests of all good runs. It says how much requests differ from each other."},
		{Term: "95" + number.ThinSpace + "% interval", Text: "Of the mean over runs, by Student’s t with n − 1 degrees of freedom; what cannot be negative begins at 0, so a wide interval is cut there. Of a ratio: the same on the logarithms of the ratios round by round, then raised again."},
		{Term: "Ratio", Text: "Geometric mean over complete rounds of variant ÷ baseline."},
		{Term: "Adjusted p", Text: "Paired t test on the logarithms, corrected by Holm over the planned comparisons. Fewer than six rounds give no verdict."},
		{Term: "Verdict", Text: fmt.Sprintf("Faster or slower: the interval leaves out 1, the adjusted p is under 0.05, and the ratio lies beyond the margin%s. Equivalent: the whole interval lies within the margin. Else no difference is shown.", margins(a))},
		{Term: "Void run", Text: "A run that says nothing about the server, by a rule named beside it. It is shown struck out and is in no mean, curve or comparison."},
		{Term: "Percentiles", Text: "The time within which that share of the whole answers was done, from a histogram of three digits. Tables, charts and tiles show the mean of the runs’ own values; only the section Latency by percentile shows the merged histogram (`value` in the JSON)."},
	}
	seen, units := seenMetrics(a), durationUnits(a)
	for _, m := range metric.Table() {
		if seen[m.ID] {
			out = append(out, definition{Term: m.ID, ID: unitWords(m.ID, m.Unit, units), Text: m.Text})
		}
	}
	return out
}

// seenMetrics are those that the page shows a figure of, or judges a goal on.
func seenMetrics(a *analysis.Analysis) map[string]bool {
	seen := map[string]bool{}
	for _, c := range a.Cells {
		if c.Throughput != nil {
			seen["throughput_per_s"], seen["complete"], seen["failed"] = true, true, true
		}
		l := c.Latency
		for id, f := range map[string]analysis.Figure{"latency_mean_ns": l.Mean, "p50": l.P50, "p75": l.P75, "p90": l.P90, "p95": l.P95, "p99": l.P99, "p999": l.P999, "max": l.Max} {
			if f.Value != nil || f.Runs != nil {
				seen[id] = true
			}
		}
		w := c.WithinRun
		for id, p := range map[string]*analysis.Within{"connect_ns": w.Connect, "waiting_ns": w.Waiting, "processing_ns": w.Processing, "total_ns": w.Total} {
			if p != nil && p.Count > 0 {
				seen[id] = true
			}
		}
		for kind, n := range c.FailedBy {
			if n > 0 {
				seen["failed"], seen["failed_"+kind] = true, true
			}
		}
		if c.Non2xx > 0 {
			seen["non_2xx"] = true
		}
	}
	for _, s := range a.Scenarios {
		if s.Kind != kindLadder {
			continue
		}
		for _, i := range s.CellIndexes {
			if a.Cells[i].ClientCPUShare != nil {
				seen["client_cpu_share"] = true
			}
			if a.Cells[i].IdleWorkersMin != nil {
				seen["idle_workers_min"] = true
			}
		}
	}
	for _, g := range a.Goals {
		if e, err := metric.Parse(g.Goal); err == nil {
			seen[e.Metric] = true
		}
	}
	return seen
}

// durationUnits lists the units that the page's columns of times have.
func durationUnits(a *analysis.Analysis) string {
	used := map[string]bool{}
	for _, sc := range a.Scenarios {
		rows := rowsOf(a, sc)
		unit, _ := latencyUnit(cellsOf(rows))
		used[unit] = true
		for _, p := range phases() {
			if unit, _, ok := phaseUnit(rows, p); ok {
				used[unit] = true
			}
		}
	}
	var out []string
	for _, u := range []string{"µs", "ms", "s"} {
		if used[u] {
			out = append(out, u)
		}
	}
	return strings.Join(out, " or ")
}

func margins(a *analysis.Analysis) string {
	seen := map[string]bool{}
	var list []string
	for _, s := range a.Scenarios {
		if m := number.Percent(s.Margin); s.Margin > 0 && !seen[m] {
			seen[m] = true
			list = append(list, "±"+m)
		}
	}
	if len(list) == 0 {
		return ""
	}
	return " (" + strings.Join(list, ", ") + ")"
}

// unitWords is a metric's unit as the tables show it.
func unitWords(id, unit, durations string) string {
	switch {
	case unit == metric.UnitNanoseconds:
		return durations
	case unit == metric.UnitPerSecond:
		return "requests/s"
	case unit == metric.UnitBytesPerSecond:
		return "bytes/s"
	case strings.HasSuffix(id, "_share"):
		return "%"
	case unit == metric.UnitOne:
		return "count"
	}
	return unit
}
