package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"
)

// Estimate is what a plan will cost, as far as that can be said beforehand.
type Estimate struct {
	Runs int
	// Requests counts the requests of all runs; Exact tells that every run is
	// bounded by requests alone, so that none of it is guessed.
	Requests int64
	Exact    bool
	// TopConcurrency is the highest number of connections at once.
	TopConcurrency int
	// Took is the time for everything, guessed unless rates are given.
	Took time.Duration
}

// Rate tells the requests per second that a cell is known to reach; ok is
// false when nothing is known.
type Rate func(Cell) (perSecond float64, ok bool)

// What is assumed about a cell of which nothing is known, for two cores that
// client and server share, and what each run and each variant takes beside its
// load. Only an announcement rests on these.
const (
	assumedKeepAlive = 25000 // requests/s of a small page from about ten connections on
	assumedSingle    = 8000  // over one connection
	assumedFresh     = 8000  // with a connection for each request
	perRun           = 600 * time.Millisecond
	perVariant       = 2 * time.Second
	baselineTime     = 6 * time.Second
)

func assumedRate(c Cell) float64 {
	rate := float64(assumedKeepAlive)
	if !c.Step.KeepAlive {
		rate = assumedFresh
	}
	return min(rate, assumedSingle*float64(c.Step.Concurrency))
}

// Requests is the number of requests of all runs. For runs that are bounded by
// a duration it is an estimate at assumed rates; see Estimate.
func (p *Plan) Requests() int64 { return p.Estimate(nil).Requests }

// Estimate adds up all runs. rate may be nil; figures that were measured
// before make the estimate better.
func (p *Plan) Estimate(rate Rate) Estimate {
	e := Estimate{Runs: len(p.Runs), Exact: true, Took: baselineTime}
	warmed := map[string]bool{}
	for _, r := range p.Runs {
		c := p.Cells[r.Cell]
		perSecond := assumedRate(c)
		if rate != nil {
			if v, ok := rate(c); ok && v > 0 {
				perSecond = v
			}
		}
		requests, seconds := c.Step.Requests, float64(c.Step.Requests)/perSecond
		if d := time.Duration(c.Step.Duration).Seconds(); d > 0 {
			e.Exact = false
			if requests == 0 || d < seconds {
				requests, seconds = int64(d*perSecond), d
			}
		}
		e.Requests += requests
		e.Took += time.Duration(seconds*float64(time.Second)) + perRun
		e.TopConcurrency = max(e.TopConcurrency, c.Step.Concurrency)
		if key := c.Scenario + "\x00" + c.Variant; !warmed[key] {
			warmed[key] = true
			e.Took += perVariant
		}
	}
	return e
}

// Fingerprint identifies what is measured: the SHA-256, in lower-case
// hexadecimal, of the effective campaign and the seed, without what only says
// where results go, how they are rendered, and which hosts may be loaded. A
// record that is resumed must have the same.
func (p *Plan) Fingerprint() (string, error) {
	c := p.Campaign
	c.Results, c.Report, c.Allow = "", Report{}, nil
	data, err := json.Marshal(struct {
		Campaign Campaign
		Seed     uint64
	}{c, p.Seed})
	if err != nil {
		return "", fmt.Errorf("fingerprint of the campaign: %w", err)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}
