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
	// Took is the time for everything, waits for idle aside; a guess.
	Took time.Duration
}

// What is assumed about the rate that a cell reaches, for two cores that client
// and server share. Only an announcement rests on these.
const (
	assumedKeepAlive = 25000 // requests/s of a small page from about ten connections on
	assumedSingle    = 8000  // over one connection
	assumedFresh     = 8000  // with a connection for each request
)

// beside is what a campaign takes beside its load: each run, each variant's
// warm-up, and what comes before the first.
type beside struct{ run, variant, first time.Duration }

func besideLoad(quick bool) beside {
	if quick {
		return beside{run: 200 * time.Millisecond, variant: 400 * time.Millisecond, first: 2 * time.Second}
	}
	return beside{run: 600 * time.Millisecond, variant: 2 * time.Second, first: 6 * time.Second}
}

func assumedRate(c Cell) float64 {
	rate := float64(assumedKeepAlive)
	if !c.Step.KeepAlive {
		rate = assumedFresh
	}
	return min(rate, assumedSingle*float64(c.Step.Concurrency))
}

// Estimate adds up all runs, at assumed rates.
func (p *Plan) Estimate() Estimate {
	extra := besideLoad(p.Campaign.Quick)
	e := Estimate{Runs: len(p.Runs), Exact: true, Took: extra.first}
	warmed := map[string]bool{}
	for _, r := range p.Runs {
		c := p.Cells[r.Cell]
		perSecond := assumedRate(c)
		requests, seconds := c.Step.Requests, float64(c.Step.Requests)/perSecond
		if d := time.Duration(c.Step.Duration).Seconds(); d > 0 {
			e.Exact = false
			if requests == 0 || d < seconds {
				requests, seconds = int64(d*perSecond), d
			}
		}
		e.Requests += requests
		e.Took += time.Duration(seconds*float64(time.Second)) + extra.run
		e.TopConcurrency = max(e.TopConcurrency, c.Step.Concurrency)
		if key := c.Scenario + "\x00" + c.Variant; !warmed[key] {
			warmed[key] = true
			e.Took += extra.variant
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
