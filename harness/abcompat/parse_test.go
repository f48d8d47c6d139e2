package abcompat

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"abacus/harness/load"
)

const anyURL = "http://127.0.0.1:8080/"

func TestParse(t *testing.T) {
	dir := t.TempDir()
	body := filepath.Join(dir, "body")
	if err := os.WriteFile(body, []byte("a\x00b"), 0o644); err != nil {
		t.Fatal(err)
	}
	base := options{requests: 1, concurrency: 1, timeout: 30,
		target: target{host: "127.0.0.1", hostField: "127.0.0.1", port: 8080, path: "/"}}
	for _, c := range []struct {
		args string
		want func(o *options)
	}{
		{"", func(*options) {}},
		{"-n 100 -c 5", func(o *options) { o.requests, o.concurrency = 100, 5 }},
		{"-n100 -c5", func(o *options) { o.requests, o.concurrency = 100, 5 }},
		{"-kqlr", func(o *options) { o.keepAlive, o.quiet, o.variableLength, o.goOn = true, true, true, true }},
		{"-kqn7", func(o *options) { o.keepAlive, o.quiet, o.requests = true, true, 7 }},
		{"-kqn 7", func(o *options) { o.keepAlive, o.quiet, o.requests = true, true, 7 }},
		{"-n 10x", func(o *options) { o.requests = 10 }},
		{"-n 3 -t 1", func(o *options) { o.requests, o.timeLimit = 50000, 1 }},
		{"-t 1 -n 100", func(o *options) { o.requests, o.timeLimit = 100, 1 }},
		{"-c 0", func(o *options) { o.concurrency = 0 }},
		{"-c abc", func(o *options) { o.concurrency = 0 }},
		{"-s -1", func(o *options) { o.timeout = -1 }},
		{"-v 4", func(o *options) { o.verbosity = 4 }},
		{"-i", func(o *options) { o.method = "HEAD" }},
		{"-i -m X", func(o *options) { o.method = "X" }},
		{"-p BODY -T a/b", func(o *options) {
			o.method, o.body, o.sendBody, o.contentType = "POST", []byte("a\x00b"), true, "a/b"
		}},
		{"-u BODY", func(o *options) { o.method, o.body, o.sendBody = "PUT", []byte("a\x00b"), true }},
		{"-p BODY -m PATCH", func(o *options) { o.method, o.body, o.sendBody = "PATCH", []byte("a\x00b"), true }},
		{"-C a=1 -C b=2 -A u:p -H X:1", func(o *options) {
			o.cookies, o.credentials, o.headerLines = []string{"a=1", "b=2"}, []string{"u:p"}, []string{"X:1"}
		}},
		{"-k --", func(o *options) { o.keepAlive = true }},
	} {
		var args []string
		for _, a := range strings.Fields(c.args) {
			args = append(args, strings.ReplaceAll(a, "BODY", body))
		}
		got, stop := parse(append(args, anyURL))
		if stop != nil {
			t.Errorf("%q: refused: %s", c.args, stop.text)
			continue
		}
		want := base
		c.want(&want)
		if diff := cmp.Diff(&want, got, cmp.AllowUnexported(options{}, target{})); diff != "" {
			t.Errorf("%q: want (-), got (+):\n%s", c.args, diff)
		}
	}
}

