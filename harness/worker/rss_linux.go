package worker

import (
	"bufio"
	"bytes"
	"os"
	"strconv"
)

// maxRSS is the most memory that this process has held in bytes, 0 when
// unknown. getrusage's ru_maxrss will not do: Linux hands the parent's peak
// down to a child that was started with its memory shared, as Go does.
func maxRSS() int64 {
	f, err := os.Open("/proc/self/status")
	if err != nil {
		return 0
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if rest, ok := bytes.CutPrefix(s.Bytes(), []byte("VmHWM:")); ok {
			return parseKB(rest)
		}
	}
	return 0
}

// parseKB reads "   8192 kB" as bytes.
func parseKB(b []byte) int64 {
	b, ok := bytes.CutSuffix(bytes.TrimSpace(b), []byte(" kB"))
	n, err := strconv.ParseInt(string(bytes.TrimSpace(b)), 10, 64)
	if !ok || err != nil {
		return 0
	}
	return n << 10
}
