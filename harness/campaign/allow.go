package campaign

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"

	"abacus/harness/number"
	"abacus/harness/plan"
	"abacus/harness/preflight"
)

// Foreign is a host outside loopback and private networks that a plan would
// load, with what that means for it.
type Foreign struct {
	Host      string
	Addresses []string
	// Requests is the planned number, runs by duration left out (Timed counts
	// those); Concurrency is the highest level.
	Requests    int64
	Timed       int
	Concurrency int
}

// Describe says in one sentence what would be loaded.
func (f Foreign) Describe() string {
	load := number.Count(f.Requests) + " requests"
	if f.Timed > 0 {
		load += fmt.Sprintf(" and %d timed runs", f.Timed)
	}
	return fmt.Sprintf("%s (%s): %s, up to %d connections at once", f.Host, strings.Join(f.Addresses, ", "), load, f.Concurrency)
}

// ForeignTargets lists the hosts that the plan would load, that are neither
// on loopback nor in private networks, and that no allow key names. A host
// that cannot be resolved is an error.
func ForeignTargets(ctx context.Context, p *plan.Plan) ([]Foreign, error) {
	byHost := map[string]*Foreign{}
	var order []string
	for _, cell := range p.Cells {
		host, err := loadedHost(cell)
		if err != nil {
			return nil, err
		}
		if host == "" || allowed(host, cell.Settings.Allow) {
			continue
		}
		f, seen := byHost[host]
		if !seen {
			addresses, _, private, err := preflight.Classify(ctx, host)
			if err != nil {
				return nil, fmt.Errorf("target %s: %w", host, err)
			}
			if !private {
				f = &Foreign{Host: host, Addresses: addresses}
			}
			byHost[host] = f
			order = append(order, host)
		}
		if f == nil {
			continue
		}
		f.Concurrency = max(f.Concurrency, cell.Step.Concurrency)
		for _, r := range p.Runs {
			if r.Cell != cell.Index {
				continue
			}
			f.Requests += cell.Step.Requests
			if cell.Step.Requests == 0 {
				f.Timed++
			}
		}
	}
	var list []Foreign
	for _, host := range order {
		if f := byHost[host]; f != nil {
			list = append(list, *f)
		}
	}
	return list, nil
}

// loadedHost is the host that a cell's connections go to, "" for a lab's.
func loadedHost(cell plan.Cell) (string, error) {
	if cell.URL == "" {
		return "", nil
	}
	if to := cell.Settings.ConnectTo; to != "" {
		host, _, err := net.SplitHostPort(to)
		if err != nil {
			return "", fmt.Errorf("connect_to %q: %w", to, err)
		}
		return host, nil
	}
	u, err := url.Parse(cell.URL)
	if err != nil {
		return "", fmt.Errorf("url %q: %w", cell.URL, err)
	}
	return u.Hostname(), nil
}

func allowed(host string, allow []string) bool {
	return slices.ContainsFunc(allow, func(a string) bool {
		if h, _, err := net.SplitHostPort(a); err == nil {
			a = h
		}
		return strings.EqualFold(a, host)
	})
}
