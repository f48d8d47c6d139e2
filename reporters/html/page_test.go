package html

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"abacus/harness/analysis"
	"abacus/harness/preflight"
	"abacus/harness/record"
	"abacus/harness/stats"
)

// scriptElement matches an element that a reader without JavaScript does not see.
var scriptElement = regexp.MustCompile(`(?s)<script[^>]*>.*?</script>`)

// plainText is the page as it reads without script and markup.
func plainText(page []byte) string {
	s := string(page)
	if i := strings.Index(s, "<body>"); i >= 0 {
		s = s[i:]
	}
	s = scriptElement.ReplaceAllString(s, "")
	s = regexp.MustCompile(`<[^>]*>`).ReplaceAllString(s, " ")
	s = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&#34;", `"`, "&#39;", "'", "&#43;", "+", "&amp;", "&").Replace(s)
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == '\n' || r == '\t' }), " ")
}

// byHand is one comparison of two variants whose printed figures are worked
// out in the test that uses it.
func byHand() *analysis.Analysis {
	step := record.Step{Concurrency: 50, Requests: 10000}
	cell := func(variant string, mean, sd, lo, hi float64, p95 stats.Spread, baseline bool) analysis.Cell {
		spread := &stats.Spread{N: 6, Mean: mean, SD: &sd, Min: lo, Max: hi, CI95: &[2]float64{lo, hi}}
		c := analysis.Cell{Scenario: "cache", Variant: variant, Engine: "native", Lab: "demo", Step: step, Label: "50 connections", Baseline: baseline,
			Runs: 6, PlannedRuns: 6, Throughput: spread, Complete: 60000, Failed: 38, FailedBy: map[string]int64{"receive": 30, "connect": 8}}
		c.Latency.P95 = analysis.Figure{Value: ptr(p95.Mean), Runs: &p95}
		c.WithinRun.Total = &analysis.Within{Count: 60000, Mean: 25.63e6, SD: ptr(10.74e6), Min: 1.2e6, Median: 23.5e6, Max: 181e6}
		for r := 1; r <= 6; r++ {
			c.Points = append(c.Points, analysis.Point{Seq: r, Round: r, Throughput: ptr(mean + float64(r)), P95NS: ptr(p95.Mean), Complete: ptr(int64(10000)), Failed: ptr(int64(0))})
		}
		return c
	}
	return &analysis.Analysis{
		Schema: 1, Campaign: "by-hand", Title: "Two caches", Question: "Which one?", Record: "by-hand/2026-11-30T18-15-49Z", Complete: true, State: record.StateComplete,
		PlannedRuns: 12, FinishedRuns: 12, Rounds: 6, LastRound: 6, Seed: 207, AbacusVersion: "0.1.0",
		StartedAt: time.Date(2026, 11, 30, 18, 15, 49, 0, time.UTC), EndedAt: ptr(time.Date(2026, 11, 30, 18, 26, 49, 0, time.UTC)), TimeZone: "CET", UTCOffsetS: 3600,
		Verdict:   []string{"apcu served 1.87 times (95 % interval 1.82 to 1.93) the requests of memcached.", "Nothing else differed."},
		Headline:  []analysis.Headline{{Label: "apcu ÷ memcached", Value: 1.8712, Unit: "×", CI95: &[2]float64{1.816, 1.929}}, {Label: "p99", Value: 492.4e6, Unit: "ns", CI95: &[2]float64{450e6, 540e6}}},
		Scenarios: []analysis.Scenario{{Name: "cache", Kind: "comparison", Baseline: "memcached", Primary: "throughput_per_s", Margin: 0.02, Finding: "apcu leads", CellIndexes: []int{0, 1}}},
		Cells: []analysis.Cell{
			cell("apcu", 3658, 121, 3527, 3789, stats.Spread{N: 6, Mean: 22.63e6, SD: ptr(0.92e6), CI95: &[2]float64{21.66e6, 23.6e6}}, false),
			cell("memcached", 1963, 80.4, 1870, 2056, stats.Spread{N: 6, Mean: 45.63e6, SD: ptr(1.42e6), CI95: &[2]float64{44.14e6, 47.12e6}}, true),
		},
		Comparisons: []analysis.Comparison{{Scenario: "cache", Step: step, Metric: "throughput_per_s", A: "apcu", B: "memcached", Baseline: "memcached", Primary: true, N: 6,
			Ratio: ptr(1.8712), CI95: &[2]float64{1.816, 1.929}, PValue: ptr(0.00001), PHolm: ptr(0.00002), Margin: 0.02, Verdict: "faster", Sentence: "apcu served 1.87 times."}},
		Findings:     []analysis.Finding{{Severity: preflight.Warning, Title: "38 requests failed", Evidence: "8 × connect.", Advice: "Look at the log.", Scope: analysis.Scope{Scenario: "cache"}}},
		CampaignYAML: "campaign: by-hand\nseed: 207\n",
	}
}

