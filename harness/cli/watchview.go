package cli

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"abacus/harness/number"
	"abacus/harness/observe"
)

const (
	// watchWindowNS is how far back rates look: a tenth of a second's requests
	// jump about too much to be read.
	watchWindowNS = int64(time.Second)
	// boardRows bounds the scoreboard on the terminal.
	boardRows = 8
)

// watchView is what a watch knows, and how it shows it.
type watchView struct {
	window  []timedStatus // good samples, the oldest a window ago
	host    []observe.Sample
	good    int
	failed  int
	skipped int
	tookNS  int64
	errText string // of the newest poll, "" when it gave a reading
	hostErr string
	reset   time.Time // when a restart was noticed last
	unseen  bool      // something came since the last line

	total             int64 // requests over all intervals without a restart
	totalNS           int64
	busyPeak, idleLow *int64
}

// timedStatus is a status sample and how many polls had been begun by then.
type timedStatus struct {
	observe.Sample
	polls int
}

// newest is the last good sample and the number of polls that the counters
// have taken in since, given that polls were begun by now.
func (v *watchView) newest(polls int) (observe.Sample, int, bool) {
	if len(v.window) == 0 {
		return observe.Sample{}, 0, false
	}
	last := v.window[len(v.window)-1]
	return last.Sample, polls - last.polls, true
}

// addStatus takes in a poll of the status page.
func (v *watchView) addStatus(s observe.Sample, polls int) {
	v.tookNS, v.errText, v.unseen = s.TookNS, s.Error, true
	if s.Status == nil {
		v.failed++
		return
	}
	v.good++
	if prev, n, ok := v.newest(polls); ok {
		r := observe.Rates(prev, s, n)
		switch {
		case r.Reset:
			v.reset = time.Now()
			v.window = nil
		case r.Requests != nil:
			v.total += *r.Requests
			v.totalNS += r.ElapsedNS
		}
	}
	v.window = append(v.window, timedStatus{s, polls})
	for len(v.window) > 2 && s.AtNS-v.window[1].AtNS >= watchWindowNS {
		v.window = v.window[1:]
	}
	keep := func(to **int64, from *int64, better func(a, b int64) bool) {
		if from != nil && (*to == nil || better(*from, **to)) {
			*to = from
		}
	}
	more := func(a, b int64) bool { return a > b }
	keep(&v.busyPeak, s.Status.BusyWorkers, more)
	keep(&v.idleLow, s.Status.IdleWorkers, func(a, b int64) bool { return a < b })
}

// addHost takes in a reading of the machine.
func (v *watchView) addHost(s observe.Sample) {
	if s.Host == nil {
		v.hostErr = s.Error
		return
	}
	v.hostErr = ""
	v.host = append(v.host, s)
	for len(v.host) > 2 && s.AtNS-v.host[1].AtNS >= watchWindowNS {
		v.host = v.host[1:]
	}
}

// rates are those over the window; ok is false without two samples.
func (v *watchView) rates() (observe.StatusRates, bool) {
	if len(v.window) < 2 {
		return observe.StatusRates{}, false
	}
	a, b := v.window[0], v.window[len(v.window)-1]
	return observe.Rates(a.Sample, b.Sample, b.polls-a.polls), true
}

func (v *watchView) use() (observe.HostUse, bool) {
	if len(v.host) < 2 {
		return observe.HostUse{}, false
	}
	return observe.HostRates(v.host[0], v.host[len(v.host)-1]), true
}

// perSecond writes a rate, absent as the sign for it.
func perSecond(v *float64) string {
	if v == nil {
		return number.Absent
	}
	return number.Count(int64(*v+0.5)) + "/s"
}

func wholeOr(v *int64) string {
	if v == nil {
		return number.Absent
	}
	return number.Count(*v)
}

// line is the newest state in one line, for a pipe.
func (v *watchView) line(now time.Time) string {
	v.unseen = false
	at := now.Format("15:04:05")
	if v.errText != "" {
		return at + "  no reading: " + v.errText
	}
	if len(v.window) == 0 {
		return at + "  no reading yet"
	}
	s := v.window[len(v.window)-1].Status
	r, _ := v.rates()
	parts := []string{at, fmt.Sprintf("workers %s busy %s idle", wholeOr(s.BusyWorkers), wholeOr(s.IdleWorkers))}
	if s.Scoreboard != "" {
		parts[1] += fmt.Sprintf(" of %d", len(s.Scoreboard))
	}
	parts = append(parts, perSecond(r.RequestsPerS))
	if r.BytesPerS != nil {
		parts = append(parts, number.Bytes(*r.BytesPerS)+"/s")
	}
	if r.MSPerRequest != nil {
		parts = append(parts, number.Duration(*r.MSPerRequest*1e6)+" each")
	}
	if u, ok := v.use(); ok && u.BusyShare != nil {
		parts = append(parts, "cpu "+number.Percent(*u.BusyShare))
	}
	if h := v.newestHost(); h != nil {
		parts = append(parts, "mem "+memoryUsed(h))
		if swap := v.swap(); swap != "" {
			parts = append(parts, "swap "+swap)
		}
	}
	if v.justReset(now) {
		parts = append(parts, "server restarted")
	}
	return strings.Join(parts, "  ")
}

