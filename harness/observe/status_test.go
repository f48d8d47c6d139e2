package observe

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func p[T any](v T) *T { return &v }

// page is what a fixture says, read by eye; n < 0 is a field that it lacks.
type page struct {
	file              string
	mpm               string
	generation, up    int64
	load              float64
	accesses, kb, dur int64
	cpu               float64
	busy, graceful    int64
	idle              int64
	// processes, stopping, total, waitIO, writing, keepAlive, closing
	event []int64
	slots int
	board map[rune]int
}

var noConns = []int64{2, 0, 0, 0, 0, 0, 0}

func pages() []page {
	const none = -1
	return []page{
		{"event-extoff-idle", "event", 1, 1, 15.58, none, none, none, none, 1, 0, 49, noConns, 400, map[rune]int{'W': 1, '_': 49, '.': 350}},
		{"event-extoff-load", "event", 1, 2, 15.58, none, none, none, none, 3, 0, 47, noConns, 400, map[rune]int{'W': 3, '_': 47, '.': 350}},
		{"event-exton-async-conns", "event", 1, 3, 2.95, 24, 31, 16, .16, 6, 0, 44, noConns, 400, map[rune]int{'W': 6, '_': 44, '.': 350}},
		{"event-exton-busy", "event", 1, 16, 7.5, 60017, 84025, 271800, 10.69, 65, 0, 35, []int64{4, 0, 0, 0, 0, 0, 0}, 400, map[rune]int{'W': 65, '_': 35, '.': 300}},
		{"event-exton-graceful", "event", 2, 20, 7.5, 60089, 97788, 417281, 10.79, 1, 0, 49, []int64{5, 3, 15, 0, 0, 0, 5}, 400, map[rune]int{'W': 1, 'G': 15, '_': 49, '.': 335}},
		{"event-exton-idle", "event", 1, 1, 5.37, 1, 0, 4, .08, 1, 0, 49, noConns, 400, map[rune]int{'W': 1, '_': 49, '.': 350}},
		{"event-exton-load", "event", 1, 2, 5.37, 7508, 10516, 28817, 1.34, 50, 0, 25, []int64{3, 0, 0, 0, 0, 0, 0}, 400, map[rune]int{'W': 47, 'L': 3, '_': 25, '.': 325}},
		{"prefork-extoff-idle", "prefork", 1, 1, 6.9, none, none, none, none, 1, 0, 4, nil, 256, map[rune]int{'W': 1, '_': 4, '.': 251}},
		{"prefork-extoff-load", "prefork", 1, 9, 9.39, none, none, none, none, 51, 0, 4, nil, 256, map[rune]int{'K': 48, 'W': 3, 'S': 9, '_': 4, '.': 192}},
		{"prefork-exton-busy", "prefork", 1, 18, 3.96, 60062, 84735, 305666, 13.98, 64, 0, 0, nil, 256, map[rune]int{'K': 11, 'W': 53, '.': 192}},
		{"prefork-exton-graceful", "prefork", 2, 24, 3.64, 60135, 98480, 553165, 17.86, 1, 15, 0, nil, 256, map[rune]int{'W': 1, 'S': 4, 'G': 15, '.': 236}},
		{"prefork-exton-idle", "prefork", 1, 1, 1.51, 1, 0, 24, .12, 1, 0, 4, nil, 256, map[rune]int{'W': 1, '_': 4, '.': 251}},
		{"prefork-exton-load", "prefork", 1, 8, 4.68, 45407, 64103, 122926, 10.52, 51, 0, 0, nil, 256, map[rune]int{'K': 31, 'W': 11, 'S': 5, 'L': 9, '.': 200}},
		{"worker-extoff-idle", "worker", 1, 1, 12.07, none, none, none, none, 1, 0, 49, nil, 400, map[rune]int{'W': 1, '_': 49, '.': 350}},
		{"worker-extoff-load", "worker", 1, 2, 12.07, none, none, none, none, 51, 0, 24, nil, 400, map[rune]int{'K': 50, 'W': 1, '_': 24, '.': 325}},
		{"worker-exton-busy", "worker", 1, 17, 6.26, 60064, 84097, 772103, 12.08, 85, 0, 65, nil, 400, map[rune]int{'K': 20, 'W': 65, '_': 65, '.': 250}},
		{"worker-exton-graceful", "worker", 2, 21, 5.84, 60135, 97832, 1062985, 12.28, 1, 0, 49, nil, 400, map[rune]int{'K': 5, 'W': 11, 'G': 10, '_': 49, '.': 325}},
		{"worker-exton-idle", "worker", 1, 1, 3.51, 1, 0, 2, .10, 1, 0, 49, nil, 400, map[rune]int{'W': 1, '_': 49, '.': 350}},
		{"worker-exton-load", "worker", 1, 2, 3.51, 6816, 9547, 68745, 1.31, 51, 0, 24, nil, 400, map[rune]int{'K': 24, 'W': 27, '_': 24, '.': 325}},
	}
}