// refusals are command lines that end before any load, with the first line of
// stderr and the exit code.
func refusals(dir string) []struct {
	args []string
	text string
	code int
	// own marks a decision of ours that the real ab does not share.
	own bool
} {
	nowhere := filepath.Join(dir, "nowhere")
	a := func(args ...string) []string { return args }
	return []struct {
		args []string
		text string
		code int
		own  bool
	}{
		{a("-n", "0", anyURL), "Invalid number of requests\n\n", 1, false},
		{a("-n", "abc", anyURL), "Invalid number of requests\n\n", 1, false},
		{a("-n", "-5", anyURL), "Invalid number of requests\n\n", 1, false},
		{a("-n", "2147483648", anyURL), "Invalid number of requests\n\n", 1, false},
		{a("-nk", "5", anyURL), "Invalid number of requests\n\n", 1, false},
		{a("-p", "/dev/null", "-i", anyURL), "Cannot mix HEAD with other methods\n\n", 1, false},
		{a("-i", "-i", anyURL), "Cannot mix HEAD with other methods\n\n", 1, false},
		{a("-i", "-p", nowhere, anyURL), "Cannot mix POST with other methods\n\n", 1, false},
		{a("-m", "X", "-p", nowhere, anyURL), "Cannot mix POST with other methods\n\n", 1, false},
		{a("-i", "-u", nowhere, anyURL), "Cannot mix PUT with other methods\n\n", 1, false},
		{a("-p", nowhere, anyURL), "ab: Could not open POST data file (" + nowhere + "): No such file or directory\n", 1, false},
		{a("-u", nowhere, anyURL), "ab: Could not open POST data file (" + nowhere + "): No such file or directory\n", 1, false},
		{a("-p", dir, anyURL), "ab: Could not read POST data file: Is a directory\n", 1, false},
		{a("-h"), "Usage: ab [options] [http[s]://]hostname[:port]/path\n", 22, false},
		{a(), "ab: wrong number of arguments\nUsage: ", 22, false},
		{a("-k"), "ab: wrong number of arguments\nUsage: ", 22, false},
		{a("-", anyURL), "ab: wrong number of arguments\nUsage: ", 22, false},
		{a(anyURL, anyURL), "ab: wrong number of arguments\nUsage: ", 22, false},
		{a(anyURL, "-n", "5"), "ab: wrong number of arguments\nUsage: ", 22, false},
		{a("-n"), "ab: option requires an argument -- n\nab: wrong number of arguments\nUsage: ", 22, false},
		{a("-kYq", anyURL), "ab: illegal option -- Y\n", 22, false},
		{a("-c", "5", "-n", "2", anyURL), "ab: Cannot use concurrency level greater than total number of requests\nUsage: ", 22, false},
		{a("-c", "-1", anyURL), "ab: Invalid Concurrency [Range 0..200000]\nUsage: ", 22, false},
		{a("-c", "200001", "-n", "300000", anyURL), "ab: Invalid Concurrency [Range 0..200000]\nUsage: ", 22, false},
		{a("http://127.0.0.1:8080"), "ab: invalid URL\nUsage: ", 22, false},
		{a("http://127.0.0.1:8080?x=1"), "ab: invalid URL\nUsage: ", 22, false},
		{a("127.0.0.1:0/"), "ab: invalid URL\nUsage: ", 22, false},
		{a("127.0.0.1:65536/"), "ab: invalid URL\nUsage: ", 22, false},
		{a("8080/"), "ab: invalid URL\nUsage: ", 22, false},
		{a(":8080/"), "ab: invalid URL\nUsage: ", 22, false},
		{a("http:///"), "ab: invalid URL\nUsage: ", 22, false},
		{a("[::1/"), "ab: invalid URL\nUsage: ", 22, false},
		{a("[fe80::1%lo]:80/"), "ab: invalid URL\nUsage: ", 22, false},
		{a("-Y", anyURL), "ab: illegal option -- Y\nUsage: ", 22, true},
		{a("-g", "plot.tsv", anyURL), "ab: option -g of ab is not supported yet\n", 22, true},
		{a("-qd", anyURL), "ab: option -d of ab is not supported yet\n", 22, true},
		{a("-H", "no colon", anyURL), "ab: -H \"no colon\" is not one header line (Name: value)\n", 22, true},
		{a("-H", "X: 1\r\nY: 2", anyURL), "ab: -H \"X: 1\\r\\nY: 2\" is not one header line (Name: value)\n", 22, true},
		{a("-H", "X : 1", anyURL), "ab: -H \"X : 1\" is not one header line (Name: value)\n", 22, true},
		{a("-H", "X: \x1b[2J", anyURL), "ab: -H \"X: \\x1b[2J\" is not one header line (Name: value)\n", 22, true},
		{a("-m", "A(B", anyURL), "ab: -m \"A(B\" is not a method name\n", 22, true},
		{a("-m", "A B", anyURL), "ab: -m \"A B\" is not a method name\n", 22, true},
		{a("-t", "-1", anyURL), "ab: Invalid time limit\nUsage: ", 22, true},
		{a(anyURL + "%zz"), "ab: invalid URL\nUsage: ", 22, true},
	}
}

