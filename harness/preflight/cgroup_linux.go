package preflight

import (
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// limits are what control groups leave this process of the machine; nil is
// no limit, or none known.
type limits struct {
	cpus     *float64
	memBytes *uint64
}

// noLimitV1 is below what version 1 writes for "no limit" (the largest
// multiple of a page that a signed 64-bit number holds).
const noLimitV1 = math.MaxInt64 / 2

// cgroupLimits finds the tightest limits on the way from this process' group
// up to the root, in version 2, version 1 and both beside each other.
func cgroupLimits(root string) limits {
	var l limits
	mount := filepath.Join(root, "sys", "fs", "cgroup")
	for line := range strings.Lines(text(filepath.Join(root, "proc", "self", "cgroup"))) {
		// hierarchy:controllers:path
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		controllers := strings.Split(parts[1], ",")
		switch {
		case parts[0] == "0" && parts[1] == "":
			for _, dir := range upwards(mount, parts[2]) {
				l.cpu(cpuMax(text(filepath.Join(dir, "cpu.max"))))
				l.mem(memMax(text(filepath.Join(dir, "memory.max"))))
			}
		case slices.Contains(controllers, "cpu"):
			for _, dir := range upwards(filepath.Join(mount, parts[1]), parts[2]) {
				quota := text(filepath.Join(dir, "cpu.cfs_quota_us"))
				l.cpu(cpuMax(quota + " " + text(filepath.Join(dir, "cpu.cfs_period_us"))))
			}
		case slices.Contains(controllers, "memory"):
			for _, dir := range upwards(filepath.Join(mount, parts[1]), parts[2]) {
				l.mem(memMax(text(filepath.Join(dir, "memory.limit_in_bytes"))))
			}
		}
	}
	return l
}

// upwards lists the folders from a group up to its mount. Inside a container
// the path may be the host's, of which nothing is mounted: the mount itself is
// the container's group then.
func upwards(mount, group string) []string {
	var dirs []string
	for g := path.Clean("/" + group); g != "/"; g = path.Dir(g) {
		if dir := filepath.Join(mount, filepath.FromSlash(g)); exists(dir) {
			dirs = append(dirs, dir)
		}
	}
	return append(dirs, mount)
}

func (l *limits) cpu(n *float64) {
	if n != nil && (l.cpus == nil || *n < *l.cpus) {
		l.cpus = n
	}
}

func (l *limits) mem(n *uint64) {
	if n != nil && (l.memBytes == nil || *n < *l.memBytes) {
		l.memBytes = n
	}
}

// cpuMax reads "quota period" in microseconds as a number of cores; "max" or
// a negative quota is no limit.
func cpuMax(s string) *float64 {
	f := strings.Fields(s)
	if len(f) != 2 {
		return nil
	}
	quota, okQ := wholeNumber(f[0])
	period, okP := wholeNumber(f[1])
	if !okQ || !okP || quota == 0 || period == 0 {
		return nil
	}
	n := float64(quota) / float64(period)
	return &n
}

// memMax reads a number of bytes; "max" or version 1's huge number is no limit.
func memMax(s string) *uint64 {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil || n >= noLimitV1 {
		return nil
	}
	return &n
}

// exists tells whether something is at path.
func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
