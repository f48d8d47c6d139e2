package analysis

import (
	"fmt"
	"slices"

	"abacus/harness/number"
)

// headline picks up to four figures: the first comparison that has shown
// something (else the first), the first ladder's greatest throughput, p95
// there, and failed requests.
func headline(a *Analysis, s *state) []Headline {
	var out []Headline
	var primary []Comparison
	for _, c := range a.Comparisons {
		if c.Primary && c.Ratio != nil {
			primary = append(primary, c)
		}
	}
	if len(primary) > 0 {
		c := primary[max(0, slices.IndexFunc(primary, isShown))]
		h := Headline{Label: fmt.Sprintf("%s to %s, %s", c.A, c.B, metricWord(c.Metric)), Value: *c.Ratio, Unit: "×",
			CI95: c.CI95, Points: c.BlockRatios, Note: connections(c.Step)}
		if !c.Step.KeepAlive {
			h.Note += ", no keep-alive"
		}
		out = append(out, h)
	}
	if i, ok := headlineCell(a); ok {
		c := a.Cells[i]
		label, note := "Highest throughput", a.subject(i)
		if len(a.Scenarios) > 1 {
			// Another scenario may have served more.
			label, note = label+", "+c.Scenario, (&finder{a: a}).name(i)
		}
		h := Headline{Label: label, Value: c.Throughput.Mean, Unit: "/s", CI95: c.Throughput.CI95, SD: c.Throughput.SD,
			Note: note, Points: goodPoints(c, func(p Point) *float64 { return p.Throughput })}
		out = append(out, h)
		if s := c.Latency.P95.Runs; s != nil {
			out = append(out, Headline{Label: p95Label(s.N), Value: s.Mean, Unit: "ns", CI95: s.CI95, SD: s.SD, Note: note,
				Points: goodPoints(c, func(p Point) *float64 { return p.P95NS })})
		}
	}
	if anyGood(a) {
		out = append(out, failedHeadline(a, s))
	}
	return out
}

func p95Label(runs int) string {
	if runs == 1 {
		return "p95 there"
	}
	return "p95 there, mean over runs"
}

// failedHeadline counts failures over the campaign, and answers that no one
// asked for beside them: a server that only redirects fails in nothing.
func failedHeadline(a *Analysis, s *state) Headline {
	var failed, all, other int64
	f := &finder{a: a, s: s}
	for i, c := range a.Cells {
		failed += c.Failed
		all += c.Complete
		if f.unexpectedStatus(i) {
			other += c.Non2xx
		}
	}
	h := Headline{Label: "Failed requests", Value: float64(failed), Note: fmt.Sprintf("beside %s whole answers", number.Count(all))}
	if other > 0 {
		h.Note += fmt.Sprintf(", %s of them not 2xx", number.Count(other))
		h.Warn = true
	}
	return h
}

func metricWord(metric string) string {
	if metric == metricP95 {
		return "p95"
	}
	return "throughput"
}

// headlineCell is the level of the greatest throughput: of the curves of the
// first ladder that has a figure, else of all.
func headlineCell(a *Analysis) (int, bool) {
	best := -1
	better := func(i int) bool {
		t := a.Cells[i].Throughput
		return t != nil && (best < 0 || t.Mean > a.Cells[best].Throughput.Mean)
	}
	for _, s := range a.Scenarios {
		for _, curve := range curvesOf(a, s.Name) {
			if p, ok := peakOf(curve, a.Cells); ok && better(p.cell) {
				best = p.cell
			}
		}
		if best >= 0 {
			return best, true
		}
	}
	for i := range a.Cells {
		if better(i) {
			best = i
		}
	}
	return best, best >= 0
}

func goodPoints(c Cell, of func(Point) *float64) []float64 {
	var out []float64
	for _, p := range c.Points {
		if v := of(p); p.Bad == "" && v != nil {
			out = append(out, *v)
		}
	}
	return out
}
