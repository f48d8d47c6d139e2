package analysis

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"abacus/harness/expect"
	"abacus/harness/load"
	"abacus/harness/observe"
	"abacus/harness/preflight"
	"abacus/harness/record"
)

// fail turns n of a run's 1,000 requests into failures of one kind.
func fail(run *record.Run, kind load.FailureKind, n int64, text string) {
	r := run.Result
	for range n {
		r.Counts.Add(kind)
	}
	if kind != load.FailLength {
		r.Counts.Complete -= n
	}
	if text != "" {
		r.Errors = append(r.Errors, load.ErrorText{Kind: kind, Text: text, Count: n})
	}
}

func hostSeries(swapOut []uint64, busy float64) observe.Series {
	s := observe.Series{Source: "host", IntervalNS: 200e6}
	for i, out := range swapOut {
		at := int64(i) * 200e6
		h := &observe.Host{CPU: observe.CPUTimes{UserNS: int64(float64(2*at) * busy), IdleNS: int64(float64(2*at) * (1 - busy))},
			Cores: make([]observe.CPUTimes, 2), MemTotalBytes: 8 << 30, MemAvailableBytes: 4 << 30, SwapInBytes: new(uint64), SwapOutBytes: &out}
		s.Samples = append(s.Samples, observe.Sample{AtNS: at, TookNS: 1e6, Reading: observe.Reading{Host: h}})
	}
	return s
}

