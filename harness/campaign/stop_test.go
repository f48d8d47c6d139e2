package campaign

import (
	"testing"
	"time"

	"abacus/harness/load"
	"abacus/harness/metric"
)

func TestStopper(t *testing.T) {
	ns := func(d time.Duration) *int64 { n := d.Nanoseconds(); return &n }
	at := func(s float64, iv load.Interval) load.Interval {
		iv.StartNS, iv.LengthNS = int64(s*1e9), 1e9
		return iv
	}
	good, bad, nothing := load.Interval{Complete: 10}, load.Interval{Complete: 7, Failed: 3, Timeouts: 3}, load.Interval{}
	for name, tt := range map[string]struct {
		expr      string
		intervals []load.Interval
		want      int // the interval that ends the run, from 1; 0 is none
	}{
		"at once":                       {"failed > 20%", []load.Interval{at(0, good), at(1, bad)}, 2},
		"not more than the limit":       {"failed > 30%", []load.Interval{at(0, bad)}, 0},
		"a count":                       {"failed >= 3", []load.Interval{at(0, bad)}, 1},
		"for a time":                    {"failed > 20% for 3s", []load.Interval{at(0, bad), at(1, bad), at(2, bad)}, 3},
		"with a break":                  {"failed > 20% for 3s", []load.Interval{at(0, bad), at(1, bad), at(2, good), at(3, bad)}, 0},
		"bursts of a server that hangs": {"failed_timeout > 20% for 5s", []load.Interval{at(30, bad), at(31, nothing), at(59, nothing), at(60, bad)}, 4},
		"nothing at all":                {"failed > 20% for 1s", []load.Interval{at(0, nothing), at(9, nothing)}, 0},
		"throughput of nothing is 0":    {"throughput < 5", []load.Interval{at(0, good), at(1, nothing)}, 2},
		"latency":                       {"p95 > 1s", []load.Interval{at(0, load.Interval{P95NS: ns(time.Second)}), at(1, nothing), at(2, load.Interval{P95NS: ns(1001 * time.Millisecond)})}, 3},
	} {
		s, err := newStopper([]string{tt.expr})
		if err != nil {
			t.Fatal(err)
		}
		got := 0
		for i, iv := range tt.intervals {
			if s.check(load.Progress{Interval: &iv}) != "" {
				got = i + 1
				break
			}
		}
		if got != tt.want {
			t.Errorf("%s: %q ends the run at interval %d, want %d", name, tt.expr, got, tt.want)
		}
	}
}

// What stop_if may name is what an interval can tell.
func TestLiveMetricsAreThoseOfAnInterval(t *testing.T) {
	one := int64(1)
	full := load.Interval{LengthNS: 1, Complete: 1, Failed: 1, Timeouts: 1, Status429: 1, P50NS: &one, P95NS: &one, P99NS: &one, MaxNS: &one}
	for _, d := range metric.Table() {
		if _, ok := intervalValue(metric.Expr{Metric: d.ID}, full); ok != d.Live {
			t.Errorf("%s: an interval has it: %v, the table says %v", d.ID, ok, d.Live)
		}
	}
}
