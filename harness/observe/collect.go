package observe

import (
	"context"
	"fmt"
	"time"

	"abacus/harness/clock"
)

const (
	// endGrace bounds how long the end of a run waits for a poll that is in
	// flight, and for the closing one.
	endGrace = 500 * time.Millisecond
	// maxBoards bounds the scoreboard text that one series keeps. At 5 Hz and
	// 400 workers it is reached after more than two hours.
	maxBoards = 16 << 20
)

// Collect calls poll at once and then at each interval until ctx is done, and
// returns what it said. Polls never overlap: a tick that finds the poll before
// still running is counted as skipped. When ctx is done, a poll in flight may
// still end, and if the last one gave a reading, one more closes the series, so
// that counters reach to the end of the load; both together have half a second.
// A poll that is cut off then is kept as a failed one, with the time that it
// had waited: under load that is evidence of a full server.
//
// Sample times are package clock's. Beyond 16 MiB of scoreboards, samples
// come without one.
func Collect(ctx context.Context, source string, interval time.Duration, poll func(context.Context) (Reading, error)) Series {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	c := collector{
		series: Series{Source: source, IntervalNS: interval.Nanoseconds()},
		poll:   poll, now: clock.Now, grace: func() <-chan time.Time { return time.After(endGrace) },
	}
	return c.run(ctx, ticker.C)
}

// collector is one Collect under way.
type collector struct {
	series Series
	poll   func(context.Context) (Reading, error)
	now    func() int64
	grace  func() <-chan time.Time

	// begun is when the poll in flight began; done carries its sample and is
	// nil when none is in flight.
	begun  int64
	done   chan Sample
	cancel context.CancelFunc
	boards int
	board  string
}

func (c *collector) run(ctx context.Context, ticks <-chan time.Time) Series {
	if ctx.Err() != nil {
		return c.series
	}
	c.begin(ctx)
	for {
		select {
		case s := <-c.done:
			c.end(s)
		case <-ticks:
			// A finished poll and a tick may come together: the poll is then
			// not running, and the tick not skipped.
			select {
			case s := <-c.done:
				c.end(s)
			default:
			}
			if c.done != nil {
				c.series.Skipped++
				continue
			}
			c.begin(ctx)
		case <-ctx.Done():
			c.close(ctx)
			return c.series
		}
	}
}

// begin starts one poll. It outlives ctx, so that the end of the load does
// not cut off a poll that would answer within a moment.
func (c *collector) begin(ctx context.Context) {
	c.series.Polls++
	var pollCtx context.Context
	pollCtx, c.cancel = context.WithCancel(context.WithoutCancel(ctx))
	// Buffered: a poll that is given up must not be left hanging.
	done := make(chan Sample, 1)
	c.done, c.begun = done, c.now()
	begun, now, poll := c.begun, c.now, c.poll
	go func() {
		s := Sample{AtNS: begun}
		reading, err := safely(pollCtx, poll)
		s.TookNS = now() - begun
		if err != nil {
			s.Error = ErrorText(err)
		} else {
			s.Reading = reading
		}
		done <- s
	}()
}

// safely keeps a poller that panics from taking the campaign with it.
func safely(ctx context.Context, poll func(context.Context) (Reading, error)) (r Reading, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("poller panicked: %v", p)
		}
	}()
	return poll(ctx)
}

// end keeps the sample of the poll in flight.
func (c *collector) end(s Sample) {
	c.cancel()
	c.done = nil
	if s.Error != "" {
		c.series.Failed++
	}
	if s.TookNS > c.series.IntervalNS {
		c.series.Late++
	}
	if s.Status != nil && s.Status.Scoreboard != "" {
		c.keepBoard(s.Status)
	}
	c.series.Samples = append(c.series.Samples, s)
}

// keepBoard lets equal scoreboards share their memory and drops those beyond
// the limit.
func (c *collector) keepBoard(status *Status) {
	switch board := status.Scoreboard; {
	case board == c.board:
		status.Scoreboard = c.board
	case c.boards+len(board) > maxBoards:
		status.Scoreboard = ""
	default:
		c.boards += len(board)
		c.board = board
	}
}

// close waits for the poll in flight and takes the closing one.
func (c *collector) close(ctx context.Context) {
	limit := c.grace()
	if c.done != nil && !c.await(limit) {
		return
	}
	if n := len(c.series.Samples); n > 0 && c.series.Samples[n-1].Error != "" {
		return
	}
	c.begin(ctx)
	c.await(limit)
}

// await ends the poll in flight with its answer, or, when the limit comes
// first, as cut off.
func (c *collector) await(limit <-chan time.Time) bool {
	select {
	case s := <-c.done:
		c.end(s)
		return true
	case <-limit:
		c.end(Sample{
			AtNS: c.begun, TookNS: c.now() - c.begun,
			Error: "the run ended before the poll was answered",
		})
		return false
	}
}

// Rebase returns the series with sample times counted from zeroNS, a reading
// of package clock.
func (s Series) Rebase(zeroNS int64) Series {
	samples := make([]Sample, len(s.Samples))
	for i, sample := range s.Samples {
		sample.AtNS -= zeroNS
		samples[i] = sample
	}
	s.Samples = samples
	return s
}
