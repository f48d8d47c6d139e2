package load

import (
	"encoding/json"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// samples draws durations as a server has them: most around a few
// milliseconds, a long tail, some of a few nanoseconds.
func samples(n int, seed uint64) []int64 {
	r := rand.New(rand.NewPCG(seed, 1))
	out := make([]int64, n)
	for i := range out {
		out[i] = int64(math.Exp(14.5 + 1.2*r.NormFloat64()))
		if i%1000 == 0 {
			out[i] = int64(i % 7)
		}
	}
	return out
}

func record(values []int64) *Distribution {
	d := NewDistribution()
	for _, v := range values {
		d.Record(v)
	}
	return d
}

// plain computes sum, mean and sample standard deviation in 200-bit floats,
// by the two-pass definition and not by sums of squares.
func plain(values []int64) (sum, mean, sd float64) {
	f := func() *big.Float { return new(big.Float).SetPrec(200) }
	total := f()
	for _, v := range values {
		total.Add(total, f().SetInt64(v))
	}
	n := f().SetInt64(int64(len(values)))
	m := f().Quo(total, n)
	squares := f()
	for _, v := range values {
		dev := f().Sub(f().SetInt64(v), m)
		squares.Add(squares, f().Mul(dev, dev))
	}
	variance := f().Quo(squares, f().SetInt64(int64(len(values)-1)))
	sum, _ = total.Float64()
	mean, _ = m.Float64()
	sd, _ = f().Sqrt(variance).Float64()
	return sum, mean, sd
}

// near compares to 1e-12 of want.
func near(got, want float64) bool { return math.Abs(got-want) <= 1e-12*math.Abs(want) }

func TestDistributionAgainstPlainCalculation(t *testing.T) {
	hour := int64(3600 * 1e9)
	for name, values := range map[string][]int64{
		"server":        samples(50_000, 1),
		"two":           {1, 3},
		"all equal":     {7_000_000, 7_000_000, 7_000_000},
		"close to 1 h":  {hour - 1, hour, hour - 2, hour - 1},
		"nearly equal":  {3_000_000_000_001, 3_000_000_000_000, 3_000_000_000_002},
		"zero and long": {0, 0, 0, hour},
	} {
		d := record(values)
		sum, mean, sd := plain(values)
		gotSum, _ := new(big.Float).SetInt(d.sum.big()).Float64()
		gotMean, _ := d.Mean()
		gotSD, ok := d.StdDev()
		if !near(gotSum, sum) || !near(gotMean, mean) || !near(gotSD, sd) || !ok {
			t.Errorf("%s: sum %v, mean %v, sd %v; plain %v, %v, %v", name, gotSum, gotMean, gotSD, sum, mean, sd)
		}
		least, _ := d.Min()
		most, _ := d.Max()
		if least != slices.Min(values) || most != slices.Max(values) || d.Count() != int64(len(values)) {
			t.Errorf("%s: %d values from %d to %d", name, d.Count(), least, most)
		}
	}
}

// By hand: 2, 4, 4, 4, 5, 5, 7, 9 have mean 5 and squared deviations 9+1+1+1+0+0+4+16 = 32.
func TestDistributionByHand(t *testing.T) {
	d := record([]int64{2, 4, 4, 4, 5, 5, 7, 9})
	mean, _ := d.Mean()
	sd, _ := d.StdDev()
	if mean != 5 || !near(sd, math.Sqrt(32.0/7)) {
		t.Errorf("mean %v, sd %v", mean, sd)
	}
	for q, want := range map[float64]int64{0: 2, 0.125: 2, 0.126: 4, 0.5: 4, 0.51: 5, 0.75: 5, 0.751: 7, 0.875: 7, 0.9: 9, 1: 9} {
		if got, ok := d.Quantile(q); got != want || !ok {
			t.Errorf("quantile %v is %d, want %d", q, got, want)
		}
	}
}

func TestDistributionQuantiles(t *testing.T) {
	for _, n := range []int{1, 2, 3, 10, 99, 100, 101, 1000, 20_000} {
		values := samples(n, uint64(n))
		d := record(values)
		slices.Sort(values)
		for _, q := range []float64{0.001, 0.07, 0.25, 0.5, 0.75, 0.9, 0.92, 0.95, 0.99, 0.999} {
			// The rank in whole numbers: the first k with 1000·k ≥ 1000q·n.
			k := (int(math.Round(q*1000))*n + 999) / 1000
			want := values[k-1]
			got, _ := d.Quantile(q)
			if math.Abs(float64(got-want)) > 0.001*float64(want) {
				t.Errorf("n %d: quantile %v is %d, the sorted list has %d", n, q, got, want)
			}
		}
	}
}

func TestDistributionEmptyAndSingle(t *testing.T) {
	d := NewDistribution()
	_, okMin := d.Min()
	_, okMax := d.Max()
	_, okMean := d.Mean()
	_, okSD := d.StdDev()
	_, okQ := d.Quantile(0.5)
	if okMin || okMax || okMean || okSD || okQ {
		t.Error("an empty distribution claims to know something")
	}
	d.Record(5)
	if _, ok := d.StdDev(); ok {
		t.Error("one duration has no standard deviation")
	}
	d.Record(-5)
	if least, _ := d.Min(); least != 0 || d.Count() != 2 {
		t.Errorf("a negative duration counts as 0: min %d, count %d", least, d.Count())
	}
	d.Reset()
	if _, ok := d.Mean(); ok || d.Count() != 0 || d.hist.TotalCount() != 0 {
		t.Error("Reset left something behind")
	}
}

func TestDistributionMerge(t *testing.T) {
	a, b := samples(3000, 2), samples(777, 3)
	b = append(b, HighestNS+5)
	merged := record(a)
	merged.Merge(record(b))
	merged.Merge(nil)
	merged.Merge(NewDistribution())
	empty := NewDistribution()
	empty.Merge(record(append(slices.Clone(a), b...)))
	want := text(t, record(append(slices.Clone(a), b...)))
	if got := text(t, merged); got != want {
		t.Errorf("merged and recorded together differ:\n%s\n%s", got, want)
	}
	if got := text(t, empty); got != want {
		t.Errorf("merged into an empty one differs:\n%s\n%s", got, want)
	}
}

func text(t *testing.T, d *Distribution) string {
	t.Helper()
	b, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestDistributionJSON(t *testing.T) {
	for name, d := range map[string]*Distribution{
		"empty":      NewDistribution(),
		"one":        record([]int64{12}),
		"many":       record(samples(5000, 4)),
		"over range": record([]int64{1, HighestNS, HighestNS + 1, 2 * HighestNS}),
		"centuries":  record(slices.Repeat([]int64{math.MaxInt64}, 5)),
	} {
		first := text(t, d)
		var back Distribution
		if err := json.Unmarshal([]byte(first), &back); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if again := text(t, &back); again != first {
			t.Errorf("%s: written, read and written again differs:\n%s\n%s", name, first, again)
		}
		// What was read can be added to.
		back.Merge(d)
		if back.Count() != 2*d.Count() {
			t.Errorf("%s: %d after merging %d twice", name, back.Count(), d.Count())
		}
	}
}

// The hdr_v2 text is for other tools: decode it with the library alone.
func TestDistributionHDRText(t *testing.T) {
	values := samples(5000, 5)
	var j struct {
		HDR   string `json:"hdr_v2"`
		Sum   string `json:"sum_ns"`
		P95NS int64  `json:"p95_ns"`
	}
	if err := json.Unmarshal([]byte(text(t, record(values))), &j); err != nil {
		t.Fatal(err)
	}
	h, err := hdr.Decode([]byte(j.HDR))
	if err != nil {
		t.Fatal(err)
	}
	if h.TotalCount() != 5000 || h.LowestTrackableValue() != 1 || h.HighestTrackableValue() != HighestNS || h.SignificantFigures() != 3 {
		t.Errorf("decoded: %d values, %d to %d, %d digits", h.TotalCount(), h.LowestTrackableValue(), h.HighestTrackableValue(), h.SignificantFigures())
	}
	if got := h.ValueAtPercentile(95); got != j.P95NS {
		t.Errorf("p95 is %d in the histogram, %d in the text", got, j.P95NS)
	}
	var sum int64
	for _, v := range values {
		sum += v
	}
	if want := big.NewInt(sum).String(); j.Sum != want {
		t.Errorf("sum_ns is %s, want %s", j.Sum, want)
	}
}

func TestDistributionOverRange(t *testing.T) {
	d := record([]int64{1000, HighestNS, HighestNS + 1, 3 * HighestNS})
	most, _ := d.Max()
	q, _ := d.Quantile(0.99)
	// 0.99 of 4 is the fourth, which the histogram holds as its last value.
	if d.OverRange() != 2 || most != 3*HighestNS || math.Abs(float64(q-HighestNS)) > 0.001*float64(HighestNS) {
		t.Errorf("over range %d, max %d, p99 %d", d.OverRange(), most, q)
	}
	mean, _ := d.Mean()
	if want := (1000 + 5*float64(HighestNS) + 1) / 4; !near(mean, want) {
		t.Errorf("mean %v, want %v", mean, want)
	}
}

// Sums beyond 64 bits: squares of 1 h are 1.3e25 each, and their sum passes
// 2^64 at once; 2^63−1 squared is nearly 2^126, so the fifth passes 2^128.
func TestDistributionWideSums(t *testing.T) {
	hours := record(slices.Repeat([]int64{HighestNS}, 1000))
	want := new(big.Int).Mul(big.NewInt(HighestNS), big.NewInt(HighestNS))
	want.Mul(want, big.NewInt(1000))
	if got := hours.sumSq.big(); got.Cmp(want) != 0 {
		t.Errorf("sum of squares %v, want %v", got, want)
	}
	if sd, ok := hours.StdDev(); !ok || sd != 0 {
		t.Errorf("sd of equal durations is %v, %v", sd, ok)
	}
	most := int64(math.MaxInt64)
	four := record([]int64{most, most, most, most})
	want.Mul(big.NewInt(most), big.NewInt(most)).Mul(want, big.NewInt(4))
	if got := four.sumSq.big(); got.Cmp(want) != 0 {
		t.Errorf("sum of four squares %v, want %v", got, want)
	}
	if sd, ok := four.StdDev(); !ok || sd != 0 {
		t.Errorf("sd of four equal durations is %v, %v", sd, ok)
	}
	four.Record(most)
	if sd, ok := four.StdDev(); ok {
		t.Errorf("the squares have passed 128 bits, sd is said to be %v", sd)
	}
	if mean, ok := four.Mean(); !ok || mean != float64(most) {
		t.Errorf("mean %v, want %v", mean, float64(most))
	}
}

func TestDistributionDamaged(t *testing.T) {
	good := text(t, record([]int64{10, 20, 30}))
	for _, c := range []struct{ from, to, says string }{
		{`"count":3`, `"count":4`, "count says 4"},
		{`"count":3`, `"count":-3`, "count -3"},
		{`"sum_ns":"60"`, `"sum_ns":"29"`, "sum_ns"},
		{`"sum_ns":"60"`, `"sum_ns":"91"`, "sum_ns"},
		{`"sum_ns":"60"`, `"sum_ns":"6O"`, "sum_ns"},
		{`"sum_ns":"60"`, `"sum_ns":"-60"`, "sum_ns"},
		{`"sum_sq_ns2":"1400"`, `"sum_sq_ns2":"1199"`, "sum_sq_ns2"},
		{`"sum_sq_ns2":"1400"`, `"sum_sq_ns2":"340282366920938463463374607431768211456"`, "sum_sq_ns2"},
		{`"min_ns":10`, `"min_ns":31`, "min_ns"},
		{`"hdr_v2":"`, `"hdr_v2":"x`, "hdr_v2"},
		{`"count":3`, `"count":3,"over_range":4`, "over_range"},
		{`"hdr_v2"`, `"hdr_v3"`, "hdr_v2"},
	} {
		bad := strings.Replace(good, c.from, c.to, 1)
		if bad == good {
			t.Fatalf("%s does not stand in %s", c.from, good)
		}
		d := record([]int64{99})
		if err := json.Unmarshal([]byte(bad), d); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v, want one about %s", bad, err, c.says)
		}
		if d.Count() != 1 {
			t.Errorf("%s: an error has changed the value", bad)
		}
	}
}

func FuzzDistributionJSON(f *testing.F) {
	for _, d := range []*Distribution{NewDistribution(), record([]int64{1, 2, 3}), record([]int64{HighestNS * 2})} {
		b, err := json.Marshal(d)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var d Distribution
		if json.Unmarshal(data, &d) != nil {
			return
		}
		var back Distribution
		if err := json.Unmarshal([]byte(text(t, &d)), &back); err != nil {
			t.Fatalf("what was read cannot be written and read again: %v", err)
		}
		if text(t, &d) != text(t, &back) {
			t.Fatal("read, written and read differ")
		}
	})
}
