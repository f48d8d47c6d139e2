package analysis

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"abacus/harness/number"
	"abacus/harness/preflight"
)

// FewSamples is the number of readings in one run below which a peak between
// two polls is likely missed: they are then not joined to a line either.
const FewSamples = 10

// slowPoll is how long a poll takes at the least to be worth a word.
const slowPoll = 10e6 // ns

// snippet is what an Apache needs to show its status page to this machine.
const snippet = `<Location "/server-status"> SetHandler server-status, Require local </Location>`

// status judges how well the server was watched: no data, too few samples,
// failed and late polls. One finding of each per lab or campaign.
func (f *finder) status() {
	f.statusAbsent()
	f.statusFew()
	f.statusPolls()
	f.byScenario(func(i int) bool { return len(f.s.cells[i].seen.restarts) > 0 }, func(_ string, cells []int) {
		var seqs []int
		for _, i := range cells {
			seqs = append(seqs, f.s.cells[i].seen.restarts...)
		}
		slices.Sort(seqs)
		f.add(Finding{ID: "server_restarted", Severity: preflight.Warning, Scope: f.scopeOf(cells),
			Title:    fmt.Sprintf("The server started anew while it was measured %s.", f.at(cells)),
			Evidence: sentence("Its counters (uptime, accesses) went back in " + runNumbers(seqs)),
			Advice:   "find out what restarted it: a crash, a deployment, a log rotation."})
	})
}

// runNumbers is "run 3" or "runs 3, 5 and 8": the first five, and how many more.
func runNumbers(seqs []int) string {
	var names []string
	for _, n := range seqs[:min(len(seqs), 5)] {
		names = append(names, fmt.Sprint(n))
	}
	if n := len(seqs); n > 5 {
		names = append(names, fmt.Sprintf("%d more", n-5))
	}
	if len(seqs) == 1 {
		return "run " + names[0]
	}
	return "runs " + list(names)
}

func (f *finder) statusAbsent() {
	byLab := map[string][]int{}
	var labs []string
	for i, st := range f.s.cells {
		if !st.hasResult || st.seen.statusRead || st.good == 0 {
			continue
		}
		if byLab[st.cell.Lab] == nil {
			labs = append(labs, st.cell.Lab)
		}
		byLab[st.cell.Lab] = append(byLab[st.cell.Lab], i)
	}
	for _, lab := range labs {
		cells := byLab[lab]
		// A lab that was seen elsewhere is no lab without a status page.
		if slices.ContainsFunc(f.s.cells, func(st *cellState) bool { return st.cell.Lab == lab && st.seen.statusRead }) {
			continue
		}
		errors, polled := map[string]int{}, false
		for _, i := range cells {
			polled = polled || f.s.cells[i].seen.statusSeries > 0
			for text, n := range f.s.cells[i].seen.polls.errors {
				errors[text] += n
			}
		}
		evidence := "No status page is known, so busy and idle workers were not observed"
		if url := statusURL(f.in.Manifest, f.s.cells[cells[0]].cell); url != "" || polled {
			evidence = "No reading came from " + short(url, 200)
			if url == "" {
				evidence = "No reading came from the status page"
			}
			if len(errors) > 0 {
				evidence += ": " + counted(errors, 2)
			}
		}
		f.add(Finding{ID: "status_absent", Severity: preflight.Info, Scope: f.scopeOf(cells),
			Title:    fmt.Sprintf("Workers were not observed on %s.", labName(lab)),
			Evidence: sentence(evidence, "A full worker pool could not be told from a slow server"),
			Advice:   "for Apache, enable mod_status for this machine (" + snippet + ") and give its address with --status-url."})
	}
}

// labName names a lab in a sentence.
func labName(lab string) string {
	if lab == "external" {
		return "the server"
	}
	return "the " + lab + " lab"
}

