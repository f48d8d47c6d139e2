package analysis

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"abacus/harness/number"
	"abacus/harness/preflight"
	"abacus/harness/record"
	"abacus/harness/stats"
)

// The shares from which the machine or the client counts as full.
const (
	fullMachine = 0.95
	fullClient  = 0.90
	stolenShare = 0.05
)

// finer is a poll interval that would give enough samples in a run as short as
// the shortest: a round number, 10 ms at the least.
func finer(s cellSeen) time.Duration {
	want := time.Duration(s.leastNS / (2 * FewSamples))
	for _, d := range []time.Duration{200, 100, 50, 20} {
		if d*time.Millisecond <= want {
			return d * time.Millisecond
		}
	}
	return 10 * time.Millisecond
}

// client judges whether the load generator could do what it was asked.
func (f *finder) client() {
	f.byScenario(func(i int) bool { _, ok := f.inFlight(i, 0, 0.6); return ok }, func(_ string, cells []int) {
		worst, least := cells[0], 2.0
		for _, i := range cells {
			if share, _ := f.inFlight(i, 0, 0.6); share < least {
				worst, least = i, share
			}
		}
		c := f.a.Cells[worst]
		f.add(Finding{ID: "client_idle", Severity: preflight.Warning, Scope: f.scopeOf(cells), Confidence: confidenceMedium,
			Title: fmt.Sprintf("The client did not keep all its connections busy %s.", f.at(cells)),
			Evidence: sentence(fmt.Sprintf("Throughput times mean latency is %s requests in flight of %s (Little's law)",
				number.Sig3(least*float64(c.Step.Concurrency)), connections(c.Step))),
			Advice: "give the client more CPU or fewer connections; the level loads the server less than its name says."})
	})
	f.byScenario(func(i int) bool { _, ok := f.inFlight(i, 1.1, 1e18); return ok }, func(_ string, cells []int) {
		share, _ := f.inFlight(cells[0], 1.1, 1e18)
		c := f.a.Cells[cells[0]]
		f.add(Finding{ID: "counts_contradict", Severity: preflight.Critical, Scope: f.scopeOf(cells), Confidence: confidenceMedium,
			Title: fmt.Sprintf("Throughput and latency contradict each other %s.", f.at(cells)),
			Evidence: sentence(fmt.Sprintf("Throughput times mean latency is %s requests in flight, more than %s can carry (Little's law)",
				number.Sig3(share*float64(c.Step.Concurrency)), connections(c.Step))),
			Advice: "do not use these figures; repeat them with another engine."})
	})
	if f.shared() {
		return // said once, in machine
	}
	f.byScenario(func(i int) bool { v := f.a.Cells[i].ClientCPUShare; return v != nil && *v >= fullClient }, func(_ string, cells []int) {
		top := 0.0
		for _, i := range cells {
			top = max(top, *f.a.Cells[i].ClientCPUShare)
		}
		f.add(Finding{ID: "client_limit", Severity: preflight.Warning, Scope: f.scopeOf(cells),
			Title:    fmt.Sprintf("The client, not the server, may be the limit %s.", f.at(cells)),
			Evidence: sentence(fmt.Sprintf("It used %s of its CPUs", number.Percent(top))),
			Advice:   "load from a faster machine, or from several; nothing is said about the server above this level."})
	})
}

// inFlight is the middle run's mean number of requests in flight as a share of
// the connections, when it is below low or above high and the runs are long
// enough for their start and end not to matter.
func (f *finder) inFlight(i int, high, low float64) (share float64, ok bool) {
	st := f.s.cells[i]
	c := float64(st.cell.Step.Concurrency)
	middle, any := stats.Median(st.seen.little)
	if !any || c < 1 || float64(st.seen.requests) < 20*c {
		return 0, false
	}
	share = middle / c
	if high > 0 {
		return share, share > high
	}
	return share, share < low
}

// machine judges the machine that everything ran on.
func (f *finder) machine() {
	f.swap()
	f.fullCPU()
	if f.shared() {
		var parts []string
		if n := f.in.Environment.CPUs; n > 0 {
			parts = append(parts, number.Plural(int64(n), "CPU"))
		}
		if lo, hi, ok := f.clientRange(); ok {
			parts = append(parts, fmt.Sprintf("the client took %s to %s of what it may use", number.Percent(lo), number.Percent(hi)))
		}
		parts = append(parts, "requests did not cross a network")
		f.add(Finding{ID: "shared_machine", Severity: preflight.Info,
			Title:    "Client and server shared one machine.",
			Evidence: sentence(capitalised(strings.Join(parts, "; ")), "What the client needed, the server could not use: compare within this record, do not quote as the server's capacity"),
			Advice:   "for capacity, load from a second machine."})
	}
	f.byScenario(func(i int) bool { v, ok := stats.Median(f.s.cells[i].seen.steal); return ok && v >= stolenShare }, func(_ string, cells []int) {
		top := 0.0
		for _, i := range cells {
			v, _ := stats.Median(f.s.cells[i].seen.steal)
			top = max(top, v)
		}
		f.add(Finding{ID: "cpu_stolen", Severity: preflight.Warning, Scope: f.scopeOf(cells),
			Title:    "The hypervisor took CPU time away during load.",
			Evidence: sentence(fmt.Sprintf("Most time taken per run, median over runs: %s of all cores' time, %s", number.Percent(top), f.at(cells))),
			Advice:   "repeat on a machine of its own, or when its neighbours are quiet."})
	})
}

