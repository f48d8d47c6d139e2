package heylib

import (
	"math"
	"slices"
	"time"

	"abacus/harness/load"
)

// partAxis lays the rows of a part on the run's axis.
type partAxis struct {
	zero  time.Time // of the library's offsets
	first time.Time // when the part's first request was begun
	// stopped is when the part was ended before its requests were made, cut
	// when those under way were given up; zero: never.
	stopped, cut time.Time
	end          time.Time // when the last worker ended
	// offset is the part's start on the run's axis, pauses included.
	offset   time.Duration
	interval time.Duration
}

// sum adds up the rows of all parts.
type sum struct {
	counts                              load.Counts
	keptAlive                           int64
	status                              map[int]int64
	connect, waiting, processing, total *load.Distribution
	intervals                           []load.Interval
	errors                              load.ErrorTable
	unknownPhases                       int64
	dropped                             int64
}

func (s *sum) init() {
	s.status = make(map[int]int64)
	s.connect, s.waiting = load.NewDistribution(), load.NewDistribution()
	s.processing, s.total = load.NewDistribution(), load.NewDistribution()
}

// slot is what ended in one interval.
type slot struct {
	latencies []int64
	status429 int64
}

// add takes all rows and failures of a part, and returns when its load ended
// and how many requests were counted. The load ends with the last answer; a
// part that was stopped with requests under way was loaded until then at
// least, answered or not.
func (s *sum) add(p *part, axis partAxis) (end time.Time, counted int64) {
	// Rows that ended after the cut were cut off in their body, or may have
	// been.
	cutNS := int64(math.MaxInt64)
	if !axis.cut.IsZero() {
		cutNS = int64(axis.cut.Sub(axis.zero))
	}
	firstNS := int64(axis.first.Sub(axis.zero))
	var slots []slot
	var complete, failed int64
	lastNS := firstNS
	for _, w := range p.works {
		c := &w.report.cols
		for i := range c[colLatency] {
			ended := c[colOffset][i] + c[colLatency][i]
			if ended > cutNS {
				s.dropped++
				continue
			}
			complete++
			lastNS = max(lastNS, ended)
			s.row(c, i)
			n := int(max(ended-firstNS, 0) / int64(axis.interval))
			for len(slots) <= n {
				slots = append(slots, slot{})
			}
			slots[n].latencies = append(slots[n].latencies, c[colLatency][i])
			if c[colStatus][i] == 429 {
				slots[n].status429++
			}
		}
		failed += s.failures(w.report.errors, !axis.cut.IsZero())
	}
	end = axis.zero.Add(time.Duration(lastNS))
	if failed > 0 {
		// When the failures ended is known only for the last of all.
		last := axis.end
		if !axis.cut.IsZero() && axis.cut.Before(last) {
			last = axis.cut
		}
		if last.After(end) {
			end = last
		}
	}
	if counted = complete + failed; counted < p.requests && axis.stopped.After(end) {
		end = axis.stopped
	}
	s.addIntervals(slots, axis, end.Sub(axis.first))
	return end, counted
}

// row adds one whole answer.
func (s *sum) row(c *[columns][]int64, i int) {
	latency, connect := c[colLatency][i], c[colConnect][i]
	write, delay, read := c[colWrite][i], c[colDelay][i], c[colRead][i]
	status := int(c[colStatus][i])
	s.counts.Complete++
	s.status[status]++
	if status < 200 || status > 299 {
		s.counts.Non2xx++
	}
	s.total.Record(latency)
	if min(connect, write, delay, read) < 0 || connect > latency || connect+write+delay+read > latency {
		s.unknownPhases++
		return
	}
	if connect > 0 {
		s.connect.Record(connect)
	} else {
		s.keptAlive++
	}
	s.waiting.Record(delay)
	s.processing.Record(latency - connect)
}

// failures adds the error table of one Work and returns how many counted.
// After a cut, cancelled requests are no failures but were dropped by us.
func (s *sum) failures(list []heyError, wasCut bool) (failed int64) {
	for _, e := range list {
		text := cleanText(e.text)
		if text == errVoid.Error() {
			continue
		}
		if wasCut && isCancel(text) {
			s.dropped += e.count
			continue
		}
		kind := kindOf(text)
		s.counts.AddN(kind, e.count)
		s.errors.Add(kind, text, e.count)
		failed += e.count
	}
	return failed
}

// addIntervals turns the slots of a part into intervals. The last one ends
// with the part; parts share none, so that no interval holds a pause.
func (s *sum) addIntervals(slots []slot, axis partAxis, length time.Duration) {
	for i := 0; time.Duration(i)*axis.interval < length; i++ {
		start := time.Duration(i) * axis.interval
		iv := load.Interval{
			StartNS:  int64(axis.offset + start),
			LengthNS: int64(min(axis.interval, length-start)),
		}
		if i < len(slots) {
			fillInterval(&iv, slots[i])
		}
		// The very last answer may end exactly where an interval would
		// begin that has no length.
		if last := start+axis.interval >= length; last && i+1 < len(slots) {
			more := slots[i]
			more.latencies = append(more.latencies, slots[i+1].latencies...)
			more.status429 += slots[i+1].status429
			fillInterval(&iv, more)
		}
		s.intervals = append(s.intervals, iv)
	}
}

func fillInterval(iv *load.Interval, sl slot) {
	iv.Complete, iv.Status429 = int64(len(sl.latencies)), sl.status429
	if len(sl.latencies) == 0 {
		return
	}
	slices.Sort(sl.latencies)
	// at is the least latency that at least the share q does not exceed.
	at := func(q float64) *int64 {
		i := int(math.Ceil(q*float64(len(sl.latencies)))) - 1
		v := sl.latencies[max(i, 0)]
		return &v
	}
	iv.P50NS, iv.P95NS, iv.P99NS, iv.MaxNS = at(.5), at(.95), at(.99), at(1)
}

// fill puts the sums into the result. A distribution that nothing was recorded
// in stays: it says that nothing was, which is known.
func (s *sum) fill(res *load.Result) {
	res.Counts = s.counts
	res.Counts.KeptAlive = &s.keptAlive
	res.StatusCodes = s.status
	res.Connect, res.Waiting, res.Processing, res.Total = s.connect, s.waiting, s.processing, s.total
	res.Intervals = s.intervals
	res.Errors = s.errors.List()
}
