package abcompat

import "abacus/harness/load"

// row is one line of the table of connection times: min, mean, median and max
// in whole milliseconds as ab rounds them, the standard deviation in
// milliseconds.
type row struct {
	min, mean, median, max int64
	sd                     float64
}

// rowOf takes the figures of a distribution that is not empty.
func rowOf(d *load.Distribution) row {
	low, _ := d.Min()
	high, _ := d.Max()
	mean, _ := d.Mean()
	sd, _ := d.StdDev()
	return row{
		min: wholeMS(low), mean: wholeMS(int64(mean)), median: wholeMS(median(d)), max: wholeMS(high),
		sd: sd / 1e6,
	}
}

// wholeMS rounds nanoseconds as ab does: cut to microseconds, then to the
// nearest millisecond, halves up.
func wholeMS(ns int64) int64 { return (ns/1000 + 500) / 1000 }

// median is the middle duration, or the mean of the two in the middle.
func median(d *load.Distribution) int64 {
	n := d.Count()
	if n%2 == 1 {
		return ranked(d, n/2+1)
	}
	return (ranked(d, n/2) + ranked(d, n/2+1)) / 2
}

// served is the time in whole milliseconds within which percent of the
// requests were served, by ab's rule: the element floor(n·percent/100),
// counted from 0, of the sorted list.
func served(d *load.Distribution, percent int64) int64 {
	n := d.Count()
	return wholeMS(ranked(d, min(n*percent/100+1, n)))
}

// ranked is the k-th smallest duration, counted from 1.
func ranked(d *load.Distribution, k int64) int64 {
	v, _ := d.Quantile(0)
	if n := d.Count(); k > 1 {
		v, _ = d.Quantile(float64(k) / float64(n))
	}
	return v
}

// withReused adds a connect time of 0 for every request on a kept connection:
// ab has one value per request in each row, the engine real connects only.
func withReused(connect, total *load.Distribution) *load.Distribution {
	all := load.NewDistribution()
	all.Merge(connect)
	for all.Count() < total.Count() {
		all.Record(0)
	}
	return all
}