// statusFew is said once for the campaign, with what would do.
func (f *finder) statusFew() {
	var few []int
	worst := -1
	for i, st := range f.s.cells {
		if st.seen.statusRuns == 0 || !st.seen.statusRead || st.seen.leastOK >= FewSamples {
			continue
		}
		few = append(few, i)
		if worst < 0 || st.seen.leastOK < f.s.cells[worst].seen.leastOK {
			worst = i
		}
	}
	if worst < 0 {
		return
	}
	seen := f.s.cells[worst].seen
	// Twice the least number, so that a late poll or two do not matter.
	enough := math.Ceil(float64(2*FewSamples) * seen.statusEvery.Seconds())
	f.add(Finding{ID: "few_status_samples", Severity: preflight.Info, Scope: f.scopeOf(few),
		Title: fmt.Sprintf("The worker pool was seen too seldom in %d of %s.", len(few), number.Plural(int64(len(f.a.Cells)), "measurement")),
		Evidence: sentence(fmt.Sprintf("The fewest: %s in a run of %s, at %s. A peak between two polls may be missed",
			number.Plural(int64(seen.leastOK), "sample"), number.Duration(float64(seen.leastNS)), f.a.subject(worst))),
		Advice: fmt.Sprintf("let each run take at least %g%ss, or set observe: {interval: %s}.", enough, number.HardSpace, finer(seen))})
}

func (f *finder) statusPolls() {
	var cells []int
	var all pollsSeen
	worst := -1
	errors := map[string]int{}
	for i, st := range f.s.cells {
		p := st.seen.polls
		if !st.seen.statusRead || p.failed+p.late+p.skipped == 0 {
			continue
		}
		cells = append(cells, i)
		all.polls, all.failed, all.late, all.skipped = all.polls+p.polls, all.failed+p.failed, all.late+p.late, all.skipped+p.skipped
		for text, n := range p.errors {
			errors[text] += n
		}
		if worst < 0 || p.waitedNS > f.s.cells[worst].seen.polls.waitedNS {
			worst = i
		}
	}
	if len(cells) == 0 {
		return
	}
	if all.failed > 0 {
		severity := preflight.Info
		if 10*all.failed > all.polls {
			severity = preflight.Warning
		}
		f.add(Finding{ID: "status_errors", Severity: severity, Scope: f.scopeOf(cells),
			Title:    fmt.Sprintf("%d of %s of the status page failed.", all.failed, number.Plural(int64(all.polls), "poll")),
			Evidence: sentence(counted(errors, 3), "These moments are gaps, not zeros"),
			Advice:   "open the status page by hand while load runs and see what comes."})
	}
	if all.late+all.skipped > 0 {
		w := f.s.cells[worst].seen.polls
		severity := preflight.Warning
		if 50*(all.late+all.skipped) < all.polls && w.waitedNS < 1e9 {
			severity = preflight.Info
		}
		f.add(Finding{ID: "status_late", Severity: severity, Scope: f.scopeOf(cells), Confidence: confidenceMedium,
			Title: "Polls of the status page had to wait.",
			Evidence: sentence(fmt.Sprintf("%d of %s were late and %d were skipped; the longest within load waited %s, with %s in round %d",
				all.late, number.Plural(int64(all.polls), "poll"), all.skipped, number.Duration(float64(w.waitedNS)), f.a.subject(worst), w.waitedRound),
				"A poll needs a worker of the server as any request does, so this is evidence of a full pool or of a full CPU"),
			Advice: "look at idle workers and CPU at that level; the peak itself may lie between polls."})
	}
}

