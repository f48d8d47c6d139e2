package reporters

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"abacus/harness/analysis"
	"abacus/harness/number"
	"abacus/harness/preflight"
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

// The least widths at which the interval and the sd are shown.
const (
	widthInterval = 96
	widthSD       = 72
	defaultWidth  = 100
)

// Report writes the summary.
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
	for _, v := range a.Verdict {
		fmt.Fprintln(out, wrap(t.bold(Plain(v)), t.Width))
	}
	t.findings(out, a)
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
	short := slices.ContainsFunc(cells, func(c analysis.Cell) bool { return c.Runs < c.PlannedRuns })
	rows := [][]string{t.columns(unit, short)}
	for _, c := range cells {
		rows = append(rows, t.row(a, s, c, div, short))
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
	word := "runs"
	if runs == 1 {
		word = "run"
	}
	return strings.Join(append(parts, fmt.Sprintf("%d %s, ± sd between runs", runs, word)), " · ")
}

// columns are the headings; short adds how many of the planned runs count.
func (t Text) columns(unit string, short bool) []string {
	cols := []string{""}
	if short {
		cols = append(cols, "runs")
	}
	cols = append(cols, "requests/s")
	if t.Width >= widthSD {
		cols = append(cols, "± sd")
	}
	if t.Width >= widthInterval {
		cols = append(cols, "95 % interval")
	}
	return append(cols, "p95 "+unit, "failed", "to baseline")
}

// row is one cell's line; what is absent is a dash.
func (t Text) row(a *analysis.Analysis, s analysis.Scenario, c analysis.Cell, div float64, short bool) []string {
	name := c.Variant
	if s.Kind == "ladder" {
		name = c.Label
		if variants(a, s) > 1 {
			name = c.Variant + ", " + c.Label
		}
	}
	rate, sd, interval := number.Absent, number.Absent, number.Absent
	if th := c.Throughput; th != nil {
		place := number.PlaceFor(th.Mean, number.Half(th.CI95))
		rate = number.At(th.Mean, place)
		if th.SD != nil {
			sd = number.At(*th.SD, place)
		}
		if th.CI95 != nil {
			interval = number.Range(th.CI95[0], th.CI95[1])
		}
	}
	row := []string{Plain(name)}
	if short {
		row = append(row, fmt.Sprintf("%d of %d", c.Runs, c.PlannedRuns))
	}
	row = append(row, rate)
	if t.Width >= widthSD {
		row = append(row, sd)
	}
	if t.Width >= widthInterval {
		row = append(row, interval)
	}
	p95 := number.Absent
	if v := c.Latency.P95.Value; v != nil {
		p95 = number.Sig3(*v / div)
	}
	return append(row, p95, number.Count(c.Failed), toBaseline(a, c))
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
			half := number.Half(cmp.CI95)
			text := number.Times(*cmp.Ratio, half)
			if cmp.CI95 != nil {
				text += " " + number.Range(cmp.CI95[0], cmp.CI95[1])
			}
			return text
		}
	}
	return ""
}

func variants(a *analysis.Analysis, s analysis.Scenario) int {
	seen := map[string]bool{}
	for _, i := range s.CellIndexes {
		seen[a.Cells[i].Variant] = true
	}
	return len(seen)
}

// latencyUnit is the unit of a table's latencies by its median cell.
func latencyUnit(cells []analysis.Cell) (unit string, div float64) {
	var p95 []float64
	for _, c := range cells {
		if v := c.Latency.P95.Value; v != nil {
			p95 = append(p95, *v)
		}
	}
	if len(p95) == 0 {
		return number.DurationUnit(1e6)
	}
	slices.Sort(p95)
	return number.DurationUnit(p95[len(p95)/2])
}

// table writes rows with the first column to the left, the others to the
// right; the first row is the heading.
func (t Text) table(out io.Writer, rows [][]string) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for r, row := range rows {
		var b strings.Builder
		b.WriteString("  ")
		for i, cell := range row {
			gap := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			switch {
			case i == 0 && r > 0:
				b.WriteString(t.bold(cell) + gap)
			case i == 0 || i == len(row)-1:
				b.WriteString("  " + cell)
				if i == 0 {
					b.WriteString(gap)
				}
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

// findings writes critical ones and warnings; infos are counted.
func (t Text) findings(out io.Writer, a *analysis.Analysis) {
	notes := 0
	for _, f := range a.Findings {
		var word string
		switch f.Severity {
		case preflight.Critical:
			word = t.paint("critical", "31")
		case preflight.Warning:
			word = t.paint("warning ", "33")
		default:
			notes++
			continue
		}
		text := Plain(f.Title)
		for _, more := range []string{f.Evidence, f.Advice} {
			if more != "" {
				text += " " + Plain(more)
			}
		}
		fmt.Fprintf(out, "%s %s\n", word, strings.ReplaceAll(wrap(text, t.Width-9), "\n", "\n         "))
	}
	if notes > 0 {
		word := "notes"
		if notes == 1 {
			word = "note"
		}
		fmt.Fprintln(out, t.dim(fmt.Sprintf("%d %s more on the page", notes, word)))
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

// Plain takes control characters out of a text, so that nothing from a server
// reaches the terminal as a command.
func Plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return ' '
		}
		if r < ' ' || r == 0x7f || (r >= 0x80 && r < 0xa0) {
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
