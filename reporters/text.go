package reporters

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"abacus/harness/analysis"
	"abacus/harness/number"
	"abacus/harness/preflight"
	"abacus/harness/stats"
)

// Text is the summary that a terminal shows: a table for each scenario, the
// verdict, and what was seen. Texts of a server are stripped of control
// characters.
type Text struct {
	// Width is the number of columns; 0 is 100. Narrow ones lose the
	// interval, then the standard deviation.
	Width int
	// Colour marks names, severities and explanations with terminal codes.
	Colour bool
}

const defaultWidth = 100

// Report writes the summary: tables, what makes the figures doubtful, the
// verdict, goals, and what else was seen.
func (t Text) Report(w io.Writer, a *analysis.Analysis) error {
	if t.Width == 0 {
		t.Width = defaultWidth
	}
	out := bufio.NewWriter(w)
	// Where nothing was measured there are no figures to line up.
	for _, s := range a.Scenarios {
		if a.FinishedRuns > 0 {
			t.scenario(out, a, s)
		}
	}
	t.findings(out, a, preflight.Critical)
	for _, v := range a.Verdict {
		fmt.Fprintln(out, wrap(t.bold(Plain(v)), t.Width))
	}
	t.goals(out, a)
	t.findings(out, a, preflight.Warning)
	t.notes(out, a)
	return out.Flush()
}

// scenario writes one table.
func (t Text) scenario(out io.Writer, a *analysis.Analysis, s analysis.Scenario) {
	var cells []analysis.Cell
	for _, i := range s.CellIndexes {
		cells = append(cells, a.Cells[i])
	}
	if len(cells) == 0 {
		return
	}
	fmt.Fprintln(out, t.dim(wrap(t.heading(s, cells), t.Width)))
	unit, div := latencyUnit(cells)
	var rows [][]string
	for _, c := range t.columnsFor(a, s, cells) {
		rows = [][]string{c.heads(unit)}
		for _, k := range cells {
			rows = append(rows, c.row(a, s, k, div))
		}
		if width(rows) <= t.Width {
			break
		}
	}
	t.table(out, rows)
	fmt.Fprintln(out)
}

// heading names the scenario, what its cells have in common, and the runs.
func (t Text) heading(s analysis.Scenario, cells []analysis.Cell) string {
	parts := []string{Plain(s.Name)}
	if s.Kind != "ladder" {
		parts = append(parts, cells[0].Label)
	}
	if n := cells[0].Step.Requests; n > 0 && s.Kind != "ladder" {
		parts = append(parts, number.Count(n)+" requests")
	}
	runs := 0
	for _, c := range cells {
		runs = max(runs, c.Runs)
	}
	switch runs {
	case 0:
		parts = append(parts, "no good run")
	case 1:
		parts = append(parts, "the figures of 1 run")
	default:
		parts = append(parts, fmt.Sprintf("means over %d runs, ± sd between runs", runs))
	}
	return strings.Join(parts, " · ")
}

// columns says which of the columns a table has that not every one needs.
type columns struct {
	// runs: how many of the planned runs count; p95SD: the sd of the p95;
	// ratio: to the baseline.
	runs, sd, interval, p95SD, ratio bool
	// ratioOf is what the ratio is of, when it is not of throughput.
	ratioOf string
}

// columnsFor lists the columns to try, the widest first: a narrow terminal
// loses the sd of p95, then the interval, then the sd. What no cell has is in
// none of them.
func (t Text) columnsFor(a *analysis.Analysis, s analysis.Scenario, cells []analysis.Cell) []columns {
	c := columns{ratio: slices.ContainsFunc(cells, func(c analysis.Cell) bool { return toBaseline(a, c) != "" })}
	if s.Primary == "p95" {
		c.ratioOf = "p95 "
	}
	c.runs = slices.ContainsFunc(cells, func(c analysis.Cell) bool { return c.Runs < c.PlannedRuns })
	spread := slices.ContainsFunc(cells, func(c analysis.Cell) bool { return c.Throughput != nil && c.Throughput.SD != nil })
	if !spread {
		return []columns{c}
	}
	c.sd, c.interval, c.p95SD = true, true, true
	out := []columns{c}
	c.p95SD = false
	out = append(out, c)
	c.interval = false
	out = append(out, c)
	c.sd = false
	return append(out, c)
}

