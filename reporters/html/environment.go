package html

import (
	"fmt"
	"sort"
	"strings"

	"abacus/harness/analysis"
	"abacus/harness/number"
	"abacus/harness/preflight"
)

// environment is the section on machine, idle baseline, checks, configuration.
type environment struct {
	Machine []pair
	// Preflight says how the checks went, in one line.
	Preflight string
	Idle      []pair
	Checks    []check
	Pages     *table
	Warmups   *table
	YAML      []yamlLine
}

type check struct{ Class, Word, Target, Finding, Evidence, Advice string }

// yamlLine is one line of the campaign file, its key set apart.
type yamlLine struct{ Indent, Key, Rest string }

// repeat says how to do it again.
type repeat struct {
	Seed   uint64
	YAML   []yamlLine
	Record string
}

func newEnvironment(a *analysis.Analysis) environment {
	e := environment{Machine: machine(a), Idle: idle(a.Idle), YAML: yamlLines(a.CampaignYAML), Pages: pagesTable(a.Pages), Warmups: warmupTable(a)}
	checks := append([]preflight.Check{}, a.Checks...)
	if a.Idle != nil {
		checks = append(checks, a.Idle.Checks...)
	}
	counts := map[preflight.Severity]int{}
	for _, c := range checks {
		counts[c.Severity]++
		e.Checks = append(e.Checks, newCheck(c))
	}
	if len(checks) > 0 {
		e.Preflight = checkLine(counts)
	}
	return e
}

func checkLine(counts map[preflight.Severity]int) string {
	parts := []string{plural(counts[preflight.OK], "check passed", "checks passed")}
	for _, s := range []struct {
		sev       preflight.Severity
		one, many string
	}{{preflight.Critical, "critical", "critical"}, {preflight.Warning, "warning", "warnings"}, {preflight.Info, "note", "notes"}, {preflight.NotSeen, "not seen", "not seen"}} {
		if n := counts[s.sev]; n > 0 {
			parts = append(parts, plural(n, s.one, s.many))
		}
	}
	return strings.Join(parts, ", ")
}

func newCheck(c preflight.Check) check {
	out := check{Class: "i", Word: string(c.Severity), Finding: c.Finding, Advice: c.Advice}
	switch c.Severity {
	case preflight.OK:
		out.Word = "passed"
	case preflight.NotSeen:
		out.Word = "not seen"
	case preflight.Warning:
		out.Class = "w"
	case preflight.Critical:
		out.Class = "c"
	}
	if out.Finding == "" {
		out.Finding = c.Question
	}
	out.Finding, out.Advice = sentences(out.Finding), sentences(out.Advice)
	out.Evidence = sentences(c.Evidence...)
	if c.Target != "" {
		out.Target = c.Target
	}
	return out
}

func machine(a *analysis.Analysis) []pair {
	e := a.Environment
	var out []pair
	add := func(k string, parts ...string) {
		var kept []string
		for _, p := range parts {
			if p != "" {
				kept = append(kept, p)
			}
		}
		if len(kept) > 0 {
			out = append(out, pair{k, strings.Join(kept, ", ")})
		}
	}
	cores := ""
	if e.CPUs > 0 {
		cores = plural(e.CPUs, "core", "cores")
	}
	quota := ""
	if e.CgroupCPUs != nil {
		quota = "cgroup limit " + number.Sig3(*e.CgroupCPUs) + " cores"
	}
	governor := ""
	if e.Governor != "" {
		governor = "governor " + e.Governor
	}
	add("CPU", e.CPUModel, cores, quota, governor)
	mem, swap, limit := "", "", ""
	if e.MemBytes > 0 {
		mem = number.Bytes(float64(e.MemBytes))
	}
	if e.SwapBytes != nil {
		swap = "swap " + number.Bytes(float64(*e.SwapBytes))
		if *e.SwapBytes == 0 {
			swap = "no swap"
		}
	}
	if e.CgroupMem != nil {
		limit = "cgroup limit " + number.Bytes(float64(*e.CgroupMem))
	}
	add("Memory", mem, swap, limit)
	system := e.Platform
	if system == "" {
		system = e.OS
	}
	kernel, virtual := "", ""
	if e.Kernel != "" {
		kernel = "kernel " + e.Kernel
	}
	if e.Virtual != "" {
		virtual = "virtualised by " + e.Virtual
	}
	add("System", system, kernel, e.Arch, virtual)
	add("Limits", limits(e)...)
	shared := ""
	if e.SameMachine != nil {
		shared = "on different machines"
		if *e.SameMachine {
			shared = "share this machine"
		}
	}
	add("Client, server", shared)
	add("abacus", e.AbacusVersion, e.GoVersion)
	names := make([]string, 0, len(e.Versions))
	for n := range e.Versions {
		names = append(names, n)
	}
	sort.Strings(names)
	for _, n := range names {
		add(n, e.Versions[n])
	}
	for i, n := range a.LabNotes {
		key := ""
		if i == 0 {
			key = "Lab"
		}
		out = append(out, pair{key, n})
	}
	add("Status pages", statusPages(a.StatusURLs))
	return out
}

