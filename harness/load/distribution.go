package load

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"math/bits"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// The range of every histogram: 1 ns to 1 h at three significant digits.
const (
	LowestNS  = 1
	HighestNS = int64(3600 * 1e9)
	Digits    = 3
)

// Distribution holds durations in nanoseconds as a histogram (for percentiles,
// within 0.1 %) beside their exact count, sum, sum of squares, least and
// greatest. Its memory does not depend on how many are recorded. It is not
// safe for concurrent use: one per shard, merged at the end.
type Distribution struct {
	hist      *hdr.Histogram
	count     int64
	overRange int64
	min, max  int64
	sum       uint128
	sumSq     uint128
}

type uint128 struct{ hi, lo uint64 }

// add stops at the greatest value instead of wrapping.
func (u *uint128) add(hi, lo uint64) {
	var carry uint64
	u.lo, carry = bits.Add64(u.lo, lo, 0)
	if u.hi, carry = bits.Add64(u.hi, hi, carry); carry != 0 {
		*u = uint128{math.MaxUint64, math.MaxUint64}
	}
}

// full tells that an add has passed 128 bits, so that the value is only a
// lower bound.
func (u uint128) full() bool { return u.hi == math.MaxUint64 && u.lo == math.MaxUint64 }

func (u uint128) big() *big.Int {
	v := new(big.Int).SetUint64(u.hi)
	return v.Lsh(v, 64).Or(v, new(big.Int).SetUint64(u.lo))
}

