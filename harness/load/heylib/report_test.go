package heylib

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"text/template"
	"time"

	"github.com/rakyll/hey/requester"
)

const goodReport = `abacus 5 1500000000 2
latency[0.250000000 1.000000001]
connect[0.000242544 0.000000000]
write[0.000037331 0.000000012]
delay[0.000188390 12.000000034]
read[0.000085174 -0.000000001]
offset[0.004868453 100.000000000]
status[200 503]
errors 2
1 "Get \"http://127.0.0.1:1/\": EOF"
2 "x\ny"
end
`

func parse(t *testing.T, text string, piece int) (*report, error) {
	t.Helper()
	p := newParser(1000, 100)
	for len(text) > 0 {
		n := min(piece, len(text))
		if _, err := p.Write([]byte(text[:n])); err != nil {
			break
		}
		text = text[n:]
	}
	return p.finish()
}

func TestParseReport(t *testing.T) {
	for _, piece := range []int{1, 3, 7, 1 << 20} {
		r, err := parse(t, goodReport+"\n", piece)
		if err != nil {
			t.Fatalf("in pieces of %d: %v", piece, err)
		}
		if r.requests != 5 || r.totalNS != 1_500_000_000 {
			t.Errorf("requests %d, total %d", r.requests, r.totalNS)
		}
		want := [columns][]int64{
			{250_000_000, 1_000_000_001}, {242_544, 0}, {37_331, 12}, {188_390, 12_000_000_034},
			{85_174, -1}, {4_868_453, 100_000_000_000}, {200, 503},
		}
		for i := range want {
			if !slices.Equal(r.cols[i], want[i]) {
				t.Errorf("column %s: %v, want %v", columnLabels[i], r.cols[i], want[i])
			}
		}
		if !slices.Equal(r.errors, []heyError{{`Get "http://127.0.0.1:1/": EOF`, 1}, {"x\ny", 2}}) {
			t.Errorf("errors %+v", r.errors)
		}
	}
}

func TestParseReportRefuses(t *testing.T) {
	replace := func(old, with string) string {
		if !strings.Contains(goodReport, old) {
			t.Fatalf("the good report has no %q", old)
		}
		return strings.Replace(goodReport, old, with, 1)
	}
	for name, text := range map[string]string{
		"empty line only":       "\n",
		"garbage":               "Summary:\n  Total: 1 secs\n",
		"first line short":      replace("abacus 5 1500000000 2", "abacus 5 1500000000"),
		"negative rows":         replace("1500000000 2\n", "1500000000 -2\n"),
		"more rows than made":   replace("abacus 5 1500000000 2", "abacus 5 1500000000 1001"),
		"row missing":           replace("latency[0.250000000 1.000000001]", "latency[0.250000000]"),
		"row too many":          replace("latency[0.250000000 ", "latency[0.250000000 0.250000000 "),
		"column missing":        replace("write[0.000037331 0.000000012]\n", ""),
		"columns swapped":       replace("write[", "delay["),
		"NaN":                   replace("0.250000000", "NaN"),
		"infinite":              replace("0.250000000", "+Inf"),
		"four decimals":         replace("0.250000000", "0.2500"),
		"ten decimals":          replace("0.250000000", "0.2500000000"),
		"no decimals":           replace("0.250000000", "0"),
		"two points":            replace("0.250000000", "0.250.00000"),
		"inner minus":           replace("0.250000000", "0.25-000000"),
		"overflow":              replace("0.250000000", "99999999999999.250000000"),
		"exponent":              replace("0.250000000", "2.5e-1"),
		"status with decimals":  replace("[200 ", "[200.000000000 "),
		"two spaces":            replace("[200 ", "[200  "),
		"text after column":     replace("503]", "503] "),
		"fewer errors":          replace("errors 2", "errors 1"),
		"more errors":           replace("errors 2", "errors 3"),
		"errors not counted":    replace("errors 2", "errors"),
		"error not quoted":      replace(`2 "x\ny"`, `2 x`),
		"error of count 0":      replace(`2 "x\ny"`, `0 "x"`),
		"counts do not add up":  replace("abacus 5", "abacus 6"),
		"end missing":           replace("end\n", ""),
		"more after the end":    goodReport + "\nabacus",
		"line that never ends":  replace("errors 2", "errors "+strings.Repeat("1", 5000)),
		"label that never ends": replace("latency[", strings.Repeat("l", 5000)),
	} {
		t.Run(name, func(t *testing.T) {
			if r, err := parse(t, text, 5); err == nil {
				t.Errorf("accepted as %+v", r)
			}
		})
	}
	if _, err := parse(t, "", 1); !errors.Is(err, errNoReport) {
		t.Errorf("no report at all: %v", err)
	}
}

