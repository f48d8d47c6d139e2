package lab

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// lookAt reads who a process is; the error is os.ErrNotExist when it is gone.
func lookAt(pid int) (processFacts, error) {
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	stat, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return processFacts{}, err
	}
	started, err := startTicks(string(stat))
	if err != nil {
		return processFacts{}, fmt.Errorf("%s/stat: %w", dir, err)
	}
	exe, err := os.Readlink(filepath.Join(dir, "exe"))
	if err != nil {
		return processFacts{}, err
	}
	// A program that was built anew since is marked.
	return processFacts{started: started, program: filepath.Base(strings.TrimSuffix(exe, " (deleted)"))}, nil
}

// startTicks takes the start time, field 22, out of a stat line. The name in
// field 2 may hold spaces and brackets, so counting begins behind the last one.
func startTicks(stat string) (uint64, error) {
	_, rest, ok := lastCut(stat, ")")
	fields := strings.Fields(rest)
	if !ok || len(fields) < 20 {
		return 0, fmt.Errorf("unexpected text %.80q", stat)
	}
	return strconv.ParseUint(fields[19], 10, 64)
}

func lastCut(s, sep string) (before, after string, ok bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}
