package observe

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"
)

// scripted is a collector whose ticks, clock and end the test decides.
type scripted struct {
	t      *testing.T
	ticks  chan time.Time
	grace  chan time.Time
	clock  atomic.Int64
	calls  chan call
	cancel context.CancelFunc
	result chan Series
}

// call is one poll under way; the test answers it.
type call struct {
	ctx    context.Context
	answer chan answer
}

type answer struct {
	r   Reading
	err error
}

func start(t *testing.T) *scripted {
	t.Helper()
	s := &scripted{t: t, ticks: make(chan time.Time), grace: make(chan time.Time), calls: make(chan call), result: make(chan Series, 1)}
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	t.Cleanup(cancel)
	c := collector{
		series: Series{Source: "test", IntervalNS: 200},
		poll: func(ctx context.Context) (Reading, error) {
			c := call{ctx, make(chan answer)}
			s.calls <- c
			a := <-c.answer
			return a.r, a.err
		},
		now:   s.clock.Load,
		grace: func() <-chan time.Time { return s.grace },
	}
	go func() { s.result <- c.run(ctx, s.ticks) }()
	return s
}

// next waits for the next poll to begin, giving ticks until it does, and
// returns how many it gave.
func (s *scripted) next(tick bool) (call, int) {
	s.t.Helper()
	given := 0
	deadline := time.After(10 * time.Second)
	for {
		ticks := s.ticks
		if !tick {
			ticks = nil
		}
		select {
		case c := <-s.calls:
			return c, given
		case ticks <- time.Time{}:
			given++
			// The tick has begun a poll, unless the one before is not put away yet.
			select {
			case c := <-s.calls:
				return c, given
			case <-time.After(time.Millisecond):
			}
		case <-deadline:
			s.t.Fatal("no poll was begun")
		}
	}
}

func (s *scripted) end() Series {
	s.t.Helper()
	select {
	case r := <-s.result:
		return r
	case <-time.After(10 * time.Second):
		s.t.Fatal("Collect did not end")
		return Series{}
	}
}

func good() answer { return answer{r: Reading{Host: &Host{MemTotalBytes: 1}}} }

func TestCollectCountsSkippedLateAndFailed(t *testing.T) {
	s := start(t)
	// The first poll begins at once, without a tick, at time 0.
	first, _ := s.next(false)
	for range 3 {
		s.ticks <- time.Time{}
	}
	// It ends after 700 ns: three ticks were skipped, and it is late (interval 200).
	s.clock.Store(700)
	first.answer <- good()
	second, given := s.next(true)
	s.clock.Store(710)
	second.answer <- answer{err: errors.New("no\nreading " + strings.Repeat("ü", 500))}
	third, more := s.next(true)
	third.answer <- good()
	// The end: one more poll closes the series.
	s.cancel()
	closing, _ := s.next(false)
	s.clock.Store(720)
	closing.answer <- good()
	got := s.end()

	if got.Source != "test" || got.IntervalNS != 200 || got.Polls != 4 || got.Failed != 1 || got.Late != 1 {
		t.Errorf("source %q interval %d polls %d failed %d late %d; want test, 200, 4, 1, 1", got.Source, got.IntervalNS, got.Polls, got.Failed, got.Late)
	}
	// Each tick either began a poll or was skipped; two polls were begun by ticks.
	if want := 3 + given + more - 2; got.Skipped != want {
		t.Errorf("skipped %d, want %d", got.Skipped, want)
	}
	if len(got.Samples) != 4 {
		t.Fatalf("%d samples, want 4", len(got.Samples))
	}
	if a := got.Samples[0]; a.AtNS != 0 || a.TookNS != 700 || a.Host == nil || a.Error != "" {
		t.Errorf("first sample %+v", a)
	}
	b := got.Samples[1]
	if b.AtNS != 700 || b.TookNS != 10 || b.Host != nil {
		t.Errorf("second sample %+v, want at 700, took 10, no reading", b)
	}
	if n := utf8.RuneCountInString(b.Error); n != 200 || strings.Contains(b.Error, "\n") || !strings.HasPrefix(b.Error, "no reading ü") {
		t.Errorf("error of %d runes: %q; want 200 on one line", n, b.Error)
	}
	if c := got.Samples[3]; c.AtNS != 710 || c.TookNS != 10 || c.Host == nil {
		t.Errorf("closing sample %+v, want at 710, took 10, with a reading", c)
	}
}

