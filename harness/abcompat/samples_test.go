package abcompat_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"abacus/harness/abcompat"
	"abacus/harness/load"
	"abacus/harness/load/native"
)

// engine is the native engine as the command line joins it.
func engine(ctx context.Context, job load.Job, trace abcompat.Trace) (*load.Result, error) {
	e := &native.Engine{Trace: func(x native.Exchange) {
		trace.Each(abcompat.Exchange{Head: x.Head, Body: x.Body, Status: x.Status, Kind: x.Kind, Err: x.Err, KeepAlive: x.KeepAlive})
	}}
	return e.Run(ctx, job, nil)
}

// sampleCase is one capture of the real ab with a server that reproduces it.
type sampleCase struct {
	name   string
	args   string // HOST is replaced by host:port, FILE by a body of 17 bytes
	server script // nil: nothing listens
	tls    bool
	// differs lists lines of the sample that are other ones with abacus; an
	// empty one is left out. docs/ab-differences.md has the reasons.
	differs map[string]string
	// report tells that abacus goes on to a report where ab stops.
	report string
}

// lengths answers with bodies whose lengths go round 5 to 11.
func lengths(first int) script {
	return func(k int, _ *http.Request) answer {
		n := 5 + (first-5+k-1)%7
		return answer{bytes: statusOK + software + date + fmt.Sprintf("Content-Length: %d\r\n", n) + plainText + "\r\n" + strings.Repeat("x", n)}
	}
}

func everyThird(a answer) script {
	return func(k int, _ *http.Request) answer {
		switch {
		case k == 3:
			// The fourth request has come, so two answers are whole: the real
			// ab takes this one for the first when it ends before the second.
			a := a
			a.awaits = 4
			return a
		case k%3 == 0:
			return a
		}
		return answer{bytes: five}
	}
}

func always(a answer) script { return func(int, *http.Request) answer { return a } }

func sampleCases() []sampleCase {
	chunk := always(answer{bytes: statusOK + date + plainText + "\r\n0123456789"})
	slow := func(ms int) script {
		return always(answer{bytes: statusOK + date + "Content-Length: 5\r\n" + plainText + "\r\nhello", delay: time.Duration(ms) * time.Millisecond})
	}
	noTimes := "\nConnection Times (ms)\n"
	return []sampleCase{
		{name: "plain", args: "-n 1000 -c 10 http://HOST/", server: page},
		{name: "single", args: "http://HOST/", server: page},
		{name: "quiet-q", args: "-q -n 1000 -c 10 http://HOST/", server: page},
		{name: "keepalive", args: "-k -n 1000 -c 10 http://HOST/", server: page},
		{name: "keepalive-server-closes", args: "-k -n 200 -c 2 http://HOST/kamaxclose", server: closesFifth},
		{name: "chunked-k", args: "-k -n 50 -c 2 http://HOST/chunk", server: chunk},
		{name: "chunked-HTTP10", args: "-n 50 -c 2 http://HOST/chunk", server: chunk},
		{name: "varlen-l", args: "-l -n 200 -c 4 http://HOST/var", server: lengths(6)},
		{name: "failed-length", args: "-n 200 -c 4 http://HOST/var", server: lengths(10)},
		{name: "truncated", args: "-n 20 -c 2 http://HOST/trunc",
			server: always(answer{bytes: statusOK + "Content-Length: 100\r\n\r\nhello"}),
			differs: map[string]string{
				"Document Length:        5 bytes": "Document Length:        0 bytes",
				"Failed requests:        0":       "Failed requests:        20\n   (Connect: 0, Receive: 20, Length: 0, Exceptions: 0)",
				noTimes:                           "",
			}},
		{name: "eof-empty", args: "-n 30 -c 2 http://HOST/eof", server: everyThird(answer{}),
			differs: map[string]string{
				"   (Connect: 0, Receive: 0, Length: 10, Exceptions: 0)": "   (Connect: 0, Receive: 10, Length: 0, Exceptions: 0)",
			}},
		{name: "non2xx", args: "-n 100 -c 5 http://HOST/nf",
			server: always(answer{bytes: "HTTP/1.0 404 Not Found\r\n" + software + date + "Content-Length: 10\r\n" + plainText + "\r\nnot found\n"})},
		{name: "mixed-status", args: "-n 100 -c 5 http://HOST/mix", server: func(k int, _ *http.Request) answer {
			status := statusOK
			if k%4 == 0 {
				status = "HTTP/1.0 503 Service Unavailable\r\n"
			}
			return answer{bytes: status + date + "Content-Length: 10\r\n" + plainText + "\r\n0123456789"}
		}},
		{name: "head-i", args: "-i -n 100 -c 2 http://HOST/", server: page},
		{name: "custom-method-m", args: "-m DELETE -n 20 -c 2 http://HOST/", server: page},
		{name: "post", args: "-n 200 -c 4 -p FILE -T application/json http://HOST/", server: page},
		{name: "post-keepalive", args: "-k -n 200 -c 4 -p FILE -T application/json http://HOST/", server: page},
		{name: "timed-t", args: "-t 1 -c 2 http://HOST/slow?ms=20", server: slow(20)},
		{name: "timed-t-n", args: "-t 1 -n 100 -c 2 http://HOST/slow?ms=5", server: slow(5)},
		{name: "timeout-s", args: "-s 1 -n 5 -c 1 http://HOST/slow?ms=2500", server: always(answer{hold: true}), report: stalled},
		{name: "refused", args: "-n 20 -c 2 http://HOST/"},
		{name: "refused-r", args: "-r -n 20 -c 2 http://HOST/",
			differs: map[string]string{
				"Failed requests:        30":                              "Failed requests:        20",
				"   (Connect: 0, Receive: 20, Length: 0, Exceptions: 10)": "   (Connect: 20, Receive: 0, Length: 0, Exceptions: 0)",
				noTimes: "",
			}},
		{name: "reset", args: "-n 30 -c 2 http://HOST/rst", server: resetsThird},
		{name: "reset-r", args: "-r -n 30 -c 2 http://HOST/rst", server: everyThird(answer{reset: true}),
			differs: map[string]string{
				"Failed requests:        30":                               "Failed requests:        10",
				"   (Connect: 0, Receive: 10, Length: 10, Exceptions: 10)": "   (Connect: 0, Receive: 10, Length: 0, Exceptions: 0)",
			}},
		{name: "tls-keepalive", args: "-k -n 300 -c 5 https://localhost:PORT/", server: page, tls: true},
		{name: "tls-ip-nokeepalive", args: "-n 50 -c 2 https://HOST/", server: page, tls: true},
		{name: "tls-wrong-port", args: "-n 10 -c 2 https://HOST/", server: page,
			differs: map[string]string{
				"Failed requests:        0": "Failed requests:        10\n   (Connect: 10, Receive: 0, Length: 0, Exceptions: 0)",
				noTimes:                     "",
			}},
		{name: "localhost-v4only", args: "-n 20 -c 2 http://localhost:PORT/", server: page},
		{name: "verbose-v4", args: "-v 4 -n 1 http://HOST/", server: page},
	}
}

