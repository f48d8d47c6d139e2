package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
)

// TestWorkerRunsEngines runs `abacus worker` with each engine against a server
// that counts.
func TestWorkerRunsEngines(t *testing.T) {
	for _, engine := range []string{"native", "hey"} {
		t.Run(engine, func(t *testing.T) {
			var seen atomic.Int64
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				seen.Add(1)
				_, _ = io.WriteString(w, "hello\n")
			}))
			defer srv.Close()
			in, hold := io.Pipe()
			defer hold.Close()
			go func() {
				fmt.Fprintf(hold, `{"version":1,"job":{"engine":%q,"url":%q,"concurrency":4,"requests":50,"keepalive":true,"timeout_ns":5000000000}}`+"\n", engine, srv.URL)
			}()
			out, code := runWorker(t, in)
			if code != ExitDone || seen.Load() != 50 {
				t.Fatalf("exit status %d, the server saw %d, output %s", code, seen.Load(), out)
			}
			var last struct {
				Type   string
				Result struct {
					Engine string
					Counts struct{ Complete int64 }
				}
			}
			for s := bufio.NewScanner(bytes.NewReader(out)); s.Scan(); {
				if err := json.Unmarshal(s.Bytes(), &last); err != nil {
					t.Fatal(err)
				}
			}
			if last.Type != "result" || last.Result.Engine != engine || last.Result.Counts.Complete != 50 {
				t.Errorf("last record %+v", last)
			}
		})
	}
}

func TestWorkerRefusesUnknownEngines(t *testing.T) {
	job := `{"version":1,"job":{"engine":"siege","url":"http://127.0.0.1:1/","concurrency":1,"requests":1,"timeout_ns":1}}` + "\n"
	out, code := runWorker(t, strings.NewReader(job))
	if code != ExitInput || !bytes.Contains(out, []byte(`"type":"error"`)) || !bytes.Contains(out, []byte("siege")) {
		t.Errorf("exit status %d, output %s", code, out)
	}
}

func runWorker(t *testing.T, in io.Reader) ([]byte, int) {
	t.Helper()
	var out bytes.Buffer
	code := Run(t.Context(), &Env{
		Args: []string{"abacus", "worker"}, Stdin: in, Stdout: &out, Stderr: io.Discard,
		Getenv: os.Getenv, Environ: os.Environ,
	})
	return out.Bytes(), code
}
