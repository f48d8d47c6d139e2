package lab

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// Ready is the line that a demo process prints when it serves.
type Ready struct {
	URL     string `json:"url"`
	PID     int    `json:"pid"`
	Version string `json:"version"`
}

// ServeDemo is a demo process: it serves on a free loopback port, says so in
// one line on out, and ends when in ends, which is its tie to the keeper, or
// the context, whichever is first.
func ServeDemo(ctx context.Context, c DemoConfig, in io.Reader, out io.Writer) error {
	demo, err := NewDemo(c)
	if err != nil {
		return err
	}
	defer demo.Close()
	l, err := Listen()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, in)
		cancel()
	}()
	context.AfterFunc(ctx, func() { _ = demo.Close() })
	ready := Ready{URL: "http://" + l.Addr().String(), PID: os.Getpid(), Version: demo.config.Version}
	if err := json.NewEncoder(out).Encode(ready); err != nil {
		_ = l.Close()
		return fmt.Errorf("demo: say that it serves: %w", err)
	}
	return demo.Serve(l)
}
