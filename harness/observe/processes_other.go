//go:build !linux

package observe

import (
	"context"
	"math"

	"github.com/shirou/gopsutil/v4/process"
)

// psReader reads processes with gopsutil. Memory or threads that it cannot
// see of a process are not in the sums.
type psReader struct{}

func newProcessReader() processReader { return psReader{} }

func (psReader) read(ctx context.Context, pid int) (processStat, bool) {
	p, err := process.NewProcessWithContext(ctx, int32(pid))
	if err != nil {
		return processStat{}, false
	}
	t, err := p.TimesWithContext(ctx)
	if err != nil {
		return processStat{}, false
	}
	s := processStat{
		id:       processID{pid: pid},
		userNS:   int64(math.Round(t.User * 1e9)),
		systemNS: int64(math.Round(t.System * 1e9)),
	}
	if start, err := p.CreateTimeWithContext(ctx); err == nil {
		s.id.start = start
	}
	if m, err := p.MemoryInfoWithContext(ctx); err == nil {
		s.rssBytes = m.RSS
	}
	if n, err := p.NumThreadsWithContext(ctx); err == nil {
		s.threads = int(n)
	}
	return s, true
}

// children asks for the parent of every process, which costs a scan of the
// machine: there is no cheaper way here.
func (psReader) children(ctx context.Context, s processStat, _ bool) []int {
	p, err := process.NewProcessWithContext(ctx, int32(s.id.pid))
	if err != nil {
		return nil
	}
	list, err := p.ChildrenWithContext(ctx)
	if err != nil {
		return nil
	}
	pids := make([]int, 0, len(list))
	for _, c := range list {
		pids = append(pids, int(c.Pid))
	}
	return pids
}
