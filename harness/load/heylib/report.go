package heylib

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"text/template"
)

// The columns of the report, in the order in which they are printed. All but
// the status are seconds with nine decimals, read as nanoseconds.
const (
	colLatency = iota
	colConnect
	colWrite
	colDelay
	colRead
	colOffset
	colStatus
	columns
)

var columnLabels = [columns]string{"latency", "connect", "write", "delay", "read", "offset", "status"}

// reportTemplate prints everything that we need of a Report, one line per
// column: a %.9f of a whole slice costs an eighth of a printf per row. The
// whole Report as JSON would be empty as soon as one value is NaN. An error
// text is cut to textRunes before it is quoted, so that a hostile answer in it
// cannot make the line long.
func reportTemplate(textRunes int) string {
	var b strings.Builder
	b.WriteString(`{{printf "abacus %d %d %d\n" .NumRes .Total.Nanoseconds (len .Lats)}}`)
	for i, field := range [columns]string{"Lats", "ConnLats", "ReqLats", "DelayLats", "ResLats", "Offsets", "StatusCodes"} {
		verb := "%.9f"
		if i == colStatus {
			verb = "%d"
		}
		fmt.Fprintf(&b, `{{printf "%s%s\n" .%s}}`, columnLabels[i], verb, field)
	}
	b.WriteString(`{{printf "errors %d\n" (len .ErrorDist)}}`)
	fmt.Fprintf(&b, `{{range $text, $n := .ErrorDist}}{{printf "%%d %%.%dq\n" $n $text}}{{end}}`, textRunes)
	b.WriteString("end")
	return b.String()
}

// checkTemplate parses the template before any load: the library would panic
// over it after all requests were made.
func checkTemplate(text string) error {
	_, err := template.New("report").Parse(text)
	return err
}

// heyError is one text of the library's error table.
type heyError struct {
	text  string
	count int64
}

var errNoReport = errors.New("hey's library wrote no report")

// report is what one Work printed.
type report struct {
	// requests is the number of results, failed ones included.
	requests int64
	totalNS  int64
	cols     [columns][]int64
	errors   []heyError
}

// parser reads a report as it is written, strictly, without keeping its text.
// It is the Writer of a Work.
type parser struct {
	report  report
	maxRows int
	maxLine int

	err    error
	state  parserState
	line   []byte
	col    int
	rows   int
	errors int
	num    number
}

type parserState int

const (
	stateHead parserState = iota
	stateLabel
	stateValues
	stateClosed // after a column's bracket
	stateErrorCount
	stateErrors
	stateEnd
	stateAfter
)

// newParser returns a parser for at most maxRows answers. textRunes is that
// of the template: a quoted rune takes at most ten bytes.
func newParser(maxRows, textRunes int) *parser {
	return &parser{maxRows: maxRows, maxLine: 10*textRunes + 64}
}

// Write takes the next piece of the report. The first error stays.
func (p *parser) Write(b []byte) (int, error) {
	for i := range b {
		if p.err != nil {
			return i, p.err
		}
		p.feed(b[i])
	}
	return len(b), p.err
}

// finish returns the report when it was whole.
func (p *parser) finish() (*report, error) {
	switch {
	case p.err != nil:
		return nil, fmt.Errorf("read hey's report: %w", p.err)
	case p.state == stateHead && len(p.line) == 0:
		return nil, errNoReport
	case p.state != stateAfter:
		return nil, fmt.Errorf("hey's report ends early, in the part after %q", p.where())
	}
	r := &p.report
	var failed int64
	for _, e := range r.errors {
		failed += e.count
	}
	if r.requests != int64(p.rows)+failed {
		return nil, fmt.Errorf("hey's report has %d rows and %d failures but says %d requests", p.rows, failed, r.requests)
	}
	return r, nil
}

func (p *parser) where() string {
	if p.state <= stateClosed && p.col < columns {
		return columnLabels[p.col]
	}
	return "errors"
}

func (p *parser) feed(c byte) {
	switch p.state {
	case stateValues:
		p.value(c)
	case stateLabel:
		if c != '[' {
			p.collect(c)
			return
		}
		if string(p.line) != columnLabels[p.col] {
			p.fail("column %q where %q belongs", p.line, columnLabels[p.col])
			return
		}
		p.line, p.state = p.line[:0], stateValues
		p.report.cols[p.col] = make([]int64, 0, p.rows)
		p.num.reset()
	case stateClosed:
		if c != '\n' {
			p.fail("%q after the column %s", c, columnLabels[p.col])
			return
		}
		if p.col++; p.col == columns {
			p.state = stateErrorCount
		} else {
			p.state = stateLabel
		}
	case stateAfter:
		// The library ends every report with one empty line.
		if c != '\n' {
			p.fail("%q after the end", c)
		}
	default:
		if c != '\n' {
			p.collect(c)
			return
		}
		p.wholeLine()
		p.line = p.line[:0]
	}
}

