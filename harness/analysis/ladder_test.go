package analysis

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"abacus/harness/record"
)

// variantsByLevels is a ladder of two variants over two levels, on two pages:
// event is twice as fast as prefork at 100 connections and the same at 10.
func variantsByLevels(rounds int) *campaign {
	var cells []record.Cell
	for _, page := range []string{"/a", "/b"} {
		for _, level := range []int{10, 100} {
			for _, v := range []string{"prefork", "event"} {
				c := cellOf("mpm", v, keepAlive(level), v == "prefork")
				c.Page = page
				cells = append(cells, c)
			}
		}
	}
	return newCampaign(rounds, cells, func(cell, round int) float64 {
		perS := 1000 + float64(round%2)
		if cells[cell].Step.Concurrency == 100 {
			perS += 500
			if cells[cell].Variant == "event" {
				perS *= 2 + 0.01*float64(round%3)
			}
		} else if cells[cell].Variant == "event" {
			perS += float64(round % 3)
		}
		return perS
	})
}

func TestLadderOfVariants(t *testing.T) {
	a := variantsByLevels(6).analyse(t)
	family := primaryOf(a, "mpm")
	if len(family) != 4 {
		t.Fatalf("%d comparisons, want one per page and level", len(family))
	}
	var got []string
	for _, c := range family {
		if c.A != "event" || c.B != "prefork" {
			t.Errorf("%s against %s", c.A, c.B)
		}
		got = append(got, fmt.Sprintf("%s %d %s", c.Page, c.Step.Concurrency, c.Verdict))
	}
	want := []string{"/a 10 equivalent", "/a 100 faster", "/b 10 equivalent", "/b 100 faster"}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if !strings.HasPrefix(family[1].Sentence, "event served 2.010 times (95\u202f% interval ") || !strings.Contains(family[1].Sentence, "the requests of prefork at 100 connections on /a; 6 rounds, adjusted p < 0.001.") {
		t.Errorf("%s", family[1].Sentence)
	}
	if a.Scenarios[0].Finding != "event was faster than prefork in 2 of 4 comparisons and the same within 2\u202f% in 2." || a.Verdict[0] != a.Scenarios[0].Finding {
		t.Errorf("title %q, verdict %q", a.Scenarios[0].Finding, a.Verdict)
	}
	if len(a.Verdict) != 5 || !strings.HasPrefix(a.Verdict[1], "With prefork on /a, throughput was highest at 100 connections: ") {
		t.Errorf("%q", a.Verdict)
	}
	if len(a.Curves) != 4 {
		t.Errorf("%d curves, want one per variant and page", len(a.Curves))
	}
	for _, c := range a.Curves {
		if len(c.CellIndexes) != 2 || a.Cells[c.CellIndexes[0]].Step.Concurrency != 10 || a.Cells[c.CellIndexes[0]].Page != c.Page {
			t.Errorf("%+v", c)
		}
	}
	if s := a.Timelines[0].Segments; len(s) != 8 || s[1].Label != "event, 10 connections /a" {
		t.Errorf("%+v", s)
	}
}

func TestLadderOfVariantsWithoutAVerdict(t *testing.T) {
	a := variantsByLevels(3).analyse(t)
	if a.Scenarios[0].Finding != "Throughput by load level, 3 rounds" || !strings.HasPrefix(a.Verdict[4], "mpm: fewer than six complete rounds") {
		t.Errorf("title %q, verdict %q", a.Scenarios[0].Finding, a.Verdict)
	}
}

