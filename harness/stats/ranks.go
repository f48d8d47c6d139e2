package stats

import (
	"math"
	"sort"

	"gonum.org/v1/gonum/stat/distuv"
)

// exactMost is the greatest total number of values for which the rank-sum
// distribution is counted out; above it the normal approximation is good to
// more digits than are ever printed.
const exactMost = 60

// MannWhitney is the two-sided p-value of the Mann–Whitney U test: twice the
// smaller tail, at most 1. Up to 60 values it is exact, ties included (every
// assignment of the mid-ranks is counted); above, the normal approximation
// with corrections for ties and continuity. ok is false when a side is empty,
// a value is not finite, or all values are equal.
func MannWhitney(a, b []float64) (p float64, ok bool) {
	n := len(a) + len(b)
	if len(a) == 0 || len(b) == 0 || !allFinite(a...) || !allFinite(b...) {
		return 0, false
	}
	ranks, ties := doubledRanks(append(append(make([]float64, 0, n), a...), b...))
	if ties == float64(n)*(float64(n)*float64(n)-1) {
		return 0, false // one single tie: all values are equal
	}
	sum := 0
	for _, r := range ranks[:len(a)] {
		sum += r
	}
	if n <= exactMost {
		return exactRankSum(ranks, len(a), sum), true
	}
	na, nb, nf := float64(len(a)), float64(len(b)), float64(n)
	u := float64(sum)/2 - na*(na+1)/2
	sigma := math.Sqrt(na * nb / 12 * (nf + 1 - ties/(nf*(nf-1))))
	z := max(0, math.Abs(u-na*nb/2)-0.5) / sigma
	return min(1, 2*distuv.UnitNormal.CDF(-z)), true
}

// doubledRanks gives twice the mid-rank of each value, so that ranks stay
// whole numbers, and the sum of t³ − t over the ties.
func doubledRanks(values []float64) (ranks []int, ties float64) {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	sortStable(order, func(i, j int) bool { return values[i] < values[j] })
	ranks = make([]int, len(values))
	for from := 0; from < len(order); {
		to := from
		for to < len(order) && values[order[to]] == values[order[from]] {
			to++
		}
		for _, i := range order[from:to] {
			ranks[i] = from + 1 + to
		}
		t := float64(to - from)
		ties += t*t*t - t
		from = to
	}
	return ranks, ties
}

// exactRankSum counts, for all ways to choose k of the ranks, how many have a
// sum at most, and at least, the one seen.
func exactRankSum(ranks []int, k, seen int) float64 {
	total := 0
	for _, r := range ranks {
		total += r
	}
	// ways[j][s] is the number of choices of j ranks with sum s.
	ways := make([][]float64, k+1)
	for j := range ways {
		ways[j] = make([]float64, total+1)
	}
	ways[0][0] = 1
	for i, r := range ranks {
		for j := min(i+1, k); j >= 1; j-- {
			for s := total; s >= r; s-- {
				ways[j][s] += ways[j-1][s-r]
			}
		}
	}
	var all, atMost, atLeast float64
	for s, w := range ways[k] {
		all += w
		if s <= seen {
			atMost += w
		}
		if s >= seen {
			atLeast += w
		}
	}
	return min(1, 2*min(atMost, atLeast)/all)
}

func sortStable(order []int, less func(i, j int) bool) {
	sort.SliceStable(order, func(x, y int) bool { return less(order[x], order[y]) })
}
