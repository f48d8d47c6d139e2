package analysis

import (
	"strings"
	"testing"

	"abacus/harness/load"
	"abacus/harness/preflight"
)

// Six runs of 1,000 answers at 10 connections with keep-alive.
func TestConnectionsThatWereNotKept(t *testing.T) {
	make := func(kept *int64) *campaign {
		c := single(6, func(int) float64 { return 1000 })
		for i := range c.runs {
			if kept != nil {
				c.runs[i].Result.Counts.KeptAlive = new(*kept)
			}
		}
		return c
	}
	got := findingsOf(make(new(int64(0))).analyse(t), "connections_closed")
	if len(got) != 1 || got[0].Severity != preflight.Warning || got[0].Title != "The server did not keep connections alive at 10 connections." ||
		!strings.Contains(got[0].Evidence, "only 0 of 6,000 whole answers (0\u202f%) came on a connection that was kept. So a connection per request was measured there") {
		t.Errorf("%+v", got)
	}
	for _, kept := range []*int64{nil, new(int64(500)), new(int64(990))} { // hey cannot tell; half and nearly all are kept
		if got := findingsOf(make(kept).analyse(t), "connections_closed"); len(got) != 0 {
			t.Errorf("kept %v: %+v", kept, got)
		}
	}
	// Without keep-alive none is expected, and with few requests the first one
	// of each connection is most of them.
	c := make(new(int64(0)))
	c.manifest.Cells[0].Step.KeepAlive = false
	if got := findingsOf(c.analyse(t), "connections_closed"); len(got) != 0 {
		t.Errorf("%+v", got)
	}
	c = make(new(int64(0)))
	c.manifest.Cells[0].Step.Concurrency = 300
	if got := findingsOf(c.analyse(t), "connections_closed"); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

// 3 of 1,000 connects of each run took 1.02 s, the others 4 ms.
func TestConnectsThatWaitedForASecond(t *testing.T) {
	c := single(6, func(int) float64 { return 1000 })
	for i := range c.runs {
		d := load.NewDistribution()
		for k := range 1000 {
			if k < 3 {
				d.Record(1_020e6)
			} else {
				d.Record(4e6)
			}
		}
		c.runs[i].Result.Connect = d
	}
	got := findingsOf(c.analyse(t), "connects_late")
	if len(got) != 1 || got[0].Severity != preflight.Warning ||
		got[0].Title != "18 connects waited a second or longer at 10 connections: the listen queue was full." ||
		!strings.Contains(got[0].Evidence, "The longest took 1.02\u00a0s. SYN was sent again") || !strings.Contains(got[0].Evidence, "18 of 6,000 connects, half of them within 4.0") ||
		!strings.Contains(got[0].Advice, "somaxconn") {
		t.Errorf("%+v", got)
	}
	// Slow as a rule is another thing.
	for i := range c.runs {
		c.runs[i].Result.Connect = load.NewDistribution()
		for range 10 {
			c.runs[i].Result.Connect.Record(950e6)
		}
	}
	if got := findingsOf(c.analyse(t), "connects_late"); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

func TestCountFrom(t *testing.T) {
	d := load.NewDistribution()
	for _, ms := range []int64{1, 2, 3, 899, 950, 1000} {
		d.Record(ms * 1e6)
	}
	for _, c := range []struct{ ns, want int64 }{{900e6, 2}, {0, 6}, {1, 6}, {3e6, 4}, {1000e6, 1}, {1001e6, 0}} {
		if got := countFrom(d, c.ns); got != c.want {
			t.Errorf("from %d ns: %d, want %d", c.ns, got, c.want)
		}
	}
	if got := countFrom(load.NewDistribution(), 1); got != 0 {
		t.Errorf("of none: %d", got)
	}
}