// Each case changes a good campaign (6 rounds, one level of 10 connections, at
// 1,000/s) and names the one finding that must come of it, with words that its
// texts must hold.
func TestFindings(t *testing.T) {
	yes := true
	for _, c := range []struct {
		id       string
		severity preflight.Severity
		change   func(c *campaign)
		words    []string
	}{
		{"failures_connect", preflight.Warning, func(c *campaign) { fail(&c.runs[2], load.FailConnect, 6, "connection refused") },
			[]string{"6 requests failed at 10 connections: the server refused connections.", "6 of 6,000 requests (0.10\u202f%), in round 3", "connection refused (6)"}},
		{"failures_connect", preflight.Critical, func(c *campaign) {
			fail(&c.runs[2], load.FailConnect, 600, "cannot assign requested address")
		}, []string{"ran out of local ports", "10\u202f%"}},
		{"failures_receive", preflight.Warning, func(c *campaign) {
			fail(&c.runs[0], load.FailReceive, 1, "EOF")
			fail(&c.runs[5], load.FailReceive, 1, "EOF")
		},
			[]string{"2 requests failed", "before the answer was whole", "in rounds 1 and 6", "EOF (2)"}},
		{"failures_timeout", preflight.Warning, func(c *campaign) { fail(&c.runs[0], load.FailTimeout, 3, "") }, []string{"within the timeout"}},
		{"failures_exception", preflight.Warning, func(c *campaign) { fail(&c.runs[0], load.FailException, 3, "malformed") }, []string{"not HTTP", "malformed (3)"}},
		// The walk of the facts: 49 of 20,000 of another length while fetches without load were stable.
		{"failures_length", preflight.Warning, func(c *campaign) {
			fail(&c.runs[1], load.FailLength, 49, "")
			c.runs[1].Result.Lengths = []load.LengthCount{{Bytes: 37519, Count: 951}, {Bytes: 37000, Count: 49}}
			c.pre.Pages = []preflight.Page{{Scenario: "page", Variant: "static", Fetches: 20, Stable: true, SHA256: "ab"}}
		}, []string{"another length than the first", "37,519 bytes 5,951 times, 37,000 bytes 49 times", "all 20 fetches gave the same bytes", "accounting artefact"}},
		{"failures_length", preflight.Warning, func(c *campaign) {
			fail(&c.runs[1], load.FailLength, 49, "")
			c.pre.Pages = []preflight.Page{{Scenario: "page", Variant: "static", Fetches: 20}}
		}, []string{"looks like an accounting artefact", "accept_variable_length: true"}},
		{"failures_length", preflight.Warning, func(c *campaign) {
			fail(&c.runs[1], load.FailLength, 10, "")
			c.runs[1].Result.Counts.Non2xx = 10
			c.runs[1].Result.StatusCodes = map[int]int64{200: 990, 503: 10}
		}, []string{"error pages have lengths of their own"}},
		{"non_2xx", preflight.Warning, func(c *campaign) {
			c.runs[1].Result.Counts.Non2xx = 10
			c.runs[1].Result.StatusCodes = map[int]int64{200: 990, 503: 10}
		}, []string{"10 answers at 10 connections had a status other than 2xx", "10 of 6,000 whole answers (0.17\u202f%)", "Status 503 (10)."}},
		{"non_2xx", preflight.Critical, func(c *campaign) {
			c.runs[1].Result.Counts.Non2xx = 1000
			c.runs[1].Result.StatusCodes = map[int]int64{503: 1000}
		}, []string{"17\u202f%"}},
		{"expect_unmet", preflight.Critical, func(c *campaign) {
			c.runs[3].Result.Expect = &load.ExpectChecks{Checked: 10, Unmet: 2, Examples: []string{"status 500, expected 200"}}
		}, []string{"2 of 10 answers checked", "in round 4", "status 500, expected 200"}},
		{"run_void", preflight.Warning, func(c *campaign) { c.runs[3].Void = "the client's core was 98 % busy" },
			[]string{"1 run of 6 is void at 10 connections", "In round 4: the client's core was 98 % busy"}},
		{"run_failed", preflight.Warning, func(c *campaign) { c.runs[3].Error, c.runs[3].Result = "worker died", nil },
			[]string{"1 run of 6 failed at 10 connections.", "In round 4: worker died", "rest on the good runs"}},
		{"level_failed", preflight.Critical, func(c *campaign) {
			for i := range c.runs {
				c.runs[i].Result.Counts = load.Counts{Failed: 6, Connect: 6}
				c.runs[i].Result.Total = nil
			}
		}, []string{"No run succeeded at 10 connections", "6 runs of 6 failed", "36\u202f× connect"}},
		{"stopped_early", preflight.Warning, func(c *campaign) {
			c.runs[4].Stopped, c.runs[4].Result.Interrupted = "failed > 20% for 5s", true
		}, []string{"stopped early at 10 connections", "In round 5: failed > 20% for 5s"}},
		{"runs_skipped", preflight.Warning, func(c *campaign) {
			c.runs = c.runs[:5]
			c.manifest.Skipped = []record.SkippedRun{{Seq: 6, Reason: "a lower level was stopped"}}
		}, []string{"1 run was given up", "A lower level was stopped"}},
		{"runs_missing", preflight.Warning, func(c *campaign) { c.runs = c.runs[:4] }, []string{"2 runs of 6 missing"}},
		{"record_damaged", preflight.Warning, func(c *campaign) {
			c.runs = c.runs[:5]
			c.damaged = []string{"runs/0006.json: hdr_v2: EOF"}
		}, []string{"1 run file cannot be read", "runs/0006.json: hdr_v2: EOF"}},
		{"record_damaged", preflight.Warning, func(c *campaign) { c.runs[5].CellIndex = 99 }, []string{"belong to no load level", "run 6"}},
		{"record_incomplete", preflight.Warning, func(c *campaign) {
			c.runs = c.runs[:4]
			c.manifest.State, c.manifest.Reason = record.StateInterrupted, "interrupt"
		}, []string{"Incomplete: 4 of 6 runs, stopped in round 4.", "abacus run --resume RECORD"}},
		{"idle_workers", preflight.Warning, func(c *campaign) {
			for i := range c.runs {
				withStatus(&c.runs[i], 150, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100)
			}
			c.runs[2].Series = nil
			withStatus(&c.runs[2], 150, 90, 0, 0, 0, 3, 2, 0, 0, 0, 4)
			c.runs[2].Series[0].Samples[3].TookNS = 184e6
		}, []string{"Idle workers reached 0 at 10 connections.", "At most 3 idle workers for 0.800\u00a0s of 1.00\u00a0s in round 3", "150 slots", "184\u00a0ms"}},
		{"few_status_samples", preflight.Info, func(c *campaign) {
			for i := range c.runs {
				withStatus(&c.runs[i], 150, 100, 100, 100, 100, 100)
			}
		}, []string{"5 samples in a run of 1.00\u00a0s", "Let each run take at least 4\u00a0s, or set observe: {interval: 50ms}"}},
		{"status_absent", preflight.Info, func(c *campaign) {
			c.manifest.StatusURLs = map[string]string{"demo": "http://127.0.0.1:8080/server-status?auto"}
			for i := range c.runs {
				c.runs[i].Series = []observe.Series{{Source: "status", Polls: 5, Failed: 5, Samples: []observe.Sample{{Error: "status 404"}}}}
			}
		}, []string{"Workers were not observed on the demo lab.", "http://127.0.0.1:8080/server-status?auto: status 404 (6)", "mod_status"}},
		{"status_late", preflight.Warning, func(c *campaign) {
			withStatus(&c.runs[0], 150, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100)
			c.runs[0].Series[0].Late, c.runs[0].Series[0].Skipped = 2, 3
			c.runs[0].Series[0].Samples[5].TookNS = 750e6
		}, []string{"2 of 10 polls were late and 3 were skipped", "750\u00a0ms", "round 1", "full pool"}},
		{"status_errors", preflight.Warning, func(c *campaign) {
			withStatus(&c.runs[0], 150, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100)
			s := &c.runs[0].Series[0]
			s.Polls, s.Failed = 14, 4
			s.Samples = append(s.Samples, observe.Sample{AtNS: 999e6, Error: "status 403"})
		}, []string{"4 of 14 polls of the status page failed", "status 403"}},
		{"server_restarted", preflight.Warning, func(c *campaign) {
			s := observe.Series{Source: "status"}
			for i, up := range []int64{100, 101, 0} {
				s.Samples = append(s.Samples, observe.Sample{AtNS: int64(i) * 300e6, Reading: observe.Reading{Status: &observe.Status{UptimeS: &up}}})
			}
			c.runs[4].Series = append(c.runs[4].Series, s)
		}, []string{"started anew", "in run 5"}},
		{"swap_moved", preflight.Warning, func(c *campaign) {
			c.runs[1].Series = append(c.runs[1].Series, hostSeries([]uint64{5 << 20, 5 << 20, 7 << 20}, .5))
		}, []string{"swapped during 1 run", "2.00\u00a0MiB in all, in round 2", "in run 2"}},
		{"cpu_full", preflight.Warning, func(c *campaign) {
			for i := range c.runs {
				c.runs[i].Series = append(c.runs[i].Series, hostSeries([]uint64{0, 0, 0, 0}, .98))
			}
			c.env.SameMachine = &yes
		}, []string{"full in 1 of 1 measurement", "98\u202f%", "either may have been the limit"}},
		{"shared_machine", preflight.Info, func(c *campaign) { // not said, but the server's processes were seen here
			processes(&c.runs[0], [3]int64{0, 0, 0}, [3]int64{900, 100, 0})
		}, []string{"Client and server shared one machine"}},
		{"shared_machine", preflight.Info, func(c *campaign) { c.env.SameMachine, c.env.CPUs = &yes, 2 }, []string{"Client and server shared one machine", "2 CPUs", "2\u202f%"}},
		{"client_limit", preflight.Warning, func(c *campaign) {
			for i := range c.runs {
				c.runs[i].Result.Usage = &load.Usage{CPUUserNS: 1.9e9, Cores: 2}
			}
		}, []string{"may be the limit at 10 connections", "95\u202f% of its CPUs"}},
		{"client_idle", preflight.Warning, func(c *campaign) { scaleLatency(c, 0.5) }, []string{"5.00 requests in flight of 10 connections"}},
		{"counts_contradict", preflight.Critical, func(c *campaign) { scaleLatency(c, 1.5) }, []string{"15.0 requests in flight, more than 10 connections"}},
		{"bodies_differ", preflight.Warning, func(c *campaign) {
			c.pre.Pages = []preflight.Page{
				{Scenario: "page", Variant: "a", SHA256: strings.Repeat("a", 64), Bytes: new(int64(10)), Stable: true},
				{Scenario: "page", Variant: "b", SHA256: strings.Repeat("b", 64), Bytes: new(int64(12)), Stable: true}}
		}, []string{"do not give the same body", "a: 10 bytes, sha256 aaaaaaaaaaaa…; b: 12 bytes"}},
		{"hook_failed", preflight.Warning, func(c *campaign) {
			c.runs[1].Hooks = []record.Hook{{Kind: "conclude", Args: []string{"sync", "now"}, ExitCode: new(3)}}
			c.manifest.Hooks = []record.Hook{{Kind: "setup", Args: []string{"x"}, ExitCode: new(0)}}
		}, []string{"1 command of the campaign failed", "conclude sync now, exit status 3"}},
		{"settle_timeout", preflight.Warning, func(c *campaign) {
			c.runs[1].Settle = &record.Settle{WaitedNS: 60e9, TimedOut: true, Reason: "3 workers busy"}
		}, []string{"1 run was begun before", "60.0\u00a0s", "3 workers busy"}},
		{"warmup_not_steady", preflight.Info, func(c *campaign) {
			c.manifest.Warmups = []record.Warmup{{Cell: c.manifest.Cells[0], Reason: "windows differ by 9 %"}, {Steady: true}}
		}, []string{"warm-up of 1 of 2 targets did not become steady", "page static, 10 connections: windows differ by 9 %"}},
		{"baseline_not_quiet", preflight.Critical, func(c *campaign) {
			c.idle = &record.IdleFile{Idle: preflight.Idle{Reason: "the CPU was 40 % busy."}}
		}, []string{"not idle before the first run", "The CPU was 40 % busy."}},
		{"baseline_not_quiet", preflight.Critical, func(c *campaign) {
			c.idle = &record.IdleFile{Idle: preflight.Idle{Reason: "not ready: the CPU was busy", Checks: []preflight.Check{
				{ID: "idle.cpu", Severity: preflight.Critical, Finding: "The CPU\u00a0was busy"}, {ID: "idle.load", Severity: preflight.Warning, Finding: "the load average was 13"},
				{ID: "idle.mem", Severity: preflight.OK, Finding: "memory is free"}}}}
		}, []string{"Not ready: the CPU was busy. The load average was 13."}},
		{"few_status_samples", preflight.Info, func(c *campaign) { // polled, but never within the load
			for i := range c.runs {
				withStatus(&c.runs[i], 150, 100)
				c.runs[i].Series[0].Samples[0].AtNS = -1e6
			}
		}, []string{"0 samples in a run of 1.00\u00a0s", "The fewest: 0 samples"}},
		{"slow_first_round", preflight.Info, func(c *campaign) {
			*c = *single(6, func(r int) float64 { return []float64{900, 1000, 1002, 998, 1001, 999}[r] })
		},
			[]string{"Round 1 was the slowest of page", "10 connections −10\u202f%", "kept in every figure"}},
		{"resumed_with_differences", preflight.Warning, func(c *campaign) { c.manifest.Differences = []string{"kernel 6.1 became 6.2"} }, []string{"kernel 6.1 became 6.2"}},
		{"check:mpm", preflight.Warning, func(c *campaign) {
			k := preflight.Check{ID: "mpm", Severity: preflight.Warning, Finding: "The MPM is prefork.", Evidence: []string{"ServerMPM: prefork"}, Advice: "use event.", Target: "page/static"}
			again := k
			again.Target = "page/other"
			c.pre.Checks = []preflight.Check{k, again, {ID: "fine", Severity: preflight.OK}}
		}, []string{"The MPM is prefork.", "ServerMPM: prefork", "Also for page/other"}},
		{"engine_notes", preflight.Info, func(c *campaign) {
			for i := range c.runs {
				c.runs[i].Result.Notes = []string{"truncated bodies are not seen."}
			}
		}, []string{"the engine native", "truncated bodies are not seen."}},
	} {
		t.Run(c.id, func(t *testing.T) {
			k := single(6, func(int) float64 { return 1000 })
			c.change(k)
			a := k.analyse(t)
			got := findingsOf(a, c.id)
			if len(got) != 1 {
				t.Fatalf("%d findings of this id, want 1; all: %v", len(got), ids(a))
			}
			f := got[0]
			if f.Severity != c.severity || f.Title == "" || f.Confidence == "" {
				t.Errorf("severity %s, want %s: %+v", f.Severity, c.severity, f)
			}
			all := f.Title + " | " + f.Evidence + " | " + f.Advice
			for _, w := range c.words {
				if !strings.Contains(all, w) {
					t.Errorf("no %q in:\n%s", w, all)
				}
			}
			if strings.Contains(all, "%!") || strings.Contains(all, "..") {
				t.Errorf("badly put together: %s", all)
			}
		})
	}
}

