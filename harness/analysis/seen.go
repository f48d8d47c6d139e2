package analysis

import (
	"maps"
	"slices"
	"time"

	"abacus/harness/load"
	"abacus/harness/observe"
	"abacus/harness/record"
)

// cellSeen is what was observed beside the runs of one cell, for its columns
// and for the findings.
type cellSeen struct {
	statusSeries int // runs that had a status poller
	statusRuns   int // good ones of them
	statusOK     int // samples within the load, over those
	leastOK      int // fewest in one of them, whose load was leastNS long
	leastNS      int64
	statusRead   bool          // any reading came, within the load or around it
	statusEvery  time.Duration // the interval of the polls
	busyPeak     *int64
	idleMin      *int64
	limit        *int64
	pools        []poolSeen

	errors   map[load.FailureKind]map[string]int64
	lengths  map[int64]int64
	rounds   map[load.FailureKind][]int
	non2xx   map[int]int64
	expect   load.ExpectChecks
	unmetIn  []int
	swaps    []swapSeen
	machine  []float64 // CPU busy share of the machine per good run
	steal    []float64
	polls    pollsSeen
	restarts []int
	local    bool // the server's processes were seen on this machine
	settles  []settleSeen
	hooks    []hookSeen
	stopped  []stopSeen
	notes    []string
	little   []float64 // mean requests in flight per good run without failures
	requests int64     // least number of requests of those runs
	expected int       // the status that was expected, 0 for any
}

// poolSeen is the worker pool in one run.
type poolSeen struct {
	seq, round int
	idleMin    int64
	limit      int64 // slots of the scoreboard, 0 when there was none
	// emptyNS is how long idle workers were at most near zero, lengthNS the
	// run's load, atNS where the least was first seen.
	emptyNS, lengthNS, atNS int64
	// open is the number of slots without a worker when idle was least.
	open     int
	waitedNS int64 // longest poll within the load
}

type pollsSeen struct {
	polls, failed, late, skipped int
	waitedNS                     int64
	waitedRound                  int
	errors                       map[string]int
}

type swapSeen struct {
	seq, round int
	in, out    uint64
}

type settleSeen struct {
	seq, round int
	reason     string
	waitedNS   int64
}

type hookSeen struct {
	seq  int
	hook record.Hook
}

type stopSeen struct {
	seq, round int
	expr       string
}

// nearZero is the number of idle workers that counts as none left: 2 % of the
// pool, since a poll sees only moments.
func nearZero(limit int64) int64 { return limit / 50 }

func (s *cellSeen) add(run record.Run, p Point) {
	s.addEvents(run)
	if run.Result == nil {
		return
	}
	s.addResult(run)
	status := series(run.Series, "status")
	if status != nil {
		s.statusSeries++
		s.addPolls(run, status)
		if restarted(status.Samples) {
			s.restarts = append(s.restarts, run.Seq)
		}
		if p.Bad == "" {
			s.addStatus(run, status)
		}
	}
	if ps := series(run.Series, "processes"); ps != nil && !s.local {
		s.local = anySample(ps.Samples, hasServer)
	}
	if p.Bad == "" {
		s.addLittle(run.Result)
	}
	host := series(run.Series, "host")
	if host == nil {
		return
	}
	if in, out, ok := swapMoved(host.Samples); ok && in+out > 0 {
		s.swaps = append(s.swaps, swapSeen{run.Seq, run.Round, in, out})
	}
	if p.Bad == "" {
		if busy, steal, ok := cpuShares(host.Samples, run.Result.ElapsedNS); ok {
			s.machine = append(s.machine, busy)
			s.steal = append(s.steal, steal)
		}
	}
}

// addEvents keeps what happened around the load.
func (s *cellSeen) addEvents(run record.Run) {
	if run.Settle != nil && run.Settle.TimedOut {
		s.settles = append(s.settles, settleSeen{run.Seq, run.Round, run.Settle.Reason, run.Settle.WaitedNS})
	}
	for _, h := range run.Hooks {
		if h.Error != "" || (h.ExitCode != nil && *h.ExitCode != 0) {
			s.hooks = append(s.hooks, hookSeen{run.Seq, h})
		}
	}
	if run.Stopped != "" {
		s.stopped = append(s.stopped, stopSeen{run.Seq, run.Round, run.Stopped})
	}
}

func (s *cellSeen) addResult(run record.Run) {
	r := run.Result
	s.expected = run.Job.Expect.Status
	for _, kind := range load.Kinds() {
		if n, _ := r.Counts.ByKind(kind); n > 0 {
			if s.rounds == nil {
				s.rounds = map[load.FailureKind][]int{}
			}
			s.rounds[kind] = append(s.rounds[kind], run.Round)
		}
	}
	for _, e := range r.Errors {
		if s.errors == nil {
			s.errors = map[load.FailureKind]map[string]int64{}
		}
		if s.errors[e.Kind] == nil {
			s.errors[e.Kind] = map[string]int64{}
		}
		// A server can give ever new texts: only so many are told apart.
		if _, known := s.errors[e.Kind][e.Text]; known || len(s.errors[e.Kind]) < 20 {
			s.errors[e.Kind][e.Text] += e.Count
		}
	}
	for _, l := range r.Lengths {
		if s.lengths == nil {
			s.lengths = map[int64]int64{}
		}
		if _, known := s.lengths[l.Bytes]; known || len(s.lengths) < 1000 {
			s.lengths[l.Bytes] += l.Count
		}
	}
	for code, n := range r.StatusCodes {
		if code < 200 || code > 299 {
			if s.non2xx == nil {
				s.non2xx = map[int]int64{}
			}
			s.non2xx[code] += n
		}
	}
	if e := r.Expect; e != nil {
		s.expect.Checked += e.Checked
		s.expect.Unmet += e.Unmet
		if e.Unmet > 0 {
			s.unmetIn = append(s.unmetIn, run.Round)
		}
		for _, text := range e.Examples {
			if len(s.expect.Examples) < 3 && !slices.Contains(s.expect.Examples, text) {
				s.expect.Examples = append(s.expect.Examples, text)
			}
		}
	}
	for _, n := range r.Notes {
		if len(s.notes) < 5 && !slices.Contains(s.notes, n) {
			s.notes = append(s.notes, n)
		}
	}
}

