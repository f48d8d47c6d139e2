package campaign

import (
	"fmt"
	"time"

	"abacus/harness/load"
	"abacus/harness/metric"
)

// stopper judges stop_if expressions on the intervals of one run as they come.
type stopper struct {
	rules []stopRule
}

type stopRule struct {
	expr metric.Expr
	// since is when the expression began to hold, in elapsed nanoseconds of the
	// run, without an interval since that says otherwise; -1 when it does not.
	since int64
}

// newStopper parses the expressions, which config has checked already.
func newStopper(exprs []string) (*stopper, error) {
	s := &stopper{}
	for _, text := range exprs {
		e, err := metric.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("stop_if %q: %w", text, err)
		}
		s.rules = append(s.rules, stopRule{expr: e, since: -1})
	}
	return s, nil
}

// check takes one progress report and returns the expression that ends the
// run, or "".
func (s *stopper) check(p load.Progress) string {
	if p.Interval == nil {
		return ""
	}
	iv := *p.Interval
	for i := range s.rules {
		r := &s.rules[i]
		v, ok := intervalValue(r.expr, iv)
		if !ok {
			// Nothing ended in it, which speaks for neither: a server that
			// hangs gives its timeouts in bursts.
			continue
		}
		if !r.expr.Holds(v) {
			r.since = -1
			continue
		}
		if r.since < 0 {
			r.since = iv.StartNS
		}
		if iv.StartNS+iv.LengthNS-r.since >= int64(r.expr.For/time.Nanosecond) {
			return r.expr.Source
		}
	}
	return ""
}

// checkAll judges the intervals of a run that ended. An engine that tells
// nothing while it runs cannot be stopped, but its ladder can.
func (s *stopper) checkAll(intervals []load.Interval) string {
	for _, iv := range intervals {
		if why := s.check(load.Progress{Interval: &iv}); why != "" {
			return why
		}
	}
	return ""
}

// intervalValue is one metric of an interval in its base unit; counts are
// shares of the requests that ended when the expression has a percent sign.
// ok is false for what an interval does not hold or did not see.
func intervalValue(e metric.Expr, iv load.Interval) (v float64, ok bool) {
	count := func(n int64) (float64, bool) {
		if !e.Percent {
			return float64(n), true
		}
		ended := iv.Complete + iv.Failed
		if ended == 0 {
			return 0, false
		}
		return float64(n) / float64(ended), true
	}
	latency := func(ns *int64) (float64, bool) {
		if ns == nil {
			return 0, false
		}
		return float64(*ns), true
	}
	switch e.Metric {
	case "failed":
		return count(iv.Failed)
	case "failed_timeout":
		return count(iv.Timeouts)
	case "status_429":
		return count(iv.Status429)
	case "complete":
		return count(iv.Complete)
	case "throughput_per_s":
		if iv.LengthNS <= 0 {
			return 0, false
		}
		return float64(iv.Complete) / (float64(iv.LengthNS) / 1e9), true
	case "p50":
		return latency(iv.P50NS)
	case "p95":
		return latency(iv.P95NS)
	case "p99":
		return latency(iv.P99NS)
	case "max":
		return latency(iv.MaxNS)
	}
	return 0, false
}
