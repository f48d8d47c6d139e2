//go:build !linux

package observe

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/shirou/gopsutil/v4/cpu"
	"github.com/shirou/gopsutil/v4/load"
	"github.com/shirou/gopsutil/v4/mem"
	"github.com/shirou/gopsutil/v4/net"
)

// read takes one reading with gopsutil. Swap traffic, context switches and
// sockets in TIME_WAIT are not told here in a form that costs little, and stay
// absent.
func (p *HostPoller) read(ctx context.Context) (*Host, error) {
	all, err := cpu.TimesWithContext(ctx, false)
	if err == nil && len(all) == 0 {
		err = errors.New("no CPU is listed")
	}
	if err != nil {
		return nil, fmt.Errorf("host CPU times: %w", err)
	}
	h := &Host{CPU: cpuTimes(all[0])}
	if cores, err := cpu.TimesWithContext(ctx, true); err == nil {
		for _, c := range cores {
			h.Cores = append(h.Cores, cpuTimes(c))
		}
	}
	m, err := mem.VirtualMemoryWithContext(ctx)
	if err != nil {
		return nil, fmt.Errorf("host memory: %w", err)
	}
	h.MemTotalBytes, h.MemAvailableBytes = m.Total, m.Available
	if s, err := mem.SwapMemoryWithContext(ctx); err == nil {
		h.SwapTotalBytes, h.SwapUsedBytes = s.Total, s.Used
	}
	if avg, err := load.AvgWithContext(ctx); err == nil {
		h.Load1 = &avg.Load1
	}
	if nics, err := net.IOCountersWithContext(ctx, false); err == nil && len(nics) == 1 {
		h.NetRxBytes, h.NetTxBytes = &nics[0].BytesRecv, &nics[0].BytesSent
	}
	return h, nil
}

// cpuTimes takes seconds to nanoseconds.
func cpuTimes(t cpu.TimesStat) CPUTimes {
	ns := func(s float64) int64 { return int64(math.Round(s * 1e9)) }
	return CPUTimes{
		UserNS: ns(t.User), NiceNS: ns(t.Nice), SystemNS: ns(t.System), IdleNS: ns(t.Idle),
		IOWaitNS: ns(t.Iowait), IRQNS: ns(t.Irq), SoftIRQNS: ns(t.Softirq), StealNS: ns(t.Steal),
	}
}