func (v *watchView) newestHost() *observe.Host {
	if len(v.host) == 0 {
		return nil
	}
	return v.host[len(v.host)-1].Host
}

// memoryUsed is the share of memory that is not available.
func memoryUsed(h *observe.Host) string {
	if h.MemTotalBytes == 0 {
		return number.Absent
	}
	return number.Percent(1 - float64(h.MemAvailableBytes)/float64(h.MemTotalBytes))
}

// swap says what moves, "" when that is not known here.
func (v *watchView) swap() string {
	u, ok := v.use()
	if !ok || u.SwapInBytesPerS == nil || u.SwapOutBytesPerS == nil {
		return ""
	}
	if *u.SwapInBytesPerS == 0 && *u.SwapOutBytesPerS == 0 {
		return "still"
	}
	return fmt.Sprintf("in %s/s out %s/s", number.Bytes(*u.SwapInBytesPerS), number.Bytes(*u.SwapOutBytesPerS))
}

func (v *watchView) justReset(now time.Time) bool {
	return !v.reset.IsZero() && now.Sub(v.reset) < 5*time.Second
}

// picture is the whole state for a terminal, one string a line, none wider
// than it.
func (v *watchView) picture(shown string, t terminal) []string {
	dim := func(s string) string { return t.paint(s, "2") }
	var lines []string
	add := func(head, rest string) {
		lines = append(lines, dim(fmt.Sprintf("%-12s", head))+cut(rest, t.width-12))
	}
	lines = append(lines, t.paint(cut(shown, t.width), "1"))
	if len(v.window) > 0 {
		v.pictureStatus(add, t)
	}
	v.pictureHost(add)
	polls := fmt.Sprintf("%s answered, the last in %s", number.Count(int64(v.good)), number.Duration(float64(v.tookNS)))
	if v.failed > 0 {
		polls += fmt.Sprintf(", %s failed", number.Count(int64(v.failed)))
	}
	if v.skipped > 0 {
		polls += fmt.Sprintf(", %s skipped: the one before was still waiting", number.Count(int64(v.skipped)))
	}
	add("polls", polls)
	switch {
	case v.errText != "":
		lines = append(lines, t.paint("no reading", "33")+"  "+cut(v.errText+" (what stands above is older)", t.width-12))
	case v.justReset(time.Now()):
		lines = append(lines, t.paint("restarted", "33")+"   the server's counters began again")
	}
	return append(lines, dim("Ctrl-C ends"))
}

// pictureStatus is the server's part: it may be of the last poll that gave a
// reading.
func (v *watchView) pictureStatus(add func(head, rest string), t terminal) {
	s := v.window[len(v.window)-1].Status
	var server []string
	for _, text := range []string{s.ServerVersion, s.ServerMPM} {
		if text != "" {
			server = append(server, text)
		}
	}
	if s.UptimeS != nil {
		server = append(server, "up "+(time.Duration(*s.UptimeS)*time.Second).String())
	}
	add("server", strings.Join(server, " · "))
	r, _ := v.rates()
	rate := perSecond(r.RequestsPerS)
	if r.BytesPerS != nil {
		rate += " · " + number.Bytes(*r.BytesPerS) + "/s"
	}
	if r.MSPerRequest != nil {
		rate += " · " + number.Duration(*r.MSPerRequest*1e6) + " a request"
	}
	if r.CPUCores != nil {
		rate += fmt.Sprintf(" · %s cores of server CPU", number.At(*r.CPUCores, -2))
	}
	if s.TotalAccesses == nil {
		rate = "not told: ExtendedStatus is off"
	}
	add("requests", rate)
	workers := fmt.Sprintf("%s busy · %s idle", wholeOr(s.BusyWorkers), wholeOr(s.IdleWorkers))
	if n := len(s.Scoreboard); n > 0 {
		workers += fmt.Sprintf(" · %s slots", number.Count(int64(n)))
	}
	workers += fmt.Sprintf("   (at most %s busy, at least %s idle so far)", wholeOr(v.busyPeak), wholeOr(v.idleLow))
	add("workers", workers)
	if s.Scoreboard == "" {
		return
	}
	add("", workerBar(s.Scoreboard, min(t.width-12, 60)))
	var legend []string
	counts := observe.ScoreboardCounts(s.Scoreboard)
	for _, l := range observe.ScoreboardMeaning() {
		if n := counts[l.Letter]; n > 0 {
			legend = append(legend, fmt.Sprintf("%c %s %s", l.Letter, number.Count(int64(n)), l.Word))
		}
	}
	head := "scoreboard"
	for _, row := range wrapWords(legend, "   ", t.width-12) {
		add(head, row)
		head = ""
	}
	for _, row := range boardLines(s.Scoreboard, t.width-12) {
		add("", row)
	}
}

