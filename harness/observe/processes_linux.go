package observe

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// tickNS is one tick of the times in /proc/PID/stat: USER_HZ is 100 on every
// architecture that Go runs on.
const tickNS = 10_000_000

// procReader reads /proc. It is our own and not gopsutil's because one poll
// must cost little: one file a process, one more a thread for its children,
// instead of a scan of the whole machine.
type procReader struct{ root string }

func newProcessReader() processReader { return procReader{root: "/proc"} }

func (p procReader) read(_ context.Context, pid int) (processStat, bool) {
	data, err := os.ReadFile(filepath.Join(p.root, strconv.Itoa(pid), "stat"))
	if err != nil {
		return processStat{}, false
	}
	s, err := parseProcStat(string(data))
	return s, err == nil && s.id.pid == pid
}

// manyThreads is the number of threads from which a process that no role names
// is asked for the children of its first thread only: a worker of a threaded
// server has hundreds that never start one, and reading them all five times a
// second would be load of its own.
const manyThreads = 32

// children come from the list that the kernel keeps a thread; where it was
// built without (CONFIG_PROC_CHILDREN), the whole of /proc is looked through.
func (p procReader) children(_ context.Context, s processStat, named bool) []int {
	pid := strconv.Itoa(s.id.pid)
	tasks := filepath.Join(p.root, pid, "task")
	threads := []string{pid}
	if s.threads > 1 && (named || s.threads < manyThreads) {
		entries, err := os.ReadDir(tasks)
		if err != nil {
			return nil
		}
		threads = threads[:0]
		for _, e := range entries {
			threads = append(threads, e.Name())
		}
	}
	var pids []int
	for _, t := range threads {
		data, err := os.ReadFile(filepath.Join(tasks, t, "children"))
		if errors.Is(err, os.ErrNotExist) {
			if _, gone := os.Stat(filepath.Join(tasks, t)); gone != nil {
				continue
			}
			return p.scan(s.id.pid)
		}
		for f := range strings.FieldsSeq(string(data)) {
			if n, err := strconv.Atoi(f); err == nil {
				pids = append(pids, n)
			}
		}
	}
	return pids
}

// scan finds children by the parent that each process of the machine names.
func (p procReader) scan(parent int) []int {
	entries, err := os.ReadDir(p.root)
	if err != nil {
		return nil
	}
	var pids []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		data, err := os.ReadFile(filepath.Join(p.root, e.Name(), "stat"))
		if err != nil {
			continue
		}
		if f, err := procStatFields(string(data)); err == nil && f[1] == strconv.Itoa(parent) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// procStatFields are the fields after the command's name, which stands in
// parentheses and may itself hold spaces and parentheses: field 0 is the
// state (field 3 of proc(5)).
func procStatFields(text string) ([]string, error) {
	end := strings.LastIndexByte(text, ')')
	if end < 0 {
		return nil, errors.New("no command name")
	}
	fields := strings.Fields(text[end+1:])
	if len(fields) < 22 {
		return nil, fmt.Errorf("%d fields after the command name, expected at least 22", len(fields))
	}
	return fields, nil
}

// parseProcStat reads /proc/PID/stat: state (3), utime (14), stime (15),
// num_threads (20), starttime (22), rss in pages (24), counted as proc(5) does.
func parseProcStat(text string) (processStat, error) {
	fields, err := procStatFields(text)
	if err != nil {
		return processStat{}, err
	}
	open := strings.IndexByte(text, '(')
	if open < 0 {
		return processStat{}, errors.New("no command name")
	}
	pid, err := strconv.Atoi(strings.TrimSpace(text[:open]))
	if err != nil {
		return processStat{}, fmt.Errorf("pid: %w", err)
	}
	var n [5]int64
	for i, at := range []int{14, 15, 20, 22, 24} {
		if n[i], err = strconv.ParseInt(fields[at-3], 10, 64); err != nil {
			return processStat{}, fmt.Errorf("field %d: %w", at, err)
		}
	}
	return processStat{
		id:     processID{pid: pid, start: n[3]},
		userNS: n[0] * tickNS, systemNS: n[1] * tickNS,
		threads:  int(n[2]),
		rssBytes: uint64(max(n[4], 0)) * uint64(os.Getpagesize()),
		dead:     fields[0] == "Z" || fields[0] == "X",
	}, nil
}
