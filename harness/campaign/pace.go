package campaign

import (
	"time"

	"abacus/harness/plan"
)

// pace learns how long runs take, waits included, and tells what is left.
type pace struct {
	total map[int]time.Duration // by cell
	runs  map[int]int
}

// took records one run of a cell.
func (p *pace) took(cell int, d time.Duration) {
	if p.total == nil {
		p.total, p.runs = map[int]time.Duration{}, map[int]int{}
	}
	p.total[cell] += d
	p.runs[cell]++
}

// left estimates the time of the given runs: by what their cell took so far,
// else by the mean of all runs so far; 0 before the first.
func (p *pace) left(rest []plan.Run) time.Duration {
	var all time.Duration
	n := 0
	for cell, d := range p.total {
		all += d
		n += p.runs[cell]
	}
	if n == 0 {
		return 0
	}
	mean := all / time.Duration(n)
	var sum time.Duration
	for _, r := range rest {
		if k := p.runs[r.Cell]; k > 0 {
			sum += p.total[r.Cell] / time.Duration(k)
		} else {
			sum += mean
		}
	}
	return sum
}
