package html

import (
	"fmt"
	"math"

	"abacus/harness/analysis"
	"abacus/harness/number"
	"abacus/harness/stats"
)

// tile is one headline figure with its strip of runs.
type tile struct {
	Label, Value, Unit, Note string
	// Warn marks a note that must not be passed over.
	Warn  bool
	Spark *spark
}

// spark is the strip under a headline: positions on a 160 × 22 drawing.
type spark struct {
	Points       []string
	Mean         string
	HasBand      bool
	BandX, BandW string
}

func tiles(a *analysis.Analysis) []tile {
	var out []tile
	for i, h := range a.Headline {
		if i == 4 {
			break
		}
		out = append(out, newTile(h))
	}
	return out
}

func newTile(h analysis.Headline) tile {
	t := tile{Label: h.Label, Warn: h.Warn}
	divisor := 1.0
	switch h.Unit {
	case "ns":
		t.Unit, divisor = number.DurationUnit(h.Value)
	case "/s":
		t.Unit = "req/s"
	case "":
		t.Value = number.Count(int64(math.Round(h.Value)))
	default:
		t.Unit = h.Unit
	}
	place := analysis.LastDigit(&stats.Spread{Mean: h.Value, SD: h.SD, CI95: h.CI95}, divisor)
	if h.SD == nil && h.CI95 != nil { // a ratio: as it reads in sentences and tables
		place = number.PlaceFor(h.Value/divisor, number.Half(h.CI95)/divisor)
	}
	if t.Value == "" {
		t.Value = number.At(h.Value/divisor, place)
	}
	if h.CI95 != nil {
		t.Note = "95" + number.ThinSpace + "% interval " + number.BetweenAt(h.CI95[0]/divisor, h.CI95[1]/divisor, place)
	}
	if h.Note != "" {
		if t.Note != "" {
			t.Note += ", "
		}
		t.Note += h.Note
	}
	t.Spark = newSpark(h)
	return t
}

func newSpark(h analysis.Headline) *spark {
	if len(h.Points) < 2 && h.CI95 == nil {
		return nil
	}
	lo, hi := h.Value, h.Value
	for _, p := range h.Points {
		lo, hi = math.Min(lo, p), math.Max(hi, p)
	}
	if h.CI95 != nil {
		lo, hi = math.Min(lo, h.CI95[0]), math.Max(hi, h.CI95[1])
	}
	if !(hi > lo) {
		return nil
	}
	// The figures fill the middle two thirds of the strip.
	x := func(v float64) float64 { return 28 + (v-lo)/(hi-lo)*104 }
	s := &spark{Mean: fmt.Sprintf("%.1f", x(h.Value))}
	for _, p := range h.Points {
		s.Points = append(s.Points, fmt.Sprintf("%.1f", x(p)))
	}
	if h.CI95 != nil {
		s.HasBand = true
		s.BandX = fmt.Sprintf("%.1f", x(h.CI95[0]))
		s.BandW = fmt.Sprintf("%.1f", x(h.CI95[1])-x(h.CI95[0]))
	}
	return s
}