func limits(e preflight.Environment) []string {
	var out []string
	if e.OpenFiles != nil {
		out = append(out, number.Count(int64(*e.OpenFiles))+" open files")
	}
	if e.PortRange != "" {
		out = append(out, "ports "+e.PortRange)
	}
	if e.Somaxconn != nil {
		out = append(out, "somaxconn "+number.Count(*e.Somaxconn))
	}
	return out
}

func statusPages(urls map[string]string) string {
	var out []string
	for lab, u := range urls {
		out = append(out, lab+": "+u)
	}
	sort.Strings(out)
	return strings.Join(out, "; ")
}

func idle(i *preflight.Idle) []pair {
	if i == nil {
		return nil
	}
	var seen []string
	if i.CPUBusyShare != nil {
		seen = append(seen, "CPU "+number.Percent(*i.CPUBusyShare)+" busy")
	}
	if i.CPUStealShare != nil && *i.CPUStealShare > 0 {
		seen = append(seen, number.Percent(*i.CPUStealShare)+" stolen")
	}
	if i.IOWaitShare != nil && *i.IOWaitShare > 0 {
		seen = append(seen, number.Percent(*i.IOWaitShare)+" waiting for disks")
	}
	if i.Load1 != nil {
		seen = append(seen, "load "+number.Sig3(*i.Load1))
	}
	if i.IdleWorkers != nil {
		seen = append(seen, plural(int(*i.IdleWorkers), "idle worker", "idle workers"))
	}
	if i.SwapMoved != nil {
		if *i.SwapMoved == 0 {
			seen = append(seen, "no swap moved")
		} else {
			seen = append(seen, number.Bytes(float64(*i.SwapMoved))+" of swap moved")
		}
	}
	if i.ForeignRequests != nil {
		seen = append(seen, small(int(*i.ForeignRequests), "foreign request", "foreign requests"))
	}
	if i.MemAvailable != nil {
		seen = append(seen, number.Bytes(float64(*i.MemAvailable))+" of memory free")
	}
	if i.TimeWait != nil {
		seen = append(seen, plural(int(*i.TimeWait), "socket", "sockets")+" in TIME_WAIT")
	}
	out := []pair{{"Idle, " + number.Seconds(float64(i.DurationNS)/1e9), sentences(strings.Join(seen, ", "))}}
	if i.Reason != "" {
		out = append(out, pair{"May one start?", sentences(i.Reason)})
	}
	if text := singles(i); text != "" {
		out = append(out, pair{"Single request", text})
	}
	return out
}

// singles sums up the single requests: the median of each part that was seen.
func singles(i *preflight.Idle) string {
	parts := []struct {
		name string
		of   func(preflight.Phases) *int64
	}{
		{"dns", func(p preflight.Phases) *int64 { return p.DNSNS }},
		{"connect", func(p preflight.Phases) *int64 { return p.ConnectNS }},
		{"tls", func(p preflight.Phases) *int64 { return p.TLSNS }},
		{"first byte", func(p preflight.Phases) *int64 { return p.FirstByteNS }},
		{"total", func(p preflight.Phases) *int64 {
			if p.Error != "" {
				return nil
			}
			return &p.TotalNS
		}},
	}
	var out []string
	n := 0
	for _, part := range parts {
		var v []float64
		for _, s := range i.Singles {
			if n := part.of(s); n != nil {
				v = append(v, float64(*n))
			}
		}
		n = max(n, len(v))
		if len(v) > 0 {
			out = append(out, part.name+" "+number.Duration(median(v)))
		}
	}
	if len(out) == 0 {
		return ""
	}
	text := strings.Join(out, ", ") + fmt.Sprintf(" (median of %d", n)
	if i.SinglesURL != "" {
		text += ", " + i.SinglesURL
	}
	return text + ")"
}

