package analysis

import (
	"fmt"
	"slices"
	"strings"

	"abacus/harness/load"
	"abacus/harness/number"
	"abacus/harness/preflight"
)

// severeShare is the share of failed requests from which figures cannot be
// trusted: those that failed fast or late are missing from the latencies.
const severeShare = 0.01

// failures judges failed requests: one finding per kind and scenario.
func (f *finder) failures() {
	for _, kind := range load.Kinds() {
		f.byScenario(func(i int) bool { return f.a.Cells[i].FailedBy[string(kind)] > 0 }, func(_ string, cells []int) {
			f.failure(kind, cells)
		})
	}
}

func (f *finder) failure(kind load.FailureKind, cells []int) {
	var n, requests int64
	var in []int
	texts := map[string]int64{}
	for _, i := range cells {
		st := f.s.cells[i]
		n += f.a.Cells[i].FailedBy[string(kind)]
		requests += st.counts.Requests()
		in = append(in, st.seen.rounds[kind]...)
		for text, k := range st.seen.errors[kind] {
			texts[text] += k
		}
	}
	share := float64(n) / float64(max(requests, 1))
	severity := preflight.Warning
	if share >= severeShare {
		severity = preflight.Critical
	}
	meaning, advice := meaningOf(kind, texts)
	evidence := []string{fmt.Sprintf("%s of %s (%s), %s", number.Count(n), number.Plural(requests, "request"), number.Percent(share), inRounds(in)), f.perCell(kind, cells)}
	if len(texts) > 0 {
		evidence = append(evidence, "Messages: "+counted(texts, 3))
	}
	if kind == load.FailLength {
		var more string
		meaning, more, advice = f.lengthMeaning(cells, n)
		evidence = append(evidence, more)
		// The answers came whole: what they are counted as is in doubt, not
		// the service.
		severity = preflight.Warning
	}
	f.add(Finding{ID: "failures_" + string(kind), Severity: severity, Scope: f.scopeOf(cells),
		Title:    fmt.Sprintf("%s failed %s: %s.", number.Plural(n, "request"), f.at(cells), meaning),
		Evidence: sentence(evidence...), Advice: advice})
}

// perCell splits a count over several cells.
func (f *finder) perCell(kind load.FailureKind, cells []int) string {
	if len(cells) < 2 {
		return ""
	}
	var parts []string
	for _, i := range cells {
		parts = append(parts, fmt.Sprintf("%s: %s", f.name(i), number.Count(f.a.Cells[i].FailedBy[string(kind)])))
	}
	return strings.Join(parts, ", ")
}

// meaningOf says what a kind of failure means, in the light of its messages.
func meaningOf(kind load.FailureKind, texts map[string]int64) (meaning, advice string) {
	says := func(words ...string) bool {
		for text := range texts {
			for _, w := range words {
				if strings.Contains(strings.ToLower(text), w) {
					return true
				}
			}
		}
		return false
	}
	switch kind {
	case load.FailConnect:
		switch {
		case says("refused"):
			return "the server refused connections", "see in its error log whether it was down, or listened with too short a queue (ListenBacklog, net.core.somaxconn)."
		case says("assign requested address", "address already in use"):
			return "the client ran out of local ports", "keep connections alive, or wait longer between runs: sockets in TIME_WAIT hold the ports."
		case says("too many open files"):
			return "the client ran out of file descriptors", "raise the limit of open files (ulimit -n) above the number of connections."
		case says("certificate", "tls", "x509"):
			return "TLS could not be agreed on", "check the certificate and the protocols that the server offers."
		}
		return "no connection could be made", "see whether the server listens, and whether its queue of waiting connections is long enough (ListenBacklog, net.core.somaxconn)."
	case load.FailReceive:
		return "the server closed connections before the answer was whole", "look in the server's error log at these times: a crashed process, a limit of requests per connection, or a timeout."
	case load.FailTimeout:
		return "no whole answer came within the timeout", "look at workers and CPU at this level: the queue in front of the server is longer than the timeout."
	case load.FailException:
		return "what came was not HTTP, or broke off in another way", "fetch the page once by hand and see what comes."
	}
	return "another length than the first answer", ""
}

// lengthMeaning judges length failures: whole answers that are not as long as
// the first one.
func (f *finder) lengthMeaning(cells []int, n int64) (meaning, evidence, advice string) {
	lengths := map[int64]int64{}
	var other int64
	for _, i := range cells {
		for bytes, k := range f.s.cells[i].seen.lengths {
			lengths[bytes] += k
		}
		other += f.a.Cells[i].Non2xx
	}
	var came []string
	for k, bytes := range byCount(lengths) {
		if k == 5 {
			came = append(came, fmt.Sprintf("%d other lengths", len(lengths)-5))
			break
		}
		came = append(came, fmt.Sprintf("%s bytes %s", number.Count(bytes), times(lengths[bytes])))
	}
	if len(came) > 0 {
		evidence = "Lengths that came: " + strings.Join(came, ", ")
	}
	meaning = "whole answers, but of another length than the first"
	c := f.a.Cells[cells[0]]
	page, known := f.page(c)
	switch {
	case other > 0 && float64(other) >= 0.9*float64(n):
		return meaning, sentence(evidence, fmt.Sprintf("%s were not 2xx: error pages have lengths of their own", number.Plural(other, "answer"))),
			"look at the status codes first; the lengths follow from them."
	case known && !page.Stable:
		return meaning, sentence(evidence, fmt.Sprintf("Without load, %d fetches did not give the same bytes either: this looks like an accounting artefact of a page that varies", page.Fetches)),
			"set accept_variable_length: true, and let expect say what a right answer is."
	case known && page.Stable && page.Fetches > 1:
		return meaning, sentence(evidence, fmt.Sprintf("Without load, all %d fetches gave the same bytes, so the page itself does not vary", page.Fetches)),
			"fetch the page under load and compare: a truncated body or another page is a fault, a changing header or advertisement an accounting artefact."
	}
	return meaning, sentence(evidence, "Whether the page varies without load is not known, so this may be an accounting artefact"),
		"fetch the page some times without load; if its length varies, set accept_variable_length: true."
}

