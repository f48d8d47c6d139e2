package heylib

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"abacus/harness/load"
)

// TestTimesAgainstTheServersOwn compares with what the server measured: no
// answer can be faster than its handler, and in a closed loop the latencies
// cannot add up to more than concurrency × elapsed.
func TestTimesAgainstTheServersOwn(t *testing.T) {
	var mu sync.Mutex
	var handled []time.Duration
	url, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		begin := time.Now()
		time.Sleep(4 * time.Millisecond) // what the server takes, not a wait of the test
		d := time.Since(begin)
		mu.Lock()
		handled = append(handled, d)
		mu.Unlock()
		hello(w, r)
	})
	const n, c = 60, 6
	res := mustRun(t, newJob(url, n, c))
	var sum, least time.Duration
	for i, d := range handled {
		sum += d
		if i == 0 || d < least {
			least = d
		}
	}
	mean, _ := res.Total.Mean()
	waiting, _ := res.Waiting.Mean()
	processing, _ := res.Processing.Mean()
	// Waiting begins when the client has noticed that its request is written,
	// which on a busy machine may be after the server has begun.
	if own := float64(sum) / n; mean < own || waiting < own/2 || processing < own {
		t.Errorf("means: total %.0f, waiting %.0f, processing %.0f ns; the server took %.0f", mean, waiting, processing, own)
	}
	if got, _ := res.Total.Min(); got < int64(least) {
		t.Errorf("fastest answer %d ns, fastest handler %d", got, least)
	}
	if mean*n > c*float64(res.ElapsedNS) {
		t.Errorf("latencies add up to %.0f ns, more than %d × %d", mean*n, c, res.ElapsedNS)
	}
	if mean < waiting || mean < processing {
		t.Errorf("total %.0f is less than waiting %.0f or processing %.0f", mean, waiting, processing)
	}
	if res.Waiting.Count() != n || res.Processing.Count() != n {
		t.Errorf("%d waiting, %d processing, want %d", res.Waiting.Count(), res.Processing.Count(), n)
	}
	if res.Connect.Count()+*res.Counts.KeptAlive != n {
		t.Errorf("%d connects and %d kept alive, want %d in all", res.Connect.Count(), *res.Counts.KeptAlive, n)
	}
}

// TestIntervalsAgainstTheServersOwn: with one connection, an answer ended
// after its handler and before the next request reached the server. Failures
// come first, so that the first row is not the first request.
func TestIntervalsAgainstTheServersOwn(t *testing.T) {
	const failures, n = 5, 40
	var mu sync.Mutex
	var began, ended []time.Time
	conns := 0
	url := script(t, func(c net.Conn, r *bufio.Reader) {
		mu.Lock()
		conns++
		bad := conns <= failures
		mu.Unlock()
		for readHead(r) {
			if bad {
				time.Sleep(5 * time.Millisecond)
				return
			}
			mu.Lock()
			began = append(began, time.Now())
			mu.Unlock()
			time.Sleep(3 * time.Millisecond)
			mu.Lock()
			ended = append(ended, time.Now())
			mu.Unlock()
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
		}
	})
	res := mustRun(t, newJob(url, failures+n, 1))
	if res.Counts.Complete != n || res.Counts.Receive != failures {
		t.Fatalf("counts %+v, want %d complete and %d broken", res.Counts, n, failures)
	}
	before := func(times []time.Time, at time.Time) (k int64) {
		for _, x := range times {
			if x.Before(at) {
				k++
			}
		}
		return k
	}
	var sum int64
	for i, iv := range res.Intervals {
		sum += iv.Complete
		at := res.StartedAt.Add(time.Duration(iv.StartNS + iv.LengthNS))
		if i == len(res.Intervals)-1 {
			break
		}
		if most, least := before(ended, at), before(began, at)-1; sum > most || sum < least {
			t.Errorf("up to interval %d: %d answers, the server ended %d and had the next request after %d", i, sum, most, least)
		}
	}
	if sum != n {
		t.Errorf("intervals hold %d answers, want %d", sum, n)
	}
	// The failures took 25 ms, so nothing ended in the first 20 ms.
	if res.Intervals[0].Complete != 0 || res.Intervals[0].P50NS != nil {
		t.Errorf("first interval %+v, want an empty one", res.Intervals[0])
	}
	if !strings.Contains(strings.Join(res.Notes, "\n"), "no time for failures") {
		t.Errorf("notes %q", res.Notes)
	}
}

