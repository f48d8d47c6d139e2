package analysis

import (
	"fmt"
	"math"

	"abacus/harness/number"
	"abacus/harness/stats"
)

// comparisonSentence says a comparison in the words that its interval allows.
// ladder tells that the scenario has several levels, so that this one is named.
func comparisonSentence(c Comparison, a, b Cell, ladder, quick bool) string {
	place := where(c.Step, c.Page, ladder)
	na, nb := a.Variant, b.Variant
	switch {
	case c.N == 0 || c.Ratio == nil:
		return fmt.Sprintf("%s and %s cannot be compared%s: there is no round in which both have a good run.", na, nb, place)
	case !c.Primary:
		if ea, eb, ok := byEngine(a, b); ok {
			na, nb = ea+" as the engine", eb
		}
		return exploratory(c, na, nb, place)
	}
	switch c.Verdict {
	case VerdictFaster, VerdictSlower:
		return difference(c, a, b, place)
	case VerdictEquivalent:
		if ea, eb, ok := byEngine(a, b); ok && c.Metric == metricThroughput {
			return fmt.Sprintf("Loaded by %s and by %s, the server answered the same within %s%s: ratio %s; %s.", ea, eb, number.Percent(c.Margin),
				place, ratioWithInterval(c, ""), rounds(c.N))
		}
		return fmt.Sprintf("%s and %s %s within %s%s: ratio %s; %s.", na, nb, served(c.Metric, "the same"), number.Percent(c.Margin),
			place, ratioWithInterval(c, ""), rounds(c.N))
	case VerdictNoDifference:
		if ea, eb, ok := byEngine(a, b); ok {
			return undecided(c, ea, eb, " as engines"+place)
		}
		return undecided(c, na, nb, place)
	}
	return ahead(c, a, b, place, quick)
}

func served(metric, what string) string {
	if metric == metricP95 {
		return "had " + what + " p95"
	}
	return "served " + what
}

// ratioWithInterval is "1.87 (95 % interval 1.82 to 1.93)"; word stands after
// the ratio.
func ratioWithInterval(c Comparison, word string) string {
	half := number.Half(c.CI95)
	if c.CI95 == nil {
		return number.Sig3(*c.Ratio) + word
	}
	exp := number.PlaceFor(*c.Ratio, half)
	return fmt.Sprintf("%s%s (95%s%% interval %s)", number.At(*c.Ratio, exp), word, number.ThinSpace, number.BetweenAt(c.CI95[0], c.CI95[1], exp))
}

func difference(c Comparison, a, b Cell, place string) string {
	tail := fmt.Sprintf("; %s, adjusted %s.", rounds(c.N), number.PEquals(*c.PHolm))
	ratio := ratioWithInterval(c, " times")
	if c.Metric == metricP95 {
		return fmt.Sprintf("With %s, p95 was %s that of %s%s%s", a.Variant, ratio, b.Variant, place, tail)
	}
	if ea, eb, ok := byEngine(a, b); ok {
		return fmt.Sprintf("Loaded by %s, the server answered %s the requests per second that it did loaded by %s%s%s", ea, ratio, eb, place, tail)
	}
	return fmt.Sprintf("%s served %s the requests of %s%s%s", a.Variant, ratio, b.Variant, place, tail)
}

// byEngine tells whether two cells differ in their engine only, and which.
func byEngine(a, b Cell) (ea, eb string, ok bool) {
	if a.Engine == b.Engine || a.URL != b.URL || a.Lab != b.Lab {
		return "", "", false
	}
	return a.Engine, b.Engine, true
}

func undecided(c Comparison, na, nb, place string) string {
	if c.PHolm == nil {
		return fmt.Sprintf("No difference shown between %s and %s%s: all %s gave the ratio %s to the last digit, so there is no spread to test against.",
			na, nb, place, rounds(c.N), number.Sig3(*c.Ratio))
	}
	if *c.PHolm < Alpha {
		return fmt.Sprintf("No difference beyond %s shown between %s and %s%s: ratio %s; %s, adjusted %s.",
			number.Percent(c.Margin), na, nb, place, ratioWithInterval(c, ""), rounds(c.N), number.PEquals(*c.PHolm))
	}
	s := fmt.Sprintf("No difference shown between %s and %s%s: ratio %s.", na, nb, place, ratioWithInterval(c, ""))
	if sd, ok := logSD(c.BlockRatios); ok {
		if n, ok := stats.RoundsNeeded(sd, c.Margin); ok && n > c.N {
			s += fmt.Sprintf(" %s would be needed to tell %s from none.", about(n), number.Percent(c.Margin))
		} else if !ok {
			s += fmt.Sprintf(" The rounds differ too much to tell %s from none.", number.Percent(c.Margin))
		}
	}
	return s
}

// about rounds a number of rounds as far as the estimate carries: whole up to
// 20, then tens, then hundreds.
func about(n int) string {
	step := 1
	switch {
	case n > 1000:
		return "More than 1,000 rounds"
	case n > 200:
		step = 100
	case n > 20:
		step = 10
	}
	return "About " + rounds(max(step, (n+step/2)/step*step))
}

func logSD(ratios []float64) (float64, bool) {
	var logs []float64
	for _, r := range ratios {
		logs = append(logs, math.Log(r))
	}
	s, ok := stats.Describe(logs)
	if !ok || s.SD == nil {
		return 0, false
	}
	return *s.SD, true
}

// ahead tells of too few rounds only what was seen in them.
func ahead(c Comparison, a, b Cell, place string, quick bool) string {
	na, nb := a.Variant, b.Variant
	why := "fewer than six rounds give no verdict"
	if quick {
		why = "a quick look gives no verdict"
	} else if c.N >= MinRounds {
		why = "the ratios are too wide apart for an interval"
	}
	more, less := 0, 0
	for _, r := range c.BlockRatios {
		switch {
		case r > 1:
			more++
		case r < 1:
			less++
		}
	}
	middle, ok := stats.Median(c.BlockRatios)
	if more == less || !ok {
		return fmt.Sprintf("Neither %s nor %s was ahead in more rounds%s; %s.", na, nb, place, why)
	}
	// Told from the variant against the baseline, as every ratio of the page is.
	in := fmt.Sprintf("in %d of %s%s (%s times in the middle one)", max(more, less), rounds(c.N), place, number.Sig3(middle))
	if c.N == 1 {
		in = fmt.Sprintf("in the one round%s (%s times)", place, number.Sig3(middle))
	}
	word := "more"
	if less > more {
		word = "less"
	}
	ea, eb, engines := byEngine(a, b)
	switch {
	case c.Metric == metricP95:
		lower := map[string]string{"more": "higher", "less": "lower"}[word]
		return fmt.Sprintf("With %s, p95 was %s than with %s %s; %s.", na, lower, nb, in, why)
	case !engines && word == "more":
		return fmt.Sprintf("%s was ahead %s; %s.", na, in, why)
	case engines:
		return fmt.Sprintf("Loaded by %s, the server answered %s than loaded by %s %s; %s.", ea, word, eb, in, why)
	}
	return fmt.Sprintf("%s served %s than %s %s; %s.", na, word, nb, in, why)
}

func exploratory(c Comparison, na, nb, place string) string {
	s := fmt.Sprintf("With %s, %s was %s that of %s%s", na, metricWord(c.Metric), ratioWithInterval(c, " times"), nb, place)
	if c.CI95 == nil {
		s += fmt.Sprintf(" in %s", rounds(c.N))
	}
	return s + "; no verdict."
}
