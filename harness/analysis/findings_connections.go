package analysis

import (
	"fmt"
	"sort"
	"strings"

	"abacus/harness/load"
	"abacus/harness/number"
	"abacus/harness/preflight"
)

// A SYN that nobody answered is sent again after a second: a connect of about
// that time or longer, where half of them take far less, waited for it.
const (
	resentConnect = int64(900e6) // ns
	quickConnect  = int64(450e6) // ns, the median of connects that are quick
)

// connections judges how connections were opened and kept.
func (f *finder) connections() {
	f.byScenario(func(i int) bool { kept, of := f.kept(i); return of > 0 && 2*kept < of }, func(_ string, cells []int) { f.notKept(cells) })
	f.byScenario(func(i int) bool { return f.lateConnects(i) > 0 }, func(_ string, cells []int) { f.late(cells) })
}

// kept is how many whole answers of a keep-alive level came on a connection
// that had been used before. of is 0 where nothing can be said: without
// keep-alive, where the engine cannot tell, and with so few requests that the
// first ones of each connection are most of them.
func (f *finder) kept(i int) (kept, of int64) {
	st := f.s.cells[i]
	step := st.cell.Step
	if !step.KeepAlive || st.counts.KeptAlive == nil {
		return 0, 0
	}
	runs := int64(0)
	for _, p := range st.points {
		if p.Complete != nil && *p.Complete > 0 {
			runs++
		}
	}
	if runs == 0 || st.counts.Complete < 4*runs*int64(max(1, step.Concurrency)) {
		return 0, 0
	}
	return *st.counts.KeptAlive, st.counts.Complete
}

func (f *finder) notKept(cells []int) {
	var kept, of int64
	var parts []string
	for _, i := range cells {
		k, n := f.kept(i)
		kept, of = kept+k, of+n
		parts = append(parts, fmt.Sprintf("%s: %s of %s", f.name(i), number.Count(k), number.Count(n)))
	}
	if len(parts) == 1 {
		parts = nil
	}
	measured := "So a connection per request was measured there, not keep-alive"
	if kept > 0 {
		measured = "So mostly a connection per request was measured there, not keep-alive"
	}
	f.add(Finding{ID: "connections_closed", Severity: preflight.Warning, Scope: f.scopeOf(cells),
		Title: fmt.Sprintf("The server did not keep connections alive %s.", f.at(cells)),
		Evidence: sentence(fmt.Sprintf("Keep-alive was asked for, but only %s of %s (%s) came on a connection that was kept", number.Count(kept), number.Plural(of, "whole answer"),
			number.Percent(float64(kept)/float64(of))), strings.Join(parts, "; "), measured),
		Advice: "turn keep-alive on in the server (KeepAlive On, MaxKeepAliveRequests), or set keepalive: false so that the page says what is measured."})
}

// lateConnects is how many connects of a cell's good runs waited for a SYN to
// be sent again; 0 when connects are slow as a rule, as over a long line.
func (f *finder) lateConnects(i int) int64 {
	d := f.s.cells[i].connect
	if d == nil {
		return 0
	}
	if m, ok := d.Quantile(.5); !ok || m > quickConnect {
		return 0
	}
	return countFrom(d, resentConnect)
}

// countFrom is how many durations are ns or longer, as finely as the histogram
// tells; at least 1 when the greatest is.
func countFrom(d *load.Distribution, ns int64) int64 {
	longest, ok := d.Max()
	if !ok || longest < ns {
		return 0
	}
	n := d.Count()
	// The value at rank k rises with k, so the first that is long is bisected.
	shorter := int64(sort.Search(int(n), func(k int) bool {
		v, ok := d.Quantile((float64(k) + 1) / float64(n))
		return ok && v >= ns
	}))
	return max(1, n-shorter)
}

func (f *finder) late(cells []int) {
	var late, all int64
	var longest int64
	var parts []string
	for _, i := range cells {
		d := f.s.cells[i].connect
		n := f.lateConnects(i)
		late, all = late+n, all+d.Count()
		top, _ := d.Max()
		longest = max(longest, top)
		middle, _ := d.Quantile(.5)
		parts = append(parts, fmt.Sprintf("%s: %s of %s, half of them within %s", f.name(i), number.Count(n), number.Plural(d.Count(), "connect"), number.Duration(float64(middle))))
	}
	f.add(Finding{ID: "connects_late", Severity: preflight.Warning, Scope: f.scopeOf(cells), Confidence: confidenceMedium,
		Title: fmt.Sprintf("%s waited a second or longer %s: the listen queue was full.", number.Plural(late, "connect"), f.at(cells)),
		Evidence: sentence(fmt.Sprintf("The longest took %s. SYN was sent again, as is done after a second without an answer", number.Duration(float64(longest))),
			strings.Join(parts, "; ")),
		Advice: "raise the listen queue (ListenBacklog and net.core.somaxconn), or open fewer connections: keep-alive, or less concurrency."})
}