func TestZeroIsFound(t *testing.T) {
	a, err := findZero(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b, err := findZero(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// Both look for the same moment; a busy machine may disturb one.
	if d := a.Sub(b).Abs(); d > 10*time.Millisecond {
		t.Errorf("two attempts differ by %v", d)
	}
	if a.After(time.Now()) {
		t.Error("the zero lies in the future")
	}
}

func TestDuration(t *testing.T) {
	url, server := serve(t, hello)
	job := newJob(url, 0, 4)
	job.Duration = 150 * time.Millisecond
	res := mustRun(t, job)
	if got := server.count(); res.Counts.Complete != got || got == 0 {
		t.Errorf("complete %d, the server saw %d", res.Counts.Complete, got)
	}
	if res.Interrupted {
		t.Error("marked as interrupted")
	}
	if e := time.Duration(res.ElapsedNS); e < job.Duration || e > job.Duration+job.Grace()+time.Second {
		t.Errorf("elapsed %v of %v", e, job.Duration)
	}
}

// TestDurationDropsWhatHangs: a server that goes silent cannot hold the run,
// and what never came is no failure.
func TestDurationDropsWhatHangs(t *testing.T) {
	var mu sync.Mutex
	answered := 0
	url := script(t, func(c net.Conn, r *bufio.Reader) {
		for readHead(r) {
			mu.Lock()
			answered++
			silent := answered > 20
			mu.Unlock()
			if silent {
				_, _ = r.ReadByte()
				return
			}
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
		}
	})
	job := newJob(url, 0, 3)
	job.Duration = 500 * time.Millisecond // enough for twenty answers on a busy machine
	begin := time.Now()
	res := mustRun(t, job)
	if took := time.Since(begin); took > 7*time.Second {
		t.Errorf("took %v, the timeout is %v", took, job.Timeout)
	}
	if res.Counts.Complete != 20 || res.Counts.Failed != 0 {
		t.Errorf("counts %+v, want 20 complete; errors %v", res.Counts, res.Errors)
	}
	if !strings.Contains(strings.Join(res.Notes, "\n"), "3 requests were still under way") {
		t.Errorf("notes %q", res.Notes)
	}
	// Load was on for the whole duration, although the last answer came early.
	if res.ElapsedNS < int64(job.Duration) {
		t.Errorf("elapsed %d ns of %v", res.ElapsedNS, job.Duration)
	}
}

// TestRequestsEndADuration: with both set, what comes first ends the run.
func TestRequestsEndADuration(t *testing.T) {
	url, server := serve(t, hello)
	job := newJob(url, 25, 4)
	job.Duration = time.Minute
	res := mustRun(t, job)
	if res.Counts.Complete != 25 || server.count() != 25 || res.Interrupted {
		t.Errorf("counts %+v, the server saw %d", res.Counts, server.count())
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var once sync.Once
	var under sync.WaitGroup
	under.Add(1)
	url, server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("hang") {
			<-r.Context().Done()
			return
		}
		once.Do(under.Done)
		hello(w, r)
	})
	go func() { under.Wait(); cancel() }()
	res, err := Run(ctx, newJob(url, 10_000_000, 3), nil)
	if err != nil {
		t.Fatal(err)
	}
	if !res.Interrupted || res.Counts.Failed != 0 {
		t.Errorf("interrupted %v, counts %+v, errors %v", res.Interrupted, res.Counts, res.Errors)
	}
	if seen := server.count(); res.Counts.Complete > seen || res.Counts.Complete < seen-3 {
		t.Errorf("complete %d, the server saw %d, of which 3 may have been cut off", res.Counts.Complete, seen)
	}
	// Requests that hang are given up at once.
	hung, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	begin := time.Now()
	res, err = Run(hung, newJob(url+"?hang", 100, 3), nil)
	if err != nil {
		t.Fatal(err)
	}
	if time.Since(begin) > 5*time.Second || !res.Interrupted || res.Counts.Requests() != 0 {
		t.Errorf("took %v, interrupted %v, counts %+v, errors %v", time.Since(begin), res.Interrupted, res.Counts, res.Errors)
	}
}

// TestCancelInTheBody: to the library, a body that our own stop cut off is a
// whole answer. It must not count.
func TestCancelInTheBody(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var under sync.WaitGroup
	under.Add(3)
	url, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "10")
		_, _ = io.WriteString(w, "x")
		w.(http.Flusher).Flush()
		under.Done()
		<-r.Context().Done()
	})
	go func() { under.Wait(); cancel() }()
	res, err := Run(ctx, newJob(url, 3, 3), nil)
	if err != nil {
		t.Fatal(err)
	}
	if res.Counts.Requests() != 0 || !res.Interrupted || res.Total.Count() != 0 {
		t.Errorf("counts %+v, interrupted %v", res.Counts, res.Interrupted)
	}
	if !strings.Contains(strings.Join(res.Notes, "\n"), "3 requests were still under way") {
		t.Errorf("notes %q", res.Notes)
	}
}

