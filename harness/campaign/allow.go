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
// contact, with what that means for it.
type Foreign struct {
	Host      string
	Addresses []string
	// Requests is the planned number, runs by duration left out (Timed counts
	// those); Concurrency is the highest level. All are 0 for a host that is
	// only asked for its status page.
	Requests    int64
	Timed       int
	Concurrency int
}

// Describe says in a few words what would be done to the host.
func (f Foreign) Describe() string {
	name := fmt.Sprintf("%s (%s)", f.Host, strings.Join(f.Addresses, ", "))
	if f.Concurrency == 0 {
		return name + ": polls of its status page"
	}
	load := number.Count(f.Requests) + " requests"
	if f.Timed > 0 {
		load += fmt.Sprintf(" and %d timed runs", f.Timed)
	}
	return fmt.Sprintf("%s: %s, up to %d connections at once", name, load, f.Concurrency)
}

// ForeignTargets lists the hosts that the plan would load or poll, that are
// neither on loopback nor in private networks, and that no allow key names. A
// host that cannot be resolved is an error.
func ForeignTargets(ctx context.Context, p *plan.Plan) ([]Foreign, error) {
	hosts := &foreignHosts{byHost: map[string]*Foreign{}}
	for _, cell := range p.Cells {
		loaded, err := loadedHost(cell)
		if err != nil {
			return nil, err
		}
		f, err := hosts.look(ctx, loaded, cell.Settings.Allow)
		if err != nil {
			return nil, err
		}
		if f != nil {
			f.plan(p, cell)
		}
		status, _ := cell.Settings.StatusURL()
		if _, err := hosts.look(ctx, hostname(status), cell.Settings.Allow); err != nil {
			return nil, err
		}
	}
	var list []Foreign
	for _, host := range hosts.order {
		if f := hosts.byHost[host]; f != nil {
			list = append(list, *f)
		}
	}
	return list, nil
}

// plan adds the load of one cell's runs.
func (f *Foreign) plan(p *plan.Plan, cell plan.Cell) {
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

// foreignHosts resolves each host once.
type foreignHosts struct {
	byHost map[string]*Foreign // nil for a near one
	order  []string
}

// look returns the entry of a host that is foreign and not allowed, else nil.
func (h *foreignHosts) look(ctx context.Context, host string, allow []string) (*Foreign, error) {
	if host == "" || allowed(host, allow) {
		return nil, nil
	}
	if f, seen := h.byHost[host]; seen {
		return f, nil
	}
	addresses, _, private, err := preflight.Classify(ctx, host)
	if err != nil {
		return nil, fmt.Errorf("target %s: %w", host, err)
	}
	var f *Foreign
	if !private {
		f = &Foreign{Host: host, Addresses: addresses}
	}
	h.byHost[host] = f
	h.order = append(h.order, host)
	return f, nil
}

// hostname is the host of a URL without its port, "" when it has none.
func hostname(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	return u.Hostname()
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
