package lab

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

// status is what the status page tells, at one moment.
type status struct {
	host       string // the first line
	version    string
	built      time.Time // zero is unknown
	now        time.Time
	started    time.Time
	load       []string // 1, 5, 15 minutes; nil is unknown
	extended   bool
	pool       poolState
	cpu        *cpuTimes // nil is unknown
	conns      int64
	keepAlive  int64
	pid        int
	ownSlot    int // the slot of the request for this page
	uptimeSecs int64
}

// cpuTimes are the CPU seconds of the process and of its ended children, in
// steps of 10 ms like Apache's.
type cpuTimes struct{ user, system, childrenUser, childrenSystem float64 }

func (c *cpuTimes) sum() float64 { return c.user + c.system + c.childrenUser + c.childrenSystem }

func (d *Demo) status(slot int) status {
	now := time.Now()
	total := d.conns.total.Load()
	return status{
		host: "127.0.0.1", version: d.name, built: d.config.Built, now: now, started: d.started,
		load: loadAverages(), extended: !d.config.ExtendedOff, pool: d.pool.state(), cpu: processCPU(),
		conns: total, keepAlive: min(d.conns.idle.Load(), total), pid: os.Getpid(), ownSlot: slot,
		uptimeSecs: int64(now.Sub(d.started) / time.Second),
	}
}

const statusTime = "Monday, 02-Jan-2006 15:04:05 MST"

// kbytes is the traffic in whole KiB: mod_status counts so, and derives its
// averages from it.
func (s *status) kbytes() int64 { return s.pool.bytes >> 10 }

// writeAuto writes the page for machines: key by key in mod_status's order,
// event MPM.
func (s *status) writeAuto(b *bytes.Buffer) {
	line := func(key, value string) { b.WriteString(key + ": " + value + "\n") }
	count := func(key string, n int64) { line(key, strconv.FormatInt(n, 10)) }
	number := func(key string, v float64) { line(key, statusNumber(v)) }

	b.WriteString(s.host + "\n")
	line("ServerVersion", s.version)
	line("ServerMPM", "event")
	if !s.built.IsZero() {
		line("Server Built", s.built.UTC().Format("2006-01-02T15:04:05"))
	}
	line("CurrentTime", s.now.Format(statusTime))
	line("RestartTime", s.started.Format(statusTime))
	count("ParentServerConfigGeneration", 1)
	count("ParentServerMPMGeneration", 0)
	count("ServerUptimeSeconds", s.uptimeSecs)
	b.WriteString("ServerUptime:" + uptimeText(s.uptimeSecs) + "\n")
	for i, key := range []string{"Load1", "Load5", "Load15"} {
		if s.load != nil {
			line(key, s.load[i])
		}
	}
	if s.extended {
		s.writeTotals(count, number)
	}
	count("BusyWorkers", int64(s.pool.busy))
	count("GracefulWorkers", 0)
	count("IdleWorkers", int64(len(s.pool.slots)-s.pool.busy))
	count("Processes", 1)
	count("Stopping", 0)
	count("ConnsTotal", s.conns)
	count("ConnsAsyncWaitIO", 0)
	count("ConnsAsyncWriting", 0)
	count("ConnsAsyncKeepAlive", s.keepAlive)
	count("ConnsAsyncClosing", 0)
	line("Scoreboard", s.pool.scoreboard())
}

// writeTotals writes what ExtendedStatus On adds. Averages without a
// denominator are left out, as mod_status does.
func (s *status) writeTotals(count func(string, int64), number func(string, float64)) {
	accesses, kbytes, millis := s.pool.accesses, s.kbytes(), s.pool.duration.Milliseconds()
	up := float64(s.uptimeSecs)
	count("Total Accesses", accesses)
	count("Total kBytes", kbytes)
	count("Total Duration", millis)
	if s.cpu != nil {
		number("CPUUser", s.cpu.user)
		number("CPUSystem", s.cpu.system)
		number("CPUChildrenUser", s.cpu.childrenUser)
		number("CPUChildrenSystem", s.cpu.childrenSystem)
		if s.cpu.sum() > 0 && up > 0 {
			number("CPULoad", s.cpu.sum()/up*100)
		}
	}
	count("Uptime", s.uptimeSecs)
	if up > 0 {
		number("ReqPerSec", float64(accesses)/up)
		number("BytesPerSec", 1024*float64(kbytes)/up)
	}
	if accesses > 0 {
		number("BytesPerReq", 1024*float64(kbytes)/float64(accesses))
		number("DurationPerReq", float64(millis)/float64(accesses))
	}
}

// uptimeText writes seconds as " 1 day 2 hours 3 minutes 4 seconds", parts
// that are zero left out, each with a space before it.
func uptimeText(seconds int64) string {
	var b strings.Builder
	for _, part := range []struct {
		n    int64
		unit string
	}{{seconds / 86400, "day"}, {seconds / 3600 % 24, "hour"}, {seconds / 60 % 60, "minute"}, {seconds % 60, "second"}} {
		if part.n == 0 {
			continue
		}
		fmt.Fprintf(&b, " %d %s", part.n, part.unit)
		if part.n != 1 {
			b.WriteByte('s')
		}
	}
	return b.String()
}

// serveStatus answers /server-status, for machines with ?auto.
func (d *Demo) serveStatus(w http.ResponseWriter, r *http.Request, slot int) {
	if !allowRead(w, r) {
		return
	}
	s := d.status(slot)
	b := bytes.NewBuffer(make([]byte, 0, 4096))
	contentType := "text/plain; charset=ISO-8859-1"
	// mod_status looks for the words anywhere in the query.
	if strings.Contains(r.URL.RawQuery, "auto") {
		s.writeAuto(b)
	} else {
		contentType = "text/html; charset=ISO-8859-1"
		s.writeHTML(b)
	}
	if _, after, ok := strings.Cut(r.URL.RawQuery, "refresh="); ok {
		after, _, _ = strings.Cut(after, "&")
		if n, err := strconv.Atoi(after); err == nil && n > 0 {
			w.Header().Set("Refresh", strconv.Itoa(n))
		}
	}
	send(w, r, http.StatusOK, contentType, b.Bytes())
}
