package observe

import (
	"context"
	"maps"
	"slices"
	"sync"
)

// processID names one process for ever: a pid alone is used again.
type processID struct {
	pid   int
	start int64
}

// processStat is one reading of one process.
type processStat struct {
	id               processID
	userNS, systemNS int64
	rssBytes         uint64
	threads          int
	// dead is a process that ended but was not waited for yet; its CPU time
	// can still be read.
	dead bool
}

// processReader reads processes; it differs by system.
type processReader interface {
	// read returns ok false when the process is gone or not ours to see.
	read(ctx context.Context, pid int) (s processStat, ok bool)
	// children are the direct children of a process; named tells that a role
	// names it, so that the search must be thorough.
	children(ctx context.Context, s processStat, named bool) []int
}

// ProcessPoller reads CPU time, memory and threads of groups of processes.
// A group is made of the given pids and all that descend from them, except
// those that another role names (and what descends from those): so abacus
// itself does not count its own worker.
//
// The CPU time of a group never falls: a process that ends leaves its last
// reading in the sum. What it used after that reading is lost.
type ProcessPoller struct {
	roles  func() map[string][]int
	reader processReader

	mu   sync.Mutex
	last map[string]map[processID]processStat
	gone map[string]cpuSum
}

type cpuSum struct{ user, system int64 }

// NewProcessPoller returns a poller of the roles' processes. roles is asked
// at each poll, since pids change (the load worker's with every run).
func NewProcessPoller(roles func() map[string][]int) *ProcessPoller {
	return newProcessPoller(roles, newProcessReader())
}

func newProcessPoller(roles func() map[string][]int, reader processReader) *ProcessPoller {
	return &ProcessPoller{
		roles: roles, reader: reader,
		last: map[string]map[processID]processStat{}, gone: map[string]cpuSum{},
	}
}

// Name is "processes".
func (p *ProcessPoller) Name() string { return "processes" }

// Poll takes one reading, with one Process a role in order of the roles'
// names. A role none of whose processes was ever seen is left out; one whose
// processes all ended has Count 0.
func (p *ProcessPoller) Poll(ctx context.Context) (Reading, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	roles := p.roles()
	owner := map[int]string{}
	for role, pids := range roles {
		for _, pid := range pids {
			owner[pid] = role
		}
	}
	for role := range p.last {
		if _, ok := roles[role]; !ok {
			roles = withRole(roles, role)
		}
	}
	var r Reading
	for _, role := range slices.Sorted(maps.Keys(roles)) {
		living := p.walk(ctx, role, roles[role], owner)
		if err := ctx.Err(); err != nil {
			return Reading{}, err
		}
		if len(living) == 0 && p.last[role] == nil {
			continue
		}
		r.Processes = append(r.Processes, p.sum(role, living))
	}
	return r, nil
}

// withRole adds a role without processes to a copy: the caller's map is not ours.
func withRole(roles map[string][]int, role string) map[string][]int {
	c := maps.Clone(roles)
	if c == nil {
		c = map[string][]int{}
	}
	c[role] = nil
	return c
}

// walk reads the processes of a role and their descendants.
func (p *ProcessPoller) walk(ctx context.Context, role string, pids []int, owner map[int]string) map[processID]processStat {
	living := map[processID]processStat{}
	visited := map[int]bool{}
	queue := slices.Clone(pids)
	for len(queue) > 0 && ctx.Err() == nil {
		pid := queue[0]
		queue = queue[1:]
		if visited[pid] {
			continue
		}
		visited[pid] = true
		if who, named := owner[pid]; named && who != role {
			continue
		}
		s, ok := p.reader.read(ctx, pid)
		if !ok {
			continue
		}
		living[s.id] = s
		queue = append(queue, p.reader.children(ctx, s, slices.Contains(pids, pid))...)
	}
	return living
}

// sum adds up a role and moves what ended since the last poll to gone.
func (p *ProcessPoller) sum(role string, living map[processID]processStat) Process {
	gone := p.gone[role]
	for id, s := range p.last[role] {
		if _, ok := living[id]; !ok {
			gone.user += s.userNS
			gone.system += s.systemNS
		}
	}
	p.gone[role], p.last[role] = gone, living
	sum := Process{Role: role, CPUUserNS: gone.user, CPUSystemNS: gone.system}
	for _, s := range living {
		sum.CPUUserNS += s.userNS
		sum.CPUSystemNS += s.systemNS
		if s.dead {
			continue
		}
		sum.Count++
		sum.RSSBytes += s.rssBytes
		sum.Threads += s.threads
	}
	return sum
}
