package metric

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Expr is one condition over a metric: METRIC OP VALUE [× baseline] [for TIME].
type Expr struct {
	// Source is the text it was read from, spaces at the ends trimmed.
	Source string `json:"source"`
	// Metric is the id, never an alias.
	Metric string `json:"metric"`
	// Op is one of > >= < <= == !=.
	Op string `json:"op"`
	// Value is in the metric's base unit; a share (0.2 for 20 %) with Percent,
	// a factor with OfBaseline.
	Value float64 `json:"value"`
	// Percent compares the share of the requests made instead of the count.
	Percent bool `json:"percent,omitempty"`
	// OfBaseline compares the ratio to the baseline variant's figure.
	OfBaseline bool `json:"of_baseline,omitempty"`
	// For is how long the condition must hold without a break; 0 is at once.
	For time.Duration `json:"for_ns,omitempty"`
}

// Holds tells whether value meets the condition. The value is in the metric's
// base unit; with Percent it is the share of the requests made (0 to 1), with
// OfBaseline the ratio to the baseline. NaN, which no measurement gives, meets
// nothing.
func (e Expr) Holds(value float64) bool {
	if math.IsNaN(value) {
		return false
	}
	switch e.Op {
	case ">":
		return value > e.Value
	case ">=":
		return value >= e.Value
	case "<":
		return value < e.Value
	case "<=":
		return value <= e.Value
	case "==":
		return value == e.Value
	case "!=":
		return value != e.Value
	}
	return false
}

// ParseError says what is wrong with an expression and where.
type ParseError struct {
	Source string
	// Column is where it goes wrong, counted in characters from 1.
	Column int
	// Text says what was found and what is allowed there.
	Text string
	// Suggestion is what was probably meant, "" when nothing is near.
	Suggestion string
}

// Error names the column, what is allowed and what was probably meant.
func (e *ParseError) Error() string {
	s := fmt.Sprintf("column %d: %s", e.Column, e.Text)
	if e.Suggestion != "" {
		s += fmt.Sprintf("; did you mean %q?", e.Suggestion)
	}
	return s
}

// Parse reads an expression such as
//
//	p95 > 10s
//	failed > 20% for 5s
//	throughput > 0.95 × baseline
//	failed == 0
//
// An x or * may stand for ×, ≥ and ≤ for >= and <=. Durations need a unit, a
// percentage is allowed for counts of requests and for shares. Errors are of
// type *ParseError.
func Parse(s string) (Expr, error) {
	p := &parser{src: []rune(strings.TrimSpace(s))}
	e := Expr{Source: string(p.src)}
	def, err := p.metric()
	if err != nil {
		return Expr{}, err
	}
	e.Metric = def.ID
	if e.Op, err = p.operator(); err != nil {
		return Expr{}, err
	}
	if err := p.value(def, &e); err != nil {
		return Expr{}, err
	}
	if err := p.hold(&e); err != nil {
		return Expr{}, err
	}
	if at, rest := p.at(), p.word(); rest != "" {
		return Expr{}, p.fail(at, "", "%q is too much; after the value only `× baseline` and `for` with a time may follow", rest)
	}
	return e, nil
}

type parser struct {
	src []rune
	pos int
}

func (p *parser) space() {
	for p.pos < len(p.src) && (p.src[p.pos] == ' ' || p.src[p.pos] == '\t') {
		p.pos++
	}
}

// at skips spaces and returns the index of the next character.
func (p *parser) at() int { p.space(); return p.pos }

func (p *parser) fail(at int, suggestion, format string, args ...any) error {
	return &ParseError{Source: string(p.src), Column: at + 1, Text: fmt.Sprintf(format, args...), Suggestion: suggestion}
}

// take reads the characters that ok accepts.
func (p *parser) take(ok func(rune) bool) string {
	start := p.at()
	for p.pos < len(p.src) && ok(p.src[p.pos]) {
		p.pos++
	}
	return string(p.src[start:p.pos])
}

// word reads up to the next space.
func (p *parser) word() string {
	return p.take(func(r rune) bool { return r != ' ' && r != '\t' })
}

func isNameRune(r rune) bool {
	return r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
}

func (p *parser) metric() (Definition, error) {
	at := p.at()
	name := p.take(isNameRune)
	if name == "" {
		return Definition{}, p.fail(at, "", "a metric must stand here: %s", allowed())
	}
	def, ok := Lookup(name)
	if near := Nearest(name, names()); !ok && near != "" {
		return Definition{}, p.fail(at, near, "unknown metric %q", name)
	}
	if !ok {
		return Definition{}, p.fail(at, "", "unknown metric %q; allowed are %s", name, allowed())
	}
	return def, nil
}