func TestFiguresByHand(t *testing.T) {
	text := plainText(render(t, byHand()))
	for _, want := range []string{
		// The interval's half-width is 131, a third of it 44: tens.
		"apcu 6 3,660 ± 120 3,530–3,790",
		// 93 / 3 = 31: tens.
		"memcached 6 1,960 ± 80 1,870–2,060",
		// 0.97 ms / 3 = 0.32: tenths; 1.49 / 3 = 0.497: tenths.
		"22.6 ± 0.9", "45.6 ± 1.4",
		// 0.0565 / 3 = 0.019: hundredths.
		"1.87\u202f× 1.82–1.93 < 0.001 38",
		"1 baseline –",
		// Within runs: three digits, sd to the same digit.
		"25.6 ± 10.7", "1.20 – 23.5 – 181",
		"standard deviations between runs", "standard deviation within runs",
		// The headline: 45 / 3 = 15: tens.
		"p99 490 ms 95\u202f% interval 450 to 540",
		"apcu ÷ memcached 1.87 ×",
		"Failed requests by kind, over all runs (those in no mean too): apcu: 8 × connect, 30 × receive, beside 60,000 complete",
		"30 Nov 2026, 19:15 CET (18:15 UTC), 11\u00a0min",
		"apcu served 1.87 times (95 % interval 1.82 to 1.93) the requests of memcached. Nothing else differed.",
		"complete, 12 runs",
		"No critical finding, one warning, no notes.",
		"warning 38 requests failed 8 × connect. See Cache . Do: Look at the log.",
		"abacus run campaign.yaml", "seed 207", "campaign : by-hand",
		"Made by abacus 0.1.0 from record by-hand/2026-11-30T18-15-49Z , 30 Nov 2026, 19:15 CET (18:15 UTC)",
		"throughput_per_s", "Every number, defined",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
}

func TestSectionsInOrder(t *testing.T) {
	page := string(render(t, newSample()))
	at := 0
	for _, id := range []string{"h1", "h-answer", "h-saw", "h-s1", "h-s2", "h-s3", "h-pct", "h-time", "h-env", "h-repeat", "h-defs"} {
		i := strings.Index(page, `id="`+id+`"`)
		if i < at {
			t.Errorf("heading %s stands at %d, after %d", id, i, at)
		}
		at = i
	}
	// Contents name exactly the sections that are there.
	toc := page[strings.Index(page, `<nav class="toc"`):strings.Index(page, "</nav>")]
	for _, m := range regexp.MustCompile(`href="#([^"]*)"`).FindAllStringSubmatch(toc, -1) {
		if !strings.Contains(page, `<section id="`+m[1]+`"`) {
			t.Errorf("contents name %q, which is no section", m[1])
		}
	}
	// Headings go down one level at a time.
	last := 1
	for _, m := range regexp.MustCompile(`<h([1-6])`).FindAllStringSubmatch(page[:strings.Index(page, "<footer")], -1) {
		n := int(m[1][0] - '0')
		if n > last+1 {
			t.Errorf("a heading of level %d follows one of level %d", n, last)
		}
		last = n
	}
}

func TestSectionsWithoutDataAreLeftOut(t *testing.T) {
	page := string(render(t, byHand()))
	for _, absent := range []string{`id="pct"`, `id="time"`, "#pct", "#time", "Warm-up</summary>", "preflight"} {
		if strings.Contains(strings.SplitN(page, `id="defs"`, 2)[0], absent) {
			t.Errorf("a section without data is there: %s", absent)
		}
	}
}

func TestSameBytes(t *testing.T) {
	a := newSample()
	first := render(t, a)
	for i := 0; i < 5; i++ {
		if !bytes.Equal(first, render(t, a)) {
			t.Fatal("the same analysis gave other bytes")
		}
	}
	if !bytes.Equal(first, render(t, newSample())) {
		t.Fatal("an equal analysis gave other bytes")
	}
}

func TestSize(t *testing.T) {
	size := len(render(t, newSample()))
	t.Logf("the page of 10 cells × 6 runs with timelines: %d bytes", size)
	if size >= 1_600_000 {
		t.Errorf("%d bytes, want under 1.6 MB", size)
	}
}

// TestNothingIsFetched reads every attribute and style that could fetch.
func TestNothingIsFetched(t *testing.T) {
	page := scriptElement.ReplaceAllString(string(render(t, newSample())), "")
	for _, m := range regexp.MustCompile(`\s(src|href|srcset|action|formaction|data|poster|background|xlink:href)="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if !strings.HasPrefix(m[2], "#") {
			t.Errorf("%s=%q leads out of the page", m[1], m[2])
		}
	}
	for _, bad := range []string{"url(", "@import", "<link", "<iframe", "<object", "<embed", "<base"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page holds %s", bad)
		}
	}
	if !strings.Contains(page, "default-src &#39;none&#39;") && !strings.Contains(page, "default-src 'none'") {
		t.Error("no Content-Security-Policy that forbids everything else")
	}
}

func TestIDs(t *testing.T) {
	page := string(render(t, newSample()))
	seen := map[string]bool{}
	plain := scriptElement.ReplaceAllStringFunc(page, func(s string) string { return s[:strings.Index(s, ">")+1] })
	for _, m := range regexp.MustCompile(`\sid="([^"]*)"`).FindAllStringSubmatch(plain, -1) {
		if seen[m[1]] {
			t.Errorf("id %q is given twice", m[1])
		}
		seen[m[1]] = true
		if !regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*$`).MatchString(m[1]) {
			t.Errorf("id %q", m[1])
		}
	}
	for _, attribute := range []string{"aria-labelledby", "aria-describedby", "data-chart"} {
		for _, m := range regexp.MustCompile(attribute+`="([^"]*)"`).FindAllStringSubmatch(plain, -1) {
			if !seen[m[1]] {
				t.Errorf("%s names %q, which is not there", attribute, m[1])
			}
		}
	}
	for _, m := range regexp.MustCompile(`href="#([^"]*)"`).FindAllStringSubmatch(plain, -1) {
		if !seen[m[1]] {
			t.Errorf("a link leads to #%s, which is not there", m[1])
		}
	}
}