// shared tells whether client and server ran on one machine: what the
// environment says, else whether the server's processes were seen here.
func (f *finder) shared() bool {
	if v := f.in.Environment.SameMachine; v != nil {
		return *v
	}
	return slices.ContainsFunc(f.s.cells, func(st *cellState) bool { return st.seen.local })
}

func (f *finder) clientRange() (lo, hi float64, ok bool) {
	for _, c := range f.a.Cells {
		if c.ClientCPUShare == nil {
			continue
		}
		if !ok || *c.ClientCPUShare < lo {
			lo = *c.ClientCPUShare
		}
		hi = max(hi, *c.ClientCPUShare)
		ok = true
	}
	return lo, hi, ok
}

func (f *finder) swap() {
	var cells, in []int
	var moved uint64
	var worst swapSeen
	runs := 0
	for i, st := range f.s.cells {
		for _, s := range st.seen.swaps {
			runs++
			moved += s.in + s.out
			in = append(in, s.round)
			if s.in+s.out > worst.in+worst.out {
				worst = s
			}
		}
		if len(st.seen.swaps) > 0 {
			cells = append(cells, i)
		}
	}
	if runs == 0 {
		return
	}
	f.add(Finding{ID: "swap_moved", Severity: preflight.Warning, Scope: f.scopeOf(cells),
		Title: fmt.Sprintf("Memory was swapped during %s.", number.Plural(int64(runs), "run")),
		Evidence: sentence(fmt.Sprintf("%s in all, %s; the most in run %d: %s in, %s out", number.Bytes(float64(moved)), inRounds(in),
			worst.seq, number.Bytes(float64(worst.in)), number.Bytes(float64(worst.out)))),
		Advice: "lower the number of workers, or add memory: latencies with swap in them say nothing about the server."})
}

// fullCPU tells, once for the campaign, where the machine had no CPU to spare.
func (f *finder) fullCPU() {
	var cells []int
	top := 0.0
	for i, st := range f.s.cells {
		if v, ok := stats.Median(st.seen.machine); ok && v >= fullMachine {
			cells = append(cells, i)
			top = max(top, v)
		}
	}
	if len(cells) == 0 {
		return
	}
	advice := "expect no more throughput from this machine at these levels."
	evidence := fmt.Sprintf("Highest CPU use per run, median over runs: %s", number.Percent(top))
	more := ""
	if f.shared() {
		more = "Client and server shared it, so either may have been the limit"
		advice = "load from a second machine to tell which it was."
	}
	var names []string
	for _, i := range cells[:min(len(cells), 4)] {
		names = append(names, f.a.subject(i))
	}
	if len(cells) > 4 {
		names = append(names, fmt.Sprintf("%d more", len(cells)-4))
	}
	places := "At: " + strings.Join(names, "; ")
	if len(cells) == len(f.a.Cells) && len(cells) > 1 {
		places = ""
	}
	f.add(Finding{ID: "cpu_full", Severity: preflight.Warning, Scope: f.scopeOf(cells),
		Title:    fmt.Sprintf("The machine's CPU was full in %d of %s.", len(cells), number.Plural(int64(len(f.a.Cells)), "measurement")),
		Evidence: sentence(evidence, places, more), Advice: advice})
}

// preparation judges what came before load: baseline, warm-up, settling, hooks.
func (f *finder) preparation() {
	f.baseline()
	f.settling()
	f.hooks()
	reasons := map[string]int{}
	for _, w := range f.a.Warmups {
		switch {
		case w.Error != "":
			reasons[warmed(w.Cell)+": "+short(w.Error, 100)]++
		case !w.Steady && !w.Fixed && !f.a.Quick:
			reasons[warmed(w.Cell)+": "+short(w.Reason, 100)]++
		}
	}
	if len(reasons) > 0 {
		f.add(Finding{ID: "warmup_not_steady", Severity: preflight.Info, Confidence: confidenceMedium,
			Title:    fmt.Sprintf("The warm-up of %d of %s did not become steady.", len(reasons), number.Plural(int64(len(f.a.Warmups)), "target")),
			Evidence: sentence(counted(reasons, 5)), Advice: "warm up longer (warmup: {duration: …}); the first round may be slower than the others."})
	}
	f.engineNotes()
}