func parseUint128(s string) (uint128, error) {
	v, ok := new(big.Int).SetString(s, 10)
	if !ok || v.Sign() < 0 || v.BitLen() > 128 {
		return uint128{}, fmt.Errorf("%q is not a 128-bit decimal number", s)
	}
	lo := new(big.Int).And(v, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
	return uint128{hi: new(big.Int).Rsh(v, 64).Uint64(), lo: lo}, nil
}

// NewDistribution returns an empty distribution.
func NewDistribution() *Distribution {
	return &Distribution{hist: hdr.New(LowestNS, HighestNS, Digits)}
}

// Record adds one duration. A negative one counts as 0 (a clock that stood
// still); one above HighestNS enters the exact figures, and the histogram's
// last value, and is counted by OverRange.
func (d *Distribution) Record(ns int64) {
	ns = max(ns, 0)
	if d.count == 0 || ns < d.min {
		d.min = ns
	}
	d.max = max(d.max, ns)
	d.count++
	d.sum.add(0, uint64(ns))
	hi, lo := bits.Mul64(uint64(ns), uint64(ns))
	d.sumSq.add(hi, lo)
	h := ns
	if h > HighestNS {
		d.overRange++
		h = HighestNS
	}
	// The value is within the range of the histogram, so this cannot fail.
	_ = d.hist.RecordValue(h)
}

// Merge adds all of o's durations, which is not changed. nil adds nothing.
func (d *Distribution) Merge(o *Distribution) {
	if o == nil || o.count == 0 {
		return
	}
	if d.count == 0 || o.min < d.min {
		d.min = o.min
	}
	d.max = max(d.max, o.max)
	d.count += o.count
	d.overRange += o.overRange
	d.sum.add(o.sum.hi, o.sum.lo)
	d.sumSq.add(o.sumSq.hi, o.sumSq.lo)
	// Both have the same range, so nothing is dropped.
	d.hist.Merge(o.hist)
}

// Reset empties the distribution for reuse.
func (d *Distribution) Reset() {
	d.hist.Reset()
	*d = Distribution{hist: d.hist}
}

// Count is the number of recorded durations.
func (d *Distribution) Count() int64 { return d.count }

// OverRange is the number of durations above HighestNS.
func (d *Distribution) OverRange() int64 { return d.overRange }

// Min and Max are exact; ok is false when nothing was recorded.
func (d *Distribution) Min() (ns int64, ok bool) { return d.min, d.count > 0 }

// Max is the longest duration, exact; ok is false when nothing was recorded.
func (d *Distribution) Max() (ns int64, ok bool) { return d.max, d.count > 0 }

// Mean is the exact arithmetic mean in nanoseconds, ok is false when nothing
// was recorded.
func (d *Distribution) Mean() (ns float64, ok bool) {
	if d.count == 0 {
		return 0, false
	}
	q := new(big.Rat).SetFrac(d.sum.big(), big.NewInt(d.count))
	v, _ := q.Float64()
	return v, true
}

// StdDev is the sample standard deviation (n−1) in nanoseconds within the
// recorded durations, from the exact sums: √((n·Σx² − (Σx)²) / (n(n−1))).
// ok is false with fewer than two durations, and when the squares have passed
// 128 bits (which takes durations of centuries).
func (d *Distribution) StdDev() (ns float64, ok bool) {
	if d.count < 2 || d.sumSq.full() {
		return 0, false
	}
	n := big.NewInt(d.count)
	sum := d.sum.big()
	num := new(big.Int).Mul(n, d.sumSq.big())
	num.Sub(num, new(big.Int).Mul(sum, sum))
	den := new(big.Int).Mul(n, new(big.Int).Sub(n, big.NewInt(1)))
	v, _ := new(big.Rat).SetFrac(num, den).Float64()
	return math.Sqrt(v), true
}

// Quantile is the smallest recorded duration that at least the share q (0 to
// 1) of all durations do not exceed, within the histogram's 0.1 %, and never
// outside Min and Max. ok is false when nothing was recorded.
func (d *Distribution) Quantile(q float64) (ns int64, ok bool) {
	if d.count == 0 {
		return 0, false
	}
	if q <= 0 {
		return d.min, true
	}
	if q >= 1 {
		return d.max, true
	}
	// The histogram rounds q·n to the nearest rank, so it is given the rank
	// that is meant: the first one not below q·n.
	n := float64(d.count)
	rank := math.Ceil(q * n * (1 - 1e-15)) // 0.07·100 must not become 8
	return min(max(d.hist.ValueAtPercentile(100*rank/n), d.min), d.max), true
}

// distributionJSON is the form in a record: exact sums as decimal strings
// (they may pass 64 bits), derived figures, and the histogram as HdrHistogram
// V2, compressed and in base64.
type distributionJSON struct {
	Count     int64    `json:"count"`
	SumNS     string   `json:"sum_ns"`
	SumSqNS2  string   `json:"sum_sq_ns2"`
	MinNS     *int64   `json:"min_ns,omitempty"`
	MaxNS     *int64   `json:"max_ns,omitempty"`
	OverRange int64    `json:"over_range,omitempty"`
	MeanNS    *float64 `json:"mean_ns,omitempty"`
	SDNS      *float64 `json:"sd_ns,omitempty"`
	P50NS     *int64   `json:"p50_ns,omitempty"`
	P75NS     *int64   `json:"p75_ns,omitempty"`
	P90NS     *int64   `json:"p90_ns,omitempty"`
	P95NS     *int64   `json:"p95_ns,omitempty"`
	P99NS     *int64   `json:"p99_ns,omitempty"`
	P999NS    *int64   `json:"p999_ns,omitempty"`
	HDR       string   `json:"hdr_v2,omitempty"`
}

// MarshalJSON writes the exact sums, the derived figures and the histogram.
func (d *Distribution) MarshalJSON() ([]byte, error) {
	j := distributionJSON{
		Count: d.count, OverRange: d.overRange,
		SumNS: d.sum.big().String(), SumSqNS2: d.sumSq.big().String(),
	}
	if d.count > 0 {
		j.MinNS, j.MaxNS = &d.min, &d.max
		mean, _ := d.Mean()
		j.MeanNS = &mean
		for _, q := range []struct {
			at float64
			to **int64
		}{{.5, &j.P50NS}, {.75, &j.P75NS}, {.9, &j.P90NS}, {.95, &j.P95NS}, {.99, &j.P99NS}, {.999, &j.P999NS}} {
			v, _ := d.Quantile(q.at)
			*q.to = &v
		}
		enc, err := d.hist.Encode(hdr.V2CompressedEncodingCookieBase)
		if err != nil {
			return nil, fmt.Errorf("encode histogram: %w", err)
		}
		j.HDR = string(enc)
	}
	if sd, ok := d.StdDev(); ok {
		j.SDNS = &sd
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads what MarshalJSON wrote; derived figures are computed
// again rather than believed. An inconsistent histogram is an error.
func (d *Distribution) UnmarshalJSON(data []byte) error {
	var j distributionJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	n := NewDistribution()
	var err error
	if n.sum, err = parseUint128(j.SumNS); err != nil {
		return fmt.Errorf("sum_ns: %w", err)
	}
	if n.sumSq, err = parseUint128(j.SumSqNS2); err != nil {
		return fmt.Errorf("sum_sq_ns2: %w", err)
	}
	n.count, n.overRange = j.Count, j.OverRange
	if err := j.check(n.sum, n.sumSq); err != nil {
		return err
	}
	if j.Count > 0 {
		n.min, n.max = *j.MinNS, *j.MaxNS
		h, err := hdr.Decode([]byte(j.HDR))
		if err != nil {
			return fmt.Errorf("hdr_v2: %w", err)
		}
		if h.TotalCount() != j.Count {
			return fmt.Errorf("hdr_v2 holds %d values, count says %d", h.TotalCount(), j.Count)
		}
		if dropped := n.hist.Merge(h); dropped != 0 {
			return fmt.Errorf("hdr_v2: %d values outside 1 ns to 1 h", dropped)
		}
	}
	*d = *n
	return nil
}

// check refuses figures that no durations can have together.
func (j *distributionJSON) check(sum, sumSq uint128) error {
	switch {
	case j.Count < 0, j.Count > 0 && (j.MinNS == nil || j.MaxNS == nil || j.HDR == ""):
		return fmt.Errorf("count %d without min_ns, max_ns or hdr_v2", j.Count)
	case j.OverRange < 0, j.OverRange > j.Count:
		return fmt.Errorf("over_range %d of %d", j.OverRange, j.Count)
	case j.Count == 0:
		if sum != (uint128{}) || sumSq != (uint128{}) {
			return fmt.Errorf("count 0 with sums")
		}
		return nil
	case *j.MinNS < 0, *j.MinNS > *j.MaxNS:
		return fmt.Errorf("min_ns %d and max_ns %d: not a range of durations", *j.MinNS, *j.MaxNS)
	}
	n, s := big.NewInt(j.Count), sum.big()
	if s.Cmp(new(big.Int).Mul(n, big.NewInt(*j.MinNS))) < 0 || s.Cmp(new(big.Int).Mul(n, big.NewInt(*j.MaxNS))) > 0 {
		return fmt.Errorf("sum_ns %v: %d durations of %d to %d cannot have it", s, j.Count, *j.MinNS, *j.MaxNS)
	}
	if new(big.Int).Mul(n, sumSq.big()).Cmp(new(big.Int).Mul(s, s)) < 0 && !sumSq.full() {
		return fmt.Errorf("sum_sq_ns2 %v: too small for sum_ns %v", sumSq.big(), s)
	}
	return nil
}