// chartData returns the parsed JSON of every chart.
func chartData(t *testing.T, page []byte) map[string]drawing {
	t.Helper()
	out := map[string]drawing{}
	for _, m := range regexp.MustCompile(`(?s)<script type="application/json" id="([A-Za-z0-9_]+)">(.*?)</script>`).FindAllStringSubmatch(string(page), -1) {
		if strings.ContainsAny(m[2], "<>&\u2028\u2029") {
			t.Errorf("%s: unescaped characters in JSON", m[1])
		}
		var d drawing
		if err := json.Unmarshal([]byte(m[2]), &d); err != nil {
			t.Errorf("%s: %v", m[1], err)
		}
		out[m[1]] = d
	}
	return out
}

func TestChartData(t *testing.T) {
	charts := chartData(t, render(t, newSample()))
	if len(charts) != 17 {
		t.Errorf("%d charts, want 17", len(charts))
	}
	for id, d := range charts {
		for form, s := range map[string]spec{"wide": d.Wide, "narrow": d.Narrow} {
			if s.Option == nil {
				continue
			}
			series := s.Option.(map[string]any)["series"].([]any)
			if len(series) != len(s.Marks) {
				t.Errorf("%s %s: %d series but %d marks", id, form, len(series), len(s.Marks))
			}
			for i, m := range s.Marks {
				data, ok := series[i].(map[string]any)["data"].([]any)
				if !ok && form == "wide" {
					t.Errorf("%s: series %d has no data", id, i)
				}
				if ok && m.Tips != nil && len(m.Tips) != len(data) {
					t.Errorf("%s %s: series %d has %d points and %d texts", id, form, i, len(data), len(m.Tips))
				}
			}
			if bytes, _ := json.Marshal(s.Option); strings.Contains(string(bytes), "__f__") || strings.Contains(string(bytes), "function") {
				t.Errorf("%s: a function in the option", id)
			}
		}
	}
}

// TestOneAddress is a page about one address: nothing is said twice.
func TestOneAddress(t *testing.T) {
	a := newSample()
	a.Scenarios = a.Scenarios[:1]
	a.Scenarios[0].Name = "127-0-0-1-8080-page"
	for i := range a.Cells {
		a.Cells[i].Scenario = a.Scenarios[0].Name
	}
	a.Scenarios[0].Title, a.Scenarios[0].Question = a.Title, a.Question
	a.Quick, a.Verdict = true, []string{"Quick look: one short round, no verdict."}
	text := plainText(render(t, a))
	for want, times := range map[string]int{"Quick look: one short round, no verdict.": 2, a.Question: 1, "Load levels : 37,519": 0, "127 0 0 1": 0} {
		if n := strings.Count(text, want); n != times {
			t.Errorf("%q stands there %d times, want %d", want, n, times)
		}
	}
	if !strings.Contains(text, "Load levels: 37,519 bytes, keep-alive where not said otherwise, 6 runs each.") {
		t.Error("the section has no plain name")
	}
}
