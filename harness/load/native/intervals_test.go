package native

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"testing"
	"time"

	"abacus/harness/load"
)

func TestIntervalsAddUp(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(2 * time.Millisecond)
		if r.URL.Path == "/429" {
			w.WriteHeader(http.StatusTooManyRequests)
		}
		_, _ = w.Write([]byte("hello"))
	}))
	defer srv.Close()
	j := job(srv.URL+"/429", 300, 4)
	j.Interval = 20 * time.Millisecond
	var said []load.Progress
	res, err := new(Engine).Run(context.Background(), j, func(p load.Progress) { said = append(said, p) })
	if err != nil {
		t.Fatal(err)
	}
	var complete, status429, bytes, at int64
	for i, iv := range res.Intervals {
		if iv.StartNS != at || iv.LengthNS <= 0 {
			t.Errorf("interval %d starts at %d, the last one ended at %d", i, iv.StartNS, at)
		}
		at = iv.StartNS + iv.LengthNS
		complete += iv.Complete
		status429 += iv.Status429
		bytes += *iv.Bytes
		if (iv.Complete > 0) != (iv.P50NS != nil) {
			t.Errorf("interval %d: %d answers, p50 %v", i, iv.Complete, iv.P50NS)
		}
		if iv.P50NS != nil && (*iv.P50NS < 2e6 || *iv.P50NS > *iv.P95NS || *iv.P95NS > *iv.P99NS || *iv.P99NS > *iv.MaxNS) {
			t.Errorf("interval %d: percentiles %d %d %d %d", i, *iv.P50NS, *iv.P95NS, *iv.P99NS, *iv.MaxNS)
		}
	}
	// An answer may be entered just after the slice in which it ended.
	if at != res.ElapsedNS && res.Intervals[len(res.Intervals)-1].StartNS < res.ElapsedNS {
		t.Errorf("the intervals end at %d, the run at %d", at, res.ElapsedNS)
	}
	if complete != 300 || status429 != 300 || bytes != 1500 || res.Counts.Non2xx != 300 {
		t.Errorf("intervals add up to %d answers, %d of 429, %d bytes", complete, status429, bytes)
	}
	// 300 requests of at least 2 ms over 4 connections take at least 150 ms.
	if len(res.Intervals) < 4 || len(said) < len(res.Intervals) {
		t.Errorf("%d intervals, %d times progress", len(res.Intervals), len(said))
	}
	last := said[len(said)-1]
	if last.Counts.Complete != 300 || last.ElapsedNS < res.ElapsedNS || last.Interval == nil {
		t.Errorf("last progress %+v, elapsed %d", last, res.ElapsedNS)
	}
}

// Each slice has its own counts and percentiles, from all shards.
func TestIntervalsAreApart(t *testing.T) {
	r := newRun(&Engine{}, job("http://h/", 10, 2), request{}, nil)
	r.shards = []*shard{newShard(), newShard()}
	v := newIntervals(r, nil)
	answer := func(shard int, took int64) {
		r.shards[shard].record(&outcome{end: took, whole: true, status: 200, bodyBytes: 3})
	}
	answer(0, 1000)
	answer(1, 500)
	answer(1, 1500)
	v.cut(10_000)
	answer(0, 7)
	r.shards[1].record(&outcome{kind: load.FailTimeout})
	v.cut(30_000)
	v.cut(35_000)
	p := func(n int64) *int64 { return &n }
	want := []load.Interval{
		{LengthNS: 10_000, Complete: 3, Bytes: p(9), P50NS: p(1000), P95NS: p(1500), P99NS: p(1500), MaxNS: p(1500)},
		{StartNS: 10_000, LengthNS: 20_000, Complete: 1, Failed: 1, Timeouts: 1, Bytes: p(3), P50NS: p(7), P95NS: p(7), P99NS: p(7), MaxNS: p(7)},
		{StartNS: 30_000, LengthNS: 5_000, Bytes: p(0)},
	}
	if !reflect.DeepEqual(v.list, want) {
		got, _ := json.Marshal(v.list)
		t.Errorf("intervals %s", got)
	}
}

// The slices end with the run, and nothing that was counted goes with what is
// cut off.
func TestIntervalsEndWithTheRun(t *testing.T) {
	slice := func(start, length, complete int64) load.Interval {
		return load.Interval{StartNS: start, LengthNS: length, Complete: complete}
	}
	for _, c := range []struct{ list, want []load.Interval }{
		{[]load.Interval{slice(0, 100, 3), slice(100, 80, 1)}, []load.Interval{slice(0, 100, 3), slice(100, 50, 1)}},
		{[]load.Interval{slice(0, 100, 3), slice(100, 100, 1), slice(200, 100, 0), slice(300, 7, 0)}, []load.Interval{slice(0, 100, 3), slice(100, 50, 1)}},
		{[]load.Interval{slice(0, 100, 3), slice(100, 50, 0)}, []load.Interval{slice(0, 100, 3), slice(100, 50, 0)}},
		// Entered just after the last slice had begun.
		{[]load.Interval{slice(0, 160, 3), slice(160, 5, 1)}, []load.Interval{slice(0, 160, 3), slice(160, 5, 1)}},
	} {
		if got := endWith(slices.Clone(c.list), 150); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%v: %v, want %v", c.list, got, c.want)
		}
	}
}