func (p *parser) operator() (string, error) {
	at := p.at()
	op := p.take(func(r rune) bool { return strings.ContainsRune("<>=!≥≤≠", r) })
	switch op {
	case ">", ">=", "<", "<=", "==", "!=":
		return op, nil
	case "≥":
		return ">=", nil
	case "≤":
		return "<=", nil
	case "≠":
		return "!=", nil
	}
	suggestion := map[string]string{"=": "==", "=>": ">=", "=<": "<=", "===": "==", "<>": "!=", ">>": ">", "<<": "<"}[op]
	if op == "" {
		return "", p.fail(at, "", "a comparison must stand here: > >= < <= == !=")
	}
	return "", p.fail(at, suggestion, "unknown comparison %q; allowed are > >= < <= == !=", op)
}

// value reads the number with its unit and what it is relative to.
func (p *parser) value(def Definition, e *Expr) error {
	at := p.at()
	digits := p.take(func(r rune) bool { return r >= '0' && r <= '9' || r == '.' })
	if digits == "" {
		return p.fail(at, "", "%s must stand here", valueForm(def))
	}
	number, err := strconv.ParseFloat(digits, 64)
	if err != nil || math.IsInf(number, 0) {
		return p.fail(at, "", "%q is not a number", digits)
	}
	unitAt := p.at()
	if p.baseline() {
		e.Value, e.OfBaseline = number, true
		return nil
	}
	unit := p.take(func(r rune) bool {
		return r == '%' || r == '/' || r == 'µ' || r == 'μ' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
	})
	if unit == "for" { // the value has no unit, the time follows
		p.pos, unit = unitAt, ""
	}
	if strings.HasSuffix(digits, ".") || strings.HasPrefix(digits, ".") {
		return p.fail(at, "", "%q is not a number: digits must stand on both sides of the point", digits)
	}
	factor, err := p.unit(def, unit, unitAt, e)
	if err != nil {
		return err
	}
	e.Value = number * factor
	if e.Percent && e.Value > 1 {
		return p.fail(at, "", "%s%% is more than all requests; 0%% to 100%% are allowed", digits)
	}
	if p.baseline() {
		return p.fail(unitAt, "", "a share of the baseline is a plain number, as in `0.95 × baseline`")
	}
	return nil
}

// baseline reads "× baseline" and tells whether it stood there.
func (p *parser) baseline() bool {
	start := p.at()
	if p.pos < len(p.src) && strings.ContainsRune("×x*", p.src[p.pos]) {
		p.pos++
		if p.take(isNameRune) == "baseline" {
			return true
		}
	}
	p.pos = start
	return false
}

// unit returns the factor from the written unit to the metric's base unit.
func (p *parser) unit(def Definition, unit string, at int, e *Expr) (float64, error) {
	share := def.Unit == UnitOne && strings.HasSuffix(def.ID, "_share")
	switch {
	case unit == "%" && def.OfRequests:
		e.Percent = true
		return 0.01, nil
	case unit == "%" && share:
		return 0.01, nil
	case def.Unit == UnitNanoseconds:
		if f, ok := timeUnits()[unit]; ok {
			return f, nil
		}
	case def.Unit == UnitPerSecond && (unit == "" || unit == "/s"):
		return 1, nil
	case def.Unit == UnitBytesPerSecond:
		if f, ok := byteUnits()[strings.TrimSuffix(unit, "/s")]; ok {
			return f, nil
		}
	case def.Unit == UnitOne && unit == "":
		return 1, nil
	}
	if unit == "" {
		return 0, p.fail(at, "", "%s needs %s", def.ID, valueForm(def))
	}
	return 0, p.fail(at, "", "unit %q does not fit %s, which needs %s", unit, def.ID, valueForm(def))
}

func timeUnits() map[string]float64 {
	return map[string]float64{"ns": 1, "us": 1e3, "µs": 1e3, "μs": 1e3, "ms": 1e6, "s": 1e9, "m": 60e9, "h": 3600e9}
}

func byteUnits() map[string]float64 {
	return map[string]float64{"": 1, "B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
}

// valueForm says how a value of the metric is written.
func valueForm(def Definition) string {
	switch {
	case def.Unit == UnitNanoseconds:
		return "a number with a unit of time (ns, us, ms, s, m, h), or a factor as in `1.1 × baseline`"
	case def.Unit == UnitPerSecond:
		return "a number per second such as 500, or a factor as in `0.95 × baseline`"
	case def.Unit == UnitBytesPerSecond:
		return "a number of bytes per second (B, kB, MB, GB, KiB, MiB, GiB), or a factor as in `0.95 × baseline`"
	case def.OfRequests:
		return "a count such as 0, or a share of the requests such as 20%"
	case strings.HasSuffix(def.ID, "_share"):
		return "a share such as 0.8 or 80%"
	}
	return "a number"
}

// hold reads "for 5s".
func (p *parser) hold(e *Expr) error {
	start := p.at()
	if p.take(isNameRune) != "for" {
		p.pos = start
		return nil
	}
	at := p.at()
	text := p.word()
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return p.fail(at, "", "after `for` a time such as 5s must stand, not %q", text)
	}
	e.For = d
	return nil
}
