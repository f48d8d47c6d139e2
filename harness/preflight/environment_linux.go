package preflight

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/shirou/gopsutil/v4/common"
	"github.com/shirou/gopsutil/v4/mem"

	"abacus/harness/oneline"
)

// readMachine fills in what Linux tells about itself.
func readMachine(ctx context.Context, root string, e *Environment) {
	at := func(parts ...string) string { return filepath.Join(append([]string{root}, parts...)...) }
	release := text(at("etc", "os-release"))
	if release == "" {
		release = text(at("usr", "lib", "os-release"))
	}
	e.Platform = oneline.Shorten(keyed(release, "PRETTY_NAME", "="), 100)
	e.Kernel = oneline.Shorten(text(at("proc", "sys", "kernel", "osrelease")), 100)
	cpuinfo := text(at("proc", "cpuinfo"))
	e.CPUModel = oneline.Shorten(cpuModel(cpuinfo), 120)
	e.Governor = oneline.Shorten(text(at("sys", "devices", "system", "cpu", "cpu0", "cpufreq", "scaling_governor")), 40)
	e.Virtual = virtualization(root, cpuinfo)
	ctx = context.WithValue(ctx, common.EnvKey, common.EnvMap{common.HostProcEnvKey: at("proc")})
	if m, err := mem.VirtualMemoryWithContext(ctx); err == nil {
		swap := m.SwapTotal
		e.MemBytes, e.SwapBytes = m.Total, &swap
	}
	limits := cgroupLimits(root)
	e.CgroupCPUs, e.CgroupMem = limits.cpus, limits.memBytes
	var files unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &files); err == nil {
		e.OpenFiles = &files.Cur
	}
	if f := strings.Fields(text(at("proc", "sys", "net", "ipv4", "ip_local_port_range"))); len(f) == 2 {
		if r := fmt.Sprintf("%s-%s", f[0], f[1]); PortCount(r) > 0 {
			e.PortRange = r
		}
	}
	if n, ok := wholeNumber(text(at("proc", "sys", "net", "core", "somaxconn"))); ok {
		e.Somaxconn = &n
	}
}

// cpuModel is the processor's name: "model name" on x86, "Hardware" or
// "Model" on some ARM machines, absent on others.
func cpuModel(cpuinfo string) string {
	for _, key := range []string{"model name", "Hardware", "Model", "cpu model", "cpu"} {
		if v := keyed(cpuinfo, key, ":"); v != "" {
			return v
		}
	}
	return ""
}

// virtualization names what the machine runs in, as far as files tell: a
// container, a hypervisor by its product name, or "" when nothing shows.
func virtualization(root, cpuinfo string) string {
	at := func(parts ...string) string { return filepath.Join(append([]string{root}, parts...)...) }
	var found []string
	switch groups := text(at("proc", "1", "cgroup")); {
	case exists(at(".dockerenv")), strings.Contains(groups, "/docker"):
		found = append(found, "docker")
	case exists(at("run", ".containerenv")):
		found = append(found, "podman")
	case strings.Contains(groups, "/kubepods"):
		found = append(found, "kubernetes")
	case strings.Contains(groups, "/lxc"):
		found = append(found, "lxc")
	case strings.Contains(strings.ToLower(text(at("proc", "sys", "kernel", "osrelease"))), "microsoft"):
		found = append(found, "wsl")
	}
	vendor := text(at("sys", "class", "dmi", "id", "sys_vendor"))
	product := text(at("sys", "class", "dmi", "id", "product_name"))
	guest := strings.Contains(" "+keyed(cpuinfo, "flags", ":")+" ", " hypervisor ")
	hyper := text(at("sys", "hypervisor", "type"))
	switch {
	case hyper != "" && hyper != "none":
		found = append(found, hyper)
	case guest && product != "":
		found = append(found, strings.TrimSpace("virtual machine: "+vendor+" "+product))
	case guest:
		found = append(found, "virtual machine")
	}
	return oneline.Shorten(strings.Join(found, " in "), 120)
}