// A sum over levels leaves nothing out: what was equal, slower or had too few
// rounds is counted too.
func TestTallySaysEverything(t *testing.T) {
	family := func(verdicts ...string) []Comparison {
		var out []Comparison
		for _, v := range verdicts {
			out = append(out, Comparison{A: "event", Verdict: v, Margin: 0.02})
		}
		return out
	}
	for _, c := range []struct {
		family []Comparison
		want   string
	}{
		{family(VerdictFaster, VerdictFaster), "event was faster than prefork at 2 of 2 levels."},
		{family(VerdictFaster, VerdictNoDifference), "event was faster than prefork at 1 of 2 levels."},
		{family(VerdictSlower, VerdictSlower, VerdictNoDifference), "event was slower than prefork at 2 of 3 levels."},
		{family(VerdictFaster, VerdictSlower, VerdictEquivalent), "event was faster than prefork at 1 of 3 levels, slower at 1 and the same within 2\u202f% at 1."},
		{family(VerdictEquivalent, VerdictEquivalent), "event was the same as prefork within 2\u202f% at 2 of 2 levels."},
		{family(VerdictNoDifference, VerdictNoDifference), "event was not shown to differ from prefork at any of 2 levels."},
		{family(VerdictNoDifference, VerdictNotEnoughRuns), "event was not shown to differ from prefork at any of 2 levels (1 with fewer than six complete rounds)."},
	} {
		if got := tally(c.family, "prefork"); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

// One comparison of several pages, of one variant each: the page tells the
// sentences apart.
func TestPagesOfOneVariant(t *testing.T) {
	cells := []record.Cell{cellOf("pages", "static", keepAlive(10), true), cellOf("pages", "static", keepAlive(10), true)}
	cells[0].Page, cells[1].Page = "/a", "/b"
	a := newCampaign(6, cells, func(cell, round int) float64 { return 2000 - 1000*float64(cell) + 10*float64(round%2) }).analyse(t)
	want := "static served 2,005/s (95\u202f% interval 1,999 to 2,011) at 10 connections, keep-alive on /a; 6 runs."
	if len(a.Verdict) != 2 || a.Verdict[0] != want {
		t.Errorf("got  %q\nwant %q first", a.Verdict, want)
	}
}

// The title of a chart with several curves must not speak of one of them.
func TestTitleOfALadderOfPages(t *testing.T) {
	var cells []record.Cell
	for _, page := range []string{"/a", "/b"} {
		for _, level := range []int{10, 100} {
			c := cellOf("pages", "static", keepAlive(level), true)
			c.Page = page
			cells = append(cells, c)
		}
	}
	a := newCampaign(6, cells, func(cell, round int) float64 { return 1000*float64(cell+1) + float64(round%2) }).analyse(t)
	if got := a.Scenarios[0].Finding; got != "Throughput by load level, 6 rounds" {
		t.Errorf("title %q", got)
	}
	if h := a.Headline[0]; h.Label != "Highest throughput" || math.Round(h.Value) != 4001 || h.Note != "/b (100 connections)" {
		t.Errorf("headline %+v", h)
	}
}

func TestOneVariantOneLevel(t *testing.T) {
	a := single(6, func(r int) float64 { return 1000 + 10*float64(r%2) }).analyse(t)
	want := "static served 1,005/s (95\u202f% interval 999 to 1,011) at 10 connections, keep-alive; 6 runs."
	if a.Verdict[0] != want || a.Scenarios[0].Finding != "Throughput run by run, 6 rounds" {
		t.Errorf("got %q, title %q\nwant %q", a.Verdict, a.Scenarios[0].Finding, want)
	}
}

// A level with a void run in every round says nothing, and the verdict says so.
func TestVoidLevelInTheVerdict(t *testing.T) {
	cells := []record.Cell{cellOf("ladder", "static", keepAlive(10), true), cellOf("ladder", "static", keepAlive(200), true)}
	c := newCampaign(6, cells, func(cell, round int) float64 { return 1000 + float64(cell*1000+round%2) })
	for i := range c.runs {
		if c.runs[i].CellIndex == 1 {
			c.runs[i].Void = "the client was the limit"
		}
	}
	a := c.analyse(t)
	if !strings.HasPrefix(a.Verdict[0], "Throughput was highest at 10 connections") || a.Verdict[1] != "Nothing is said about 200 connections of ladder: no run there was good." {
		t.Errorf("%q", a.Verdict)
	}
	f := findingsOf(a, "run_void")
	if len(f) != 1 || f[0].Title != "200 connections is void: no run there can be used." {
		t.Errorf("%+v", f)
	}
}

// What comparisons have shown comes first, then what of them is open, then ladders.
func TestOrderOfTheVerdict(t *testing.T) {
	cells := []record.Cell{cellOf("a-ladder", "static", keepAlive(10), true), cellOf("a-ladder", "static", keepAlive(50), true),
		cellOf("b-open", "x", step50, true), cellOf("b-open", "y", step50, false),
		cellOf("c-shown", "memcached", step50, true), cellOf("c-shown", "apcu", step50, false)}
	perS := []float64{1000, 2000, 1000, 1000, 2000, 4000}
	a := newCampaign(6, cells, func(cell, round int) float64 {
		v := perS[cell] + float64(round%2)
		if cells[cell].Variant == "y" {
			v *= []float64{.8, 1.2, .9, 1.1, .7, 1.3}[round]
		}
		return v
	}).analyse(t)
	want := []string{"apcu served ", "No difference shown between y and x", "a-ladder: throughput was highest at 50 connections"}
	if len(a.Verdict) != len(want) {
		t.Fatalf("%q", a.Verdict)
	}
	for i := range want {
		if !strings.HasPrefix(a.Verdict[i], want[i]) {
			t.Errorf("%d: got %q, want %q…", i, a.Verdict[i], want[i])
		}
	}
	if a.Headline[0].Label != "apcu to memcached, throughput" {
		t.Errorf("headline %+v", a.Headline[0])
	}
	// Another scenario served more: the tile says whose figure it is.
	if h := a.Headline[1]; h.Label != "Highest throughput, a-ladder" || h.Note != "50 connections" || math.Round(h.Value) != 2001 {
		t.Errorf("headline %+v", h)
	}
}
