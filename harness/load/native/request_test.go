package native

import (
	"context"
	"strings"
	"testing"
	"time"

	"abacus/harness/fault"
	"abacus/harness/load"
)

func TestRequestBytes(t *testing.T) {
	for name, c := range map[string]struct {
		job  load.Job
		want string
	}{
		"plain":                  {load.Job{URL: "http://h/", KeepAlive: true}, "GET / HTTP/1.1\nHost: h\n\n"},
		"no path":                {load.Job{URL: "http://h:8080?x=1", KeepAlive: true}, "GET /?x=1 HTTP/1.1\nHost: h:8080\n\n"},
		"escapes and fragment":   {load.Job{URL: "http://h/a%2Fb%20c?q=%C3%A9&r=a+b#frag", KeepAlive: true}, "GET /a%2Fb%20c?q=%C3%A9&r=a+b HTTP/1.1\nHost: h\n\n"},
		"default ports":          {load.Job{URL: "https://h:443/", KeepAlive: true}, "GET / HTTP/1.1\nHost: h\n\n"},
		"80 is not https's":      {load.Job{URL: "https://h:80/", KeepAlive: true}, "GET / HTTP/1.1\nHost: h:80\n\n"},
		"ipv6":                   {load.Job{URL: "http://[fe80::1%25eth0]:81/", KeepAlive: true}, "GET / HTTP/1.1\nHost: [fe80::1]:81\n\n"},
		"ipv6 without port":      {load.Job{URL: "http://[::1]/", KeepAlive: true}, "GET / HTTP/1.1\nHost: [::1]\n\n"},
		"closing":                {load.Job{URL: "http://h/"}, "GET / HTTP/1.1\nHost: h\nConnection: close\n\n"},
		"1.0":                    {load.Job{URL: "http://h/", Protocol: "HTTP/1.0"}, "GET / HTTP/1.0\nHost: h\n\n"},
		"1.0 kept alive":         {load.Job{URL: "http://h/", Protocol: "HTTP/1.0", KeepAlive: true}, "GET / HTTP/1.0\nHost: h\nConnection: Keep-Alive\n\n"},
		"connect_to is not said": {load.Job{URL: "http://h/", ConnectTo: "127.0.0.1:99", KeepAlive: true}, "GET / HTTP/1.1\nHost: h\n\n"},
		"order and case": {load.Job{URL: "http://h/", KeepAlive: true, Headers: []load.Header{{Name: "x-B", Value: "1"}, {Name: "X-a", Value: ""}, {Name: "x-B", Value: "2"}, {Name: "User-Agent", Value: "abacus/1 (c)"}}},
			"GET / HTTP/1.1\nHost: h\nx-B: 1\nX-a: \nx-B: 2\nUser-Agent: abacus/1 (c)\n\n"},
		"own host, connection, length": {load.Job{URL: "http://h/", Method: "PUT", Body: []byte("ab"), Headers: []load.Header{{Name: "connection", Value: "TE"}, {Name: "content-length", Value: "2"}, {Name: "hOST", Value: "other"}}},
			"PUT / HTTP/1.1\nconnection: TE\ncontent-length: 2\nhOST: other\n\nab"},
		"body":       {load.Job{URL: "http://h/", Method: "POST", Body: []byte("a\nb"), KeepAlive: true}, "POST / HTTP/1.1\nHost: h\nContent-Length: 3\n\na\nb"},
		"empty body": {load.Job{URL: "http://h/", Method: "POST", Body: []byte{}, KeepAlive: true}, "POST / HTTP/1.1\nHost: h\nContent-Length: 0\n\n"},
		// RFC 7617's own example.
		"user in the url": {load.Job{URL: "http://Aladdin:open%20sesame@h/", KeepAlive: true}, "GET / HTTP/1.1\nHost: h\nAuthorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\n\n"},
		"own authorization": {load.Job{URL: "http://a:b@h/", KeepAlive: true, Headers: []load.Header{{Name: "authorization", Value: "Bearer x"}}},
			"GET / HTTP/1.1\nHost: h\nauthorization: Bearer x\n\n"},
	} {
		target, err := newTarget(c.job)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		req := buildRequest(c.job, target)
		head, body, _ := strings.Cut(c.want, "\n\n")
		want := strings.ReplaceAll(head, "\n", "\r\n") + "\r\n\r\n" + body
		if got := string(req.bytes); got != want {
			t.Errorf("%s:\n got %q\nwant %q", name, got, want)
		}
	}
}

func TestTarget(t *testing.T) {
	for name, c := range map[string]struct {
		job        load.Job
		host, port string
	}{
		"http":            {load.Job{URL: "http://h/"}, "h", "80"},
		"https":           {load.Job{URL: "https://h/"}, "h", "443"},
		"port":            {load.Job{URL: "https://h:8443/"}, "h", "8443"},
		"ipv6":            {load.Job{URL: "https://[::1]:8443/"}, "::1", "8443"},
		"connect_to":      {load.Job{URL: "https://h/", ConnectTo: "10.0.0.1:8443"}, "10.0.0.1", "8443"},
		"connect_to ipv6": {load.Job{URL: "https://h/", ConnectTo: "[::1]:8443"}, "::1", "8443"},
		"host header":     {load.Job{URL: "https://10.0.0.1/", Headers: []load.Header{{Name: "host", Value: "site.example:444"}}}, "10.0.0.1", "443"},
	} {
		got, err := newTarget(c.job)
		if err != nil || got.host != c.host || got.port != c.port {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// A wrong job is the input's fault, and nothing is dialled.
func TestWrongJob(t *testing.T) {
	j := job("http://127.0.0.1:1/", 1, 0)
	res, err := new(Engine).Run(context.Background(), j, nil)
	if err == nil || !fault.IsInput(err) || !strings.Contains(err.Error(), "concurrency") || res != nil {
		t.Errorf("%v (input: %v), result %v", err, fault.IsInput(err), res)
	}
}

func TestUnknownHost(t *testing.T) {
	j := job("http://a..b/", 5, 1) // no name server needs to be asked
	j.Timeout = time.Second
	res, err := new(Engine).Run(context.Background(), j, nil)
	if err == nil || res != nil || fault.IsInput(err) || fault.HintOf(err) == "" || !strings.Contains(err.Error(), "look up a..b") {
		t.Errorf("error %v, hint %q, result %v", err, fault.HintOf(err), res)
	}
}
