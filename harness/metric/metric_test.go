package metric

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want Expr
	}{
		{"p95 > 10s", Expr{Metric: "p95", Op: ">", Value: 10e9}},
		{"failed > 20% for 5s", Expr{Metric: "failed", Op: ">", Value: 0.2, Percent: true, For: 5 * time.Second}},
		{"throughput > 0.95 × baseline", Expr{Metric: "throughput_per_s", Op: ">", Value: 0.95, OfBaseline: true}},
		{"throughput > 0.95 x baseline", Expr{Metric: "throughput_per_s", Op: ">", Value: 0.95, OfBaseline: true}},
		{"throughput>0.95*baseline", Expr{Metric: "throughput_per_s", Op: ">", Value: 0.95, OfBaseline: true}},
		{"failed == 0", Expr{Metric: "failed", Op: "==", Value: 0}},
		{"  p99   <=250ms ", Expr{Metric: "p99", Op: "<=", Value: 250e6}},
		{"p50 ≤ 1.5 ms", Expr{Metric: "p50", Op: "<=", Value: 1.5e6}},
		{"max ≥ 3us", Expr{Metric: "max", Op: ">=", Value: 3000}},
		{"waiting < 7µs", Expr{Metric: "waiting_ns", Op: "<", Value: 7000}},
		{"waiting < 7μs", Expr{Metric: "waiting_ns", Op: "<", Value: 7000}},
		{"latency < 2m for 1m30s", Expr{Metric: "latency_mean_ns", Op: "<", Value: 120e9, For: 90 * time.Second}},
		{"throughput_per_s >= 500", Expr{Metric: "throughput_per_s", Op: ">=", Value: 500}},
		{"throughput >= 500/s", Expr{Metric: "throughput_per_s", Op: ">=", Value: 500}},
		{"throughput < 5 for 2s", Expr{Metric: "throughput_per_s", Op: "<", Value: 5, For: 2 * time.Second}},
		{"bytes > 10MB/s", Expr{Metric: "bytes_per_s", Op: ">", Value: 10e6}},
		{"bytes > 2 MiB", Expr{Metric: "bytes_per_s", Op: ">", Value: 2 << 20}},
		{"bytes > 100", Expr{Metric: "bytes_per_s", Op: ">", Value: 100}},
		{"idle_workers < 1", Expr{Metric: "idle_workers_min", Op: "<", Value: 1}},
		{"client_cpu_share > 80%", Expr{Metric: "client_cpu_share", Op: ">", Value: 0.8}},
		{"client_cpu_share > 0.8", Expr{Metric: "client_cpu_share", Op: ">", Value: 0.8}},
		{"non_2xx != 0", Expr{Metric: "non_2xx", Op: "!=", Value: 0}},
		{"non_2xx ≠ 0", Expr{Metric: "non_2xx", Op: "!=", Value: 0}},
		{"p95 < 1.1 × baseline", Expr{Metric: "p95", Op: "<", Value: 1.1, OfBaseline: true}},
	} {
		got, err := Parse(tt.in)
		tt.want.Source = strings.TrimSpace(tt.in)
		if math.Abs(got.Value-tt.want.Value) <= 1e-12*math.Abs(tt.want.Value) {
			got.Value = tt.want.Value // 250 × 1e6 and the like may be a bit off
		}
		if err != nil || got != tt.want {
			t.Errorf("%q: got %+v, %v; want %+v", tt.in, got, err, tt.want)
		}
	}
}

func TestParseErrors(t *testing.T) {
	const afterValue = "after the value only `× baseline` and `for` with a time may follow"
	for _, tt := range []struct{ in, want string }{
		{"thruput > 5", `column 1: unknown metric "thruput"; allowed are throughput, `},
		{"througput > 5", `column 1: unknown metric "througput"; did you mean "throughput"?`},
		{"p59 > 5s", `column 1: unknown metric "p59"; did you mean "p95"?`},
		{"P95 > 5s", `column 1: unknown metric "P95"; did you mean "p95"?`},
		{"", "column 1: a metric must stand here: throughput, "},
		{"> 5s", "column 1: a metric must stand here: throughput, "},
		{"p95", "column 4: a comparison must stand here: > >= < <= == !="},
		{"p95 = 5s", `column 5: unknown comparison "="; allowed are > >= < <= == !=; did you mean "=="?`},
		{"p95 => 5s", `column 5: unknown comparison "=>"; allowed are > >= < <= == !=; did you mean ">="?`},
		{"p95 >", "column 6: a number with a unit of time (ns, us, ms, s, m, h), or a factor as in `1.1 × baseline` must stand here"},
		{"p95 > 5", "column 8: p95 needs a number with a unit of time"},
		{"p95 > 5 %", `column 9: unit "%" does not fit p95, which needs a number with a unit of time`},
		{"p95 > 5sec", `column 8: unit "sec" does not fit p95`},
		{"p95 > -5s", "column 7: a number with a unit of time"},
		{"p95 > 1.2.3s", `column 7: "1.2.3" is not a number`},
		{"p95 > 5.s", `column 7: "5." is not a number: digits must stand on both sides of the point`},
		{"p95 > 5s too", `column 10: "too" is too much; ` + afterValue},
		{"p95 > 5s × baseline", "column 8: a share of the baseline is a plain number, as in `0.95 × baseline`"},
		{"throughput > 20%", `column 16: unit "%" does not fit throughput_per_s`},
		{"throughput > 0.9 × basline", `column 18: "×" is too much; ` + afterValue},
		{"failed > 120%", "column 10: 120% is more than all requests; 0% to 100% are allowed"},
		{"failed > 5s", `column 11: unit "s" does not fit failed, which needs a count such as 0, or a share of the requests such as 20%`},
		{"failed > 5 for", "column 15: after `for` a time such as 5s must stand, not \"\""},
		{"failed > 5 for five", "column 16: after `for` a time such as 5s must stand, not \"five\""},
		{"failed > 5 for -1s", "column 16: after `for` a time such as 5s must stand, not \"-1s\""},
		{"idle_workers < 5%", `column 17: unit "%" does not fit idle_workers_min, which needs a number`},
		{"ü > 5", "column 1: a metric must stand here"},
	} {
		e, err := Parse(tt.in)
		var parse *ParseError
		if !errors.As(err, &parse) || !strings.HasPrefix(err.Error(), tt.want) || e != (Expr{}) {
			t.Errorf("%q: got %+v, %v; want %s", tt.in, e, err, tt.want)
		}
	}
}

