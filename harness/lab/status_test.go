package lab

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// fixtureLines are a real Apache's status page up to its scoreboard: what
// follows is mod_ssl's.
func fixtureLines(t *testing.T, name string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	before, after, ok := strings.Cut(string(text), "\nScoreboard: ")
	if !ok {
		t.Fatalf("%s has no scoreboard", name)
	}
	board, _, _ := strings.Cut(after, "\n")
	return append(strings.Split(before, "\n"), "Scoreboard: "+board)
}

// statusOf is the state that an Apache with these figures would have.
func statusOf(started, now string, load string, slots, busy int) *status {
	s := &status{
		host: "127.0.0.1", version: "Apache/2.4.71 (Debian) OpenSSL/3.0.19",
		built: time.Date(2026, 11, 12, 8, 58, 41, 0, time.UTC), load: strings.Fields(load), uptimeSecs: 2,
		pool: poolState{slots: make([]slotState, slots), busy: busy},
	}
	day := func(clock string) time.Time {
		v, err := time.Parse(time.DateTime, "2026-11-30 "+clock)
		if err != nil {
			panic(err)
		}
		return v
	}
	s.started, s.now = day(started), day(now)
	for i := range busy {
		s.pool.slots[i].busy = true
	}
	return s
}

// A status with a real server's figures gives that server's page, line by
// line; only the number of processes and the letters differ, as the demo is
// one process whose slots are all live.
func TestAutoLikeApache(t *testing.T) {
	on := statusOf("18:26:54", "18:26:56", "5.37 2.96 1.43", 75, 50)
	on.extended = true
	on.pool.accesses, on.pool.bytes, on.pool.duration = 7508, 10516<<10+1023, 28817*time.Millisecond+999*time.Microsecond
	on.cpu = &cpuTimes{user: .3, system: 1.04}
	off := statusOf("18:27:51", "18:27:54", "15.58 6.13 2.60", 50, 3)
	for _, tc := range []struct {
		fixture string
		status  *status
	}{
		{"server-status-auto-event-exton-load.txt", on},
		{"server-status-auto-event-extoff-load.txt", off},
	} {
		t.Run(tc.fixture, func(t *testing.T) {
			var b bytes.Buffer
			tc.status.writeAuto(&b)
			got := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
			want := fixtureLines(t, tc.fixture)
			same := func(lines []string) []string {
				out := make([]string, len(lines))
				for i, l := range lines {
					switch key, _, _ := strings.Cut(l, ":"); key {
					case "Processes", "Scoreboard":
						l = key
					}
					out[i] = l
				}
				return out
			}
			if diff := cmp.Diff(same(want), same(got)); diff != "" {
				t.Errorf("fixture (-) and demo (+) differ:\n%s", diff)
			}
		})
	}
}

func TestAutoWithoutFigures(t *testing.T) {
	s := statusOf("18:26:54", "18:26:54", "", 3, 1)
	s.load, s.built, s.uptimeSecs, s.extended = nil, time.Time{}, 0, true
	var b bytes.Buffer
	s.writeAuto(&b)
	// Averages have no denominator yet, and what is unknown is not there.
	for _, key := range []string{"Server Built", "Load1", "CPUUser", "CPULoad", "ReqPerSec", "BytesPerSec", "BytesPerReq", "DurationPerReq"} {
		if strings.Contains(b.String(), key+":") {
			t.Errorf("%s is told without a figure:\n%s", key, &b)
		}
	}
	for _, line := range []string{"Uptime: 0\n", "ServerUptime:\n", "BusyWorkers: 1\n", "IdleWorkers: 2\n", "Scoreboard: W__\n"} {
		if !strings.Contains(b.String(), line) {
			t.Errorf("no line %q in:\n%s", line, &b)
		}
	}
}

// between cuts a part out of a page.
func between(t *testing.T, page, from, to string) string {
	t.Helper()
	_, page, ok := strings.Cut(page, from)
	if !ok {
		t.Fatalf("the page has no %q", from)
	}
	part, _, ok := strings.Cut(page, to)
	if !ok {
		t.Fatalf("the page has no %q behind %q", to, from)
	}
	return part
}

func TestHTMLLikeApache(t *testing.T) {
	text, err := os.ReadFile("testdata/server-status-event.html")
	if err != nil {
		t.Fatal(err)
	}
	s := statusOf("18:26:54", "18:27:11", "7.50 3.60 1.67", 100, 65)
	s.extended, s.uptimeSecs = true, 16
	// Bytes between those that give the fixture's 82.1 MB and 1433 B/request.
	s.pool.accesses, s.pool.bytes, s.pool.duration = 60018, 86_040_000, 271802*time.Millisecond
	s.cpu = &cpuTimes{user: 2.19, system: 8.52}
	for i := range s.pool.slots {
		s.pool.slots[i].began = s.now
	}
	var b bytes.Buffer
	s.writeHTML(&b)
	tags := func(part string) string {
		return strings.Join(regexp.MustCompile(`<[^>]*>|\n`).FindAllString(part, -1), " ")
	}
	for _, part := range []struct {
		name, from, to string
		shape          bool // compare the markup only
	}{
		{"head", "<!DOCTYPE", "<table rules=", false},
		{"table of processes", "<table rules=", "<tr><td>0</td>", false},
		{"a process", "<tr><td>0</td>", "</tr>", true},
		{"sum of processes", "<tr><td>Sum</td>", "<pre>", true},
		{"scoreboard's key", "</pre>", "<tr><td><b>", false},
		{"an idle slot", "<td>_\n", "</tr>", true},
		{"a busy slot", "<td><b>W</b>\n", "</tr>", true},
		{"key of the slots", "</table>\n <hr />", "</table>\n", false},
	} {
		want, got := between(t, string(text), part.from, part.to), between(t, b.String(), part.from, part.to)
		if part.shape {
			want, got = tags(want), tags(got)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s of the fixture (-) and of the demo (+) differ:\n%s", part.name, diff)
		}
	}
}

// What a client sends is shown to whoever looks at the status page.
func TestHTMLEscapes(t *testing.T) {
	s := statusOf("18:26:54", "18:27:11", "", 1, 0)
	s.extended = true
	evil := `"><script>alert(1)</script>`
	s.pool.slots[0] = slotState{began: s.now, request: requestLine{client: evil, proto: evil, host: evil, method: evil, uri: evil + strings.Repeat("x", 5000)}}
	var b bytes.Buffer
	s.writeHTML(&b)
	if strings.Contains(b.String(), "<script") {
		t.Errorf("a client's text reaches the page unescaped:\n%s", &b)
	}
	if strings.Contains(b.String(), strings.Repeat("x", 100)) {
		t.Error("a client's text is not cut")
	}
}