// workers judges the worker pool: one finding per scenario, at its worst level.
func (f *finder) workers() {
	f.byScenario(f.nearlyFull, func(_ string, cells []int) {
		worst, pool := -1, poolSeen{}
		for _, i := range cells {
			for _, p := range f.s.cells[i].seen.pools {
				if worst < 0 || p.idleMin < pool.idleMin || (p.idleMin == pool.idleMin && p.emptyNS > pool.emptyNS) {
					worst, pool = i, p
				}
			}
		}
		evidence := []string{fmt.Sprintf("At most %s for %s of %s in round %d", idleWorkers(nearZero(pool.limit)),
			number.Seconds(float64(pool.emptyNS)/1e9), number.Seconds(float64(pool.lengthNS)/1e9), pool.round)}
		if pool.limit > 0 {
			evidence = append(evidence, fmt.Sprintf("The scoreboard has %s", number.Plural(pool.limit, "slot")))
		}
		if pool.waitedNS > slowPoll {
			evidence = append(evidence, fmt.Sprintf("Polls waited %s at the longest", number.Duration(float64(pool.waitedNS))))
		}
		if len(cells) > 1 {
			var names []string
			for _, i := range cells {
				names = append(names, f.name(i))
			}
			evidence = append(evidence, "At: "+strings.Join(names, "; "))
		}
		advice := "raise the number of workers (MaxRequestWorkers) if memory allows"
		if n, ok := f.roomy(worst); ok {
			advice = fmt.Sprintf("cap connections near %s, or %s", number.Count(int64(n)), advice)
		}
		if pool.limit > 0 && 10*int64(pool.open) > pool.limit {
			evidence = append(evidence, fmt.Sprintf("%d slots still had no process: the server was starting more", pool.open))
			advice = "keep more spare workers ready (StartServers, MinSpareThreads), or warm up longer"
		}
		at := pool.atNS
		scope := f.scopeOf([]int{worst})
		scope.Run = pool.seq
		f.add(Finding{ID: "idle_workers", Severity: preflight.Warning, Scope: scope, AtNS: &at,
			Title:    fmt.Sprintf("Idle workers reached %s %s.", number.Count(pool.idleMin), f.at([]int{worst})),
			Evidence: sentence(evidence...), Advice: advice + "."})
	})
}

func idleWorkers(n int64) string {
	if n == 0 {
		return "0 idle workers"
	}
	return number.Plural(n, "idle worker")
}

func (f *finder) nearlyFull(i int) bool {
	return slices.ContainsFunc(f.s.cells[i].seen.pools, func(p poolSeen) bool { return p.idleMin <= nearZero(p.limit) })
}

// roomy is the highest tested number of connections below a cell's own, of the
// same variant and keep-alive, at which a tenth of the workers stayed idle.
func (f *finder) roomy(like int) (int, bool) {
	best, full := 0, f.a.Cells[like]
	for i, c := range f.a.Cells {
		if c.Scenario != full.Scenario || c.Variant != full.Variant || c.IdleWorkersMin == nil || c.WorkersLimit == nil {
			continue
		}
		if c.Step.KeepAlive != full.Step.KeepAlive || c.Step.Concurrency >= full.Step.Concurrency {
			continue
		}
		if 10**c.IdleWorkersMin >= *c.WorkersLimit && !f.nearlyFull(i) {
			best = max(best, c.Step.Concurrency)
		}
	}
	return best, best > 0
}

// checks carries over what preflight and the idle baseline found.
func (f *finder) checks() {
	all := slices.Clone(f.a.Checks)
	if f.a.Idle != nil && f.a.Idle.MayStart {
		all = append(all, f.a.Idle.Checks...) // else they are evidence of baseline_not_quiet
	}
	at := map[string]int{}
	for _, c := range all {
		if severityRank(c.Severity) < severityRank(preflight.Warning) {
			continue
		}
		key := c.ID + "\x00" + c.Finding
		if k, known := at[key]; known {
			// The same answer for several targets is said once.
			if c.Target != "" {
				f.out[k].Evidence = sentence(f.out[k].Evidence, "Also for "+c.Target)
			}
			f.out[k].Scope = Scope{}
			continue
		}
		at[key] = len(f.out)
		var seen []string
		for _, e := range c.Evidence {
			seen = append(seen, started(short(e, 300)))
		}
		if c.Target != "" {
			seen = append(seen, "For "+c.Target)
		}
		f.add(Finding{ID: "check:" + c.ID, Severity: c.Severity, Title: capitalised(sentence(short(c.Finding, 300))), Evidence: sentence(seen...),
			Advice: short(c.Advice, 300), Scope: f.target(c.Target)})
	}
}

// started makes a text from a check a sentence's beginning: a name or an
// address in front of it stays as it is written.
func started(s string) string {
	first, _, _ := strings.Cut(s, " ")
	if strings.ContainsAny(first, ":/=") {
		return s
	}
	return capitalised(s)
}

// target reads a check's target, scenario/variant.
func (f *finder) target(t string) Scope {
	for _, s := range f.a.Scenarios {
		if t == s.Name {
			return Scope{Scenario: t}
		}
		if v, ok := strings.CutPrefix(t, s.Name+"/"); ok {
			return Scope{Scenario: s.Name, Variant: v}
		}
	}
	return Scope{}
}