func TestHolds(t *testing.T) {
	for _, tt := range []struct {
		in                  string
		below, equal, above bool
	}{
		{"idle_workers > 5", false, false, true},
		{"idle_workers >= 5", false, true, true},
		{"idle_workers < 5", true, false, false},
		{"idle_workers <= 5", true, true, false},
		{"idle_workers == 5", false, true, false},
		{"idle_workers != 5", true, false, true},
	} {
		e, err := Parse(tt.in)
		if err != nil {
			t.Fatal(err)
		}
		if e.Holds(math.Nextafter(5, 0)) != tt.below || e.Holds(5) != tt.equal || e.Holds(math.Nextafter(5, 6)) != tt.above || e.Holds(math.NaN()) {
			t.Errorf("%s: %v %v %v, NaN %v", tt.in, e.Holds(math.Nextafter(5, 0)), e.Holds(5), e.Holds(math.Nextafter(5, 6)), e.Holds(math.NaN()))
		}
	}
	if (Expr{}).Holds(0) {
		t.Error("the zero value holds")
	}
	e, err := Parse("failed > 20%")
	if err != nil || e.Holds(0.2) || !e.Holds(0.21) {
		t.Errorf("%+v, %v: a share of 0.2 must not hold, 0.21 must", e, err)
	}
}

// The ids of formats.md, which JSON, CSV and goals rest on.
func TestTable(t *testing.T) {
	const documented = `throughput_per_s latency_mean_ns p50 p75 p90 p95 p99 p999 max connect_ns waiting_ns processing_ns total_ns service_p99
		complete failed failed_connect failed_receive failed_length failed_timeout failed_exception non_2xx reconnects bytes_per_s
		client_cpu_ns_per_request server_cpu_ns_per_request busy_workers_peak idle_workers_min client_cpu_share send_lag_p99_ns throughput`
	for _, id := range strings.Fields(documented) {
		if _, ok := Lookup(id); !ok {
			t.Errorf("%s is not in the table", id)
		}
	}
	seen := map[string]string{}
	for _, d := range Table() {
		for _, name := range append([]string{d.ID}, d.Aliases...) {
			if other, taken := seen[name]; taken {
				t.Errorf("%s names %s and %s", name, other, d.ID)
			}
			seen[name] = d.ID
			if got, ok := Lookup(name); !ok || got.ID != d.ID {
				t.Errorf("Lookup(%s) gives %s, %v; want %s", name, got.ID, ok, d.ID)
			}
			// Each must be usable in an expression, with the form that its error names.
			text := map[string]string{UnitPerSecond: "1", UnitNanoseconds: "1ms", UnitOne: "1", UnitBytesPerSecond: "1kB"}[d.Unit]
			if e, err := Parse(name + " > " + text); err != nil || e.Metric != d.ID {
				t.Errorf("%s > %s: %+v, %v", name, text, e, err)
			}
		}
		if d.Text == "" || d.Source == "" || !strings.HasSuffix(d.Text, ".") {
			t.Errorf("%s: source %q, definition %q", d.ID, d.Source, d.Text)
		}
	}
	for id, higher := range map[string]bool{"throughput_per_s": true, "p95": false, "failed": false, "complete": true} {
		if d, _ := Lookup(id); d.HigherIsBetter == nil || *d.HigherIsBetter != higher {
			t.Errorf("%s: higher is better must be %v", id, higher)
		}
	}
	if d, _ := Lookup("busy_workers_peak"); d.HigherIsBetter != nil {
		t.Error("busy_workers_peak has a better direction")
	}
}

func TestNearest(t *testing.T) {
	words := []string{"repeats", "results", "report", "p95", "p99", "host"}
	for _, tt := range []struct{ in, want string }{
		{"repeat", "repeats"}, {"Repeats", "repeats"}, {"reslts", "results"}, {"p59", "p95"}, {"hots", "host"},
		{"xyz", ""}, {"", ""}, {"status", ""}, {"repotr", "report"}, {"h", ""},
	} {
		if got := Nearest(tt.in, words); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.in, got, tt.want)
		}
	}
}

// Whatever is written, Parse gives an expression or an error with a column
// inside the text, and what it accepts it accepts again from its source.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"p95 > 10s", "failed > 20% for 5s", "throughput > 0.95 × baseline", "bytes > 1KiB/s", "p95 =", "≥", "p95 > 1e9s"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		e, err := Parse(s)
		if err != nil {
			var p *ParseError
			if !errors.As(err, &p) || p.Column < 1 || p.Column > len([]rune(p.Source))+1 || e != (Expr{}) {
				t.Fatalf("%q: %+v, %#v", s, e, err)
			}
			return
		}
		again, err := Parse(e.Source)
		if diff := cmp.Diff(e, again); err != nil || diff != "" {
			t.Fatalf("%q: read again: %v\n%s", s, err, diff)
		}
		if math.IsNaN(e.Value) || math.IsInf(e.Value, 0) || e.Value < 0 || e.For < 0 {
			t.Fatalf("%q: %+v", s, e)
		}
	})
}
