package html

import (
	"fmt"
	"math"
	"strings"

	"abacus/harness/analysis"
	"abacus/harness/number"
	"abacus/harness/stats"
)

// latencyUnit chooses one unit for all latencies of a table, by the median of
// its p95 figures.
func latencyUnit(cells []analysis.Cell) (unit string, divisor float64) {
	var v []float64
	for _, c := range cells {
		for _, f := range []analysis.Figure{c.Latency.P50, c.Latency.P95, c.Latency.P99} {
			if f.Runs != nil {
				v = append(v, f.Runs.Mean)
			}
		}
	}
	return number.DurationUnit(median(v))
}

// median is NaN for no values, which no unit can be chosen by.
func median(v []float64) float64 {
	m, ok := stats.Median(v)
	if !ok {
		return math.NaN()
	}
	return m
}

const noGoodRun = "no run succeeded"

// spreadCells is mean and ± sd; a missing one is absent with its reason.
func spreadCells(s *stats.Spread, divisor float64, reason string) []cell {
	if s == nil {
		return nones(reason)
	}
	mean, sd := spreadText(s, divisor)
	return []cell{num(mean), sdCell(sd)}
}

func intervalCell(s *stats.Spread, divisor float64) cell {
	if s == nil {
		return none(noGoodRun)
	}
	if s.CI95 == nil {
		return none("one run has no interval")
	}
	return num(number.RangeAt(s.CI95[0]/divisor, s.CI95[1]/divisor, analysis.LastDigit(s, divisor)))
}

// latencyCells are p50, p95 and p99, each with its sd.
func latencyCells(c analysis.Cell, divisor float64) []cell {
	reason := noGoodRun
	if c.Throughput != nil {
		reason = "the engine gave none"
	}
	var out []cell
	for _, f := range []analysis.Figure{c.Latency.P50, c.Latency.P95, c.Latency.P99} {
		out = append(out, spreadCells(f.Runs, divisor, reason)...)
	}
	return out
}

// runsCell is the number of good runs: "6", or "4 of 6" where some failed.
func runsCell(c analysis.Cell) cell {
	if c.PlannedRuns > c.Runs {
		title := []string{}
		for _, p := range []struct {
			n    int
			what string
		}{{c.VoidRuns, "void"}, {c.FailedRuns - c.StoppedRuns(), "failed"}, {c.StoppedRuns(), "stopped"}, {c.PlannedRuns - c.Runs - c.VoidRuns - c.FailedRuns, "not made"}} {
			if p.n > 0 {
				title = append(title, fmt.Sprintf("%d %s", p.n, p.what))
			}
		}
		return cell{Text: fmt.Sprintf("%d of %d", c.Runs, c.PlannedRuns), Class: "wn", Title: strings.Join(title, ", ")}
	}
	return num(number.Count(int64(c.Runs)))
}

// failedCell is the number of failed requests; by kind where nothing else was
// measured, and in its title.
func failedCell(c analysis.Cell) cell {
	kinds := failuresByKind(c.FailedBy)
	if c.Throughput == nil && kinds != "" {
		return cell{Text: kinds, Class: "tx w"}
	}
	if reason := uncounted(c); reason != "" {
		return none(reason)
	}
	out := cell{Text: number.Count(c.Failed), Title: kinds}
	if c.Failed > 0 {
		out.Class = "wn"
	}
	return out
}

// uncounted says why a cell has no counts at all: its zeros are then no zeros.
func uncounted(c analysis.Cell) string {
	switch {
	case c.Runs+c.VoidRuns+c.FailedRuns == 0:
		return "no run was made"
	case c.Runs == 0 && len(c.FailedBy) == 0:
		return "no run gave a result"
	}
	return ""
}

func non2xxCell(c analysis.Cell) cell {
	if reason := uncounted(c); reason != "" {
		return none(reason)
	}
	out := num(number.Count(c.Non2xx))
	if c.Non2xx > 0 {
		out.Class = "wn"
	}
	return out
}

// anyNon2xx tells whether the column is worth its place.
func anyNon2xx(rows []row) bool {
	for _, r := range rows {
		if r.cell.Non2xx > 0 {
			return true
		}
	}
	return false
}

