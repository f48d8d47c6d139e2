package plan

import (
	"time"

	"abacus/scenarios"
)

// What a quick look is cut to. It shows that everything works and roughly
// where the figures lie; it gives no verdict.
const (
	quickShare    = 10 // requests are divided by this
	quickRequests = 2000
	quickDuration = scenarios.Duration(300 * time.Millisecond)
	quickSettle   = scenarios.Duration(2 * time.Second)
)

// quickStep cuts a step to about a tenth of its requests, at most 2,000 and at
// least one for each connection, and to at most 300 ms when it has a duration.
func quickStep(s scenarios.Step) scenarios.Step {
	if s.Requests > 0 {
		s.Requests = min(s.Requests, max(min(s.Requests/quickShare, quickRequests), int64(s.Concurrency)))
	}
	if s.Duration > 0 {
		s.Duration = min(s.Duration, quickDuration)
	}
	return s
}

// quickSettings bounds what a run does beside its load.
func quickSettings(s scenarios.Settings) scenarios.Settings {
	if s.Settle != nil && s.Settle.Max > quickSettle {
		s.Settle = &scenarios.Settle{Max: quickSettle}
	}
	switch w := s.Warmup; {
	case w == nil:
	case w.Requests > 0:
		s.Warmup = &scenarios.Warmup{Requests: min(w.Requests, quickRequests/quickShare)}
	default:
		s.Warmup = &scenarios.Warmup{Duration: quickDuration}
		if w.Duration > 0 {
			s.Warmup.Duration = min(w.Duration, quickDuration)
		}
	}
	return s
}