// TestTemplate runs the template as the library does, over a report with more
// than it can show in one line, and reads it back.
func TestTemplate(t *testing.T) {
	lats := []float64{0.000576052, 1.5, 86399.999999999}
	long := strings.Repeat("é", 300)
	rep := requester.Report{
		Lats: lats, ConnLats: lats, ReqLats: lats, DelayLats: lats, ResLats: lats, Offsets: lats,
		StatusCodes: []int{200, 204, 500},
		Total:       1234567891 * time.Nanosecond, NumRes: 10,
		ErrorDist: map[string]int{long: 3, "a \"b\"\n": 4},
	}
	text := reportTemplate(100)
	if err := checkTemplate(text); err != nil {
		t.Fatal(err)
	}
	p := newParser(3, 100)
	if err := template.Must(template.New("").Parse(text)).Execute(p, rep); err != nil {
		t.Fatal(err)
	}
	_, _ = fmt.Fprint(p, "\n\n")
	r, err := p.finish()
	if err != nil {
		t.Fatal(err)
	}
	want := []int64{576_052, 1_500_000_000, 86_399_999_999_999}
	for _, c := range []int{colLatency, colConnect, colWrite, colDelay, colRead, colOffset} {
		if !slices.Equal(r.cols[c], want) {
			t.Errorf("column %s: %v, want %v", columnLabels[c], r.cols[c], want)
		}
	}
	if r.totalNS != 1_234_567_891 || r.requests != 10 || !slices.Equal(r.cols[colStatus], []int64{200, 204, 500}) {
		t.Errorf("report %+v", r)
	}
	if !slices.Equal(r.errors, []heyError{{"a \"b\"\n", 4}, {long[:200], 3}}) {
		t.Errorf("errors %+v", r.errors)
	}
	if checkTemplate("{{range .Lats}}") == nil {
		t.Error("a template without its end was accepted")
	}
}

// FuzzParseReport: whatever is accepted is whole, and the way in which it is
// cut makes no difference.
func FuzzParseReport(f *testing.F) {
	f.Add(goodReport, 3)
	f.Add("abacus 0 0 0\nlatency[]\nconnect[]\nwrite[]\ndelay[]\nread[]\noffset[]\nstatus[]\nerrors 0\nend\n", 1)
	f.Fuzz(func(t *testing.T, text string, piece int) {
		if piece < 1 {
			piece = 1
		}
		whole, err1 := parse(t, text, len(text)+1)
		cut, err2 := parse(t, text, piece)
		if (err1 == nil) != (err2 == nil) {
			t.Fatalf("whole: %v; in pieces of %d: %v", err1, piece, err2)
		}
		if err1 != nil {
			return
		}
		failed := int64(0)
		for _, e := range whole.errors {
			failed += e.count
		}
		for i := range columns {
			if int64(len(whole.cols[i]))+failed != whole.requests || !slices.Equal(whole.cols[i], cut.cols[i]) {
				t.Fatalf("column %s has %d rows, %d failures, %d requests", columnLabels[i], len(whole.cols[i]), failed, whole.requests)
			}
		}
	})
}
