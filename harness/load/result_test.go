package load

import (
	"reflect"
	"testing"
)

func pointer(n int64) *int64 { return &n }

func TestCountsAdd(t *testing.T) {
	c := Counts{Complete: 90}
	for i, k := range Kinds() {
		for range i + 1 {
			c.Add(k)
		}
	}
	// 1 connect, 2 receive, 3 length, 4 timeout, 5 exception.
	want := Counts{Complete: 90, Failed: 15, Connect: 1, Receive: 2, Length: pointer(3), Timeout: 4, Exception: 5}
	if !reflect.DeepEqual(c, want) {
		t.Errorf("counts %+v, want %+v", c, want)
	}
	// The three of another length are whole answers too: 90 + 15 − 3.
	if got := c.Requests(); got != 102 {
		t.Errorf("%d requests, want 102", got)
	}
	for i, k := range Kinds() {
		if got, ok := c.ByKind(k); got != int64(i+1) || !ok {
			t.Errorf("%s: %d, %v, want %d", k, got, ok, i+1)
		}
	}
	if _, ok := c.ByKind("unheard of"); ok {
		t.Error("an unknown kind has a count")
	}
	if _, ok := (Counts{}).ByKind(FailLength); ok {
		t.Error("a length failure that nobody counted is said to be known")
	}
}

func TestCountsMerge(t *testing.T) {
	a := Counts{Complete: 1, Failed: 2, Connect: 3, Receive: 4, Timeout: 5, Exception: 6, Non2xx: 7, Length: pointer(8), SentBytes: pointer(9)}
	b := Counts{Complete: 10, Failed: 20, Connect: 30, Receive: 40, Timeout: 50, Exception: 60, Non2xx: 70, Length: pointer(80), BodyBytes: pointer(90)}
	a.Merge(b)
	want := Counts{Complete: 11, Failed: 22, Connect: 33, Receive: 44, Timeout: 55, Exception: 66, Non2xx: 77,
		Length: pointer(88), SentBytes: pointer(9), BodyBytes: pointer(90)}
	if !reflect.DeepEqual(a, want) {
		t.Errorf("merged %+v, want %+v", a, want)
	}
	// The two must not share what they point to.
	*a.BodyBytes++
	if *b.BodyBytes != 90 {
		t.Error("merging has tied two counts together")
	}
}

func TestTopLengths(t *testing.T) {
	counts := map[int64]int64{}
	for i := range int64(15) {
		counts[100+i] = 1 + i%3
	}
	got := TopLengths(counts)
	// 102, 105, … came three times, 101, 104, … twice: five of each.
	want := []LengthCount{{102, 3}, {105, 3}, {108, 3}, {111, 3}, {114, 3}, {101, 2}, {104, 2}, {107, 2}, {110, 2}, {113, 2}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("lengths %v, want %v", got, want)
	}
	if got := TopLengths(nil); len(got) != 0 {
		t.Errorf("no lengths give %v", got)
	}
}

func TestThroughput(t *testing.T) {
	r := Result{ElapsedNS: 2_500_000_000, Counts: Counts{Complete: 1000, Failed: 10}}
	if v, ok := r.ThroughputPerS(); v != 400 || !ok {
		t.Errorf("throughput %v, %v, want 400", v, ok)
	}
	r.ElapsedNS = 0
	if _, ok := r.ThroughputPerS(); ok {
		t.Error("a run without length has a throughput")
	}
}
