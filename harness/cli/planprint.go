package cli

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"abacus/harness/config"
	"abacus/harness/plan"
	"abacus/scenarios"
)

// printConfig prints every effective value with where it comes from.
func printConfig(w io.Writer, l *config.Loaded) error {
	var rows [][]string
	for _, o := range l.Origins {
		rows = append(rows, []string{o.Key, shorten(o.Value, 60), o.From})
	}
	if _, err := io.WriteString(w, columns("", rows)); err != nil {
		return fmt.Errorf("print the configuration: %w", err)
	}
	return nil
}

// columns lays out rows in columns two spaces apart, without spaces at the
// ends of lines.
func columns(indent string, rows [][]string) string {
	var b strings.Builder
	tw := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, r := range rows {
		fmt.Fprintf(tw, "%s%s\n", indent, strings.Join(r, "\t"))
	}
	_ = tw.Flush() // a strings.Builder takes everything
	lines := strings.SplitAfter(b.String(), "\n")
	for i, line := range lines {
		if strings.HasSuffix(line, "\n") {
			lines[i] = strings.TrimRight(line, " \n") + "\n"
		}
	}
	return strings.Join(lines, "")
}

// shorten cuts a text to n characters.
func shorten(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

// printDryRun prints what a run would do: how much, what, in which order, and
// every command that would be run. commands are those of the program itself
// (workers, labs), each an argument list; the hooks are added from the plan.
func printDryRun(w io.Writer, l *config.Loaded, p *plan.Plan, commands [][]string) error {
	b := &strings.Builder{}
	dryRunHead(b, l, p)
	dryRunCells(b, p)
	dryRunOrder(b, p)
	dryRunCommands(b, p, commands)
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("print the plan: %w", err)
	}
	return nil
}

func dryRunHead(w io.Writer, l *config.Loaded, p *plan.Plan) {
	c, e := p.Campaign, p.Estimate(nil)
	from := l.File
	if from == "" {
		from = "built in, or made of the arguments"
	}
	fmt.Fprintf(w, "%s: nothing is started\n", c.Name)
	if c.Title != "" {
		fmt.Fprintf(w, "%s\n", c.Title)
	}
	about := ""
	if !e.Exact {
		about = "about "
	}
	fmt.Fprintf(w, "\nconfiguration  %s\n", from)
	fmt.Fprintf(w, "runs           %s: %s, %s\n", grouped(int64(e.Runs)), plural(len(p.Cells), "cell"), plural(p.Rounds, "round"))
	fmt.Fprintf(w, "requests       %s%s, at most %s at once\n", about, grouped(e.Requests), grouped(int64(e.TopConcurrency)))
	fmt.Fprintf(w, "minutes        about %.1f, guessed from usual rates; waiting for idle is not in it\n", e.Took.Minutes())
	fmt.Fprintf(w, "seed           %d (--seed %d repeats the order)\n", p.Seed, p.Seed)
	fmt.Fprintf(w, "targets        %s\n", strings.Join(targets(p), ", "))
	fmt.Fprintf(w, "results        %s\n", c.Results+"/"+c.Name)
	if c.Quick {
		fmt.Fprintln(w, "quick look     one round, requests and durations cut; no verdict")
	} else if p.Rounds < 6 {
		fmt.Fprintln(w, "verdict        none: that takes six rounds")
	}
}

// targets are the labs and hosts that are loaded, each once.
func targets(p *plan.Plan) []string {
	var out []string
	for _, c := range p.Cells {
		name := "lab " + c.Lab
		if c.URL != "" {
			name, _, _ = strings.Cut(strings.TrimPrefix(strings.TrimPrefix(c.URL, "https://"), "http://"), "/")
			name, _, _ = strings.Cut(name, "?")
		}
		if to := c.Settings.ConnectTo; to != "" {
			name += " at " + to
		}
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

func dryRunCells(w io.Writer, p *plan.Plan) {
	var rows [][]string
	for _, c := range p.Cells {
		baseline := ""
		if c.Baseline {
			baseline = "baseline"
		}
		rows = append(rows, []string{c.Scenario, c.Variant, c.Engine, stepText(c.Step), c.URL + c.Path, baseline})
	}
	fmt.Fprintf(w, "\ncells\n%s", columns("  ", rows))
}

func dryRunOrder(w io.Writer, p *plan.Plan) {
	var rows [][]string
	round := 0
	for _, r := range p.Runs {
		c := p.Cells[r.Cell]
		head := ""
		if r.Round != round {
			round = r.Round
			head = fmt.Sprintf("round %d", round)
		}
		name := c.Variant
		if c.Page != "" {
			name += " " + c.Page
		}
		rows = append(rows, []string{head, strconv.Itoa(r.Seq), c.Scenario, stepText(c.Step), name})
	}
	fmt.Fprintf(w, "\norder of runs\n%s", columns("  ", rows))
}

// stepText is a load level in words.
func stepText(s scenarios.Step) string {
	var parts []string
	parts = append(parts, grouped(int64(s.Concurrency))+" conn")
	if !s.KeepAlive {
		parts = append(parts, "no keep-alive")
	}
	if s.Requests > 0 {
		parts = append(parts, grouped(s.Requests)+" requests")
	}
	if s.Duration > 0 {
		parts = append(parts, s.Duration.String())
	}
	return strings.Join(parts, ", ")
}

func dryRunCommands(w io.Writer, p *plan.Plan, commands [][]string) {
	fmt.Fprintln(w, "\ncommands")
	for _, c := range commands {
		fmt.Fprintf(w, "  %s\n", argv(c))
	}
	lines := hookLines(p)
	for _, h := range lines {
		fmt.Fprintf(w, "  %s\n", h)
	}
	if len(commands)+len(lines) == 0 {
		fmt.Fprintln(w, "  none")
	}
}

// hookLines lists the hooks of all cells, each once with whose it is.
func hookLines(p *plan.Plan) []string {
	var out []string
	for _, c := range p.Cells {
		for _, h := range []struct {
			when string
			argv [][]string
		}{
			{"once before", c.Settings.Setup}, {"before each run", c.Settings.Prepare},
			{"after each run", c.Settings.Conclude}, {"once after", c.Settings.Cleanup},
		} {
			for _, a := range h.argv {
				line := fmt.Sprintf("%s (%s, %s)", argv(a), h.when, c.Scenario)
				if !slices.Contains(out, line) {
					out = append(out, line)
				}
			}
		}
	}
	return out
}

// argv writes an argument list so that each argument can be told apart.
func argv(args []string) string {
	out := make([]string, len(args))
	for i, a := range args {
		out[i] = a
		if a == "" || strings.ContainsFunc(a, func(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune(`"'\$&|;<>()*?#~`, r) }) {
			out[i] = strconv.Quote(a)
		}
	}
	return strings.Join(out, " ")
}

// grouped writes a number with a comma between thousands.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
