package lab

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"
)

// maxDelay bounds what /delay may be asked for.
const maxDelay = 60 * time.Second

// delayKept is how many of the latest delays are kept for the median.
const delayKept = 1 << 16

// delayStats keeps how long the delays really took, which is longer than what
// was asked for by the timer's lateness.
type delayStats struct {
	mu    sync.Mutex
	count int64
	kept  []time.Duration // a ring once it is full
}

func (s *delayStats) add(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.kept) < delayKept {
		s.kept = append(s.kept, d)
	} else {
		s.kept[s.count%delayKept] = d
	}
	s.count++
}

// delaySummary describes the latest delays (at most 65,536 of them).
type delaySummary struct {
	// Count is all delays since the start or the last reset.
	Count int64 `json:"count"`
	// MedianNS, MinNS and MaxNS are absent without a delay.
	MedianNS *int64 `json:"median_ns,omitempty"`
	MinNS    *int64 `json:"min_ns,omitempty"`
	MaxNS    *int64 `json:"max_ns,omitempty"`
}

func (s *delayStats) summary() delaySummary {
	s.mu.Lock()
	sorted := slices.Clone(s.kept)
	sum := delaySummary{Count: s.count}
	s.mu.Unlock()
	n := len(sorted)
	if n == 0 {
		return sum
	}
	slices.Sort(sorted)
	median := int64(sorted[(n-1)/2]+sorted[n/2]) / 2
	least, most := int64(sorted[0]), int64(sorted[n-1])
	sum.MedianNS, sum.MinNS, sum.MaxNS = &median, &least, &most
	return sum
}

func (s *delayStats) reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count, s.kept = 0, nil
}

// serveDelay answers after ?ms= milliseconds and says in X-Delay-Ns how long
// it took by this server's own clock.
func (d *Demo) serveDelay(w http.ResponseWriter, r *http.Request) {
	begin := time.Now()
	ms, err := strconv.ParseFloat(r.URL.Query().Get("ms"), 64)
	if err != nil || !(ms >= 0 && ms <= float64(maxDelay/time.Millisecond)) {
		text(w, r, http.StatusBadRequest, "400: ms must be a number from 0 to 60000\n")
		return
	}
	t := time.NewTimer(time.Duration(ms * float64(time.Millisecond)))
	defer t.Stop()
	select {
	case <-t.C:
	case <-r.Context().Done():
		panic(http.ErrAbortHandler) // nobody waits any more
	}
	took := time.Since(begin)
	d.delays.add(took)
	w.Header().Set("X-Delay-Ns", strconv.FormatInt(int64(took), 10))
	text(w, r, http.StatusOK, "waited\n")
}

// serveDelayStats tells of the delays so far; POST forgets them.
func (d *Demo) serveDelayStats(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		d.delays.reset()
		w.WriteHeader(http.StatusNoContent)
		return
	}
	body, err := json.Marshal(d.delays.summary())
	if err != nil {
		text(w, r, http.StatusInternalServerError, err.Error()+"\n")
		return
	}
	send(w, r, http.StatusOK, "application/json", append(body, '\n'))
}