// page is what preflight saw of a cell's target.
func (f *finder) page(c Cell) (preflight.Page, bool) {
	i := slices.IndexFunc(f.a.Pages, func(p preflight.Page) bool {
		return p.Scenario == c.Scenario && p.Variant == c.Variant && (p.Path == c.Page || p.Path == "") && p.Error == ""
	})
	if i < 0 {
		return preflight.Page{}, false
	}
	return f.a.Pages[i], true
}

// times is "once" or "1,234 times".
func times(n int64) string {
	if n == 1 {
		return "once"
	}
	return number.Count(n) + " times"
}

// answers judges what whole answers were: status, expect rules, bodies.
func (f *finder) answers() {
	f.byScenario(func(i int) bool { return f.s.cells[i].seen.expect.Unmet > 0 }, func(_ string, cells []int) {
		var checked, unmet int64
		var in []int
		var examples []string
		for _, i := range cells {
			e := f.s.cells[i].seen.expect
			checked, unmet = checked+e.Checked, unmet+e.Unmet
			in = append(in, f.s.cells[i].seen.unmetIn...)
			for _, x := range e.Examples {
				if len(examples) < 3 && !slices.Contains(examples, short(x, 160)) {
					examples = append(examples, short(x, 160))
				}
			}
		}
		f.add(Finding{ID: "expect_unmet", Severity: preflight.Critical, Scope: f.scopeOf(cells),
			Title:    fmt.Sprintf("Under load, answers were not what was expected %s.", f.at(cells)),
			Evidence: sentence(fmt.Sprintf("%s of %s checked did not keep the expect rules, %s", number.Count(unmet), number.Plural(checked, "answer"), inRounds(in)), strings.Join(examples, "; ")),
			Advice:   "do not use these figures until the server gives the right answer under load."})
	})
	f.byScenario(f.unexpectedStatus, func(_ string, cells []int) {
		var n, complete int64
		codes := map[string]int64{}
		for _, i := range cells {
			n += f.a.Cells[i].Non2xx
			complete += f.a.Cells[i].Complete
			for code, k := range f.s.cells[i].seen.non2xx {
				codes[fmt.Sprintf("status %d", code)] += k
			}
		}
		share := float64(n) / float64(max(complete, 1))
		severity := preflight.Warning
		if share >= severeShare {
			severity = preflight.Critical
		}
		f.add(Finding{ID: "non_2xx", Severity: severity, Scope: f.scopeOf(cells),
			Title:    fmt.Sprintf("%s %s had a status other than 2xx.", number.Plural(n, "answer"), f.at(cells)),
			Evidence: sentence(fmt.Sprintf("%s of %s (%s)", number.Count(n), number.Plural(complete, "whole answer"), number.Percent(share)), capitalised(counted(codes, 5))),
			Advice:   "see what the server says in these answers: an error page is cheaper to serve than the page meant."})
	})
	f.bodies()
}

// unexpectedStatus tells whether a cell has answers that are not 2xx and not
// the one status that was expected.
func (f *finder) unexpectedStatus(i int) bool {
	if f.a.Cells[i].Non2xx == 0 {
		return false
	}
	seen := f.s.cells[i].seen
	_, only := seen.non2xx[seen.expected]
	return !(only && len(seen.non2xx) == 1)
}

// bodies compares what the variants of a scenario gave before load.
func (f *finder) bodies() {
	for _, s := range f.a.Scenarios {
		byPath := map[string][]preflight.Page{}
		var paths []string
		for _, p := range f.a.Pages {
			if p.Scenario != s.Name || p.Error != "" || p.SHA256 == "" || !p.Stable {
				continue
			}
			if byPath[p.Path] == nil {
				paths = append(paths, p.Path)
			}
			byPath[p.Path] = append(byPath[p.Path], p)
		}
		for _, path := range paths {
			pages := byPath[path]
			differ := slices.ContainsFunc(pages, func(p preflight.Page) bool { return p.SHA256 != pages[0].SHA256 })
			if !differ {
				continue
			}
			var parts []string
			for _, p := range pages {
				bytes := "length unknown"
				if p.Bytes != nil {
					bytes = number.Plural(*p.Bytes, "byte")
				}
				parts = append(parts, fmt.Sprintf("%s: %s, sha256 %.12s…", p.Variant, bytes, p.SHA256))
			}
			on := ""
			if path != "" {
				on = " on " + path
			}
			f.add(Finding{ID: "bodies_differ", Severity: preflight.Warning, Scope: Scope{Scenario: s.Name, Page: path},
				Title:    fmt.Sprintf("The variants of %s do not give the same body%s.", s.Name, on),
				Evidence: sentence(strings.Join(parts, "; ")),
				Advice:   "make them give the same bytes, or say in caveats why the comparison stands without."})
		}
	}
}
