//go:build !linux

package observe

import (
	"context"
	"fmt"
)

// noReader stands where processes are not read.
type noReader struct{}

func newProcessReader() processReader { return noReader{} }

func (noReader) usable() error { return fmt.Errorf("process counters: %w", ErrNotHere) }

func (noReader) read(context.Context, int) (processStat, bool) { return processStat{}, false }

func (noReader) children(context.Context, int) []int { return nil }
