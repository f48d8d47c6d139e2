package campaign

import (
	"context"
	"slices"
	"sync"
	"time"

	"abacus/harness/clock"
	"abacus/harness/observe"
	"abacus/harness/plan"
)

// The roles of processes, and the name of the poller that reads the server's
// own status page.
const (
	roleServer   = "server"
	roleClient   = "client"
	sourceStatus = "status"
)

// watcher runs the pollers of one run beside its load.
type watcher struct {
	pollers  []Poller
	interval time.Duration
	cancel   context.CancelFunc
	done     sync.WaitGroup
	series   []observe.Series
	first    []observe.Sample // of each poller, before the load

	mu     sync.Mutex
	status *observe.Status
}

// pollersFor makes the pollers of a cell: its lab's status page, the host, the
// processes of client and server.
func (c *Campaign) pollersFor(cell plan.Cell) []Poller {
	lab := c.targets[cell.Index].lab
	host := true
	if o := cell.Settings.Observe; o != nil && o.Host != nil {
		host = *o.Host
	}
	roles := func() map[string][]int {
		m := map[string][]int{}
		for role, pids := range lab.PIDs {
			m[role] = pids
		}
		if pid := c.Needs.ClientPID(); pid != 0 {
			m[roleClient] = []int{pid}
		}
		return m
	}
	return c.Needs.Pollers(lab, host, roles)
}

// watch takes a first reading of the host and the processes, so that the
// run's counters have a beginning, and starts the pollers' tickers. The
// status page is left to its ticker: a slow one must not hold up the load.
func watch(ctx context.Context, pollers []Poller, interval time.Duration) *watcher {
	ctx, cancel := context.WithCancel(ctx)
	w := &watcher{pollers: pollers, interval: interval, cancel: cancel,
		series: make([]observe.Series, len(pollers)), first: make([]observe.Sample, len(pollers))}
	for i, p := range pollers {
		if p.Name() != sourceStatus {
			w.first[i] = reading(ctx, p)
		}
		w.done.Go(func() {
			w.series[i] = observe.Collect(ctx, p.Name(), interval, func(ctx context.Context) (observe.Reading, error) {
				r, err := p.Poll(ctx)
				if err == nil && r.Status != nil {
					w.mu.Lock()
					w.status = r.Status
					w.mu.Unlock()
				}
				return r, err
			})
		})
	}
	return w
}

// workers is the newest reading of the status page, nil without one.
func (w *watcher) workers() *observe.Status {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.status
}

// final takes a last reading of host and processes, while the client still
// lives, so that the counters cover the whole run.
func (w *watcher) final(ctx context.Context) []observe.Sample {
	last := make([]observe.Sample, len(w.pollers))
	for i, p := range w.pollers {
		if p.Name() != sourceStatus {
			last[i] = reading(ctx, p)
		}
	}
	return last
}

// stop ends the pollers and returns the series, sample times counted from
// zeroNS on package clock.
func (w *watcher) stop(ctx context.Context, zeroNS int64) []observe.Series {
	last := w.final(ctx)
	w.cancel()
	w.done.Wait()
	for i := range w.series {
		s := &w.series[i]
		for _, extra := range []observe.Sample{w.first[i], last[i]} {
			if extra.AtNS == 0 {
				continue
			}
			s.Polls++
			if extra.Error != "" {
				s.Failed++
			}
			s.Samples = append(s.Samples, extra)
		}
		slices.SortStableFunc(s.Samples, func(a, b observe.Sample) int {
			switch {
			case a.AtNS < b.AtNS:
				return -1
			case a.AtNS > b.AtNS:
				return 1
			}
			return 0
		})
		w.series[i] = s.Rebase(zeroNS)
	}
	return w.series
}

// reading takes one reading now.
func reading(ctx context.Context, p Poller) observe.Sample {
	at := clock.Now()
	r, err := p.Poll(ctx)
	s := observe.Sample{AtNS: at, TookNS: clock.Now() - at, Reading: r}
	if err != nil {
		s.Error, s.Reading = err.Error(), observe.Reading{}
	}
	return s
}
