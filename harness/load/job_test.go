package load

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"abacus/harness/expect"
)

func goodJob() Job {
	return Job{URL: "http://127.0.0.1:8080/page?x=1", Concurrency: 10, Requests: 100, Timeout: time.Second}
}

func TestJobValidate(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Job)
		says   []string // empty: it is right
	}{
		"requests":           {func(*Job) {}, nil},
		"duration":           {func(j *Job) { j.Requests, j.Duration = 0, time.Second }, nil},
		"both":               {func(j *Job) { j.Duration = time.Second }, nil},
		"https and ipv6":     {func(j *Job) { j.URL = "https://[::1]:8443/" }, nil},
		"http/1.0":           {func(j *Job) { j.Protocol = "HTTP/1.0" }, nil},
		"http/1.1":           {func(j *Job) { j.Protocol = "HTTP/1.1" }, nil},
		"no url":             {func(j *Job) { j.URL = "" }, []string{"scheme"}},
		"ftp":                {func(j *Job) { j.URL = "ftp://h/" }, []string{"scheme"}},
		"no host":            {func(j *Job) { j.URL = "http:///x" }, []string{"no host"}},
		"no parse":           {func(j *Job) { j.URL = "http://[::1/" }, []string{"url"}},
		"no concurrency":     {func(j *Job) { j.Concurrency = 0 }, []string{"concurrency 0"}},
		"neither":            {func(j *Job) { j.Requests = 0 }, []string{"requests or duration"}},
		"negative requests":  {func(j *Job) { j.Requests, j.Duration = -1, time.Second }, []string{"requests or duration"}},
		"negative duration":  {func(j *Job) { j.Duration = -1 }, []string{"requests or duration"}},
		"no timeout":         {func(j *Job) { j.Timeout = 0 }, []string{"timeout"}},
		"port 0":             {func(j *Job) { j.URL = "http://127.0.0.1:0/" }, []string{"port must be"}},
		"port 70000":         {func(j *Job) { j.URL = "http://127.0.0.1:70000/" }, []string{"port must be"}},
		"connect_to":         {func(j *Job) { j.ConnectTo = "[::1]:8080" }, nil},
		"connect_to no port": {func(j *Job) { j.ConnectTo = "127.0.0.1" }, []string{`connect_to "127.0.0.1"`}},
		"connect_to port":    {func(j *Job) { j.ConnectTo = "127.0.0.1:x" }, []string{`connect_to "127.0.0.1:x"`}},
		"method":             {func(j *Job) { j.Method = "GET / HTTP/1.1\r\nX:" }, []string{"method"}},
		"own method":         {func(j *Job) { j.Method = "M-SEARCH" }, nil},
		"headers":            {func(j *Job) { j.Headers = []Header{{"X-Y", "é\tz"}, {"x", ""}} }, nil},
		"header name":        {func(j *Job) { j.Headers = []Header{{"X Y", "z"}} }, []string{`header name "X Y"`}},
		"header without":     {func(j *Job) { j.Headers = []Header{{"", "z"}} }, []string{`header name ""`}},
		"header value":       {func(j *Job) { j.Headers = []Header{{"X", "secret\r\nY: z"}} }, []string{"header X"}},
		"http/2":             {func(j *Job) { j.Protocol = "HTTP/2" }, []string{"protocol"}},
		"all at once": {func(j *Job) { *j = Job{Protocol: "x"} },
			[]string{"scheme", "concurrency", "requests or duration", "timeout", "protocol"}},
	} {
		j := goodJob()
		c.change(&j)
		err := j.Validate()
		if len(c.says) == 0 {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error repeats a header's value: %v", name, err)
		}
		for _, part := range c.says {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%s: error %v says nothing of %q", name, err, part)
			}
		}
	}
}

func TestServerName(t *testing.T) {
	for name, c := range map[string]struct {
		url, host, want string
	}{
		"url":              {"https://h:8443/", "", "h"},
		"ipv6":             {"https://[::1]:8443/", "", "::1"},
		"ipv6, no port":    {"https://[::1]/", "", "::1"},
		"zone":             {"https://[fe80::1%25eth0]/", "", "fe80::1"},
		"host header":      {"https://10.0.0.1/", "site.example:444", "site.example"},
		"ipv6 host header": {"https://h/", "[::1]", "::1"},
	} {
		j := Job{URL: c.url, ConnectTo: "127.0.0.1:1", Headers: []Header{{"host", c.host}}}
		if got := j.ServerName(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestEvery(t *testing.T) {
	for _, c := range []struct{ interval, duration, want time.Duration }{
		{0, 0, 200 * time.Millisecond},
		{time.Second, 0, time.Second},
		{0, time.Hour, 200 * time.Millisecond},
		// A hundred thousand of them are 1,000 s at 10 ms, and 864 ms in a day.
		{10 * time.Millisecond, 1000 * time.Second, 10 * time.Millisecond},
		{10 * time.Millisecond, 24 * time.Hour, 864 * time.Millisecond},
		{time.Second, 24 * time.Hour, time.Second},
	} {
		if got := (Job{Interval: c.interval, Duration: c.duration}).Every(); got != c.want {
			t.Errorf("interval %v, duration %v: every %v, want %v", c.interval, c.duration, got, c.want)
		}
	}
}

func TestGrace(t *testing.T) {
	for timeout, want := range map[time.Duration]time.Duration{300 * time.Millisecond: 300 * time.Millisecond, 30 * time.Second: time.Second} {
		if got := (Job{Timeout: timeout}).Grace(); got != want {
			t.Errorf("timeout %v: grace %v, want %v", timeout, got, want)
		}
	}
}

// A job travels to the worker as JSON and must arrive as it was.
func TestJobJSON(t *testing.T) {
	n := int64(5)
	j := Job{
		Engine: "native", URL: "https://h/", ConnectTo: "127.0.0.1:1", Method: "POST",
		Headers: []Header{{"X-Two", "b"}, {"x-one", "a"}, {"X-Two", "c"}}, Body: []byte{0, 255, '\n'},
		Protocol: "HTTP/1.0", KeepAlive: true, Concurrency: 3, Requests: 7, Duration: 1500 * time.Millisecond,
		Timeout: time.Second, Interval: 100 * time.Millisecond, InsecureTLS: true, AcceptVariableLength: true,
		Expect: expect.Rules{Status: 200, Bytes: &n, Header: map[string]string{"ETag": "x"}}, SampleEvery: 10,
	}
	b, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	var back Job
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(j, back) {
		t.Errorf("sent %+v, arrived %+v", j, back)
	}
}
