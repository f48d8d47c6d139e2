package campaign

import (
	"context"
	"fmt"
	"time"

	"abacus/harness/observe"
	"abacus/harness/plan"
	"abacus/harness/record"
)

// settlePause is the time between two looks while waiting for idle.
const settlePause = 50 * time.Millisecond

// settle waits until the server has no more busy workers than at the idle
// baseline and the client ports held in TIME_WAIT towards it are below a quarter of
// their range, at most as long as the settings allow. A server that does not
// answer ends the wait at once: the load will tell.
func (c *Campaign) settle(ctx context.Context, cell plan.Cell, pollers []Poller) *record.Settle {
	limit := c.Bounds.SettleMax
	if s := cell.Settings.Settle; s != nil {
		limit = time.Duration(s.Max)
	}
	if limit <= 0 {
		return nil
	}
	start := time.Now()
	t := c.targets[cell.Index]
	for {
		reason := c.busy(ctx, t, pollers)
		waited := time.Since(start)
		s := &record.Settle{WaitedNS: waited.Nanoseconds(), Reason: reason}
		switch {
		case reason == "":
			return s
		case ctx.Err() != nil:
			return s
		case waited >= limit:
			s.TimedOut = true
			return s
		}
		select {
		case <-ctx.Done():
		case <-time.After(settlePause):
		}
	}
}

// busy names what is not idle yet, "" when all is.
func (c *Campaign) busy(ctx context.Context, t target, pollers []Poller) string {
	for _, p := range pollers {
		if p.Name() != sourceStatus {
			continue
		}
		pollCtx, cancel := context.WithTimeout(ctx, min(time.Second, c.Bounds.StatusLook))
		r, err := p.Poll(pollCtx)
		cancel()
		if err == nil && r.Status != nil && r.Status.BusyWorkers != nil && *r.Status.BusyWorkers > c.idleBusy {
			return fmt.Sprintf("%d workers busy, %d when idle", *r.Status.BusyWorkers, c.idleBusy)
		}
	}
	ports, ok := observe.ClientPorts()
	if !ok {
		return ""
	}
	n, err := observe.ClientTimeWait(t.port)
	if err == nil && n > ports.Len()/4 {
		return fmt.Sprintf("%d of %d client ports in TIME_WAIT", n, ports.Len())
	}
	return ""
}
