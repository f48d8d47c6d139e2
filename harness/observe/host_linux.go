package observe

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/shirou/gopsutil/v4/common"
	"github.com/shirou/gopsutil/v4/load"
	"github.com/shirou/gopsutil/v4/mem"
	"github.com/shirou/gopsutil/v4/net"
)

// read takes one reading: memory, load and network by gopsutil, the rest from
// the files themselves, in whole ticks as the kernel counts them.
func (p *HostPoller) read(ctx context.Context) (*Host, error) {
	h := &Host{}
	// CPU times first: they are what the sample's time stands for.
	if err := readFile(filepath.Join(p.proc, "stat"), func(r io.Reader) error { return parseStat(r, h) }); err != nil {
		return nil, fmt.Errorf("host CPU times: %w", err)
	}
	ctx = context.WithValue(ctx, common.EnvKey, common.EnvMap{common.HostProcEnvKey: p.proc})
	m, err := mem.VirtualMemoryWithContext(ctx)
	if err != nil {
		return nil, fmt.Errorf("host memory: %w", err)
	}
	h.MemTotalBytes, h.MemAvailableBytes = m.Total, m.Available
	h.SwapTotalBytes = m.SwapTotal
	h.SwapUsedBytes = m.SwapTotal - min(m.SwapFree, m.SwapTotal)
	if avg, err := load.AvgWithContext(ctx); err == nil {
		h.Load1 = &avg.Load1
	}
	if nics, err := net.IOCountersWithContext(ctx, false); err == nil && len(nics) == 1 {
		h.NetRxBytes, h.NetTxBytes = &nics[0].BytesRecv, &nics[0].BytesSent
	}
	_ = readFile(filepath.Join(p.proc, "vmstat"), func(r io.Reader) error {
		var err error
		h.SwapInBytes, h.SwapOutBytes, err = parseVMStat(r)
		return err
	})
	_ = readFile(filepath.Join(p.proc, "net", "sockstat"), func(r io.Reader) error {
		var err error
		h.TimeWait, err = parseSockstat(r)
		return err
	})
	return h, nil
}

// readFile opens a file for a parser and closes it again.
func readFile(path string, parse func(io.Reader) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return parse(f)
}

// lines scans text lines of up to 1 MiB: /proc/stat has one with a number per
// interrupt.
func lines(r io.Reader) *bufio.Scanner {
	s := bufio.NewScanner(r)
	s.Buffer(make([]byte, 0, 64<<10), 1<<20)
	return s
}

// parseStat reads /proc/stat: the CPU lines and the context switches.
func parseStat(r io.Reader, h *Host) error {
	found := false
	s := lines(r)
	for s.Scan() {
		key, rest, _ := strings.Cut(s.Text(), " ")
		switch {
		case key == "cpu":
			t, err := parseCPU(rest)
			if err != nil {
				return err
			}
			h.CPU, found = t, true
		case strings.HasPrefix(key, "cpu"):
			t, err := parseCPU(rest)
			if err != nil {
				return err
			}
			h.Cores = append(h.Cores, t)
		case key == "ctxt":
			if n, err := strconv.ParseUint(strings.TrimSpace(rest), 10, 64); err == nil {
				h.ContextSwitches = &n
			}
		}
	}
	if err := s.Err(); err != nil {
		return err
	}
	if !found {
		return errors.New("no cpu line")
	}
	return nil
}

// parseCPU reads the ticks of one CPU line. Guest time, the ninth and tenth
// column, is part of user and nice time already. Old kernels have fewer
// columns; the first four are always there.
func parseCPU(rest string) (CPUTimes, error) {
	var ticks [8]int64
	fields := strings.Fields(rest)
	if len(fields) < 4 {
		return CPUTimes{}, fmt.Errorf("%d columns in a cpu line, expected at least 4", len(fields))
	}
	for i := range min(len(fields), len(ticks)) {
		n, err := strconv.ParseInt(fields[i], 10, 64)
		if err != nil {
			return CPUTimes{}, fmt.Errorf("cpu line: %w", err)
		}
		ticks[i] = n * tickNS
	}
	return CPUTimes{
		UserNS: ticks[0], NiceNS: ticks[1], SystemNS: ticks[2], IdleNS: ticks[3],
		IOWaitNS: ticks[4], IRQNS: ticks[5], SoftIRQNS: ticks[6], StealNS: ticks[7],
	}, nil
}

// parseVMStat reads the pages swapped in and out, as bytes; nil where a line
// is missing.
func parseVMStat(r io.Reader) (in, out *uint64, err error) {
	s := lines(r)
	for s.Scan() {
		key, value, _ := strings.Cut(s.Text(), " ")
		if key != "pswpin" && key != "pswpout" {
			continue
		}
		pages, err := strconv.ParseUint(value, 10, 64)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", key, err)
		}
		bytes := pages * uint64(os.Getpagesize())
		if key == "pswpin" {
			in = &bytes
		} else {
			out = &bytes
		}
	}
	return in, out, s.Err()
}

// parseSockstat finds the number after "tw" on the TCP line of net/sockstat,
// which counts IPv6 sockets too; nil when it is not there.
func parseSockstat(r io.Reader) (*int64, error) {
	s := bufio.NewScanner(r)
	for s.Scan() {
		fields := strings.Fields(s.Text())
		if len(fields) == 0 || fields[0] != "TCP:" {
			continue
		}
		for i := 1; i+1 < len(fields); i += 2 {
			if fields[i] != "tw" {
				continue
			}
			n, err := strconv.ParseInt(fields[i+1], 10, 64)
			if err != nil {
				return nil, err
			}
			return &n, nil
		}
	}
	return nil, s.Err()
}