func (v *watchView) pictureHost(add func(head, rest string)) {
	h := v.newestHost()
	if h == nil {
		if v.hostErr != "" {
			add("host", v.hostErr)
		}
		return
	}
	u, _ := v.use()
	cpu := number.Absent
	if u.BusyShare != nil {
		cpu = fmt.Sprintf("CPU %s busy (user %s, system %s, waiting %s", number.Percent(*u.BusyShare),
			number.Percent(*u.UserShare), number.Percent(*u.SystemShare+*u.IRQShare), number.Percent(*u.IOWaitShare))
		if *u.StealShare > 0 {
			cpu += ", stolen " + number.Percent(*u.StealShare)
		}
		cpu += ")"
	}
	if h.Load1 != nil {
		cpu += " · load " + number.At(*h.Load1, -2)
	}
	add("host", cpu)
	memory := fmt.Sprintf("%s of %s used", number.Bytes(float64(h.MemTotalBytes-min(h.MemAvailableBytes, h.MemTotalBytes))),
		number.Bytes(float64(h.MemTotalBytes)))
	if h.SwapTotalBytes == 0 {
		memory += " · no swap"
	} else {
		memory += fmt.Sprintf(" · swap %s of %s", number.Bytes(float64(h.SwapUsedBytes)), number.Bytes(float64(h.SwapTotalBytes)))
		if swap := v.swap(); swap != "" {
			memory += ", " + swap
		}
	}
	add("memory", memory)
	var moves []string
	if u.NetRxBytesPerS != nil && u.NetTxBytesPerS != nil {
		moves = append(moves, fmt.Sprintf("in %s/s · out %s/s", number.Bytes(*u.NetRxBytesPerS), number.Bytes(*u.NetTxBytesPerS)))
	}
	if h.TimeWait != nil {
		moves = append(moves, number.Count(*h.TimeWait)+" sockets in TIME_WAIT")
	}
	if len(moves) > 0 {
		add("network", strings.Join(moves, " · "))
	}
}

// workerBar shows the shares of slots that work, wait for a request, and have
// no process.
func workerBar(board string, width int) string {
	counts := observe.ScoreboardCounts(board)
	slots := len([]rune(board))
	waiting, open := counts['_'], counts['.']
	cells := func(n int) int { return n * width / slots }
	// What works is never rounded down to nothing.
	busy := slots - waiting - open
	b := cells(busy)
	if busy > 0 && b == 0 {
		b = 1
	}
	w := min(cells(busy+waiting), width)
	w = max(w, b)
	return strings.Repeat("█", b) + strings.Repeat("▒", w-b) + strings.Repeat("·", width-w)
}

// boardLines breaks the scoreboard into rows, at most boardRows.
func boardLines(board string, width int) []string {
	var rows []string
	for len(board) > 0 {
		if len(rows) == boardRows {
			return append(rows, fmt.Sprintf("… and %s slots more", number.Count(int64(len(board)))))
		}
		n := min(len(board), width)
		rows = append(rows, board[:n])
		board = board[n:]
	}
	return rows
}

// wrapWords joins words into rows of at most width columns.
func wrapWords(words []string, sep string, width int) []string {
	var rows []string
	row := ""
	for _, w := range words {
		switch {
		case row == "":
			row = w
		case utf8.RuneCountInString(row+sep+w) > width:
			rows = append(rows, row)
			row = w
		default:
			row += sep + w
		}
	}
	return append(rows, row)
}

// cut shortens a line that would wrap and so spoil the redrawing.
func cut(s string, width int) string {
	r := []rune(s)
	if width < 2 || len(r) <= width {
		return s
	}
	return string(r[:width-1]) + "…"
}

// summary says what the watch saw.
func (v *watchView) summary(lasted time.Duration) string {
	polls := "polls"
	if v.good == 1 {
		polls = "poll"
	}
	s := fmt.Sprintf("watched %v: %d %s answered", lasted.Round(10*time.Millisecond), v.good, polls)
	if v.failed > 0 {
		s += fmt.Sprintf(", %d failed", v.failed)
	}
	if v.skipped > 0 {
		s += fmt.Sprintf(", %d skipped", v.skipped)
	}
	if v.busyPeak != nil && v.idleLow != nil {
		s += fmt.Sprintf("; at most %s busy, at least %s idle", number.Count(*v.busyPeak), number.Count(*v.idleLow))
	}
	if v.totalNS > 0 {
		mean := float64(v.total) / time.Duration(v.totalNS).Seconds()
		s += fmt.Sprintf("; %s requests, %s on average", number.Count(v.total), perSecond(&mean))
	}
	return s
}
