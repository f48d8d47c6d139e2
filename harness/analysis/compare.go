package analysis

import (
	"slices"

	"abacus/harness/record"
	"abacus/harness/stats"
)

// The verdicts of a comparison on its scenario's primary metric. Exploratory
// comparisons (other metrics) have none.
const (
	VerdictFaster        = "faster"
	VerdictSlower        = "slower"
	VerdictEquivalent    = "equivalent"
	VerdictNoDifference  = "no_difference_shown"
	VerdictNotEnoughRuns = "not_enough_runs"
)

// The metrics that comparisons are made on.
const (
	metricThroughput = "throughput_per_s"
	metricP95        = "p95"
)

const defaultMargin = 0.02

// compareAll compares, in every scenario with several variants, each variant
// with the baseline, per page and step: on the primary metric, and exploratory
// on the other of throughput and p95. A scenario's comparisons on its primary
// metric are one family for Holm.
func compareAll(m record.Manifest, cells []Cell) []Comparison {
	out := []Comparison{}
	for _, name := range scenarioNames(m, cells) {
		frame := frameOf(m, name)
		primary := primaryMetric(frame.Primary)
		other := metricP95
		if primary == metricP95 {
			other = metricThroughput
		}
		first := len(out)
		pairs := pairUp(cells, name, baselineOf(frame, cells))
		for _, metric := range []string{primary, other} {
			for _, p := range pairs {
				out = append(out, compare(cells[p.a], cells[p.b], metric, metric == primary, frame.Margin, m.Quick))
			}
		}
		judge(out[first:], m.Quick)
		ladder := countSteps(cells, name) > 1
		for i := range pairs {
			for _, k := range []int{first + i, first + len(pairs) + i} {
				out[k].Sentence = comparisonSentence(out[k], cells[pairs[i].a], cells[pairs[i].b], ladder, m.Quick)
			}
		}
	}
	return out
}

func primaryMetric(name string) string {
	if name == "p95" {
		return metricP95
	}
	return metricThroughput
}

type pair struct{ a, b int }

// pairUp finds for each cell of a scenario that is not of the baseline the
// baseline's cell with the same page and step.
func pairUp(cells []Cell, scenario, baseline string) []pair {
	var pairs []pair
	for i, c := range cells {
		if c.Scenario != scenario || c.Variant == baseline {
			continue
		}
		for j, b := range cells {
			if b.Scenario == scenario && b.Variant == baseline && b.Page == c.Page && b.Step == c.Step {
				pairs = append(pairs, pair{i, j})
				break
			}
		}
	}
	return pairs
}

// compare pairs the good runs of two cells by round, which within one step is
// the block.
func compare(a, b Cell, metric string, primary bool, margin float64, quick bool) Comparison {
	if !(margin > 0) {
		margin = defaultMargin
	}
	c := Comparison{Scenario: a.Scenario, Page: a.Page, Step: a.Step, Metric: metric, A: a.Variant, B: b.Variant,
		Baseline: b.Variant, Primary: primary, Margin: margin}
	va, vb := blockValues(a, b, metric)
	c.N = len(va)
	for i := range va {
		c.BlockRatios = append(c.BlockRatios, va[i]/vb[i])
	}
	r, ok := stats.PairedRatio(va, vb)
	if !ok {
		c.N, c.BlockRatios = 0, nil
		return c
	}
	c.Ratio = &r.Value
	if quick {
		return c
	}
	c.CI95 = r.CI95
	if primary && c.N >= MinRounds {
		c.PValue = r.P
		if p, ok := stats.MannWhitney(va, vb); ok {
			c.PMWU = &p
		}
	}
	return c
}

// blockValues gives both cells' values in the rounds in which both have a
// good run, in order of rounds.
func blockValues(a, b Cell, metric string) (va, vb []float64) {
	other := valuesByRound(b, metric)
	mine := valuesByRound(a, metric)
	var in []int
	for round := range mine {
		if _, both := other[round]; both {
			in = append(in, round)
		}
	}
	slices.Sort(in)
	for _, round := range in {
		va, vb = append(va, mine[round]), append(vb, other[round])
	}
	return va, vb
}

func valuesByRound(c Cell, metric string) map[int]float64 {
	out := map[int]float64{}
	for _, p := range c.Points {
		v := p.Throughput
		if metric == metricP95 {
			v = p.P95NS
		}
		if p.Bad == "" && v != nil && *v > 0 {
			out[p.Round] = *v
		}
	}
	return out
}

// judge adjusts the p-values of one scenario's family and gives the verdicts.
// The family is what was planned: a comparison on the primary metric without a
// p-value (too few rounds, no spread) has none adjusted, but counts as 1.
//
// A difference is shown when the adjusted p is under α and the ratio is beyond
// the margin; two are equivalent when the whole interval lies within the
// margin, whatever the p-value, since such a difference does not matter.
func judge(family []Comparison, quick bool) {
	var p []float64
	var at []int
	for i, c := range family {
		if !c.Primary {
			continue
		}
		v := 1.0
		if c.PValue != nil {
			v = *c.PValue
		}
		p, at = append(p, v), append(at, i)
	}
	for k, adjusted := range stats.Holm(p) {
		if family[at[k]].PValue != nil {
			family[at[k]].PHolm = &adjusted
		}
	}
	for i := range family {
		if family[i].Primary {
			family[i].Verdict = verdictOf(family[i], quick)
		}
	}
}

func verdictOf(c Comparison, quick bool) string {
	if quick || c.N < MinRounds || c.Ratio == nil || c.CI95 == nil {
		return VerdictNotEnoughRuns
	}
	low, high := 1/(1+c.Margin), 1+c.Margin
	if c.CI95[0] > low && c.CI95[1] < high {
		return VerdictEquivalent
	}
	if c.PHolm == nil || *c.PHolm >= Alpha || (*c.Ratio >= low && *c.Ratio <= high) {
		return VerdictNoDifference
	}
	if (*c.Ratio > 1) == (c.Metric == metricThroughput) {
		return VerdictFaster
	}
	return VerdictSlower
}
