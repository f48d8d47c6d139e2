package abcompat

import "strings"

// What getopt.next found.
type optState int

const (
	optFound optState = iota
	optEnd            // no more options; rest has what is left
	optMissing
	optIllegal
)

// getopt walks short options the way APR's getopt does for ab: values glued
// or apart, flags bundled, everything from the first non-option on left alone.
type getopt struct {
	args []string
	// takesValue and flags are the option letters with and without a value.
	takesValue, flags string
	// place is what is left of the bundle args[0].
	place string
}

// next returns the next option with its value.
func (g *getopt) next() (opt byte, value string, state optState) {
	if g.place == "" {
		if len(g.args) == 0 || g.args[0] == "" || g.args[0][0] != '-' || g.args[0] == "-" {
			return 0, "", optEnd
		}
		if strings.HasPrefix(g.args[0], "--") {
			g.args = g.args[1:]
			return 0, "", optEnd
		}
		g.place = g.args[0][1:]
	}
	opt, g.place = g.place[0], g.place[1:]
	switch {
	case strings.IndexByte(g.flags, opt) >= 0:
		if g.place == "" {
			g.args = g.args[1:]
		}
		return opt, "", optFound
	case strings.IndexByte(g.takesValue, opt) < 0:
		return opt, "", optIllegal
	}
	g.args = g.args[1:]
	if value, g.place = g.place, ""; value != "" {
		return opt, value, optFound
	}
	if len(g.args) == 0 {
		return opt, "", optMissing
	}
	value, g.args = g.args[0], g.args[1:]
	return opt, value, optFound
}

// rest is the arguments after the options.
func (g *getopt) rest() []string { return g.args }

// atoi is C's: white space, a sign, digits; what follows is ignored and no
// digits are 0. Beyond 64 bits it stays at the limit, beyond 32 it wraps.
func atoi(s string) int {
	s = strings.TrimLeft(s, " \t\n\v\f\r")
	negative := strings.HasPrefix(s, "-")
	if negative || strings.HasPrefix(s, "+") {
		s = s[1:]
	}
	const limit = 1<<63 - 1
	var v int64
	for i := 0; i < len(s) && s[i] >= '0' && s[i] <= '9'; i++ {
		d := int64(s[i] - '0')
		if v > (limit-d)/10 {
			v = limit
			break
		}
		v = v*10 + d
	}
	if negative {
		v = -v
	}
	return int(int32(v))
}