// resetsThird breaks the third answer once the fourth request has come, so
// that exactly two are done by then.
func resetsThird(k int, r *http.Request) answer {
	switch {
	case k == 3:
		return answer{reset: true, awaits: 4}
	case k > 3:
		return answer{hold: true}
	}
	return answer{bytes: five}
}

// closesFifth closes every fifth answer but the last, saying so.
func closesFifth(k int, _ *http.Request) answer {
	if k%5 == 0 && k != 200 {
		return answer{bytes: statusOK + "Content-Length: 5\r\nConnection: close\r\n\r\nhello"}
	}
	return answer{bytes: statusOK + "Content-Length: 5\r\n" + kept + "\r\nhello", keep: true}
}

// stalled is the report that abacus prints where ab ends with a timeout.
const stalled = `

Server Software:        
Server Hostname:        127.0.0.1
Server Port:            PORT

Document Path:          /slow?ms=2500
Document Length:        0 bytes

Concurrency Level:      1
Time taken for tests:   # seconds
Complete requests:      1
Failed requests:        1
   (Connect: 0, Receive: 1, Length: 0, Exceptions: 0)
Total transferred:      0 bytes
HTML transferred:       0 bytes
Requests per second:    # [#/sec] (mean)
Time per request:       # [ms] (mean)
Time per request:       # [ms] (mean, across all concurrent requests)
Transfer rate:          # [Kbytes/sec] received
`

// result is what one program printed.
type result struct {
	Stdout, Stderr string
	Status         int
}

func TestSamples(t *testing.T) {
	peer := lookPeer(t)
	for _, c := range sampleCases() {
		t.Run(c.name, func(t *testing.T) {
			sample := readSample(t, c.name)
			t.Run("abacus", func(t *testing.T) {
				t.Parallel()
				args, port := c.start(t)
				var stdout, stderr bytes.Buffer
				status := abcompat.Main(t.Context(), args, &stdout, &stderr, engine)
				got := result{stdout.String(), stderr.String(), status}.masked(port)
				if diff := cmp.Diff(c.expected(sample), got); diff != "" {
					t.Errorf("ab %s: sample (-) and abacus (+) differ:\n%s", strings.Join(args, " "), diff)
				}
			})
			t.Run("ab", func(t *testing.T) {
				t.Parallel()
				if peer == "" {
					t.Skip("ab is not installed")
				}
				args, port := c.start(t)
				got := runPeer(t, peer, args).masked(port)
				if diff := cmp.Diff(sample.masked(""), got); diff != "" {
					t.Errorf("ab %s: sample (-) and the real ab (+) differ:\n%s", strings.Join(args, " "), diff)
				}
			})
		})
	}
}

