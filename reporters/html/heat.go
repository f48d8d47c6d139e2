package html

import (
	"fmt"
	"math"

	"abacus/harness/analysis"
	"abacus/harness/number"
)

// heatBounds are the upper ends of the five steps from few to all slots.
func heatBounds(slots int) [5]int {
	var b [5]int
	for i, share := range []float64{0.03, 0.11, 0.33, 0.73, 1} {
		b[i] = max(1, int(math.Round(share*float64(slots))))
		if i > 0 {
			b[i] = max(b[i], b[i-1])
		}
	}
	return b
}

// heatLevel is 0 for no slot, else the step 1 to 5 that n falls into.
func heatLevel(n int, bounds [5]int) int {
	if n <= 0 {
		return 0
	}
	for i, b := range bounds {
		if n <= b {
			return i + 1
		}
	}
	return 5
}

// heatStep is the width of a cell in seconds, on an axis of span seconds.
func heatStep(at []float64, span float64, columns int) float64 {
	if len(at) < 2 {
		return span
	}
	step := (at[len(at)-1] - at[0]) / float64(len(at)-1)
	if limit := span / float64(columns); step < limit {
		step *= math.Ceil(limit / step)
	}
	return step
}

// heat draws the scoreboard over time: a row for each letter, darker for more
// slots. Where samples share a cell the darkest is kept.
func heat(t analysis.Timeline, group string, narrow bool) *chart {
	h := t.Scoreboard
	const pitch, top = 23, 26
	height := pitch * len(h.Letters)
	c := newChart(top + height + 30)
	c.spec.Group = group
	start, end := extent(t)
	x := timeAxis(start, end, narrow)
	y := axis{max: float64(len(h.Letters))}
	left := "52"
	if narrow {
		left = "44"
	}
	p := c.panel(left, "8", top, height, x, y)
	c.segmentNames(p, t.Segments, y.max, end-start, narrow, -14)
	bounds := heatBounds(h.Slots)
	step := heatStep(h.AtS, end-start, heatColumns(narrow))
	letters := mark{Kind: "text", Color: ink, Bold: true, Align: "center"}
	var names, empty [][]float64
	cells := make([][][]float64, 6)
	tips := make([][]string, 6)
	for i, letter := range h.Letters {
		at := y.max - float64(i) - 0.5
		letters.Texts = append(letters.Texts, letter)
		names = append(names, []float64{start, at, -12, 0})
		empty = append(empty, []float64{start, at, end, at, -10, 10})
		if i >= len(h.Counts) {
			continue
		}
		for _, run := range heatRuns(h.AtS, h.Counts[i], step, bounds) {
			cells[run.level] = append(cells[run.level], []float64{math.Max(run.from, start), at, math.Min(run.to, end), at, -10, 10})
			tips[run.level] = append(tips[run.level], fmt.Sprintf("%s: at most %s of %d slots, %s to %s%ss", letter, number.Count(int64(run.most)), h.Slots,
				number.Sig3(run.from), number.Sig3(run.to), number.HardSpace))
		}
	}
	c.add(p, mark{Kind: "box", Color: "var(--sub)"}, empty)
	for level := 1; level <= 5; level++ {
		c.add(p, mark{Kind: "box", Color: fmt.Sprintf("var(--h%d)", level), Tips: tips[level]}, cells[level])
	}
	c.add(p, letters, names)
	return c
}

func heatColumns(narrow bool) int {
	if narrow {
		return 85
	}
	return 170
}

// heatRun is a stretch of equal colour in one row.
type heatRun struct {
	from, to    float64
	level, most int
}

// heatRuns puts samples into cells of step seconds, the greatest of each, and
// joins neighbours of one level. A cell without a sample stays open.
func heatRuns(at []float64, counts []int, step float64, bounds [5]int) []heatRun {
	var out []heatRun
	for i := 0; i < len(at) && i < len(counts); {
		cell := math.Floor(at[i]/step + 1e-9)
		most := 0
		for ; i < len(at) && i < len(counts) && math.Floor(at[i]/step+1e-9) == cell; i++ {
			most = max(most, counts[i])
		}
		level := heatLevel(most, bounds)
		if level == 0 {
			continue
		}
		from, to := cell*step, (cell+1)*step
		if n := len(out); n > 0 && out[n-1].level == level && math.Abs(out[n-1].to-from) < step/100 {
			out[n-1].to, out[n-1].most = to, max(out[n-1].most, most)
			continue
		}
		out = append(out, heatRun{from: from, to: to, level: level, most: most})
	}
	return out
}
