package observe

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"abacus/harness/oneline"
)

const (
	// maxStatusBytes bounds what is read of a status page. Apache's largest
	// (20,000 slots) is some 25 KB.
	maxStatusBytes = 1 << 20
	// maxScoreboard bounds the scoreboard that is kept with every sample.
	maxScoreboard = 1 << 16
	// maxVersion bounds the texts that are kept of a page.
	maxVersion = 200
)

// ErrNotStatus tells that an answer is not mod_status's ?auto text.
var ErrNotStatus = errors.New("not a mod_status ?auto page")

// ParseStatus reads the text of mod_status's ?auto page. Every key is
// optional and unknown keys are ignored, but a known key whose value is no
// number is an error: half a reading is not shown as a whole one. An answer
// that has none of mod_status's keys is ErrNotStatus; no more than 1 MiB is
// read. What an error quotes from the page is shortened.
func ParseStatus(r io.Reader) (*Status, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxStatusBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read status page: %w", err)
	}
	if len(data) > maxStatusBytes {
		return nil, fmt.Errorf("%w: longer than %d bytes", ErrNotStatus, maxStatusBytes)
	}
	p := statusParser{seen: map[string]bool{}}
	for line := range bytes.Lines(data) {
		key, value, ok := strings.Cut(strings.TrimRight(string(line), "\r\n"), ":")
		if !ok || p.seen[key] {
			continue // the host name, a heading, or a key said twice: the first one stands
		}
		if err := p.take(key, strings.TrimSpace(value)); err != nil {
			return nil, err
		}
	}
	if !p.seen["Scoreboard"] && !p.seen["BusyWorkers"] && !p.seen["IdleWorkers"] {
		return nil, notStatus(data)
	}
	return p.finish(), nil
}

// notStatus says what came instead of a status page.
func notStatus(data []byte) error {
	text := strings.TrimSpace(string(data[:min(len(data), 400)]))
	switch {
	case text == "":
		return fmt.Errorf("%w: the answer is empty", ErrNotStatus)
	case strings.HasPrefix(text, "<"):
		return fmt.Errorf("%w: an HTML page that begins %s", ErrNotStatus, oneline.Quote(text, mostQuoted))
	}
	return fmt.Errorf("%w: it begins %s", ErrNotStatus, oneline.Quote(text, mostQuoted))
}

// statusParser fills a Status from the keys in turn.
type statusParser struct {
	status Status
	uptime *int64
	cpu    [4]*float64
	seen   map[string]bool
}

// take stores the value of one key; unknown keys are not remembered, so a
// page cannot make the parser hold more than the keys it knows.
func (p *statusParser) take(key, value string) error {
	s := &p.status
	switch key {
	case "ServerVersion":
		s.ServerVersion = oneline.Shorten(value, maxVersion)
	case "ServerMPM":
		s.ServerMPM = oneline.Shorten(value, 40)
	case "Scoreboard":
		board, err := parseScoreboard(value)
		if err != nil {
			return err
		}
		s.Scoreboard = board
	default:
		if to := p.wholeField(key); to != nil {
			n, err := strconv.ParseInt(value, 10, 64)
			if err != nil || n < 0 {
				return fmt.Errorf("status page: %s: %s is not a whole number from 0", key, oneline.Quote(value, mostQuoted))
			}
			*to = &n
			break
		}
		to := p.decimalField(key)
		if to == nil {
			return nil
		}
		f, err := strconv.ParseFloat(value, 64)
		if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
			return fmt.Errorf("status page: %s: %s is not a number", key, oneline.Quote(value, mostQuoted))
		}
		// A system without a load average says -1: absent.
		if f >= 0 {
			*to = &f
		}
	}
	p.seen[key] = true
	return nil
}

// wholeField is where the whole number of a key goes, nil for other keys.
func (p *statusParser) wholeField(key string) **int64 {
	s := &p.status
	switch key {
	case "ServerUptimeSeconds":
		return &s.UptimeS
	case "Uptime":
		return &p.uptime
	case "Total Accesses":
		return &s.TotalAccesses
	case "Total kBytes":
		return &s.TotalKBytes
	case "Total Duration":
		return &s.TotalDurationMS
	case "BusyWorkers":
		return &s.BusyWorkers
	case "IdleWorkers":
		return &s.IdleWorkers
	case "GracefulWorkers":
		return &s.GracefulWorkers
	case "Processes":
		return &s.Processes
	case "Stopping":
		return &s.Stopping
	case "ConnsTotal":
		return &s.ConnsTotal
	case "ConnsAsyncWaitIO":
		return &s.ConnsAsyncWaitIO
	case "ConnsAsyncWriting":
		return &s.ConnsAsyncWriting
	case "ConnsAsyncKeepAlive":
		return &s.ConnsAsyncKeepAlive
	case "ConnsAsyncClosing":
		return &s.ConnsAsyncClosing
	case "ParentServerConfigGeneration":
		return &s.ConfigGeneration
	}
	return nil
}

// decimalField is where the decimal number of a key goes, nil for other keys.
func (p *statusParser) decimalField(key string) **float64 {
	switch key {
	case "CPUUser":
		return &p.cpu[0]
	case "CPUSystem":
		return &p.cpu[1]
	case "CPUChildrenUser":
		return &p.cpu[2]
	case "CPUChildrenSystem":
		return &p.cpu[3]
	case "Load1":
		return &p.status.Load1
	}
	return nil
}

// finish derives what takes more than one key. The CPU fields only mean
// something together: when children exit, their time moves from CPUUser to
// CPUChildrenUser, and the sum alone never falls.
func (p *statusParser) finish() *Status {
	s := p.status
	if s.UptimeS == nil {
		s.UptimeS = p.uptime
	}
	sum := 0.0
	for _, part := range p.cpu {
		if part == nil {
			return &s
		}
		sum += *part
	}
	// The fields have steps of 10 ms; adding them must not leave 0.30000000000000004.
	sum = math.Round(sum*1e6) / 1e6
	s.CPUSeconds = &sum
	return &s
}

// parseScoreboard keeps the letters; one that no Apache writes becomes "?",
// so that a page cannot smuggle text in.
func parseScoreboard(value string) (string, error) {
	if len(value) > maxScoreboard {
		return "", fmt.Errorf("%w: a scoreboard of %d letters", ErrNotStatus, len(value))
	}
	return strings.Map(func(r rune) rune {
		if meaningOf(r) == "" {
			return '?'
		}
		return r
	}, value), nil
}