func TestCollectCutsOffAPollAtTheEnd(t *testing.T) {
	s := start(t)
	c, _ := s.next(false)
	s.clock.Store(50)
	s.cancel()
	// It is not cancelled with the load: it may still answer.
	select {
	case s.grace <- time.Time{}:
	case <-time.After(10 * time.Second):
		t.Fatal("the end did not wait for the poll")
	}
	got := s.end()
	select {
	case <-c.ctx.Done():
	case <-time.After(10 * time.Second):
		t.Error("the poll's context was not cancelled when it was given up")
	}
	close(c.answer) // the poll ends whenever it likes; nobody waits
	if got.Polls != 1 || got.Failed != 1 || len(got.Samples) != 1 {
		t.Fatalf("series %+v, want one failed poll", got)
	}
	if x := got.Samples[0]; x.TookNS != 50 || !strings.Contains(x.Error, "the run ended before") {
		t.Errorf("sample %+v, want the 50 ns that it waited and why", x)
	}
}

func TestCollectLetsAPollFinishAtTheEnd(t *testing.T) {
	s := start(t)
	c, _ := s.next(false)
	s.cancel()
	if err := c.ctx.Err(); err != nil {
		t.Errorf("the poll in flight was cancelled with the load: %v", err)
	}
	c.answer <- good()
	// It gave a reading, so one more closes the series.
	closing, _ := s.next(false)
	closing.answer <- good()
	got := s.end()
	if got.Polls != 2 || got.Failed != 0 || len(got.Samples) != 2 || got.Samples[0].Host == nil {
		t.Errorf("series %+v, want two good polls", got)
	}
}

func TestCollectDoesNotCloseAfterAFailure(t *testing.T) {
	s := start(t)
	c, _ := s.next(false)
	c.answer <- answer{err: errors.New("refused")}
	// A second poll shows that the first is put away.
	c, _ = s.next(true)
	c.answer <- answer{err: errors.New("refused")}
	third, _ := s.next(true)
	third.answer <- answer{err: errors.New("refused")}
	s.cancel()
	// Whether the end finds the third still in flight or not, no fourth begins.
	got := s.end()
	if got.Polls != 3 || got.Failed != 3 {
		t.Errorf("polls %d, failed %d; want 3, 3", got.Polls, got.Failed)
	}
}

func TestCollectSurvivesAPanic(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	var once sync.Once
	got := Collect(ctx, "bad", time.Hour, func(context.Context) (Reading, error) {
		once.Do(cancel)
		panic("poller bug")
	})
	if got.Failed != got.Polls || got.Polls == 0 || !strings.Contains(got.Samples[0].Error, "poller bug") {
		t.Errorf("series %+v, want failed polls that name the panic", got)
	}
}

func TestCollectAfterTheEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	got := Collect(ctx, "x", time.Hour, func(context.Context) (Reading, error) {
		t.Error("polled after the end")
		return Reading{}, nil
	})
	if got.Polls != 0 || got.Source != "x" || got.IntervalNS != int64(time.Hour) {
		t.Errorf("series %+v, want an empty one", got)
	}
}

func TestCollectBoundsScoreboards(t *testing.T) {
	c := collector{cancel: func() {}}
	board := strings.Repeat("_", maxScoreboard-1)
	kept := 0
	for i := range 400 {
		// All differ, so none can be shared.
		b := board[:i] + "W" + board[i:]
		s := Sample{Reading: Reading{Status: &Status{Scoreboard: b, BusyWorkers: p[int64](1)}}}
		c.end(s)
	}
	for _, s := range c.series.Samples {
		if s.Status.BusyWorkers == nil {
			t.Fatal("a sample lost its other figures")
		}
		kept += len(s.Status.Scoreboard)
	}
	if kept > maxBoards || kept < maxBoards-maxScoreboard {
		t.Errorf("%d bytes of scoreboards were kept, want %d or a little less", kept, maxBoards)
	}
}

func TestRebaseLeavesTheOriginal(t *testing.T) {
	s := Series{Source: "x", Polls: 2, Samples: []Sample{{AtNS: 90, TookNS: 5}, {AtNS: 150}}}
	r := s.Rebase(100)
	if r.Samples[0].AtNS != -10 || r.Samples[1].AtNS != 50 || r.Samples[0].TookNS != 5 || r.Polls != 2 {
		t.Errorf("rebased %+v, want at -10 and 50", r)
	}
	if s.Samples[0].AtNS != 90 {
		t.Error("the original was changed")
	}
}
