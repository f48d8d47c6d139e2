package lab

import (
	"net/http"
	"strings"
	"sync"
	"time"
)

// MaxWorkers bounds the pool, and with it the length of the scoreboard.
const MaxWorkers = 20000

// pool is a fixed number of worker slots. A request holds one while it is
// served, so the pool bounds how many are.
type pool struct {
	free  chan int
	slots []slot
}

// slot is one worker.
type slot struct {
	mu sync.Mutex
	slotState
}

// slotState is a worker's account.
type slotState struct {
	busy     bool
	accesses int64
	bytes    int64
	duration time.Duration // sum over requests
	began    time.Time     // of the most recent request; zero is none yet
	last     time.Duration // of the most recent finished request
	request  requestLine
}

// requestLine is what the status page shows of a slot's most recent request.
type requestLine struct{ client, proto, host, method, uri string }

func newPool(n int) *pool {
	p := &pool{free: make(chan int, n), slots: make([]slot, n)}
	for i := range n {
		p.free <- i
	}
	return p
}

// take waits for a free slot. It fails when the client leaves first.
func (p *pool) take(r *http.Request) (int, bool) {
	var i int
	select {
	case i = <-p.free:
	default:
		select {
		case i = <-p.free:
		case <-r.Context().Done():
			return 0, false
		}
	}
	s := &p.slots[i]
	s.mu.Lock()
	s.busy = true
	s.began = time.Now()
	s.request = requestLine{client: r.RemoteAddr, proto: r.Proto, host: r.Host, method: r.Method, uri: r.RequestURI}
	s.mu.Unlock()
	return i, true
}

// release ends a request that sent so many bytes.
func (p *pool) release(i int, bytes int64) {
	s := &p.slots[i]
	s.mu.Lock()
	s.busy = false
	s.accesses++
	s.bytes += bytes
	s.last = time.Since(s.began)
	s.duration += s.last
	s.mu.Unlock()
	p.free <- i
}

// poolState is the pool at one moment, slot by slot.
type poolState struct {
	slots           []slotState
	busy            int
	accesses, bytes int64
	duration        time.Duration
}

func (p *pool) state() poolState {
	st := poolState{slots: make([]slotState, len(p.slots))}
	for i := range p.slots {
		s := &p.slots[i]
		s.mu.Lock()
		st.slots[i] = s.slotState
		s.mu.Unlock()
		st.accesses += st.slots[i].accesses
		st.bytes += st.slots[i].bytes
		st.duration += st.slots[i].duration
		if st.slots[i].busy {
			st.busy++
		}
	}
	return st
}

// letter is what the scoreboard shows for the slot. The demo is like the
// event MPM: a connection that waits for its next request holds no worker.
func (s slotState) letter() byte {
	if s.busy {
		return 'W'
	}
	return '_'
}

func (st poolState) scoreboard() string {
	var b strings.Builder
	b.Grow(len(st.slots))
	for _, s := range st.slots {
		b.WriteByte(s.letter())
	}
	return b.String()
}