// failureNote lists failures by kind, where there were any.
func failureNote(rows []row) string {
	var parts []string
	for _, r := range rows {
		if k := failuresByKind(r.cell.FailedBy); k != "" {
			parts = append(parts, fmt.Sprintf("%s: %s, beside %s complete", r.name, k, number.Count(r.cell.Complete)))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "Failed requests by kind, over all runs (those in no mean too): " + strings.Join(parts, "; ") + "."
}

func (r row) key() string { return r.look.Class + " " + r.look.Key }

func comparisonTable(id string, sc analysis.Scenario, rows []row, unit string, divisor float64) table {
	t := table{ID: id, Caption: shortTitle(sc) + ": " + levelLine(rows) + ". ± and “sd” are standard deviations ", Em: "between runs", Rest: "."}
	ratios, non2xx := hasRatio(rows), anyNon2xx(rows)
	head := []cell{{Text: "Variant", Scope: "col", Rows: 2}, colTall("Runs"), colGroup("Throughput, requests/s", 3), colGroup("Latency, "+unit+" (mean ± sd)", 6)}
	sub := []cell{colPair("mean ± sd"), col("95" + number.ThinSpace + "% interval"), colPair("p50"), colPair("p95"), colPair("p99")}
	if ratios {
		head = append(head, colGroup(metricName(sc)+" against baseline", 3))
		sub = append(sub, colPair("ratio, interval"), col("adj. p"))
	}
	head = append(head, colTall("Failed"))
	if non2xx {
		head = append(head, colTall("Not 2xx"))
	}
	t.Head = [][]cell{head, sub}
	for _, r := range rows {
		tr := newTableRow(r, r.name)
		tr.Cells = append(tr.Cells, runsCell(r.cell))
		tr.Cells = append(tr.Cells, figureCells(r.cell, divisor)...)
		if ratios {
			tr.Cells = append(tr.Cells, ratioCells(r)...)
		}
		tr.Cells = append(tr.Cells, failedCell(r.cell))
		if non2xx {
			tr.Cells = append(tr.Cells, non2xxCell(r.cell))
		}
		t.Rows = append(t.Rows, tr)
		extra := 0
		if ratios {
			extra = 3
		}
		t.Rows = append(t.Rows, voidRows(r, r.name, divisor, extra, non2xx)...)
	}
	t.Note = strings.TrimSpace(comparisonNote(rows, ratios) + " " + failureNote(rows))
	return t
}

func metricName(sc analysis.Scenario) string {
	if sc.Primary == "" || strings.HasPrefix(sc.Primary, "throughput") {
		return "Throughput"
	}
	return sc.Primary
}

func newTableRow(r row, head string) tableRow {
	tr := tableRow{Key: r.key(), Head: head}
	if r.cell.Throughput == nil {
		tr.Class = "void"
		switch {
		case r.cell.FailedRuns > r.cell.StoppedRuns():
			tr.Tag = "failed"
		case r.cell.FailedRuns > 0:
			tr.Tag = "stopped"
		case r.cell.VoidRuns > 0:
			tr.Tag = "void"
		default:
			tr.Tag = "not made"
		}
	}
	return tr
}

// figureCells are throughput, its interval and the latencies of one cell.
func figureCells(c analysis.Cell, divisor float64) []cell {
	out := spreadCells(c.Throughput, 1, noGoodRun)
	out = append(out, intervalCell(c.Throughput, 1))
	return append(out, latencyCells(c, divisor)...)
}

func ratioCells(r row) []cell {
	if r.cell.Baseline {
		return []cell{num("1"), {Text: "baseline", Class: "sd"}, none("the baseline is not compared with itself")}
	}
	if r.against == nil || r.against.Ratio == nil {
		return append(nones("no complete round to compare"), none("no complete round to compare"))
	}
	x, ci := againstBaseline(*r.against)
	times, interval := number.Ratio(x, ci)
	out := []cell{num(times), {Text: interval, Class: "sd"}}
	p := r.against.PHolm
	if p == nil {
		return append(out, none("too few rounds, or no spread"))
	}
	return append(out, num(number.P(*p)))
}

func comparisonNote(rows []row, ratios bool) string {
	if !ratios {
		return ""
	}
	var mwu []string
	n, least := 0, 0
	for _, r := range rows {
		if r.against == nil || r.against.N == 0 {
			continue
		}
		if n == 0 || r.against.N < least {
			least = r.against.N
		}
		n = max(n, r.against.N)
		if p := r.against.PMWU; p != nil {
			mwu = append(mwu, r.name+" "+number.PEquals(*p))
		}
	}
	if n == 0 {
		return ""
	}
	over := plural(n, "complete round", "complete rounds")
	if least < n {
		over = fmt.Sprintf("%d to %s", least, over)
	}
	text := fmt.Sprintf("Ratio: geometric mean over %s. Adjusted p: paired t test on the logarithms, Holm over the planned comparisons.", over)
	if len(mwu) > 0 {
		text += " Mann–Whitney: " + strings.Join(mwu, ", ") + "."
	}
	if least < analysis.MinRounds {
		text += " Fewer than six rounds give no verdict."
	}
	return text
}

// voidRows are the runs of a cell that have figures but are in no mean, struck
// out: void ones, stopped ones, and those that failed on their way.
func voidRows(r row, name string, divisor float64, extra int, non2xx bool) []tableRow {
	var out []tableRow
	for _, p := range r.cell.Points {
		if p.Bad == "" || p.Throughput == nil {
			continue
		}
		tr := tableRow{Class: "void", Head: fmt.Sprintf("%s, round %d", name, p.Round), Tag: p.State}
		struck := func(v *float64, d float64) []cell {
			if v == nil {
				return nones("not measured")
			}
			return []cell{{Text: fourDigits(*v / d), Struck: true}, {Class: "sd"}}
		}
		tr.Cells = append(tr.Cells, cell{Text: "1", Title: p.Bad})
		tr.Cells = append(tr.Cells, struck(p.Throughput, 1)...)
		tr.Cells = append(tr.Cells, cell{})
		for _, v := range []*float64{p.P50NS, p.P95NS, p.P99NS} {
			tr.Cells = append(tr.Cells, struck(v, divisor)...)
		}
		for i := 0; i < extra; i++ {
			tr.Cells = append(tr.Cells, cell{})
		}
		tr.Cells = append(tr.Cells, requests(p.Failed))
		if non2xx {
			tr.Cells = append(tr.Cells, cell{})
		}
		out = append(out, tr)
	}
	return out
}

func ladderTable(id string, a *analysis.Analysis, sc analysis.Scenario, rows []row, apart map[int]bool, unit string, divisor float64) table {
	t := table{ID: id, Caption: shortTitle(sc) + ladderFrame(rows) + runCount(rows) + ". ± and “sd” are standard deviations ", Em: "between runs", Rest: "; void runs are in no mean."}
	many, non2xx := variants(sc, a.Cells) > 1, anyNon2xx(rows)
	head := []cell{{Text: ladderHead(many), Scope: "col", Rows: 2}, colTall("Runs"), colGroup("Throughput, requests/s", 3), colGroup("Latency, "+unit+" (mean ± sd)", 6),
		colTall("Client CPU, %"), colTall("Idle workers"), colTall("Failed")}
	if non2xx {
		head = append(head, colTall("Not 2xx"))
	}
	t.Head = [][]cell{head, {colPair("mean ± sd"), col("95" + number.ThinSpace + "% interval"), colPair("p50"), colPair("p95"), colPair("p99")}}
	anyApart := false
	for k, r := range rows {
		name := levelName(r.cell)
		if many {
			name = r.cell.Variant + " · " + name
		}
		tr := newTableRow(r, name)
		if !many {
			tr.Key = ""
		}
		if apart[sc.CellIndexes[k]] && tr.Tag == "" {
			tr.Tag, anyApart = "apart", true
		}
		tr.Cells = append(tr.Cells, runsCell(r.cell))
		tr.Cells = append(tr.Cells, figureCells(r.cell, divisor)...)
		tr.Cells = append(tr.Cells, shareCell(r.cell), idleCell(r.cell), failedCell(r.cell))
		if non2xx {
			tr.Cells = append(tr.Cells, non2xxCell(r.cell))
		}
		t.Rows = append(t.Rows, tr)
		t.Rows = append(t.Rows, voidRows(r, name, divisor, 2, non2xx)...)
	}
	note := "Client CPU: of the cores that the client may use. Idle workers: the least seen."
	if anyApart {
		note += " “Apart”: it differs in more than its load, so no curve joins it."
	}
	t.Note = strings.TrimSpace(note + " " + failureNote(rows))
	return t
}

// ladderFrame says what all levels share: the page's size, keep-alive.
func ladderFrame(rows []row) string {
	size, kept := int64(-1), 0
	for _, r := range rows {
		if d := r.cell.DocumentBytes; d != nil && (size == -1 || size == *d) {
			size = *d
		} else if d != nil {
			size = -2
		}
		if r.cell.Step.KeepAlive {
			kept++
		}
	}
	text := ""
	if size >= 0 {
		text += ": " + number.Count(size) + " bytes"
	}
	switch {
	case kept == len(rows):
		text += ", keep-alive"
	case kept > 0:
		text += ", keep-alive where not said otherwise"
	}
	return text
}

func ladderHead(many bool) string {
	if many {
		return "Variant · connections"
	}
	return "Connections"
}

// levelName is a load level's name in a column headed "Connections".
func levelName(c analysis.Cell) string {
	n := number.Count(int64(c.Step.Concurrency))
	for _, noun := range []string{" connections", " connection"} {
		if rest, ok := strings.CutPrefix(c.Label, n+noun); ok {
			return n + strings.TrimPrefix(rest, ", keep-alive")
		}
	}
	if c.Label == "" {
		return n
	}
	return c.Label
}

func shareCell(c analysis.Cell) cell {
	if c.ClientCPUShare == nil {
		return none("not measured")
	}
	return num(number.At(*c.ClientCPUShare*100, 0))
}

func idleCell(c analysis.Cell) cell {
	if c.IdleWorkersMin == nil {
		return none("not observed: no reading of a status page")
	}
	out := num(number.Count(*c.IdleWorkersMin))
	if c.StatusSamples != nil {
		out.Title = plural(*c.StatusSamples, "status sample", "status samples")
	}
	if *c.IdleWorkersMin == 0 {
		out.Class = "wn"
	}
	return out
}
