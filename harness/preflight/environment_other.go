//go:build !linux

package preflight

import (
	"context"
	"strings"

	"github.com/shirou/gopsutil/v4/cpu"
	"github.com/shirou/gopsutil/v4/host"
	"github.com/shirou/gopsutil/v4/mem"

	"abacus/harness/oneline"
)

// readMachine fills in what gopsutil tells on this system. Governor, control
// groups, limits and port range are Linux's, and left out.
func readMachine(ctx context.Context, _ string, e *Environment) {
	if i, err := host.InfoWithContext(ctx); err == nil {
		e.Platform = oneline.Shorten(strings.TrimSpace(i.Platform+" "+i.PlatformVersion), 100)
		e.Kernel = oneline.Shorten(i.KernelVersion, 100)
		if i.VirtualizationRole == "guest" {
			e.Virtual = oneline.Shorten(i.VirtualizationSystem, 120)
		}
	}
	if list, err := cpu.InfoWithContext(ctx); err == nil && len(list) > 0 {
		e.CPUModel = oneline.Shorten(list[0].ModelName, 120)
	}
	if m, err := mem.VirtualMemoryWithContext(ctx); err == nil {
		e.MemBytes = m.Total
	}
	if s, err := mem.SwapMemoryWithContext(ctx); err == nil {
		swap := s.Total
		e.SwapBytes = &swap
	}
}
