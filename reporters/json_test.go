package reporters

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"abacus/harness/analysis"
	"abacus/harness/record"
	"abacus/harness/stats"
)

func small() *analysis.Analysis {
	ci := [2]float64{900, 1100}
	return &analysis.Analysis{Schema: 1, Campaign: "c", Record: "c/t", Complete: true, Seed: 7, Verdict: []string{"x"},
		Cells: []analysis.Cell{{Scenario: "s", Variant: "v", Step: record.Step{Concurrency: 50, DurationS: 10, KeepAlive: true},
			Throughput: &stats.Spread{N: 6, Mean: 1000, CI95: &ci}, FailedBy: map[string]int64{"timeout": 1, "connect": 0}}},
		Comparisons: []analysis.Comparison{}, Curves: []analysis.Curve{{Scenario: "s", CellIndexes: []int{0}}}, Findings: []analysis.Finding{}}
}

// The names are those that the file format promises; the text ends with one
// newline and is the same each time.
func TestJSON(t *testing.T) {
	var one, two bytes.Buffer
	if err := (JSON{}).Report(&one, small()); err != nil {
		t.Fatal(err)
	}
	if err := (JSON{}).Report(&two, small()); err != nil || one.String() != two.String() {
		t.Errorf("not the same twice: %v", err)
	}
	if !strings.HasPrefix(one.String(), "{\n  \"schema\": 1,\n") || !strings.HasSuffix(one.String(), "\n}\n") {
		t.Errorf("%.40q … %q", one.String(), one.String()[one.Len()-5:])
	}
	var got map[string]any
	if err := json.Unmarshal(one.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"schema", "campaign", "record", "complete", "seed", "environment", "findings", "comparisons",
		"cells.0.scenario", "cells.0.variant", "cells.0.engine", "cells.0.lab", "cells.0.step.concurrency", "cells.0.step.duration_s",
		"cells.0.step.keepalive", "cells.0.runs", "cells.0.void_runs", "cells.0.throughput_per_s.mean", "cells.0.throughput_per_s.ci95",
		"cells.0.latency_ns.mean", "cells.0.latency_ns.p999", "cells.0.within_run_ns", "cells.0.complete", "cells.0.failed",
		"cells.0.failed_by.timeout", "cells.0.non_2xx", "curves.0.points"} {
		if !has(got, strings.Split(path, ".")) {
			t.Errorf("no %s", path)
		}
	}
	// What is unknown is left out.
	for _, path := range []string{"title", "cells.0.status_samples", "cells.0.busy_workers_peak", "cells.0.throughput_per_s.sd", "cells.0.step.requests"} {
		if has(got, strings.Split(path, ".")) {
			t.Errorf("%s is there though it is unknown", path)
		}
	}
}

func has(v any, path []string) bool {
	if len(path) == 0 {
		return true
	}
	switch x := v.(type) {
	case map[string]any:
		next, ok := x[path[0]]
		return ok && has(next, path[1:])
	case []any:
		return path[0] == "0" && len(x) > 0 && has(x[0], path[1:])
	}
	return false
}

func TestJSONRefusesWhatIsNoNumber(t *testing.T) {
	a := small()
	a.Cells[0].Throughput.Mean = math.NaN()
	var out bytes.Buffer
	if err := (JSON{}).Report(&out, a); err == nil || out.Len() > 0 {
		t.Errorf("err %v, %d bytes written", err, out.Len())
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestJSONSaysThatItCouldNotWrite(t *testing.T) {
	if err := (JSON{}).Report(broken{}, small()); err == nil || !strings.Contains(err.Error(), "disk full") {
		t.Errorf("%v", err)
	}
}