// noEngine fails the test when load is started.
func noEngine(t *testing.T) Engine {
	return func(context.Context, load.Job, Trace) (*load.Result, error) {
		t.Error("load was started")
		return nil, errors.New("load was started")
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range refusals(t.TempDir()) {
		var stdout, stderr bytes.Buffer
		code := Main(t.Context(), c.args, &stdout, &stderr, noEngine(t))
		if code != c.code || !strings.HasPrefix(stderr.String(), c.text) || stdout.Len() > 0 {
			t.Errorf("ab %q: exit code %d, stdout %q, stderr %.200q; want %d, nothing, %q…", c.args, code, &stdout, &stderr, c.code, c.text)
		}
	}
}

// TestRefusalsOfPeer holds the table against the real ab.
func TestRefusalsOfPeer(t *testing.T) {
	path, err := exec.LookPath("ab")
	if err != nil {
		if os.Getenv("ABACUS_REQUIRE_LAB") == "1" {
			t.Fatal("ABACUS_REQUIRE_LAB=1, and ab (Debian: apache2-utils) is not installed")
		}
		t.Skip("ab is not installed")
	}
	for _, c := range refusals(t.TempDir()) {
		if c.own {
			continue
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		var stderr bytes.Buffer
		cmd := exec.CommandContext(ctx, path, c.args...)
		cmd.Args[0] = "ab" // it calls itself what it was called
		cmd.Stderr = &stderr
		err := cmd.Run()
		cancel()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		if code := cmd.ProcessState.ExitCode(); code != c.code || !strings.HasPrefix(stderr.String(), c.text) {
			t.Errorf("the real ab %q: exit code %d, stderr %.200q; the table says %d, %q…", c.args, code, &stderr, c.code, c.text)
		}
	}
}

// TestUsage: each line of ours is one of ab's, in its order.
func TestUsage(t *testing.T) {
	data, err := os.ReadFile("testdata/bad-url.txt")
	if err != nil {
		t.Fatal(err)
	}
	theirs := strings.Split(string(data), "\n")
	var usage bytes.Buffer
	WriteUsage(&usage)
	for line := range strings.Lines(usage.String()) {
		line = strings.TrimSuffix(line, "\n")
		found := false
		for i, l := range theirs {
			if l == line {
				theirs, found = theirs[i+1:], true
				break
			}
		}
		if !found {
			t.Errorf("usage line %q is not ab's, or not in its order", line)
		}
	}
}

func TestVersion(t *testing.T) {
	var stdout, stderr bytes.Buffer
	code := Main(t.Context(), []string{"-kV", "-n", "0"}, &stdout, &stderr, noEngine(t))
	if code != 0 || stdout.String() != banner || stderr.Len() > 0 {
		t.Errorf("-V: exit code %d, stdout %q, stderr %q", code, &stdout, &stderr)
	}
}

func TestParseTarget(t *testing.T) {
	for _, c := range []struct {
		in, host, hostHeader, url, requestTarget string
	}{
		{"http://h/", "h", "h", "http://h:80/", "/"},
		{"https://h/", "h", "h", "https://h:443/", "/"},
		{"h/a?b=c", "h", "h", "http://h:80/a?b=c", "/a?b=c"},
		{"http://h:8080/", "h", "h:8080", "http://h:8080/", "/"},
		{"https://h:80/", "h", "h:80", "https://h:80/", "/"},
		{"[::1]:81/x", "::1", "[::1]:81", "http://[::1]:81/x", "/x"},
		{"http://[::1]/", "::1", "[::1]", "http://[::1]:80/", "/"},
		{"ftp://h/", "ftp:", "ftp:", "", ""},
		{"u@h/", "u@h", "u@h", "", ""},
		{"h/a b#frag", "h", "h", "http://h:80/a%20b", "/a%20b"},
		{"h/%41//../x?y=%zz", "h", "h", "http://h:80/%41//../x?y=%zz", "/%41//../x?y=%zz"},
	} {
		got, ok := parseTarget(c.in)
		if !ok {
			t.Errorf("%q: refused", c.in)
			continue
		}
		if got.host != c.host || got.hostHeader() != c.hostHeader {
			t.Errorf("%q: host %q, header %q; want %q, %q", c.in, got.host, got.hostHeader(), c.host, c.hostHeader)
		}
		if c.url != "" && (got.url() != c.url || got.requestTarget() != c.requestTarget) {
			t.Errorf("%q: url %q, request target %q; want %q, %q", c.in, got.url(), got.requestTarget(), c.url, c.requestTarget)
		}
	}
}

func TestAtoi(t *testing.T) {
	// As C's atoi on a machine with 64-bit long does.
	for in, want := range map[string]int{
		"": 0, "x": 0, "10": 10, "10x": 10, " \t7": 7, "+5": 5, "-5": -5, "--5": 0, "0x10": 0, "1.9": 1,
		"2147483647": 2147483647, "2147483648": -2147483648, "4294967297": 1,
		"99999999999999999999": -1,
	} {
		if got := atoi(in); got != want {
			t.Errorf("atoi(%q) = %d, want %d", in, got, want)
		}
	}
}

func TestRequestHead(t *testing.T) {
	body := filepath.Join(t.TempDir(), "body")
	if err := os.WriteFile(body, []byte("123"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "GET / HTTP/1.0\r\nHost: 127.0.0.1:8080\r\nUser-Agent: ApacheBench/2.3\r\nAccept: */*\r\n\r\n"},
		{[]string{"-H", "Accept: a", "-k", "-A", " u:p", "-A", "v:w", "-C", "a=1", "-C", "b=2", "-H", "X:1", "-p", body, "-m", "PATCH", "-T", "t/u"},
			"PATCH / HTTP/1.0\r\nConnection: Keep-Alive\r\nCookie: a=1; b=2\r\nAuthorization: Basic dTpw\r\nAuthorization: Basic djp3\r\n" +
				"Content-length: 3\r\nContent-type: t/u\r\nAccept: a\r\nX: 1\r\nHost: 127.0.0.1:8080\r\nUser-Agent: ApacheBench/2.3\r\n\r\n"},
		{[]string{"-i", "-H", "hOST: other", "-H", "user-agent: me"},
			"HEAD / HTTP/1.0\r\nhOST: other\r\nuser-agent: me\r\nAccept: */*\r\n\r\n"},
	} {
		o, stop := parse(append(c.args, anyURL))
		if stop != nil {
			t.Errorf("%q: %s", c.args, stop.text)
			continue
		}
		if got := o.requestHead(); got != c.want {
			t.Errorf("%q:\n%q, want\n%q", c.args, got, c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"-n 5 " + anyURL, "-kqn7 h/", "- h/", "-- h/", "-C a -H X:1 -H Host:x [::1]:1/a b", "https://h/%zz", "-n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		args := strings.Split(line, " ")
		for i, a := range args {
			if strings.HasPrefix(a, "-") && strings.ContainsAny(a, "pu") || a == "" {
				args[i] = "-k" // no files
			}
		}
		o, stop := parse(args)
		if (o == nil) == (stop == nil) {
			t.Fatalf("%q: options %v, stop %v", args, o, stop)
		}
		if stop != nil {
			if stop.code != 0 && stop.text == "" && !stop.usage {
				t.Fatalf("%q: refused without a word", args)
			}
			return
		}
		// Whatever was accepted is one well-formed request head.
		head := o.requestHead()
		if !strings.HasSuffix(head, "\r\n\r\n") || strings.Count(head, "\r\n\r\n") != 1 {
			t.Fatalf("%q: head %q", args, head)
		}
		if strings.Count(head, "\r\n") != len(o.headers())+2 {
			t.Fatalf("%q: %d headers make %q", args, len(o.headers()), head)
		}
	})
}