// scaleLatency makes every latency share times what Little's law asks for.
func scaleLatency(c *campaign, share float64) {
	for i := range c.runs {
		r := c.runs[i].Result
		r.Total = load.NewDistribution()
		for range 1000 {
			r.Total.Record(int64(share * 10 / 1000 * 1e9))
		}
	}
}

// A campaign in which all went well says nothing but what could not be seen.
func TestNothingToFind(t *testing.T) {
	c := single(6, func(r int) float64 { return 1000 + float64(r%3) })
	for i := range c.runs {
		withStatus(&c.runs[i], 150, 140, 139, 138, 139, 137, 140, 139, 138, 139, 140)
		c.runs[i].Series = append(c.runs[i].Series, hostSeries([]uint64{7, 7, 7, 7}, .5))
	}
	a := c.analyse(t)
	if len(a.Findings) != 0 {
		t.Errorf("%v: %+v", ids(a), a.Findings)
	}
}

// An expected status is no finding, even when it is not 2xx.
func TestExpectedStatus(t *testing.T) {
	c := single(6, func(int) float64 { return 1000 })
	for i := range c.runs {
		c.runs[i].Job.Expect = expect.Rules{Status: 304}
		c.runs[i].Result.Counts.Non2xx = 1000
		c.runs[i].Result.StatusCodes = map[int]int64{304: 1000}
	}
	if got := findingsOf(c.analyse(t), "non_2xx"); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

// One finding per kind and scenario, however many runs and levels it came in;
// the severest first, then in the fixed order.
func TestFindingsAreMergedAndOrdered(t *testing.T) {
	cells := []record.Cell{cellOf("ladder", "static", keepAlive(10), true), cellOf("ladder", "static", keepAlive(50), true)}
	c := newCampaign(6, cells, func(int, int) float64 { return 1000 })
	for i := range c.runs {
		fail(&c.runs[i], load.FailReceive, 1, "EOF")
		fail(&c.runs[i], load.FailConnect, 20, "connection refused")
	}
	a := c.analyse(t)
	want := []string{"critical:failures_connect", "warning:failures_receive", "info:status_absent"}
	if !slices.Equal(ids(a), want) {
		t.Errorf("got %v, want %v", ids(a), want)
	}
	f := findingsOf(a, "failures_receive")[0]
	if f.Scope.Scenario != "ladder" || f.Scope.Step != nil || !strings.Contains(f.Evidence, "10 connections: 6, 50 connections: 6") {
		t.Errorf("%+v", f)
	}
}

// The level with room left is what the advice names.
func TestIdleWorkersAdvice(t *testing.T) {
	cells := []record.Cell{cellOf("ladder", "static", keepAlive(10), true), cellOf("ladder", "static", keepAlive(200), true), cellOf("ladder", "static", keepAlive(140), true)}
	c := newCampaign(2, cells, func(int, int) float64 { return 1000 })
	for i := range c.runs {
		// At 140 connections 10 of 150 were left: more than none, less than a tenth.
		idle := []int64{140, 0, 10}[c.runs[i].CellIndex]
		withStatus(&c.runs[i], 150, idle, idle)
	}
	f := findingsOf(c.analyse(t), "idle_workers")
	if len(f) != 1 || f[0].Title != "Idle workers reached 0 at 200 connections." || !strings.HasPrefix(f[0].Advice, "Cap connections near 10, or ") ||
		f[0].AtNS == nil || f[0].Scope.Step.Concurrency != 200 || f[0].Scope.Run != 2 {
		t.Errorf("%+v", f)
	}
}

// The advice is for the level that the finding names: a lower one of the same
// variant and the same keep-alive.
func TestIdleWorkersAdviceIsForTheWorstLevel(t *testing.T) {
	fresh := record.Step{Concurrency: 20, Requests: 1000}
	for _, c := range []struct {
		name  string
		cells []record.Cell
		idle  []int64
		want  string
	}{
		{"another variant", []record.Cell{cellOf("ladder", "a", keepAlive(10), true), cellOf("ladder", "a", keepAlive(200), true),
			cellOf("ladder", "b", keepAlive(50), false), cellOf("ladder", "b", keepAlive(200), false)}, []int64{140, 1, 100, 0}, "Cap connections near 50, or "},
		{"a higher level", []record.Cell{cellOf("ladder", "a", keepAlive(10), true), cellOf("ladder", "a", fresh, true), cellOf("ladder", "a", keepAlive(200), true)},
			[]int64{140, 0, 140}, "Raise the number of workers"},
	} {
		k := newCampaign(1, c.cells, func(int, int) float64 { return 1000 })
		for i := range k.runs {
			withStatus(&k.runs[i], 150, c.idle[i], c.idle[i])
		}
		f := findingsOf(k.analyse(t), "idle_workers")
		if len(f) != 1 || !strings.HasPrefix(f[0].Advice, c.want) {
			t.Errorf("%s: %+v", c.name, f)
		}
	}
}

func TestSlowFirstRoundSaysTheRatioWithout(t *testing.T) {
	c := ratios(1.5, 1.9, 1.91, 1.89, 1.9, 1.905)
	f := findingsOf(c.analyse(t), "slow_first_round")
	if len(f) != 1 || !strings.Contains(f[0].Title, "for 1 of 2 variants of cache") && !strings.Contains(f[0].Title, "of cache") {
		t.Fatalf("%+v", f)
	}
	if !strings.Contains(f[0].Evidence, "apcu −21\u202f%") || !strings.Contains(f[0].Evidence, "without it the ratio of apcu to memcached would be 1.901") {
		t.Errorf("%s", f[0].Evidence)
	}
}

// Near a rule's threshold, on the other side of it, nothing is said.
func TestNothingIsSaidBelowTheThreshold(t *testing.T) {
	for _, c := range []struct {
		id     string
		change func(c *campaign)
	}{
		// 1 % below the others is far outside their spread, but does not matter.
		{"slow_first_round", func(c *campaign) {
			*c = *single(6, func(r int) float64 { return []float64{990, 1000, 1000.2, 999.8, 1000.1, 999.9}[r] })
		}},
		// 3 % below, but within three standard deviations of the others.
		{"slow_first_round", func(c *campaign) {
			*c = *single(6, func(r int) float64 { return []float64{970, 1000, 1030, 990, 1020, 980}[r] })
		}},
		{"counts_contradict", func(c *campaign) { scaleLatency(c, 1.05) }},
		{"client_idle", func(c *campaign) { scaleLatency(c, 0.7) }},
		{"cpu_full", func(c *campaign) {
			for i := range c.runs {
				c.runs[i].Series = append(c.runs[i].Series, hostSeries([]uint64{0, 0, 0}, .9))
			}
		}},
		{"swap_moved", func(c *campaign) { c.runs[0].Series = append(c.runs[0].Series, hostSeries([]uint64{9, 9, 9}, .5)) }},
		{"idle_workers", func(c *campaign) { withStatus(&c.runs[0], 150, 10, 4, 20) }},
		{"client_limit", func(c *campaign) { c.runs[0].Result.Usage.Cores = 1 }},
	} {
		k := single(6, func(int) float64 { return 1000 })
		c.change(k)
		if got := findingsOf(k.analyse(t), c.id); len(got) != 0 {
			t.Errorf("%s: %+v", c.id, got)
		}
	}
}

// Three levels without a good run are one finding, two with one good run each
// another.
func TestFailedLevelsAreOneFinding(t *testing.T) {
	var cells []record.Cell
	for _, n := range []int{1, 2, 3, 4, 5} {
		cells = append(cells, cellOf("ladder", "static", keepAlive(n), true))
	}
	c := newCampaign(2, cells, func(int, int) float64 { return 1000 })
	for i := range c.runs {
		if c.runs[i].CellIndex >= 2 || c.runs[i].Round == 2 {
			c.runs[i].Result.Counts = load.Counts{Failed: 3, Connect: 3}
		}
	}
	a := c.analyse(t)
	lost, fewer := findingsOf(a, "level_failed"), findingsOf(a, "run_failed")
	if len(lost) != 1 || len(fewer) != 1 {
		t.Fatalf("%v", ids(a))
	}
	if lost[0].Title != "No run succeeded at 3 connections, 4 connections and 5 connections." ||
		lost[0].Evidence != "6 runs of 6 failed, in rounds 1 and 2: no answer was whole (6). Failed requests: 18\u202f× connect." {
		t.Errorf("%+v", lost[0])
	}
	if fewer[0].Title != "2 runs of 4 failed at 1 connection and 2 connections." {
		t.Errorf("%+v", fewer[0])
	}
}

func TestFindingTextsFromOutsideAreCut(t *testing.T) {
	c := single(1, func(int) float64 { return 1000 })
	c.runs[0].Error, c.runs[0].Result = strings.Repeat("<script>alert(1)</script>\n", 1000), nil
	for _, f := range c.analyse(t).Findings {
		if len(f.Evidence) > 2000 || strings.Contains(f.Evidence, "\n") {
			t.Errorf("%d bytes", len(f.Evidence))
		}
	}
}

func TestInRounds(t *testing.T) {
	for _, c := range []struct {
		in   []int
		want string
	}{{nil, ""}, {[]int{3, 3}, "in round 3"}, {[]int{4, 1}, "in rounds 1 and 4"}, {[]int{1, 2, 3, 4, 5}, "in 5 rounds"}} {
		if got := inRounds(c.in); got != c.want {
			t.Errorf("inRounds(%v) = %q, want %q", c.in, got, c.want)
		}
	}
}

func TestByCountIsStable(t *testing.T) {
	counts := map[string]int{}
	for i := range 50 {
		counts[fmt.Sprintf("k%02d", i)] = i % 3
	}
	first := byCount(counts)
	for range 20 {
		if !slices.Equal(byCount(counts), first) {
			t.Fatal("the order changes")
		}
	}
	if first[0] != "k02" || first[49] != "k48" {
		t.Errorf("%v", first)
	}
}
