package html

import (
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"

	"abacus/harness/analysis"
	"abacus/harness/number"
	"abacus/harness/preflight"
	"abacus/harness/record"
)

// view is what the template shows: words and finished numbers only.
type view struct {
	CSS     template.CSS
	Script  template.JS
	Library template.JS
	Policy  string

	Campaign, Title, Question, Frame string
	When                             when
	Notices                          []notice
	Verdict                          verdict
	Alarms                           []alarm
	Caveats                          []string
	TOC                              []tocEntry
	Tiles                            []tile
	Answer                           *figure
	Meta                             []pair
	Saw                              saw
	Goals                            *table
	GoalLead                         string
	Sections                         []section
	Percentiles                      []figure
	PercentileTables                 []table
	Times                            []timeSection
	Environment                      environment
	Repeat                           repeat
	Definitions                      []definition
	Footer                           footer
}

type tocEntry struct{ ID, Title string }

type pair struct{ Key, Value string }

// notice is the rule between title and verdict: incomplete, quick look.
type notice struct{ Lead, Text, Command, After string }

// verdict is the paragraph under the title: Lead stands out, Rest follows in the
// same large type, More in the page's own.
type verdict struct{ Lead, Rest, More string }

// alarm is a rule under the verdict: what makes it doubtful or ends in status 1.
type alarm struct{ Lead, Text, LinkID string }

// when is a moment in the campaign's own zone, with UTC in brackets.
type when struct{ ISO, Local, UTC, Took string }

type footer struct{ Version, Record, State string }

// figure is one chart with its texts.
type figure struct {
	ID, DataID  string
	Title, Sub  string
	Label, Desc string
	// Half marks a figure of half the column's width, which has one form only.
	Half bool
	JSON template.JS
	// TableID is where the same figures stand as numbers.
	TableID string
}

// newFigure finishes a chart. Ids are fixed, so that they can be linked to.
func newFigure(id, title, sub, label, desc, tableID string, wide, narrow *chart) (figure, error) {
	f := figure{ID: "fig_" + id, DataID: "data_" + id, Title: title, Sub: sub, Label: label, Desc: desc, TableID: tableID}
	d := drawing{Wide: wide.finish()}
	if narrow == nil {
		f.Half = true
		d.Narrow = spec{}
	} else {
		d.Narrow = narrow.finish()
		d.share()
	}
	var err error
	f.JSON, err = d.embed()
	return f, err
}

func (v *view) hasCharts() bool {
	if v.Answer != nil || len(v.Percentiles) > 0 || len(v.Times) > 0 {
		return true
	}
	for _, s := range v.Sections {
		if len(s.Figures) > 0 {
			return true
		}
	}
	return false
}

func newView(a *analysis.Analysis) (*view, error) {
	v := &view{
		Campaign: a.Campaign, Title: a.Title, Question: a.Question, Frame: frame(a),
		When: moment(a), Notices: notices(a), Caveats: caveats(a),
		Tiles: tiles(a), Meta: meta(a), Goals: goals(a), GoalLead: goalLead(a), Alarms: alarms(a),
		Environment: newEnvironment(a), Repeat: newRepeat(a),
		Footer: footer{Version: a.AbacusVersion, Record: a.Record, State: stateLine(a)},
	}
	if v.Title == "" {
		v.Title = a.Campaign
	}
	v.Verdict = newVerdict(a)
	if err := v.addScenarios(a); err != nil {
		return nil, err
	}
	if err := v.addPercentiles(a); err != nil {
		return nil, err
	}
	if err := v.addTimes(a); err != nil {
		return nil, err
	}
	v.Saw = newSaw(a, v.present())
	v.Definitions = definitions(a)
	v.TOC = contents(v)
	return v, nil
}

// newVerdict is the paragraph under the title: its first words, up to their
// interval, stand out. A sentence that a notice above it says already is not
// said twice.
func newVerdict(a *analysis.Analysis) verdict {
	var said []string
	for _, n := range notices(a) {
		said = append(said, n.Lead+" "+n.Text)
	}
	sentences := slices.DeleteFunc(slices.Clone(a.Verdict), func(s string) bool {
		return slices.Contains(said, s) || !a.Complete && strings.HasPrefix(s, "Incomplete:")
	})
	if len(sentences) == 0 {
		return verdict{}
	}
	large := 1
	length := len([]rune(sentences[0]))
	for large < min(len(sentences), mostLarge) && length+len([]rune(sentences[large])) <= largeLetters {
		length += len([]rune(sentences[large]))
		large++
	}
	more := strings.Join(sentences[large:], " ")
	lead, rest := sentences[0], strings.Join(sentences[1:large], " ")
	if head, interval, ok := strings.Cut(lead, " ("); ok {
		lead, rest = head, strings.TrimSpace("("+interval+" "+rest)
	}
	return verdict{Lead: lead, Rest: rest, More: more}
}

// The verdict in large type: so many sentences and letters at the most.
const (
	mostLarge    = 3
	largeLetters = 320
)