func TestCancelledBefore(t *testing.T) {
	url, server := serve(t, hello)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	res, err := Run(ctx, newJob(url, 10, 2), nil)
	if err != nil {
		t.Fatal(err)
	}
	if !res.Interrupted || res.Counts.Requests() != 0 || server.count() != 0 {
		t.Errorf("interrupted %v, counts %+v, the server saw %d requests", res.Interrupted, res.Counts, server.count())
	}
}

// TestEndIsNotBeforeTheLastAnswer: with failures the end is the one that the
// library measures, whose clock starts a little later than ours.
func TestEndIsNotBeforeTheLastAnswer(t *testing.T) {
	zero := time.Now()
	at := func(ms int64) time.Time { return zero.Add(time.Duration(ms) * time.Millisecond) }
	for _, c := range []struct{ workersEnd, want int64 }{{10, 11}, {12, 12}} {
		rep := &report{requests: 2, errors: []heyError{{"EOF", 1}}}
		for col, v := range [columns]int64{colLatency: 10e6, colConnect: 0, colWrite: 0, colDelay: 10e6, colRead: 0, colOffset: 1e6, colStatus: 200} {
			rep.cols[col] = []int64{v}
		}
		var s sum
		s.init()
		end, counted := s.add(&part{requests: 2, works: []*partWork{{report: rep}}},
			partAxis{zero: zero, first: at(1), end: at(c.workersEnd), interval: 20 * time.Millisecond})
		if !end.Equal(at(c.want)) || counted != 2 {
			t.Errorf("workers ended after %d ms: the load did after %v, %d requests; want %d ms, 2", c.workersEnd, end.Sub(zero), counted, c.want)
		}
	}
}

// TestParts makes the parts small: every request is made, rows of all parts
// are there, and the connections of a part are closed before the next.
func TestParts(t *testing.T) {
	var open sync.Map
	s := &seen{}
	url := script(t, func(c net.Conn, r *bufio.Reader) {
		defer open.Delete(c)
		for readHead(r) {
			open.Store(c, true)
			s.mu.Lock()
			s.requests++
			s.mu.Unlock()
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
		}
	})
	res, err := engine{partRequests: 100, maxHeap: mostHeap}.run(t.Context(), newJob(url, 1030, 7), nil)
	if err != nil {
		t.Fatal(err)
	}
	if s.requests != 1030 || res.Counts.Complete != 1030 || res.Total.Count() != 1030 {
		t.Errorf("server %d, complete %d, total %d: want 1030", s.requests, res.Counts.Complete, res.Total.Count())
	}
	// Ten parts of 100 and one of 30.
	if !strings.Contains(strings.Join(res.Notes, "\n"), "in 11 parts") {
		t.Errorf("notes %q", res.Notes)
	}
	var complete, length, end int64
	for _, iv := range res.Intervals {
		if iv.StartNS < end {
			t.Errorf("interval at %d overlaps the one that ends at %d", iv.StartNS, end)
		}
		complete += iv.Complete
		length += iv.LengthNS
		end = iv.StartNS + iv.LengthNS
	}
	if complete != 1030 || length != res.ElapsedNS {
		t.Errorf("intervals hold %d answers in %d ns, want 1030 in %d", complete, length, res.ElapsedNS)
	}
	left := func() (n int) {
		open.Range(func(any, any) bool { n++; return true })
		return n
	}
	for deadline := time.Now().Add(3 * time.Second); left() > 0 && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	// Connections that were dialled and never used cannot be found.
	if n := left(); n > 0 {
		t.Errorf("%d connections that were used are still open", n)
	}
}

func TestDurationInParts(t *testing.T) {
	url, server := serve(t, hello)
	job := newJob(url, 0, 4)
	job.Duration = 100 * time.Millisecond
	res, err := engine{partRequests: 50, maxHeap: mostHeap}.run(t.Context(), job, nil)
	if err != nil {
		t.Fatal(err)
	}
	if res.Counts.Complete != server.count() || res.Counts.Complete == 0 || res.Interrupted {
		t.Errorf("complete %d, the server saw %d, interrupted %v", res.Counts.Complete, server.count(), res.Interrupted)
	}
}

func TestProgress(t *testing.T) {
	url, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(2 * time.Millisecond)
		hello(w, r)
	})
	job := newJob(url, 100, 2)
	job.Interval = 5 * time.Millisecond
	var all []load.Progress
	if _, err := Run(t.Context(), job, func(p load.Progress) { all = append(all, p) }); err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		t.Fatal("no progress")
	}
	for i, p := range all {
		if p.Counts != (load.Counts{}) || p.Interval != nil || p.Begun == nil || *p.Begun < 1 || *p.Begun > 100 {
			t.Errorf("progress %d: %+v", i, p)
		}
		if i > 0 && (p.ElapsedNS <= all[i-1].ElapsedNS || *p.Begun < *all[i-1].Begun) {
			t.Errorf("progress %d goes back", i)
		}
	}
}
