package abcompat

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"abacus/harness/load"
)

func ptr(v int64) *int64 { return &v }

// TestReport prints every optional line. All figures are worked by hand from
// the result: 10 requests in 2 s, of which 6 are whole (one of another
// length), 4 failed otherwise.
func TestReport(t *testing.T) {
	o := mustParse(t, "-k", "-n", "10", "-c", "3", "-p", "/dev/null", "https://[::1]:8443/a?b=c")
	r := &load.Result{
		ElapsedNS: 2_000_000_000,
		Counts: load.Counts{
			Complete: 6, Failed: 5, Connect: 1, Receive: 1, Length: ptr(1), Timeout: 1, Exception: 1,
			Non2xx: 2, HeaderBytes: ptr(1024), BodyBytes: ptr(3072), SentBytes: ptr(2048),
		},
		DocumentBytes: ptr(512), Server: "x/1 y \x1b[2J",
		TLS: &load.TLSInfo{Version: "TLSv1.3", Cipher: "TLS_AES_128_GCM_SHA256", KeyBits: 2048, CipherBits: 128,
			TempKey: "X25519 253 bits", ServerName: "example.test"},
		Connect:    distribution(2*ms, 4*ms),
		Processing: distribution(10*ms, 10*ms, 10*ms, 10*ms, 10*ms, 10*ms),
		Waiting:    distribution(1*ms, 2*ms, 3*ms, 4*ms, 5*ms, 6*ms),
		Total:      distribution(10*ms, 10*ms, 10*ms, 10*ms, 12*ms, 14*ms),
	}
	var got bytes.Buffer
	writeReport(&got, o, r, sighting{keptAlive: 4, writeErrors: 1})
	// Connect: 0 0 0 0 2 4, mean 1, median 0, sd √(14/5); Waiting: mean 3.5,
	// median 3.5, sd √(17.5/5); Total: mean 11, median 10, sd √(14/5).
	want := `

Server Software:        x/1
Server Hostname:        ::1
Server Port:            8443
SSL/TLS Protocol:       TLSv1.3,TLS_AES_128_GCM_SHA256,2048,128
Server Temp Key:        X25519 253 bits
TLS Server Name:        example.test

Document Path:          /a?b=c
Document Length:        512 bytes

Concurrency Level:      3
Time taken for tests:   2.000 seconds
Complete requests:      10
Failed requests:        5
   (Connect: 1, Receive: 2, Length: 1, Exceptions: 1)
Write errors:           1
Non-2xx responses:      2
Keep-Alive requests:    4
Total transferred:      4096 bytes
Total body sent:        2048
HTML transferred:       3072 bytes
Requests per second:    5.00 [#/sec] (mean)
Time per request:       600.000 [ms] (mean)
Time per request:       200.000 [ms] (mean, across all concurrent requests)
Transfer rate:          2.00 [Kbytes/sec] received
                        1.00 kb/s sent
                        3.00 kb/s total

Connection Times (ms)
              min  mean[+/-sd] median   max
Connect:        0    1   1.7      0       4
Processing:    10   10   0.0     10      10
Waiting:        1    4   1.9      4       6
Total:         10   11   1.7     10      14

Percentage of the requests served within a certain time (ms)
  50%     10
  66%     10
  75%     12
  80%     12
  90%     14
  95%     14
  98%     14
  99%     14
 100%     14 (longest request)
`
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("want (-), got (+):\n%s", diff)
	}
}

// TestEmptyReport: nothing was measured, so nothing is divided.
func TestEmptyReport(t *testing.T) {
	var got bytes.Buffer
	writeReport(&got, mustParse(t, "-l", anyURL), &load.Result{}, sighting{})
	want := `

Server Software:        
Server Hostname:        127.0.0.1
Server Port:            8080

Document Path:          /
Document Length:        Variable

Concurrency Level:      1
Time taken for tests:   0.000 seconds
Complete requests:      0
Failed requests:        0
Total transferred:      0 bytes
HTML transferred:       0 bytes
`
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("want (-), got (+):\n%s", diff)
	}
}