// alarms are the rules under the verdict: critical findings and missed goals.
func alarms(a *analysis.Analysis) []alarm {
	var out []alarm
	critical := 0
	first := ""
	for _, f := range a.Findings {
		if f.Severity != preflight.Critical {
			continue
		}
		if critical++; critical == 1 {
			first = strings.TrimSuffix(f.Title, ".")
		}
	}
	if critical > 0 {
		x := alarm{Lead: plural(critical, "critical finding:", "critical findings:"), Text: first, LinkID: findingID(0)}
		if critical > 1 {
			x.Text += fmt.Sprintf(", and %s more", small(critical-1, "", ""))
			x.Text = strings.Replace(x.Text, "  more", " more", 1)
		}
		out = append(out, x)
	}
	var missed []string
	for _, g := range a.Goals {
		if g.Outcome == analysis.GoalMissed {
			missed = append(missed, g.Goal+", "+a.GoalPlace(g))
		}
	}
	if n := len(missed); n > 0 {
		x := alarm{Lead: plural(n, "goal missed:", "goals missed:"), Text: missed[0], LinkID: "goals"}
		if n > 1 {
			x.Text += fmt.Sprintf("; and %d more", n-1)
		}
		out = append(out, x)
	}
	return out
}

// present holds the ids of the sections that the page has.
func (v *view) present() map[string]bool {
	out := map[string]bool{}
	for _, s := range v.Sections {
		out[s.ID] = true
	}
	for _, t := range v.Times {
		out[t.ID] = true
	}
	return out
}

func contents(v *view) []tocEntry {
	var out []tocEntry
	if v.hasAnswer() {
		out = append(out, tocEntry{"answer", "The answer"})
	}
	out = append(out, tocEntry{"saw", "What we saw"})
	if v.Goals != nil {
		out = append(out, tocEntry{"goals", "Goals"})
	}
	for _, s := range v.Sections {
		out = append(out, tocEntry{s.ID, s.Short})
	}
	if len(v.Percentiles) > 0 {
		out = append(out, tocEntry{"pct", "Latency by percentile"})
	}
	if len(v.Times) > 0 {
		out = append(out, tocEntry{"time", "Over time"})
	}
	return append(out, tocEntry{"env", "Environment"}, tocEntry{"repeat", "How to repeat it"}, tocEntry{"defs", "Definitions"})
}

func (v *view) hasAnswer() bool { return len(v.Tiles) > 0 || v.Answer != nil }

// HasStrips tells the template whether any tile has a strip of runs.
func (v *view) HasStrips() bool {
	return slices.ContainsFunc(v.Tiles, func(t tile) bool { return t.Spark != nil })
}

// StripWords says what the strips of the tiles show.
func (v *view) StripWords() string {
	text := "Strips: a point is a run"
	if slices.ContainsFunc(v.Tiles, func(t tile) bool { return t.Spark != nil && t.Spark.HasBand }) {
		text += ", the band the 95" + number.ThinSpace + "% interval"
	}
	return text + ", the line the mean."
}

// HasAnswer tells the template whether there is an answer section.
func (v *view) HasAnswer() bool { return v.hasAnswer() }

// frame is the line under the question: what was measured, by what.
func frame(a *analysis.Analysis) string {
	var labs, engines []string
	seen := map[string]bool{}
	for _, c := range a.Cells {
		if !seen["l"+c.Lab] && c.Lab != "" {
			seen["l"+c.Lab] = true
			labs = append(labs, c.Lab)
		}
		if !seen["e"+c.Engine] && c.Engine != "" {
			seen["e"+c.Engine] = true
			engines = append(engines, c.Engine)
		}
	}
	var parts []string
	if len(labs) > 0 {
		parts = append(parts, "Lab "+strings.Join(labs, ", "))
	}
	if a.PlannedRuns > 0 {
		parts = append(parts, plural(a.PlannedRuns, "run", "runs")+" in "+plural(a.Rounds, "round", "rounds"))
	}
	if len(engines) > 0 {
		parts = append(parts, "engine "+strings.Join(engines, ", "))
	}
	return strings.Join(parts, " · ")
}

// caveats are the campaign's and its scenarios', each once.
func caveats(a *analysis.Analysis) []string {
	seen := map[string]bool{}
	var out []string
	add := func(list []string) {
		for _, c := range list {
			if !seen[c] {
				seen[c] = true
				out = append(out, c)
			}
		}
	}
	add(a.Caveats)
	for _, s := range a.Scenarios {
		add(s.Caveats)
	}
	return out
}

