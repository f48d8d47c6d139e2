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
		"requests":          {func(*Job) {}, nil},
		"duration":          {func(j *Job) { j.Requests, j.Duration = 0, time.Second }, nil},
		"both":              {func(j *Job) { j.Duration = time.Second }, nil},
		"https and ipv6":    {func(j *Job) { j.URL = "https://[::1]:8443/" }, nil},
		"http/1.0":          {func(j *Job) { j.Protocol = "HTTP/1.0" }, nil},
		"http/1.1":          {func(j *Job) { j.Protocol = "HTTP/1.1" }, nil},
		"no url":            {func(j *Job) { j.URL = "" }, []string{"scheme"}},
		"ftp":               {func(j *Job) { j.URL = "ftp://h/" }, []string{"scheme"}},
		"no host":           {func(j *Job) { j.URL = "http:///x" }, []string{"no host"}},
		"no parse":          {func(j *Job) { j.URL = "http://[::1/" }, []string{"url"}},
		"no concurrency":    {func(j *Job) { j.Concurrency = 0 }, []string{"concurrency 0"}},
		"neither":           {func(j *Job) { j.Requests = 0 }, []string{"requests or duration"}},
		"negative requests": {func(j *Job) { j.Requests, j.Duration = -1, time.Second }, []string{"requests or duration"}},
		"negative duration": {func(j *Job) { j.Duration = -1 }, []string{"requests or duration"}},
		"no timeout":        {func(j *Job) { j.Timeout = 0 }, []string{"timeout"}},
		"http/2":            {func(j *Job) { j.Protocol = "HTTP/2" }, []string{"protocol"}},
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
		for _, part := range c.says {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%s: error %v says nothing of %q", name, err, part)
			}
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
