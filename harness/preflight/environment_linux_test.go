package preflight

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// machine writes files below a root of their own.
func machine(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for path, content := range files {
		full := filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestReadEnvironment(t *testing.T) {
	root := machine(t, map[string]string{
		"etc/os-release":                                       "NAME=\"Debian GNU/Linux\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n",
		"proc/sys/kernel/osrelease":                            "6.1.0-25-amd64\n",
		"proc/cpuinfo":                                         "processor\t: 0\nmodel name\t: AMD EPYC 7543\nflags\t\t: fpu vme hypervisor lahf_lm\n\nprocessor\t: 1\nmodel name\t: other\n",
		"proc/meminfo":                                         "MemTotal: 8000000 kB\nMemFree: 1 kB\nMemAvailable: 6000000 kB\nSwapTotal: 2000000 kB\nSwapFree: 2000000 kB\n",
		"proc/sys/net/ipv4/ip_local_port_range":                "32768\t60999\n",
		"proc/sys/net/core/somaxconn":                          "4096\n",
		"proc/self/cgroup":                                     "0::/system.slice/abacus.service\n",
		"sys/fs/cgroup/system.slice/abacus.service/cpu.max":    "150000 100000\n",
		"sys/fs/cgroup/system.slice/memory.max":                "1073741824\n",
		"sys/fs/cgroup/system.slice/abacus.service/memory.max": "max\n",
		"sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "powersave\n",
		"sys/class/dmi/id/sys_vendor":                          "QEMU\n",
		"sys/class/dmi/id/product_name":                        "Standard PC\n",
	})
	if err := os.Symlink("/usr/share/zoneinfo/Europe/Berlin", filepath.Join(root, "etc/localtime")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TZ", "")
	got := readEnvironment(t.Context(), "1.2.3", root)
	if got.OpenFiles == nil || *got.OpenFiles == 0 {
		t.Errorf("open files %v", got.OpenFiles)
	}
	got.OpenFiles = nil
	want := Environment{
		Schema: 1, AbacusVersion: "1.2.3", GoVersion: runtime.Version(), OS: "linux", Arch: runtime.GOARCH, CPUs: runtime.NumCPU(),
		Platform: "Debian GNU/Linux 12 (bookworm)", Kernel: "6.1.0-25-amd64", CPUModel: "AMD EPYC 7543", Governor: "powersave",
		Virtual:  "virtual machine: QEMU Standard PC",
		MemBytes: 8000000 * 1024, SwapBytes: p[uint64](2000000 * 1024), CgroupCPUs: p(1.5), CgroupMem: p[uint64](1 << 30),
		PortRange: "32768-60999", Somaxconn: p[int64](4096), TimeZone: "Europe/Berlin",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("want -, got +:\n%s", d)
	}
}

func TestReadEnvironmentOfAnEmptyMachine(t *testing.T) {
	t.Setenv("TZ", ":America/New_York")
	got := readEnvironment(t.Context(), "1", t.TempDir())
	got.OpenFiles = nil
	want := Environment{Schema: 1, AbacusVersion: "1", GoVersion: runtime.Version(), OS: "linux", Arch: runtime.GOARCH, CPUs: runtime.NumCPU(), TimeZone: "America/New_York"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("want -, got +:\n%s", d)
	}
}

func TestCgroupLimits(t *testing.T) {
	const unlimitedV1 = "9223372036854771712\n"
	for _, tc := range []struct {
		name  string
		files map[string]string
		cpus  *float64
		mem   *uint64
	}{
		{"version 2, a container's own root", map[string]string{
			"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "50000 100000\n", "sys/fs/cgroup/memory.max": "536870912\n",
		}, p(0.5), p[uint64](512 << 20)},
		{"version 2, no limit", map[string]string{
			"proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/cpu.max": "max 100000\n", "sys/fs/cgroup/a/memory.max": "max\n",
		}, nil, nil},
		{"version 2, the parent is tighter", map[string]string{
			"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/cpu.max": "400000 100000\n", "sys/fs/cgroup/a/cpu.max": "200000 100000\n",
		}, p(2.0), nil},
		{"version 2, the group itself is tighter", map[string]string{
			"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/cpu.max": "100000 100000\n", "sys/fs/cgroup/a/cpu.max": "200000 100000\n",
			"sys/fs/cgroup/a/b/memory.max": "4096\n", "sys/fs/cgroup/a/memory.max": "8192\n",
		}, p(1.0), p[uint64](4096)},
		{"version 2, the path is the host's", map[string]string{
			"proc/self/cgroup": "0::/docker/abc\n", "sys/fs/cgroup/cpu.max": "100000 100000\n",
		}, p(1.0), nil},
		{"version 1", map[string]string{
			"proc/self/cgroup": "12:memory:/user\n4:cpu,cpuacct:/user\n1:name=systemd:/x\n",
			"sys/fs/cgroup/cpu,cpuacct/user/cpu.cfs_quota_us":  "250000\n",
			"sys/fs/cgroup/cpu,cpuacct/user/cpu.cfs_period_us": "100000\n",
			"sys/fs/cgroup/memory/user/memory.limit_in_bytes":  "268435456\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes":       unlimitedV1,
		}, p(2.5), p[uint64](256 << 20)},
		{"version 1, no limit", map[string]string{
			"proc/self/cgroup":                           "12:memory:/\n4:cpu:/\n",
			"sys/fs/cgroup/cpu/cpu.cfs_quota_us":         "-1\n",
			"sys/fs/cgroup/cpu/cpu.cfs_period_us":        "100000\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": unlimitedV1,
		}, nil, nil},
		{"both: version 1 holds the controllers", map[string]string{
			"proc/self/cgroup":                           "4:memory:/\n0::/init.scope\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "1048576\n",
		}, nil, p[uint64](1 << 20)},
		{"nonsense", map[string]string{
			"proc/self/cgroup": "nonsense\n0::/../../..\n", "sys/fs/cgroup/cpu.max": "a b\n", "sys/fs/cgroup/memory.max": "-5\n",
		}, nil, nil},
		{"nothing", nil, nil, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := cgroupLimits(machine(t, tc.files))
			if d := cmp.Diff(tc.cpus, got.cpus); d != "" {
				t.Errorf("CPUs, want -, got +:\n%s", d)
			}
			if d := cmp.Diff(tc.mem, got.memBytes); d != "" {
				t.Errorf("memory, want -, got +:\n%s", d)
			}
		})
	}
}

func TestVirtualization(t *testing.T) {
	const guest = "flags : fpu hypervisor\n"
	for _, tc := range []struct {
		name    string
		files   map[string]string
		cpuinfo string
		want    string
	}{
		{"bare metal", map[string]string{"sys/class/dmi/id/sys_vendor": "Dell", "sys/class/dmi/id/product_name": "R640"}, "flags : fpu\n", ""},
		{"a flag that only begins so", nil, "flags : fpu hypervisor_x\n", ""},
		{"docker on a virtual machine", map[string]string{".dockerenv": "", "sys/class/dmi/id/sys_vendor": "Amazon EC2", "sys/class/dmi/id/product_name": "m5"}, guest, "docker in virtual machine: Amazon EC2 m5"},
		{"docker by its group", map[string]string{"proc/1/cgroup": "1:cpu:/docker/abc\n"}, "", "docker"},
		{"podman", map[string]string{"run/.containerenv": ""}, "", "podman"},
		{"kubernetes", map[string]string{"proc/1/cgroup": "0::/kubepods/x\n"}, guest, "kubernetes in virtual machine"},
		{"xen", map[string]string{"sys/hypervisor/type": "xen\n"}, guest, "xen"},
		{"wsl", map[string]string{"proc/sys/kernel/osrelease": "5.15-microsoft-standard-WSL2\n"}, "", "wsl"},
	} {
		if got := virtualization(machine(t, tc.files), tc.cpuinfo); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}

func TestCPUModel(t *testing.T) {
	for in, want := range map[string]string{
		"model name\t: Intel(R) Xeon(R)\n":        "Intel(R) Xeon(R)",
		"processor : 0\nHardware : BCM2835\n":     "BCM2835",
		"processor : 0\nCPU implementer : 0x41\n": "",
		"": "",
	} {
		if got := cpuModel(in); got != want {
			t.Errorf("cpuModel(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestReadEnvironmentOfThisMachine(t *testing.T) {
	e := ReadEnvironment(t.Context(), "x")
	if e.Kernel == "" || e.MemBytes == 0 || e.CPUs < 1 || strings.ContainsAny(e.Platform, "\"\n") {
		t.Errorf("environment %+v", e)
	}
}