func (p *parser) collect(c byte) {
	if len(p.line) >= p.maxLine {
		p.fail("a line of more than %d bytes", p.maxLine)
		return
	}
	p.line = append(p.line, c)
}

func (p *parser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf(format, args...)
	}
}

// wholeLine takes one line that is no column.
func (p *parser) wholeLine() {
	switch p.state {
	case stateHead:
		f := bytes.Split(p.line, []byte(" "))
		if len(f) != 4 || string(f[0]) != "abacus" {
			p.fail("first line %.60q", p.line)
			return
		}
		requests, ok1 := count(f[1])
		total, ok2 := count(f[2])
		rows, ok3 := count(f[3])
		if !ok1 || !ok2 || !ok3 || rows > int64(p.maxRows) {
			p.fail("first line %.60q", p.line)
			return
		}
		p.report.requests, p.report.totalNS, p.rows = requests, total, int(rows)
		p.state = stateLabel
	case stateErrorCount:
		n, ok := int64(0), false
		if rest, found := bytes.CutPrefix(p.line, []byte("errors ")); found {
			n, ok = count(rest)
		}
		if !ok || n > p.report.requests {
			p.fail("line %.60q where the number of errors belongs", p.line)
			return
		}
		p.errors = int(n)
		p.next()
	case stateErrors:
		number, quoted, found := bytes.Cut(p.line, []byte(" "))
		n, ok := count(number)
		text, err := strconv.Unquote(string(quoted))
		if !found || !ok || n == 0 || err != nil {
			p.fail("error line %.60q", p.line)
			return
		}
		p.report.errors = append(p.report.errors, heyError{text: text, count: n})
		p.next()
	case stateEnd:
		if string(p.line) != "end" {
			p.fail("line %.60q where the end belongs", p.line)
			return
		}
		p.state = stateAfter
	}
}

// next goes on with the error lines, or with the end after the last.
func (p *parser) next() {
	p.state = stateErrors
	if len(p.report.errors) == p.errors {
		p.state = stateEnd
	}
}

// value takes one byte between the brackets of a column.
func (p *parser) value(c byte) {
	if c != ' ' && c != ']' {
		if !p.num.feed(c) {
			p.fail("%q in a number of the column %s", c, columnLabels[p.col])
		}
		return
	}
	col := &p.report.cols[p.col]
	if !(c == ']' && p.rows == 0 && p.num.empty()) {
		v, ok := p.num.value(p.col != colStatus)
		if !ok || len(*col) == p.rows {
			p.fail("row %d of the column %s is no value", len(*col)+1, columnLabels[p.col])
			return
		}
		*col = append(*col, v)
		p.num.reset()
	}
	if c == ']' {
		if len(*col) != p.rows {
			p.fail("column %s has %d rows of %d", columnLabels[p.col], len(*col), p.rows)
			return
		}
		p.state = stateClosed
	}
}

// number reads "-12.000000034" as nanoseconds or "200" as it stands.
type number struct {
	n           int64
	whole, frac int
	dot, minus  bool
}

func (d *number) reset()      { *d = number{} }
func (d *number) empty() bool { return *d == number{} }

func (d *number) feed(c byte) bool {
	switch {
	case '0' <= c && c <= '9':
		if d.n > (math.MaxInt64-9)/10 {
			return false
		}
		d.n = d.n*10 + int64(c-'0')
		if d.dot {
			d.frac++
		} else {
			d.whole++
		}
		return true
	case c == '.' && !d.dot && d.whole > 0:
		d.dot = true
		return true
	case c == '-' && d.empty():
		d.minus = true
		return true
	}
	return false
}

// value is the number read, ok when it has a whole part and, for seconds,
// exactly nine decimals, else none.
func (d *number) value(seconds bool) (v int64, ok bool) {
	ok = d.whole > 0 && d.frac == 0 && !d.dot
	if seconds {
		ok = d.whole > 0 && d.frac == 9
	}
	v = d.n
	if d.minus {
		v = -v
	}
	return v, ok
}

// count reads decimal digits and nothing else.
func count(b []byte) (int64, bool) {
	if len(b) == 0 || len(b) > 18 {
		return 0, false
	}
	var n int64
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, true
}