func (k columns) heads(unit string) []string {
	cols := []string{""}
	if k.runs {
		cols = append(cols, "runs")
	}
	cols = append(cols, "requests/s")
	if k.sd {
		cols = append(cols, "± sd")
	}
	if k.interval {
		cols = append(cols, "95 % interval")
	}
	cols = append(cols, "p95 "+unit)
	if k.p95SD {
		cols = append(cols, "± sd")
	}
	cols = append(cols, "failed")
	if k.ratio {
		cols = append(cols, k.ratioOf+"to baseline")
	}
	return cols
}

// row is one cell's line; what is absent is a dash.
func (k columns) row(a *analysis.Analysis, s analysis.Scenario, c analysis.Cell, div float64) []string {
	name := c.Variant
	if s.Kind == "ladder" {
		name = c.Label
		if distinct(a, s, func(c analysis.Cell) string { return c.Variant }) > 1 {
			name = c.Variant + ", " + c.Label
		}
	}
	if distinct(a, s, func(c analysis.Cell) string { return c.Page }) > 1 {
		name += " · " + c.Page
	}
	row := []string{Plain(name)}
	if k.runs {
		row = append(row, fmt.Sprintf("%d of %d", c.Runs, c.PlannedRuns))
	}
	rate, sd := meanSD(c.Throughput, 1)
	row = append(row, rate)
	if k.sd {
		row = append(row, sd)
	}
	if k.interval {
		interval := number.Absent
		if th := c.Throughput; th != nil && th.CI95 != nil {
			interval = number.RangeAt(th.CI95[0], th.CI95[1], analysis.LastDigit(th, 1))
		}
		row = append(row, interval)
	}
	p95, sd := meanSD(c.Latency.P95.Runs, div)
	row = append(row, p95)
	if k.p95SD {
		row = append(row, sd)
	}
	failed := number.Count(c.Failed)
	if c.Runs == 0 && len(c.FailedBy) == 0 {
		failed = number.Absent // no run gave a result: nothing was counted
	}
	row = append(row, failed)
	if k.ratio {
		row = append(row, toBaseline(a, c))
	}
	return row
}

// meanSD writes a spread with one last digit for both, in the unit that div
// makes; dashes for what is absent.
func meanSD(s *stats.Spread, div float64) (mean, sd string) {
	if s == nil {
		return number.Absent, number.Absent
	}
	place := analysis.LastDigit(s, div)
	mean, sd = number.At(s.Mean/div, place), number.Absent
	if s.SD != nil {
		sd = number.At(*s.SD/div, place)
	}
	return mean, sd
}

// toBaseline is the cell's ratio to its baseline on the primary metric.
func toBaseline(a *analysis.Analysis, c analysis.Cell) string {
	for _, cmp := range a.Comparisons {
		if !cmp.Primary || cmp.Scenario != c.Scenario || cmp.Page != c.Page || cmp.Step != c.Step || cmp.Ratio == nil {
			continue
		}
		if cmp.Baseline == c.Variant {
			return "baseline"
		}
		if cmp.A == c.Variant {
			times, interval := number.Ratio(*cmp.Ratio, cmp.CI95)
			return strings.TrimRight(times+" "+interval, " ")
		}
	}
	return ""
}

// distinct is how many different values the cells of a scenario have.
func distinct(a *analysis.Analysis, s analysis.Scenario, of func(analysis.Cell) string) int {
	seen := map[string]bool{}
	for _, i := range s.CellIndexes {
		seen[of(a.Cells[i])] = true
	}
	return len(seen)
}

// latencyUnit is the unit of a table's latencies by its median cell.
func latencyUnit(cells []analysis.Cell) (unit string, div float64) {
	var p95 []float64
	for _, c := range cells {
		if s := c.Latency.P95.Runs; s != nil {
			p95 = append(p95, s.Mean)
		}
	}
	middle, ok := stats.Median(p95)
	if !ok {
		middle = math.NaN()
	}
	return number.DurationUnit(middle)
}

