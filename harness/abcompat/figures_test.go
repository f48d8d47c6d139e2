package abcompat

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"abacus/harness/load"
)

const ms = 1_000_000

func distribution(ns ...int64) *load.Distribution {
	d := load.NewDistribution()
	for _, v := range ns {
		d.Record(v)
	}
	return d
}

// TestWholeMS: ab cuts to microseconds, then rounds halves up.
func TestWholeMS(t *testing.T) {
	for ns, want := range map[int64]int64{
		0: 0, 499_999: 0, 500_000: 1, 1_499_999: 1, 1_499_000: 1, 1_500_000: 2, 1_499_999_999: 1500, 999: 0,
	} {
		if got := wholeMS(ns); got != want {
			t.Errorf("wholeMS(%d) = %d, want %d", ns, got, want)
		}
	}
}

// TestRowOf: figures worked by hand. The first three sets are those of the
// fact sheet, for which ab prints the medians 308, 202 and 252.
func TestRowOf(t *testing.T) {
	for _, c := range []struct {
		name string
		ns   []int64
		want row // sd is compared within 1e-9
	}{
		{"odd", []int64{402 * ms, 102 * ms, 215 * ms},
			// mean 719/3 = 239.67; deviations² 18952.1+608.4+26352.1, /2 → √22956.33
			row{102, 240, 215, 402, 151.513475748309}},
		{"even", []int64{51 * ms, 102 * ms, 202 * ms, 401 * ms},
			// mean 189, median (102+202)/2; deviations² 19044+7569+169+44944 = 71726, /3
			row{51, 189, 152, 401, 154.624275799975}},
		{"odd of five", []int64{52 * ms, 102 * ms, 202 * ms, 302 * ms, 402 * ms},
			// mean 212; deviations² 25600+12100+100+8100+36100 = 82000, /4
			row{52, 212, 202, 402, 143.178210632764}},
		{"one", []int64{1_500_000}, row{2, 2, 2, 2, 0}},
		{"two", []int64{0, 1 * ms}, row{0, 1, 1, 1, 0.707106781186548}},
	} {
		got := rowOf(distribution(c.ns...))
		if math.Abs(got.sd-c.want.sd) > 1e-9 {
			t.Errorf("%s: sd %.12f, want %.12f", c.name, got.sd, c.want.sd)
		}
		got.sd, c.want.sd = 0, 0
		if got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// TestServed: of n sorted times, percent p takes the element floor(n·p/100)
// from 0, so with the times 1…n ms the answer is that plus one.
func TestServed(t *testing.T) {
	for _, c := range []struct {
		n       int64
		percent int64
		want    int64
	}{
		{2, 50, 2}, {2, 99, 2}, {3, 50, 2}, {3, 66, 2}, {3, 75, 3}, {10, 50, 6}, {10, 90, 10},
		{100, 50, 51}, {100, 99, 100}, {200, 98, 197}, {200, 99, 199}, {150, 66, 100},
	} {
		d := load.NewDistribution()
		for i := range c.n {
			d.Record((i + 1) * ms)
		}
		if got := served(d, c.percent); got != c.want {
			t.Errorf("%d%% of 1…%d ms: %d ms, want %d", c.percent, c.n, got, c.want)
		}
	}
}

// TestWithReused: three real connects among five requests.
func TestWithReused(t *testing.T) {
	total := distribution(9*ms, 9*ms, 9*ms, 9*ms, 9*ms)
	got := rowOf(withReused(distribution(2*ms, 4*ms, 4*ms), total))
	// 0 0 2 4 4: mean 2, median 2, deviations² 4+4+0+4+4 = 16, /4
	if want := (row{0, 2, 2, 4, 2}); cmp.Diff(want, got, cmp.AllowUnexported(row{})) != "" {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := withReused(nil, total); got.Count() != 5 {
		t.Errorf("without connects: %d values, want 5", got.Count())
	}
}

// TestNoWarningIsEverDue shows why ab's two warnings are left out: the mean
// and the median of any numbers are less than one standard deviation apart,
// so only rounding (or a wrong median) can raise them.
func TestNoWarningIsEverDue(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		d := load.NewDistribution()
		for range 2 + r.IntN(40) {
			d.Record(int64(math.Exp(r.Float64() * 23)))
		}
		mean, _ := d.Mean()
		sd, _ := d.StdDev()
		if gap := math.Abs(mean - float64(median(d))); gap > sd*1.01+1 {
			t.Fatalf("mean and median are %.0f apart, the standard deviation is %.0f", gap, sd)
		}
	}
}
