package cli

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"abacus/harness/config"
	"abacus/harness/number"
	"abacus/harness/oneline"
	"abacus/harness/plan"
	"abacus/scenarios"
)

// printConfig prints every effective value with where it comes from.
func printConfig(w io.Writer, l *config.Loaded) error {
	var rows [][]string
	for _, o := range l.Origins {
		rows = append(rows, []string{o.Key, oneline.Shorten(o.Value, 60), o.From})
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

// dryPlan is what a run would do.
type dryPlan struct {
	loaded *config.Loaded
	plan   *plan.Plan
	// left are the runs that would be made: all, or those that a record lacks.
	left []plan.Run
	// record is the folder of the record that would be gone on with, "" for a
	// new one.
	record string
	// commands are those of the program itself (workers, labs), each an
	// argument list; the hooks are added from the plan.
	commands [][]string
}

// printDryRun prints what a run would do: how much, what, in which order, and
// every command that would be run.
func printDryRun(w io.Writer, d dryPlan) error {
	b := &strings.Builder{}
	dryRunHead(b, d)
	dryRunLevels(b, d.plan)
	dryRunOrder(b, d)
	dryRunCommands(b, d.plan, d.commands)
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("print the plan: %w", err)
	}
	return nil
}

func dryRunHead(w io.Writer, d dryPlan) {
	p := d.plan
	c, e := p.Campaign, p.Estimate()
	from := d.loaded.File
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
	fmt.Fprintf(w, "runs           %s: %s, %s\n", number.Count(int64(e.Runs)), number.Plural(int64(levels(p)), "load level"), number.Plural(int64(p.Rounds), "round"))
	if d.record != "" {
		fmt.Fprintf(w, "left           %s of them; %s has the others\n", number.Count(int64(len(d.left))), d.record)
	}
	fmt.Fprintf(w, "requests       %s%s, at most %s at once\n", about, number.Count(e.Requests), number.Count(int64(e.TopConcurrency)))
	fmt.Fprintf(w, "minutes        about %.1f, guessed from usual rates; waiting for idle is not in it\n", e.Took.Minutes())
	fmt.Fprintf(w, "seed           %d (--seed %d repeats the order)\n", p.Seed, p.Seed)
	fmt.Fprintf(w, "targets        %s\n", strings.Join(targets(p), ", "))
	if d.record == "" {
		fmt.Fprintf(w, "results        %s\n", c.Results+"/"+c.Name)
	}
	if c.Quick {
		fmt.Fprintln(w, "quick look     one round, requests and durations cut; no verdict")
	} else if p.Rounds < 6 {
		fmt.Fprintln(w, "verdict        none: that takes six rounds")
	}
}

// levels is the number of load levels of all scenarios.
func levels(p *plan.Plan) int {
	type level struct {
		scenario string
		step     int
	}
	seen := map[level]bool{}
	for _, c := range p.Cells {
		seen[level{c.Scenario, c.StepIndex}] = true
	}
	return len(seen)
}

// targets are the labs and hosts that are loaded, each once.
func targets(p *plan.Plan) []string {
	var out []string
	for _, c := range p.Cells {
		name := "lab " + c.Lab
		if c.URL != "" {
			name = hostOf(c.URL)
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

func dryRunLevels(w io.Writer, p *plan.Plan) {
	var rows [][]string
	for _, c := range p.Cells {
		baseline := ""
		if c.Baseline {
			baseline = "baseline"
		}
		rows = append(rows, []string{c.Scenario, c.Variant, c.Engine, stepText(c.Step), c.URL + c.Path, baseline})
	}
	fmt.Fprintf(w, "\nload levels\n%s", columns("  ", rows))
}

func dryRunOrder(w io.Writer, d dryPlan) {
	var rows [][]string
	round := 0
	for _, r := range d.left {
		c := d.plan.Cells[r.Cell]
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
	title := "order of runs"
	if d.record != "" {
		title = "runs left, in their order"
	}
	fmt.Fprintf(w, "\n%s\n%s", title, columns("  ", rows))
}

// stepText is a load level in words.
func stepText(s scenarios.Step) string {
	var parts []string
	parts = append(parts, number.Count(int64(s.Concurrency))+" conn")
	if !s.KeepAlive {
		parts = append(parts, "no keep-alive")
	}
	if s.Requests > 0 {
		parts = append(parts, number.Count(s.Requests)+" requests")
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