// columnWidths are the widths of a table's columns in characters.
func columnWidths(rows [][]string) []int {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	return widths
}

// width is that of a table: two spaces before every column.
func width(rows [][]string) int {
	n := 0
	for _, w := range columnWidths(rows) {
		n += 2 + w
	}
	return n
}

// table writes rows with the first column to the left, the others to the
// right; the first row is the heading.
func (t Text) table(out io.Writer, rows [][]string) {
	widths := columnWidths(rows)
	for r, row := range rows {
		var b strings.Builder
		b.WriteString("  ")
		for i, cell := range row {
			gap := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			switch {
			case i == 0 && r > 0:
				b.WriteString(t.bold(cell) + gap)
			case i == 0:
				b.WriteString(cell + gap)
			case strings.HasSuffix(rows[0][i], "to baseline"):
				b.WriteString("  " + cell)
			default:
				b.WriteString("  " + gap + cell)
			}
		}
		line := strings.TrimRight(b.String(), " ")
		if r == 0 {
			line = t.dim(line)
		}
		fmt.Fprintln(out, line)
	}
}

// goals writes each goal that was missed or stayed undecided, and counts those
// that were met: a missed one is why the command ends with status 1.
func (t Text) goals(out io.Writer, a *analysis.Analysis) {
	met := 0
	for _, g := range a.Goals {
		word := ""
		switch g.Outcome {
		case analysis.GoalMissed:
			word = t.paint("missed  ", "31")
		case analysis.GoalUndecided:
			word = t.paint("open    ", "33")
		default:
			met++
			continue
		}
		text := "Goal " + Plain(g.Goal) + ", " + Plain(a.GoalPlace(g))
		if g.Outcome == analysis.GoalUndecided {
			text += ", undecided"
		}
		t.entry(out, word, text+": "+Plain(g.Evidence))
	}
	if met > 0 {
		fmt.Fprintln(out, t.dim(fmt.Sprintf("%d of %s met", met, number.Plural(int64(len(a.Goals)), "goal"))))
	}
}

// findings writes those of one severity.
func (t Text) findings(out io.Writer, a *analysis.Analysis, severity preflight.Severity) {
	word := t.paint("warning ", "33")
	if severity == preflight.Critical {
		word = t.paint("critical", "31")
	}
	for _, f := range a.Findings {
		if f.Severity != severity {
			continue
		}
		text := Plain(f.Title)
		for _, more := range []string{f.Evidence, f.Advice} {
			if more != "" {
				text += " " + Plain(more)
			}
		}
		t.entry(out, word, text)
	}
}

// entry writes a text beside its word, in a column of its own.
func (t Text) entry(out io.Writer, word, text string) {
	fmt.Fprintf(out, "%s %s\n", word, strings.ReplaceAll(wrap(text, t.Width-9), "\n", "\n         "))
}

// notes counts the findings that are on the page only.
func (t Text) notes(out io.Writer, a *analysis.Analysis) {
	n := int64(0)
	for _, f := range a.Findings {
		if f.Severity != preflight.Critical && f.Severity != preflight.Warning {
			n++
		}
	}
	if n > 0 {
		fmt.Fprintln(out, t.dim(number.Plural(n, "note")+" more on the page"))
	}
}

func (t Text) bold(s string) string { return t.paint(s, "1") }
func (t Text) dim(s string) string  { return t.paint(s, "2") }

func (t Text) paint(s, code string) string {
	if !t.Colour || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// Plain takes control and format characters out of a text, so that nothing from
// a server reaches the terminal as a command, or turns or hides its letters.
func Plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return ' '
		}
		if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
			return '�'
		}
		return r
	}, s)
}

// wrap breaks a text into lines of at most width characters at its plain
// spaces.
func wrap(s string, width int) string {
	var b strings.Builder
	line := 0
	for i, word := range strings.Split(s, " ") {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case line+1+n > width:
			b.WriteByte('\n')
			line = 0
		default:
			b.WriteByte(' ')
			line++
		}
		b.WriteString(word)
		line += n
	}
	return b.String()
}