// lookPeer finds the real ab. Where the lab is required its absence is a
// failure.
func lookPeer(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("ab")
	if err != nil && os.Getenv("ABACUS_REQUIRE_LAB") == "1" {
		t.Error("ABACUS_REQUIRE_LAB=1, and ab (Debian: apache2-utils) is not installed")
	}
	return path
}

// start starts the case's server and completes its arguments.
func (c sampleCase) start(t *testing.T) (args []string, port string) {
	t.Helper()
	if c.server == nil {
		// The near end of a connection: nobody listens there, and nobody else
		// gets the port meanwhile.
		conn, err := net.Dial("tcp", "127.0.0.1:"+serve(t, page, nil).port())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		_, port, _ = net.SplitHostPort(conn.LocalAddr().String())
	} else {
		s := serve(t, c.server, nil)
		if c.tls {
			s.close()
			s = serve(t, c.server, certificate(t))
		}
		port = s.port()
	}
	file := filepath.Join(t.TempDir(), "body.json")
	if err := os.WriteFile(file, []byte(`{"name":"sample"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	r := strings.NewReplacer("HOST", "127.0.0.1:"+port, "PORT", port, "FILE", file)
	for _, a := range strings.Fields(c.args) {
		args = append(args, r.Replace(a))
	}
	return args, port
}

func runPeer(t *testing.T, path string, args []string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return result{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// readSample takes a capture apart: a comment line, stdout, stderr, status.
func readSample(t *testing.T, name string) result {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(data), "\n")
	text, status, found := strings.Cut(text, "# exit status: ")
	var r result
	if _, err := fmt.Sscan(status, &r.Status); !found || err != nil {
		t.Fatalf("%s: no exit status", name)
	}
	r.Stdout, r.Stderr, _ = strings.Cut(text, "# --- stderr ---\n")
	return r
}

// expected is the sample as abacus should print it.
func (c sampleCase) expected(sample result) result {
	want := sample.masked("")
	for from, to := range c.differs {
		if strings.HasPrefix(from, "\nConnection Times") {
			head, _, _ := strings.Cut(want.Stdout, from)
			want.Stdout = head
			continue
		}
		want.Stdout = strings.Replace(want.Stdout, from+"\n", to+"\n", 1)
	}
	want.Stdout += c.report
	return want
}

var (
	timeLine    = regexp.MustCompile(`(?m)^((?:Time taken for tests|Requests per second|Time per request|Transfer rate): +|                        )[0-9.]+( .*)$`)
	tableLine   = regexp.MustCompile(`(?m)^((?:Connect|Processing|Waiting|Total): +).{29}$`)
	percentLine = regexp.MustCompile(`(?m)^(  ..%|   [0-9]%| 100%)  .{5}`)
	warning     = regexp.MustCompile(`(?m)^(WARNING: The median|ERROR: The median|        These results|       deviation apart).*\n`)
	portValue   = regexp.MustCompile(`\b18[0-9]{3}\b`)
	sslDetail   = regexp.MustCompile(`(?m)^(SSL handshake failed \(1\)\.)\n.*$`)
	// What a run by time comes to.
	timedCounts = regexp.MustCompile(`(?m)^(Complete requests|Total transferred|HTML transferred): .*$|^Finished \d+ requests$`)
)

// masked puts # for times, PORT for the port, and takes off the warnings,
// which abacus never prints.
func (r result) masked(port string) result {
	for _, s := range []*string{&r.Stdout, &r.Stderr} {
		*s = timeLine.ReplaceAllString(*s, "${1}#${2}")
		*s = tableLine.ReplaceAllString(*s, "${1}#")
		*s = percentLine.ReplaceAllString(*s, "${1} #")
		*s = warning.ReplaceAllString(*s, "")
		*s = sslDetail.ReplaceAllString(*s, "${1} #")
		if strings.Contains(r.Stdout, "/slow?ms=20\n") {
			*s = timedCounts.ReplaceAllString(*s, "${1} #")
		}
		if port != "" {
			*s = strings.ReplaceAll(*s, port, "PORT")
		} else {
			*s = portValue.ReplaceAllString(*s, "PORT")
		}
	}
	return r
}
