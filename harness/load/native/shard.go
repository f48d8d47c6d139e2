package native

import (
	"sync"

	"abacus/harness/load"
)

// maxLengths bounds the number of different body lengths that a shard counts.
const maxLengths = 512

// tally is load.Counts as plain numbers, cheap to add to.
type tally struct {
	complete, keptAlive, non2xx, reconnects int64
	connect, receive, length, timeout       int64
	exception, status429                    int64
	headerBytes, bodyBytes, sentBytes       int64
}

func (t *tally) fail(k load.FailureKind) {
	switch k {
	case load.FailConnect:
		t.connect++
	case load.FailReceive:
		t.receive++
	case load.FailLength:
		t.length++
	case load.FailTimeout:
		t.timeout++
	default:
		t.exception++
	}
}

func (t *tally) add(o tally) {
	t.complete += o.complete
	t.keptAlive += o.keptAlive
	t.non2xx += o.non2xx
	t.reconnects += o.reconnects
	t.connect += o.connect
	t.receive += o.receive
	t.length += o.length
	t.timeout += o.timeout
	t.exception += o.exception
	t.status429 += o.status429
	t.headerBytes += o.headerBytes
	t.bodyBytes += o.bodyBytes
	t.sentBytes += o.sentBytes
}

func (t tally) failed() int64 { return t.connect + t.receive + t.length + t.timeout + t.exception }

// counts is the tally in the form of a result; it knows every figure.
func (t tally) counts() load.Counts {
	return load.Counts{
		Complete: t.complete, Failed: t.failed(), Connect: t.connect, Receive: t.receive,
		Length: &t.length, Timeout: t.timeout, Exception: t.exception, Non2xx: t.non2xx,
		Reconnects: &t.reconnects, KeptAlive: &t.keptAlive,
		HeaderBytes: &t.headerBytes, BodyBytes: &t.bodyBytes, SentBytes: &t.sentBytes,
	}
}

// outcome is what an exchange adds to the account. Times lie on the run's
// axis; those of steps that did not happen are not looked at.
type outcome struct {
	start, connected, written, first, end int64
	dialStart                             int64
	status                                int
	// dialled tells of a connect, and its TLS, that succeeded; reconnected
	// that the request was sent once more after one.
	dialled, reused, reconnected, whole bool
	kind                                load.FailureKind
	err                                 error
	headerBytes, bodyBytes, sentBytes   int64
}

// shard is the account of a part of the connections. There are about as many
// as processors, so that they seldom wait for each other.
type shard struct {
	mu    sync.Mutex
	total tally
	// The distributions of the run, and of total for the interval under way.
	connect, waiting, processing, all *load.Distribution
	slice                             *load.Distribution
	codes                             [1000]int64
	// lengths counts body lengths; the first one, which nearly all have, is
	// counted apart.
	firstLength, firstCount int64
	lengths                 map[int64]int64
	lengthsCut              bool
	// last is the end of the latest exchange.
	last int64
}

func newShard() *shard {
	return &shard{
		connect: load.NewDistribution(), waiting: load.NewDistribution(),
		processing: load.NewDistribution(), all: load.NewDistribution(),
		slice: load.NewDistribution(), firstLength: -1, lengths: map[int64]int64{},
	}
}

// record enters one exchange.
func (s *shard) record(o *outcome) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = max(s.last, o.end)
	s.total.headerBytes += o.headerBytes
	s.total.bodyBytes += o.bodyBytes
	s.total.sentBytes += o.sentBytes
	if o.reconnected {
		s.total.reconnects++
	}
	if o.kind != "" {
		s.total.fail(o.kind)
	}
	if !o.whole {
		return
	}
	s.total.complete++
	if o.reused {
		s.total.keptAlive++
	}
	if o.status < 200 || o.status > 299 {
		s.total.non2xx++
	}
	if o.status == 429 {
		s.total.status429++
	}
	s.codes[o.status]++
	s.countLength(o.bodyBytes)
	if o.dialled {
		s.connect.Record(o.connected - o.dialStart)
	}
	s.waiting.Record(o.first - o.written)
	s.processing.Record(o.end - o.connected)
	s.all.Record(o.end - o.start)
	s.slice.Record(o.end - o.start)
}

func (s *shard) countLength(n int64) {
	if s.firstLength < 0 {
		s.firstLength = n
	}
	if n == s.firstLength {
		s.firstCount++
		return
	}
	if _, known := s.lengths[n]; !known && len(s.lengths) >= maxLengths {
		s.lengthsCut = true
		return
	}
	s.lengths[n]++
}

// takeSlice returns the distribution of the interval that ends now, for which
// it leaves an empty one, and the account so far.
func (s *shard) takeSlice(empty *load.Distribution) (slice *load.Distribution, total tally) {
	s.mu.Lock()
	defer s.mu.Unlock()
	slice, s.slice = s.slice, empty
	return slice, s.total
}