// notices are the rules of States: what the reader must know first.
func notices(a *analysis.Analysis) []notice {
	var out []notice
	if !a.Complete {
		n := notice{Lead: "Incomplete:", Text: fmt.Sprintf("%s of %s runs", number.Count(int64(a.FinishedRuns)), number.Count(int64(a.PlannedRuns)))}
		switch {
		case a.LastRound > 0 && a.State == record.StateRunning:
			n.Text += fmt.Sprintf(", the last in round %d.", a.LastRound)
		case a.LastRound > 0:
			n.Text += fmt.Sprintf(", stopped in round %d.", a.LastRound)
		default:
			n.Text += "."
		}
		if a.Reason != "" {
			n.Text += " Reason: " + strings.TrimSuffix(a.Reason, ".") + "."
		}
		if a.Resumable() {
			n.Command, n.After = "abacus run --resume "+a.Record, "finishes it."
		}
		out = append(out, n)
	}
	if a.Quick {
		out = append(out, notice{Lead: "Quick look:", Text: "one short round, no verdict."})
	}
	return out
}

// stateLine is the notice as one line, for the footer.
func stateLine(a *analysis.Analysis) string {
	var parts []string
	for _, n := range notices(a) {
		parts = append(parts, strings.Join(strings.Fields(strings.Join([]string{n.Lead, n.Text, n.Command, n.After}, " ")), " "))
	}
	return strings.Join(parts, " ")
}

func moment(a *analysis.Analysis) when {
	if a.StartedAt.IsZero() {
		return when{}
	}
	name := a.TimeZone
	if strings.Contains(name, "/") || name == "" || name == "Local" {
		name = offsetName(a.UTCOffsetS)
		if loc, err := time.LoadLocation(a.TimeZone); err == nil && a.TimeZone != "" && a.TimeZone != "Local" {
			if abbr, off := a.StartedAt.In(loc).Zone(); off == a.UTCOffsetS && !strings.ContainsAny(abbr, "+-0123456789") {
				name = abbr
			}
		}
	}
	local := a.StartedAt.In(time.FixedZone(name, a.UTCOffsetS))
	w := when{ISO: local.Format(time.RFC3339), Local: local.Format("2 Jan 2006, 15:04") + " " + name, UTC: a.StartedAt.UTC().Format("15:04") + " UTC"}
	if local.Format("2006-01-02") != a.StartedAt.UTC().Format("2006-01-02") {
		w.UTC = a.StartedAt.UTC().Format("2 Jan, 15:04") + " UTC"
	}
	if a.UTCOffsetS == 0 && name == "UTC" {
		w.UTC = "" // said already
	}
	if a.EndedAt != nil && a.EndedAt.After(a.StartedAt) {
		w.Took = took(a.EndedAt.Sub(a.StartedAt))
	}
	return w
}

// offsetName names a zone by its distance from UTC.
func offsetName(s int) string {
	if s == 0 {
		return "UTC"
	}
	sign := "+"
	if s < 0 {
		sign, s = number.Minus, -s
	}
	if s%3600 == 0 {
		return fmt.Sprintf("UTC%s%d", sign, s/3600)
	}
	return fmt.Sprintf("UTC%s%d:%02d", sign, s/3600, s%3600/60)
}

func took(d time.Duration) string {
	switch {
	case d < 2*time.Minute:
		return fmt.Sprintf("%d%ss", int(d.Seconds()+0.5), number.HardSpace)
	case d < 2*time.Hour:
		return fmt.Sprintf("%d%smin", int(d.Minutes()+0.5), number.HardSpace)
	}
	return fmt.Sprintf("%d%sh %d%smin", int(d.Hours()), number.HardSpace, int(d.Minutes())%60, number.HardSpace)
}

// meta are the four lines under the answer.
func meta(a *analysis.Analysis) []pair {
	var out []pair
	if what := targets(a); what != "" {
		out = append(out, pair{"What", what})
	}
	how := plural(a.Rounds, "round", "rounds") + fmt.Sprintf(", order drawn from seed %d", a.Seed)
	out = append(out, pair{"How", how})
	state := "complete"
	if !a.Complete {
		state = "incomplete"
	}
	rec := fmt.Sprintf("%s, %s of %s runs", state, number.Count(int64(a.FinishedRuns)), number.Count(int64(a.PlannedRuns)))
	if a.Complete && a.FinishedRuns == a.PlannedRuns {
		rec = state + ", " + plural(a.FinishedRuns, "run", "runs")
	}
	out = append(out, pair{"Record", rec})
	if a.Author != "" {
		out = append(out, pair{"By", a.Author})
	}
	if a.Notes != "" {
		out = append(out, pair{"Notes", a.Notes})
	}
	return out
}

// targets lists the pages with their sizes, as far as they are known.
func targets(a *analysis.Analysis) string {
	seen := map[string]bool{}
	var out []string
	for _, c := range a.Cells {
		name := c.URL
		if c.Page != "" {
			name = c.Page
		}
		if name == "" || seen[name] {
			continue
		}
		seen[name] = true
		if c.DocumentBytes != nil {
			name += " (" + plural(int(*c.DocumentBytes), "byte", "bytes") + ")"
		}
		out = append(out, name)
	}
	if len(out) > 4 {
		out = append(out[:3], fmt.Sprintf("and %d more", len(out)-3))
	}
	return strings.Join(out, ", ")
}