func (want page) status(board string) *Status {
	s := &Status{
		ServerVersion: "Apache/2.4.71 (Debian) OpenSSL/3.0.19", ServerMPM: want.mpm,
		UptimeS: &want.up, Load1: &want.load, ConfigGeneration: &want.generation,
		BusyWorkers: &want.busy, IdleWorkers: &want.idle, GracefulWorkers: &want.graceful,
		Scoreboard: board,
	}
	if want.mpm == "prefork" {
		s.ServerVersion += " PHP/8.2.36"
	}
	if want.accesses >= 0 {
		s.TotalAccesses, s.TotalKBytes, s.TotalDurationMS, s.CPUSeconds = &want.accesses, &want.kb, &want.dur, &want.cpu
	}
	if e := want.event; e != nil {
		s.Processes, s.Stopping, s.ConnsTotal = &e[0], &e[1], &e[2]
		s.ConnsAsyncWaitIO, s.ConnsAsyncWriting, s.ConnsAsyncKeepAlive, s.ConnsAsyncClosing = &e[3], &e[4], &e[5], &e[6]
	}
	return s
}

// TestParseStatusFixtures reads every page that the real server gave and
// compares each field with what stands in the file.
func TestParseStatusFixtures(t *testing.T) {
	files, err := filepath.Glob("testdata/status/server-status-auto-*.txt")
	if err != nil || len(files) != len(pages()) {
		t.Fatalf("%d fixtures (%v), the table has %d", len(files), err, len(pages()))
	}
	for _, want := range pages() {
		t.Run(want.file, func(t *testing.T) {
			got := parseFixture(t, want.file)
			if d := cmp.Diff(want.status(got.Scoreboard), got); d != "" {
				t.Errorf("want -, got +:\n%s", d)
			}
			if len(got.Scoreboard) != want.slots {
				t.Errorf("scoreboard of %d slots, want %d", len(got.Scoreboard), want.slots)
			}
			if d := cmp.Diff(want.board, ScoreboardCounts(got.Scoreboard)); d != "" {
				t.Errorf("letters, want -, got +:\n%s", d)
			}
		})
	}
}

func parseFixture(t *testing.T, name string) *Status {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "status", "server-status-auto-"+name+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s, err := ParseStatus(f)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestParseStatusOddPages(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		want       Status
	}{
		{"old server", "Total Accesses: 5\nBusyWorkers: 1\nIdleWorkers: 7\n", Status{TotalAccesses: p[int64](5), BusyWorkers: p[int64](1), IdleWorkers: p[int64](7)}},
		{"carriage returns", "BusyWorkers: 3\r\nScoreboard: W_.\r\n", Status{BusyWorkers: p[int64](3), Scoreboard: "W_."}},
		{"no end of line", "IdleWorkers: 3", Status{IdleWorkers: p[int64](3)}},
		{"Uptime when ServerUptimeSeconds is not there", "Uptime: 9\nIdleWorkers: 3\n", Status{UptimeS: p[int64](9), IdleWorkers: p[int64](3)}},
		{"ServerUptimeSeconds before Uptime", "Uptime: 9\nServerUptimeSeconds: 8\nIdleWorkers: 3\n", Status{UptimeS: p[int64](8), IdleWorkers: p[int64](3)}},
		{"the first of two stands", "IdleWorkers: 3\nIdleWorkers: 4\n", Status{IdleWorkers: p[int64](3)}},
		{"three of four CPU fields are no sum", "IdleWorkers: 3\nCPUUser: 1\nCPUSystem: 1\nCPUChildrenUser: 1\n", Status{IdleWorkers: p[int64](3)}},
		{"CPU with a leading point", "IdleWorkers: 3\nCPUUser: .1\nCPUSystem: .2\nCPUChildrenUser: 0\nCPUChildrenSystem: 0\n", Status{IdleWorkers: p[int64](3), CPUSeconds: p(0.3)}},
		{"no load average", "IdleWorkers: 3\nLoad1: -1.00\n", Status{IdleWorkers: p[int64](3)}},
		{"letters that no scoreboard has", "Scoreboard: W<script>_ü.\n", Status{Scoreboard: "W????????_?."}},
		{"empty scoreboard", "IdleWorkers: 3\nScoreboard:\n", Status{IdleWorkers: p[int64](3)}},
		{"terminal codes in the version", "IdleWorkers: 3\nServerVersion: A\x1b[2Jpache\n", Status{IdleWorkers: p[int64](3), ServerVersion: "A [2Jpache"}},
		{"unknown keys", "ProxyBalancer[0]Name: balancer://x\nIdleWorkers: 3\nNonsense: \x00\n", Status{IdleWorkers: p[int64](3)}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := ParseStatus(strings.NewReader(tc.text))
			if err != nil {
				t.Fatalf("ParseStatus(%q): %v", tc.text, err)
			}
			if d := cmp.Diff(&tc.want, got); d != "" {
				t.Errorf("ParseStatus(%q), want -, got +:\n%s", tc.text, d)
			}
		})
	}
}

