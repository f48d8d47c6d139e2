package record

import (
	"encoding/json"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"abacus/harness/observe"
)

// testdata/schema1 is a real record of the first version: two variants at two
// load levels for two rounds; the worker of run 3 was killed, and a signal cut
// run 6 short. It is read for ever. The figures below were worked out from the
// raw JSON with another program, in whole numbers as far as they go.
const schema1 = "testdata/schema1"

func TestSchema1Frame(t *testing.T) {
	r, err := Open(schema1)
	if err != nil {
		t.Fatal(err)
	}
	m := r.Manifest
	if m.Schema != 1 || m.AbacusVersion != "0.1.0" || m.Campaign != "schema1" || m.Author != "abacus" || m.Seed != 7 || m.State != StateInterrupted ||
		m.Reason != "stopped by a signal" || m.PlannedRuns != 8 || m.Rounds != 2 || len(m.Fingerprint) != 64 || m.EndedAt == nil {
		t.Errorf("manifest %+v", m)
	}
	if len(m.Cells) != 4 || m.Cells[3] != (Cell{Scenario: "caches", Variant: "far", Engine: "native", Lab: "demo", URL: "/memcached", Baseline: true, Step: Step{Concurrency: 8, DurationS: .6, KeepAlive: true}}) {
		t.Errorf("cells %+v", m.Cells)
	}
	if s := m.Scenarios[0]; s.Baseline != "far" || s.Primary != "throughput" || s.Margin != .02 || !slices.Equal(s.Caveats, []string{"A record for tests."}) || !slices.Equal(m.Goals, []string{"p95 < 1s"}) {
		t.Errorf("scenario %+v, goals %q", s, m.Goals)
	}
	if w := m.Warmups; len(w) != 2 || !w[0].Steady || w[0].Requests != 49787 || len(w[0].WindowsPerS) != 7 || w[1].Steady {
		t.Errorf("warm-ups %+v", w)
	}
	if h := m.Hooks; len(h) != 1 || h[0].Kind != "setup" || h[0].Output != "ready\n" || h[0].ExitCode == nil || *h[0].ExitCode != 0 {
		t.Errorf("hooks %+v", h)
	}
	e, err := r.Environment()
	if err != nil || e.CPUs != 2 || e.OS != "linux" || e.MemBytes != 25276502016 || e.PortRange != "32768-60999" {
		t.Errorf("environment %+v, %v", e, err)
	}
	p, err := r.Preflight()
	if err != nil || len(p.Checks) != 12 || len(p.Pages) != 2 || *p.Pages[1].Bytes != 156 || p.Pages[0].SHA256 != p.Pages[1].SHA256 || !p.Pages[1].Stable {
		t.Errorf("preflight %+v, %v", p, err)
	}
	i, err := r.Idle()
	if err != nil || i == nil || i.MayStart || len(i.Singles) != 20 || *i.IdleWorkers != 149 || *i.ForeignRequests != 0 || i.DurationNS != 5090635350 {
		t.Errorf("idle %+v, %v", i, err)
	}
	if yaml, err := r.CampaignYAML(); err != nil || !strings.Contains(yaml, "{concurrency: 8, duration: 600ms, keepalive: true}") {
		t.Errorf("campaign.yaml %q, %v", yaml, err)
	}
}

func TestSchema1Runs(t *testing.T) {
	r, err := Open(schema1)
	if err != nil {
		t.Fatal(err)
	}
	want := []struct {
		variant                    string
		complete                   int64
		perS, meanNS, sdNS         float64
		p95NS                      int64
		good, cutShort             bool
		err                        string
		served                     int64 // by the status page, polls taken off
		intervals, samplesOfStatus int
	}{
		{"near", 9784, 16300.989683999316, 120956.87213818479, 124740.80116570533, 190463, true, false, "", 9784, 3, 5},
		{"far", 1240, 2065.6422182939777, 960313.2612903225, 2369062.8213398773, 2406399, true, false, "", 1240, 3, 5},
		{"near", 10622, 26547.733619830917, 0, 0, 0, false, false, "the worker process ended without a result: signal: killed", 16785, 0, 5},
		{"far", 3212, 5335.938662421549, 1493775.5666251557, 2155507.9566342523, 3016703, true, false, "", 3210, 4, 5},
		{"near", 9241, 15399.503395761309, 127139.13862136133, 782105.9693131979, 220671, true, false, "", 9241, 3, 5},
		{"far", 836, 2395.217445260271, 827786.2368421053, 2584292.474894666, 2430975, false, true, "", 837, 2, 3},
	}
	n := 0
	for run, err := range r.Runs() {
		if err != nil {
			t.Fatal(err)
		}
		if n == len(want) {
			t.Fatalf("run %d is one too many", run.Seq)
		}
		w := want[n]
		n++
		if run.Seq != n || run.Cell.Variant != w.variant || run.Good() != w.good || run.CutShort() != w.cutShort || run.Error != w.err {
			t.Errorf("run %d: %s, good %v, cut short %v, error %q", run.Seq, run.Cell.Variant, run.Good(), run.CutShort(), run.Error)
		}
		res := run.Result
		if v, ok := res.ThroughputPerS(); !ok || !near(v, w.perS) || res.Counts.Complete != w.complete || len(res.Intervals) != w.intervals {
			t.Errorf("run %d: %v/s, %d complete, %d intervals", n, v, res.Counts.Complete, len(res.Intervals))
		}
		if (res.Total != nil) != (w.meanNS > 0) {
			t.Fatalf("run %d: total %v", n, res.Total)
		}
		if res.Total != nil {
			mean, _ := res.Total.Mean()
			sd, _ := res.Total.StdDev()
			p95, _ := res.Total.Quantile(.95)
			if !near(mean, w.meanNS) || !near(sd, w.sdNS) || p95 != w.p95NS || res.Total.Count() != w.complete {
				t.Errorf("run %d: mean %v, sd %v, p95 %d of %d", n, mean, sd, p95, res.Total.Count())
			}
		}
		status := run.Series[0]
		if status.Source != "status" || len(status.Samples) != w.samplesOfStatus || run.Series[1].Source != "host" || run.Series[2].Source != "processes" {
			t.Fatalf("run %d: series %+v", n, run.Series)
		}
		first, last := status.Samples[0], status.Samples[len(status.Samples)-1]
		if rates := observe.Rates(first, last, len(status.Samples)-1); rates.Requests == nil || *rates.Requests != w.served {
			t.Errorf("run %d: the server answered %v, want %d", n, rates.Requests, w.served)
		}
	}
	if n != len(want) {
		t.Errorf("%d runs, want %d", n, len(want))
	}
}

func near(got, want float64) bool { return math.Abs(got-want) <= 1e-12*math.Abs(want) }

// Every file of it is JSON or YAML that the tests above have read, and names
// nothing of the machine that it was made on.
func TestSchema1HoldsNothingElse(t *testing.T) {
	err := filepath.WalkDir(schema1, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name := d.Name()
		known := slices.Contains([]string{ManifestFile, CampaignFile, EnvironmentFile, PreflightFile, IdleName}, name) || filepath.Base(filepath.Dir(path)) == RunsDir
		if !known || (name != CampaignFile && !json.Valid(data)) {
			t.Errorf("%s is no file of a record", path)
		}
		for _, bad := range []string{`"/home`, `"/root`, `"/tmp`, `"/usr`, "hostname"} {
			if strings.Contains(string(data), bad) {
				t.Errorf("%s holds %s", path, bad)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
