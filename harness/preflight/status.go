package preflight

import (
	"fmt"
	"time"

	"abacus/harness/number"
	"abacus/harness/oneline"
)

// StatusSeen is what one poll of the server's status page gave, as plain
// values: the caller polls. A figure that is not known is nil.
type StatusSeen struct {
	// Wanted tells that a status page was named; without one there is nothing
	// to find fault with.
	Wanted bool
	URL    string
	// Error says why nothing was read; empty when something was.
	Error       string
	Version     string
	MPM         string
	BusyWorkers *int64
	IdleWorkers *int64
	// Slots is the length of the scoreboard, the effective worker limit; 0
	// when there is none.
	Slots int
	// Extended tells whether the counters are there (ExtendedStatus On).
	Extended bool
	Took     time.Duration
}

// CheckStatus judges whether the server's workers can be observed.
func CheckStatus(s StatusSeen) Check {
	c := Check{ID: "status.page", Question: "Can the server's workers be observed?", Method: "one poll of the status page", Severity: OK}
	if s.URL != "" {
		c.Evidence = append(c.Evidence, redact(s.URL))
	}
	if s.URL == "" {
		c.Severity = NotSeen
		c.Method = "none: no status page was named"
		c.Finding = "workers are not observed: no status page is known"
		if s.Wanted {
			c.Advice = "Name the page of mod_status with server.status or --status-url."
		}
		return c
	}
	if s.Error != "" {
		c.Severity = Info
		if s.Wanted {
			c.Severity = Warning
		}
		c.Finding = "workers are not observed: " + oneline.Shorten(s.Error, 200)
		c.Advice = "Fetch it by hand with ?auto: it must be mod_status's page (SetHandler server-status), allowed to this address (Require local), and quick."
		return c
	}
	if s.Version != "" {
		c.Evidence = append(c.Evidence, oneline.Shorten(s.Version, 120))
	}
	if s.MPM != "" {
		c.Evidence = append(c.Evidence, "MPM "+oneline.Shorten(s.MPM, 40))
	}
	if s.BusyWorkers != nil && s.IdleWorkers != nil {
		c.Evidence = append(c.Evidence, fmt.Sprintf("%d busy (this poll is one), %d idle", *s.BusyWorkers, *s.IdleWorkers))
	}
	if s.Slots > 0 {
		c.Evidence = append(c.Evidence, fmt.Sprintf("%s: the effective worker limit", number.Plural(int64(s.Slots), "slot")))
	}
	c.Evidence = append(c.Evidence, fmt.Sprintf("answered in %v", s.Took.Round(10*time.Microsecond)))
	if !s.Extended {
		c.Severity = Info
		c.Finding = "workers are observed, requests, bytes and CPU are not: ExtendedStatus is off"
		c.Advice = "Set ExtendedStatus On to see rates too."
		return c
	}
	c.Finding = "workers, requests, bytes and CPU are observed"
	return c
}
