package native

import (
	"time"

	"abacus/harness/load"
)

// intervals cuts a run into slices and reports progress, from one goroutine.
type intervals struct {
	run      *run
	progress func(load.Progress)
	list     []load.Interval
	// before is the account and from the time at which the slice began.
	before tally
	from   int64
	// merged adds up the shards' slices; spare takes the place of the ones
	// that are read.
	merged, spare *load.Distribution
}

func newIntervals(r *run, progress func(load.Progress)) *intervals {
	return &intervals{run: r, progress: progress, merged: load.NewDistribution(), spare: load.NewDistribution()}
}

// loop cuts a slice every Job.Interval, and the last one when finished.
func (v *intervals) loop(finished <-chan struct{}) {
	tick := time.NewTicker(v.run.job.Every())
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			v.cut(v.run.now())
		case <-finished:
			// What ended since the last cut must not be lost to a coarse clock.
			v.cut(max(v.run.now(), v.from+1))
			return
		}
	}
}

// cut ends the slice at the time now.
func (v *intervals) cut(now int64) {
	if now <= v.from {
		return
	}
	var total tally
	v.merged.Reset()
	for _, s := range v.run.shards {
		slice, t := s.takeSlice(v.spare)
		total.add(t)
		v.merged.Merge(slice)
		slice.Reset()
		v.spare = slice
	}
	bytes := total.bodyBytes - v.before.bodyBytes
	iv := load.Interval{
		StartNS: v.from, LengthNS: now - v.from,
		Complete: total.complete - v.before.complete, Failed: total.failed() - v.before.failed(),
		Timeouts: total.timeout - v.before.timeout, Status429: total.status429 - v.before.status429,
		Bytes: &bytes,
	}
	iv.P50NS = quantile(v.merged, 0.5)
	iv.P95NS = quantile(v.merged, 0.95)
	iv.P99NS = quantile(v.merged, 0.99)
	iv.MaxNS = quantile(v.merged, 1)
	v.list = append(v.list, iv)
	v.before, v.from = total, now
	if v.progress != nil {
		v.progress(load.Progress{ElapsedNS: now, Counts: total.counts(), Interval: &iv})
	}
}

// endWith ends the slices where the run does: a client that rests after refused
// connects, or a request that is waited for and then dropped, can hold up the
// loop beyond that. A slice with anything in it stays.
func endWith(list []load.Interval, elapsed int64) []load.Interval {
	for len(list) > 0 {
		last := &list[len(list)-1]
		if last.StartNS < elapsed {
			last.LengthNS = min(last.LengthNS, elapsed-last.StartNS)
			break
		}
		if last.Complete+last.Failed > 0 {
			break
		}
		list = list[:len(list)-1]
	}
	return list
}

func quantile(d *load.Distribution, q float64) *int64 {
	v, ok := d.Quantile(q)
	if !ok {
		return nil
	}
	return &v
}