// baseline tells that the idle baseline said not to start: one finding with
// all that its checks had against it.
func (f *finder) baseline() {
	idle := f.a.Idle
	if idle == nil || idle.MayStart {
		return
	}
	x := Finding{ID: "baseline_not_quiet", Severity: preflight.Critical, Title: "The machine or the server was not idle before the first run.",
		Advice: "stop what else runs there and repeat the campaign."}
	evidence := []string{capitalised(short(idle.Reason, 300))}
	for _, c := range idle.Checks {
		if severityRank(c.Severity) < severityRank(preflight.Warning) {
			continue
		}
		if text := short(c.Finding, 200); !strings.Contains(plainText(idle.Reason), plainText(text)) {
			evidence = append(evidence, capitalised(text))
		}
	}
	x.Evidence = sentence(evidence...)
	f.add(x)
}

// plainText is a text without its letters' case and its kinds of space, to be
// compared.
func plainText(s string) string {
	return strings.ToLower(strings.NewReplacer(number.ThinSpace, " ", number.HardSpace, " ").Replace(s))
}

func warmed(c record.Cell) string {
	return fmt.Sprintf("%s %s, %s", c.Scenario, c.Variant, connections(c.Step))
}

func (f *finder) settling() {
	reasons := map[string]int{}
	var cells []int
	n := 0
	var longest int64
	for i, st := range f.s.cells {
		for _, s := range st.seen.settles {
			reasons[s.reason]++
			longest = max(longest, s.waitedNS)
			n++
		}
		if len(st.seen.settles) > 0 {
			cells = append(cells, i)
		}
	}
	if n == 0 {
		return
	}
	f.add(Finding{ID: "settle_timeout", Severity: preflight.Warning, Scope: f.scopeOf(cells),
		Title:    fmt.Sprintf("%s begun before the machine was idle again.", wasWere(n, "run")),
		Evidence: sentence(fmt.Sprintf("Waited %s at the longest", number.Duration(float64(longest))), "Still busy: "+counted(reasons, 3)),
		Advice:   "raise settle: {max: …}, or find what keeps it busy."})
}

func (f *finder) hooks() {
	texts := map[string]int{}
	var cells []int
	for i, st := range f.s.cells {
		for _, h := range st.seen.hooks {
			texts[hookText(h.hook.Kind, h.hook.Args, h.hook.ExitCode, h.hook.Error, h.hook.Output)]++
		}
		if len(st.seen.hooks) > 0 {
			cells = append(cells, i)
		}
	}
	for _, h := range f.in.Manifest.Hooks {
		if h.Error != "" || (h.ExitCode != nil && *h.ExitCode != 0) {
			texts[hookText(h.Kind, h.Args, h.ExitCode, h.Error, h.Output)]++
			cells = nil
		}
	}
	if len(texts) == 0 {
		return
	}
	n := 0
	for _, k := range texts {
		n += k
	}
	f.add(Finding{ID: "hook_failed", Severity: preflight.Warning, Scope: f.scopeOf(cells),
		Title: fmt.Sprintf("%s of the campaign failed.", number.Plural(int64(n), "command")), Evidence: sentence(counted(texts, 5)),
		Advice: "run it by hand; a failed prepare voids its run."})
}

func hookText(kind string, args []string, code *int, err, output string) string {
	s := kind + " " + short(strings.Join(args, " "), 60)
	if code != nil {
		status := fmt.Sprintf("exit status %d", *code)
		s += ", " + status
		if err == status {
			err = ""
		}
	}
	if err != "" {
		s += ": " + short(err, 60)
	} else if output != "" {
		s += ": " + short(output, 60)
	}
	return s
}

// engineNotes carries what engines could not do as asked, each text once, with
// the levels that it was said of.
func (f *finder) engineNotes() {
	type note struct {
		text  string
		cells []int
	}
	byEngine := map[string][]note{}
	of := map[string]int{}
	var engines []string
	for i, st := range f.s.cells {
		e := st.cell.Engine
		if of[e]++; of[e] == 1 {
			engines = append(engines, e)
		}
		for _, n := range st.seen.notes {
			k := slices.IndexFunc(byEngine[e], func(x note) bool { return x.text == n })
			if k < 0 {
				k = len(byEngine[e])
				byEngine[e] = append(byEngine[e], note{text: n})
			}
			byEngine[e][k].cells = append(byEngine[e][k].cells, i)
		}
	}
	for _, e := range engines {
		if len(byEngine[e]) == 0 {
			continue
		}
		var texts []string
		var cells []int
		said := ""
		for _, n := range byEngine[e][:min(len(byEngine[e]), 5)] {
			where := "At all its levels"
			if len(n.cells) < of[e] || of[e] == 1 {
				var names []string
				for _, i := range n.cells[:min(len(n.cells), 4)] {
					names = append(names, f.a.subject(i))
				}
				if len(n.cells) > 4 {
					names = append(names, fmt.Sprintf("%d more", len(n.cells)-4))
				}
				where = "At " + strings.Join(names, "; ")
			}
			text := capitalised(short(n.text, 300))
			if where != said {
				text = where + ": " + lowered(text)
			}
			said = where
			texts = append(texts, text)
			cells = append(cells, n.cells...)
		}
		f.add(Finding{ID: "engine_notes", Severity: preflight.Info, Scope: f.scopeOf(cells), Title: fmt.Sprintf("What the engine %s could not do as asked.", e),
			Evidence: sentence(texts...)})
	}
}