func TestParseStatusRefuses(t *testing.T) {
	html, err := os.ReadFile("testdata/status/event.html")
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name, text, want string
		notStatus        bool
	}{
		{"the HTML form", string(html), "an HTML page", true},
		{"an error page", "<!DOCTYPE html><p>403", "an HTML page that begins", true},
		{"empty", " \n", "the answer is empty", true},
		{"other text", "hello: world\n", `it begins "hello: world"`, true},
		{"JSON", `{"BusyWorkers": 3}`, "it begins", true},
		{"zeros", strings.Repeat("\x00", 5000), "it begins", true},
		{"too long", "IdleWorkers: 3\n" + strings.Repeat("x", 1<<20), "longer than", true},
		{"a scoreboard without end", "Scoreboard: " + strings.Repeat("_", 1<<17), "scoreboard of 131072", true},
		{"a count that is text", "IdleWorkers: many\n", `IdleWorkers: "many" is not a whole number`, false},
		{"a count that is negative", "BusyWorkers: -1\n", "BusyWorkers", false},
		{"a count that overflows", "Total Accesses: 99999999999999999999\n", "Total Accesses", false},
		{"a decimal that is none", "CPUUser: nan\nIdleWorkers: 1\n", `CPUUser: "nan" is not a number`, false},
		{"infinite", "CPUUser: +Inf\nIdleWorkers: 1\n", "CPUUser", false},
		{"script in a value", "Load1: </script><script>" + strings.Repeat("x", 500) + "\nIdleWorkers: 1\n", "Load1", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := ParseStatus(strings.NewReader(tc.text))
			if err == nil || got != nil {
				t.Fatalf("ParseStatus(%.80q) = %v, %v; want no status and an error", tc.text, got, err)
			}
			if !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %q does not say %q", err, tc.want)
			}
			if errors.Is(err, ErrNotStatus) != tc.notStatus {
				t.Errorf("error %q: ErrNotStatus is %v, want %v", err, !tc.notStatus, tc.notStatus)
			}
			if len(err.Error()) > 300 {
				t.Errorf("error of %d bytes", len(err.Error()))
			}
		})
	}
}

// endless gives bytes for ever and counts them.
type endless struct{ n int64 }

func (e *endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 'x'
	}
	e.n += int64(len(b))
	return len(b), nil
}

func TestParseStatusReadsABoundedPart(t *testing.T) {
	e := &endless{}
	if _, err := ParseStatus(e); !errors.Is(err, ErrNotStatus) {
		t.Errorf("error %v, want ErrNotStatus", err)
	}
	if e.n > 2<<20 {
		t.Errorf("%d bytes were read of a page without end", e.n)
	}
}

func TestParseStatusKeepsTheReadersError(t *testing.T) {
	broken := errors.New("broken")
	if _, err := ParseStatus(io.MultiReader(strings.NewReader("IdleWorkers: 1\n"), readerFunc(func([]byte) (int, error) { return 0, broken }))); !errors.Is(err, broken) {
		t.Errorf("error %v, want it to wrap %v", err, broken)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

func TestScoreboardMeaningIsApachesKey(t *testing.T) {
	var letters string
	for _, l := range ScoreboardMeaning() {
		letters += string(l.Letter)
		if l.Word == "" {
			t.Errorf("letter %c has no word", l.Letter)
		}
	}
	if want := "_SRWKDCLGI."; letters != want {
		t.Errorf("letters %q, want %q", letters, want)
	}
}

func FuzzParseStatus(f *testing.F) {
	files, err := filepath.Glob("testdata/status/*")
	if err != nil || len(files) == 0 {
		f.Fatalf("no fixtures: %v", err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data))
	}
	f.Add("Scoreboard: \xff\nLoad1: 0x1p-2\nTotal Accesses: +5\n")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseStatus(strings.NewReader(text))
		if (s == nil) == (err == nil) {
			t.Fatalf("status %v and error %v", s, err)
		}
		if err != nil {
			if len(err.Error()) > 600 {
				t.Errorf("error of %d bytes", len(err.Error()))
			}
			return
		}
		for _, n := range []*int64{s.UptimeS, s.TotalAccesses, s.TotalKBytes, s.TotalDurationMS, s.BusyWorkers, s.IdleWorkers} {
			if n != nil && *n < 0 {
				t.Errorf("negative count %d", *n)
			}
		}
		for _, r := range s.Scoreboard {
			if r != '?' && meaningOf(r) == "" {
				t.Errorf("letter %q in the scoreboard", r)
			}
		}
		// A page against itself has no rates that are not finite or negative.
		r := Rates(Sample{Reading: Reading{Status: s}}, Sample{AtNS: int64(time.Second), Reading: Reading{Status: s}}, 1)
		if r.Reset || (r.RequestsPerS != nil && *r.RequestsPerS != 0) || r.MSPerRequest != nil {
			t.Errorf("rates of no change: %s", fmt.Sprintf("%+v", r))
		}
	})
}