func (s *cellSeen) addPolls(run record.Run, status *observe.Series) {
	p := &s.polls
	p.polls += status.Polls
	p.failed += status.Failed
	p.late += status.Late
	p.skipped += status.Skipped
	s.statusEvery = time.Duration(status.IntervalNS)
	for _, sample := range status.Samples {
		if sample.Error != "" {
			if p.errors == nil {
				p.errors = map[string]int{}
			}
			if _, known := p.errors[sample.Error]; known || len(p.errors) < 20 {
				p.errors[sample.Error]++
			}
			continue
		}
		s.statusRead = s.statusRead || sample.Status != nil
		if within0(sample.AtNS, run.Result.ElapsedNS) && sample.TookNS > p.waitedNS {
			p.waitedNS, p.waitedRound = sample.TookNS, run.Round
		}
	}
}

// addStatus takes the worker pool of a good run.
func (s *cellSeen) addStatus(run record.Run, status *observe.Series) {
	elapsed := run.Result.ElapsedNS
	ok, pool, any := 0, poolSeen{seq: run.Seq, round: run.Round, lengthNS: elapsed}, false
	empty := 0
	for _, sample := range status.Samples {
		st := sample.Status
		if st == nil || !within0(sample.AtNS, elapsed) {
			continue
		}
		ok++
		pool.waitedNS = max(pool.waitedNS, sample.TookNS)
		if n := int64(len(st.Scoreboard)); n > 0 {
			pool.limit = max(pool.limit, n)
			s.limit = greater(s.limit, n)
		}
		busy, idle := workers(st)
		if busy != nil {
			s.busyPeak = greater(s.busyPeak, *busy)
		}
		if idle == nil {
			continue
		}
		if !any || *idle < pool.idleMin {
			any, pool.idleMin, pool.atNS = true, *idle, sample.AtNS
			pool.open = observe.ScoreboardCounts(st.Scoreboard)['.']
		}
		if *idle <= nearZero(int64(len(st.Scoreboard))) {
			empty++
		}
	}
	if s.statusRuns == 0 || ok < s.leastOK {
		s.leastOK, s.leastNS = ok, elapsed
	}
	s.statusRuns++
	s.statusOK += ok
	if any {
		if s.idleMin == nil || pool.idleMin < *s.idleMin {
			v := pool.idleMin
			s.idleMin = &v
		}
		pool.emptyNS = int64(float64(empty) / float64(ok) * float64(elapsed))
		s.pools = append(s.pools, pool)
	}
}

// addLittle keeps by how much a run keeps Little's law: mean number of
// requests in flight (throughput × mean total time) over the connections.
func (s *cellSeen) addLittle(r *load.Result) {
	if r.Total == nil || r.Counts.Failed > 0 {
		return // failed requests hold connections without being in Total
	}
	perS, ok := r.ThroughputPerS()
	mean, ok2 := r.Total.Mean()
	if ok && ok2 {
		if n := r.Counts.Requests(); len(s.little) == 0 || n < s.requests {
			s.requests = n
		}
		s.little = append(s.little, perS*mean/1e9)
	}
}

// fill writes the cell's columns.
func (s *cellSeen) fill(c *Cell) {
	if s.statusSeries > 0 {
		n := s.statusOK
		c.StatusSamples = &n
	}
	c.BusyWorkersPeak, c.IdleWorkersMin, c.WorkersLimit = s.busyPeak, s.idleMin, s.limit
}

// workers is what a status page says of its pool: its own figures, else the
// scoreboard's letters.
func workers(st *observe.Status) (busy, idle *int64) {
	busy, idle = st.BusyWorkers, st.IdleWorkers
	if st.Scoreboard == "" || (busy != nil && idle != nil) {
		return busy, idle
	}
	counts := observe.ScoreboardCounts(st.Scoreboard)
	if idle == nil {
		n := int64(counts['_'])
		idle = &n
	}
	if busy == nil {
		var n int64
		for _, letter := range "RWKDCLG" {
			n += int64(counts[letter])
		}
		busy = &n
	}
	return busy, idle
}

func greater(p *int64, n int64) *int64 {
	if p == nil || n > *p {
		return &n
	}
	return p
}

func within0(at, elapsed int64) bool { return at >= 0 && at <= elapsed }

// series is a run's first series of one source, nil without.
func series(all []observe.Series, source string) *observe.Series {
	for i := range all {
		if all[i].Source == source {
			return &all[i]
		}
	}
	return nil
}

// byCount lists the keys of counts, the most frequent first, equal ones in
// order of the key, so that the same record gives the same text.
func byCount[K interface{ ~string | ~int | ~int64 }, N interface{ ~int | ~int64 }](counts map[K]N) []K {
	keys := slices.Sorted(maps.Keys(counts))
	slices.SortStableFunc(keys, func(a, b K) int {
		switch {
		case counts[a] > counts[b]:
			return -1
		case counts[a] < counts[b]:
			return 1
		}
		return 0
	})
	return keys
}