// sentences makes each text one: a capital first, a full stop last.
func sentences(texts ...string) string {
	var out []string
	for _, t := range texts {
		if t = strings.TrimSpace(t); t == "" {
			continue
		}
		if t[0] >= 'a' && t[0] <= 'z' {
			t = strings.ToUpper(t[:1]) + t[1:]
		}
		if !strings.ContainsAny(t[len(t)-1:], ".?!") && !strings.HasSuffix(t, "…") {
			t += "."
		}
		out = append(out, t)
	}
	return strings.Join(out, " ")
}

func pagesTable(pages []preflight.Page) *table {
	if len(pages) == 0 {
		return nil
	}
	t := &table{ID: "pages", Caption: "What the pages gave without load."}
	t.Head = [][]cell{{col("Page"), col("Status"), col("Bytes"), colText("SHA-256"), colText("Same each time"), colText("Headers")}}
	for _, p := range pages {
		name := p.Scenario + "/" + p.Variant
		if p.Path != "" {
			name += " " + p.Path
		}
		tr := tableRow{Head: name}
		if p.Error != "" {
			tr.Cells = []cell{none(p.Error), none(p.Error), none(p.Error), words("–"), {Text: p.Error, Class: "tx wide"}}
			t.Rows = append(t.Rows, tr)
			continue
		}
		tr.Cells = append(tr.Cells, num(fmt.Sprint(p.Status)))
		if p.Bytes == nil {
			tr.Cells = append(tr.Cells, none("not seen"))
		} else {
			tr.Cells = append(tr.Cells, num(number.Count(*p.Bytes)))
		}
		stable := fmt.Sprintf("no, in %d fetches", p.Fetches)
		if p.Stable {
			stable = fmt.Sprintf("yes, in %d fetches", p.Fetches)
		}
		tr.Cells = append(tr.Cells, cell{Text: shorten(p.SHA256, 13), Class: "tx", Title: p.SHA256}, words(stable), cell{Text: pageHeaders(p), Class: "tx wide"})
		t.Rows = append(t.Rows, tr)
	}
	return t
}

func pageHeaders(p preflight.Page) string {
	names := make([]string, 0, len(p.Headers))
	for n := range p.Headers {
		names = append(names, n)
	}
	sort.Strings(names)
	var out []string
	for _, n := range names {
		out = append(out, n+": "+p.Headers[n])
	}
	if p.Redirect != "" {
		out = append(out, "redirects to "+p.Redirect)
	}
	if p.Protocol != "" {
		out = append(out, p.Protocol)
	}
	if p.TLS != "" {
		out = append(out, p.TLS)
	}
	if len(p.Addresses) > 0 {
		out = append(out, "addresses "+strings.Join(p.Addresses, ", "))
	}
	return strings.Join(out, "; ")
}

func warmupTable(a *analysis.Analysis) *table {
	if len(a.Warmups) == 0 {
		return nil
	}
	t := &table{ID: "warmups", Caption: "Warm-up, kept out of every figure."}
	t.Head = [][]cell{{col("Variant"), col("Took"), col("Requests"), colText("Steady"), colText("Why it ended")}}
	for _, w := range a.Warmups {
		steady, why := "no", w.Reason
		if w.Steady {
			steady = "yes"
		}
		if w.Error != "" {
			why = strings.TrimSpace(why + " " + w.Error)
		}
		t.Rows = append(t.Rows, tableRow{Head: w.Cell.Scenario + "/" + w.Cell.Variant, Cells: []cell{num(number.Duration(float64(w.TookNS))), num(number.Count(w.Requests)), words(steady), {Text: sentences(why), Class: "tx wide"}}})
	}
	return t
}

func newRepeat(a *analysis.Analysis) repeat {
	return repeat{Seed: a.Seed, YAML: yamlLines(a.CampaignYAML), Record: a.Record}
}

// yamlLines splits the campaign file so that keys can be set apart. The texts
// stay exactly as they are.
func yamlLines(text string) []yamlLine {
	if text == "" {
		return nil
	}
	var out []yamlLine
	for _, l := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		rest := strings.TrimLeft(l, " ")
		indent := l[:len(l)-len(rest)]
		if strings.HasPrefix(rest, "- ") {
			indent, rest = indent+"- ", rest[2:]
		}
		key, after, ok := strings.Cut(rest, ":")
		if ok && isKey(key) && (after == "" || after[0] == ' ') {
			out = append(out, yamlLine{indent, key, ":" + after})
			continue
		}
		out = append(out, yamlLine{Indent: indent, Rest: rest})
	}
	return out
}

func isKey(s string) bool {
	if s == "" {
		return false
	}
	for _, r := range s {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-' {
			return false
		}
	}
	return true
}
