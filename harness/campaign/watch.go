package campaign

import (
	"context"
	"maps"
	"os"
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
	roleAbacus   = "abacus"
	sourceStatus = "status"
	sourceHost   = "host"
)

// watcher runs the pollers of one run beside its load.
type watcher struct {
	cancel context.CancelFunc
	done   sync.WaitGroup
	series []observe.Series

	mu     sync.Mutex
	status *observe.Status
}

// pollersFor makes the pollers of a cell: its lab's status page, the host, the
// processes of client, server and abacus itself.
func (c *Campaign) pollersFor(cell plan.Cell) []Poller {
	lab := c.targets[cell.Index].lab
	host := true
	if o := cell.Settings.Observe; o != nil && o.Host != nil {
		host = *o.Host
	}
	roles := func() map[string][]int {
		m := map[string][]int{roleAbacus: {os.Getpid()}}
		maps.Copy(m, lab.PIDs)
		if pid := c.Needs.ClientPID(); pid != 0 {
			m[roleClient] = []int{pid}
		}
		return m
	}
	return c.Needs.Pollers(lab, host, roles)
}

// release lets go of what pollers hold between polls: a kept connection to a
// status page is a busy worker to a server with a process for each.
func release(pollers []Poller) {
	for _, p := range pollers {
		if held, ok := p.(interface{ Close() }); ok {
			held.Close()
		}
	}
}

// watch starts the pollers. Each polls at once, which is before the worker of
// the run has begun, and once more at the end; none can hold up the load.
func watch(ctx context.Context, pollers []Poller, interval time.Duration) *watcher {
	ctx, cancel := context.WithCancel(ctx)
	w := &watcher{cancel: cancel, series: make([]observe.Series, len(pollers))}
	for i, p := range pollers {
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

// stop ends the pollers and returns the series, sample times counted from
// zeroNS on package clock.
func (w *watcher) stop(zeroNS int64) []observe.Series {
	w.cancel()
	w.done.Wait()
	for i := range w.series {
		w.series[i] = w.series[i].Rebase(zeroNS)
	}
	return w.series
}

// reading takes one reading now.
func reading(ctx context.Context, p Poller) observe.Sample {
	at := clock.Now()
	r, err := p.Poll(ctx)
	s := observe.Sample{AtNS: at, TookNS: clock.Now() - at, Reading: r}
	if err != nil {
		s.Error, s.Reading = observe.ErrorText(err), observe.Reading{}
	}
	return s
}
