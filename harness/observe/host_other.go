//go:build !linux

package observe

import (
	"context"
	"fmt"
)

// read says honestly that nothing is read here. The machine's counters are a
// Linux matter until this has been tried on another system.
func (p *HostPoller) read(context.Context) (*Host, error) {
	return nil, fmt.Errorf("host counters: %w", ErrNotHere)
}
