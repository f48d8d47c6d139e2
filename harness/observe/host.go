package observe

import "context"

// HostPoller reads the machine's raw counters. What this system does not tell
// stays absent; only CPU times and memory must be there.
type HostPoller struct {
	// proc is where the process file system is mounted.
	proc string
}

// NewHostPoller returns a poller of this machine.
func NewHostPoller() *HostPoller { return newHostPoller("/proc") }

func newHostPoller(proc string) *HostPoller { return &HostPoller{proc: proc} }

// Name is "host".
func (p *HostPoller) Name() string { return "host" }

// Poll takes one reading. It fails when CPU times or memory cannot be read.
func (p *HostPoller) Poll(ctx context.Context) (Reading, error) {
	h, err := p.read(ctx)
	if err != nil {
		return Reading{}, err
	}
	return Reading{Host: h}, nil
}
