package worker

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"abacus/harness/load"
)

// line is a job as the parent sends it.
func line(t *testing.T, job load.Job) string {
	t.Helper()
	b, err := json.Marshal(request{Version: Version, Job: job})
	if err != nil {
		t.Fatal(err)
	}
	return string(b) + "\n"
}

func job() load.Job {
	return load.Job{
		Engine: "fake", URL: "http://127.0.0.1:1/", Concurrency: 3, Requests: 9, KeepAlive: true, Timeout: time.Second,
		Headers: []load.Header{{Name: "X", Value: "y"}}, Body: []byte{0, 255},
	}
}

// records reads all records of an output.
func records(t *testing.T, out string) (all []record) {
	t.Helper()
	r := bufio.NewReader(strings.NewReader(out))
	for {
		rec, err := readRecord(r)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, rec)
	}
}

func TestServeHandsOverTheJob(t *testing.T) {
	in, hold := io.Pipe()
	defer hold.Close()
	go func() { _, _ = io.WriteString(hold, line(t, job())) }()
	var out strings.Builder
	err := Serve(t.Context(), in, &out, func(_ context.Context, j load.Job, progress func(load.Progress)) (*load.Result, error) {
		if j.Concurrency != 3 || j.Requests != 9 || !j.KeepAlive || j.Timeout != time.Second || string(j.Body) != "\x00\xff" || len(j.Headers) != 1 || j.Headers[0] != job().Headers[0] {
			t.Errorf("job %+v", j)
		}
		progress(load.Progress{ElapsedNS: 1})
		progress(load.Progress{ElapsedNS: 2})
		return &load.Result{Engine: "fake"}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	all := records(t, out.String())
	if len(all) != 3 || all[0].Progress.ElapsedNS != 1 || all[1].Progress.ElapsedNS != 2 || all[2].Result == nil || all[2].Result.Usage == nil {
		t.Errorf("records %s", out.String())
	}
}

func TestServeStopsAtTheEndOfItsInput(t *testing.T) {
	var out strings.Builder
	err := Serve(t.Context(), strings.NewReader(line(t, job())), &out, func(ctx context.Context, _ load.Job, _ func(load.Progress)) (*load.Result, error) {
		<-ctx.Done()
		return &load.Result{Engine: "fake", Interrupted: true}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if all := records(t, out.String()); len(all) != 1 || all[0].Type != typeResult || !all[0].Result.Interrupted {
		t.Errorf("records %s", out.String())
	}
}

// TestServeWithoutReader: when nobody reads, Serve does not wait for an engine
// that does not listen.
func TestServeWithoutReader(t *testing.T) {
	forever := func(context.Context, load.Job, func(load.Progress)) (*load.Result, error) { select {} }
	talks := func(_ context.Context, _ load.Job, progress func(load.Progress)) (*load.Result, error) {
		progress(load.Progress{ElapsedNS: 1})
		select {}
	}
	ends := func(context.Context, load.Job, func(load.Progress)) (*load.Result, error) {
		return &load.Result{}, nil
	}
	open, hold := io.Pipe() // an input that does not end
	defer hold.Close()
	go func() { _, _ = io.WriteString(hold, line(t, job())) }()
	for name, tt := range map[string]struct {
		in  io.Reader
		run Func
	}{
		"the input ends":   {strings.NewReader(line(t, job())), forever},
		"progress fails":   {open, talks},
		"the result fails": {strings.NewReader(line(t, job())), ends},
	} {
		t.Run(name, func(t *testing.T) {
			r, w := io.Pipe()
			r.Close()
			if err := Serve(t.Context(), tt.in, w, tt.run); !errors.Is(err, errNoReader) || !errors.Is(err, io.ErrClosedPipe) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestServeRefusesJobs(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"", "the input ended before a job came"},
		{"{}\n", "version 0 of the protocol, this program speaks 1"},
		{`{"version":2,"job":{}}` + "\n", "version 2 of the protocol"},
		{"garbage\n", "not a job"},
		{`{"version":1,"job":{`, "cut off"},
		{strings.Repeat(" ", maxJobLine+1), "a line of more than 67108864 bytes"},
	} {
		var out strings.Builder
		err := Serve(t.Context(), strings.NewReader(tt.in), &out, func(context.Context, load.Job, func(load.Progress)) (*load.Result, error) {
			t.Errorf("%.40q was run", tt.in)
			return nil, nil
		})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%.40q: error %v, want %q", tt.in, err, tt.want)
		}
		all := records(t, out.String())
		if len(all) != 1 || all[0].Type != typeError || !strings.Contains(all[0].Error.Message, tt.want) {
			t.Errorf("%.40q: records %s", tt.in, out.String())
		}
	}
}

// TestSlowReaderDoesNotStopTheLoad: progress that nobody takes is dropped.
func TestSlowReaderDoesNotStopTheLoad(t *testing.T) {
	r, w := io.Pipe()
	reported := make(chan struct{})
	served := make(chan error, 1)
	in, hold := io.Pipe()
	defer hold.Close()
	go func() { _, _ = io.WriteString(hold, line(t, job())) }()
	go func() {
		served <- Serve(t.Context(), in, w, func(_ context.Context, _ load.Job, progress func(load.Progress)) (*load.Result, error) {
			for i := range int64(5 * queued) {
				progress(load.Progress{ElapsedNS: i})
			}
			close(reported)
			return &load.Result{Engine: "fake"}, nil
		})
	}()
	<-reported // although nothing has been read
	br := bufio.NewReader(r)
	for {
		rec, err := readRecord(br)
		if err != nil {
			t.Fatal(err)
		}
		if rec.Type == typeResult {
			break
		}
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}
