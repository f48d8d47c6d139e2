package lab

import (
	"bytes"
	"fmt"
	"html"
	"net"
	"strings"
	"time"
)

// writeHTML writes the page for people, laid out like mod_status's.
func (s *status) writeHTML(b *bytes.Buffer) {
	b.WriteString(`<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01//EN" "http://www.w3.org/TR/html4/strict.dtd">
<html><head>
<title>Apache Status</title>
</head><body>
`)
	fmt.Fprintf(b, "<h1>Apache Server Status for %s (via %s)</h1>\n\n", s.host, s.host)
	fmt.Fprintf(b, "<dl><dt>Server Version: %s</dt>\n<dt>Server MPM: event</dt>\n", html.EscapeString(s.version))
	if !s.built.IsZero() {
		fmt.Fprintf(b, "<dt>Server Built: %s\n</dt>", s.built.UTC().Format("2006-01-02T15:04:05"))
	}
	b.WriteString("</dl><hr /><dl>\n")
	fmt.Fprintf(b, "<dt>Current Time: %s</dt>\n<dt>Restart Time: %s</dt>\n", s.now.Format(statusTime), s.started.Format(statusTime))
	b.WriteString("<dt>Parent Server Config. Generation: 1</dt>\n<dt>Parent Server MPM Generation: 0</dt>\n")
	fmt.Fprintf(b, "<dt>Server uptime: %s</dt>\n", uptimeText(s.uptimeSecs))
	if s.load != nil {
		fmt.Fprintf(b, "<dt>Server load: %s</dt>\n", strings.Join(s.load, " "))
	}
	if s.extended {
		s.writeHTMLTotals(b)
	}
	fmt.Fprintf(b, "<dt>%d requests currently being processed, 0 workers gracefully restarting, %d idle workers</dt>\n</dl>\n\n",
		s.pool.busy, len(s.pool.slots)-s.pool.busy)
	s.writeHTMLProcesses(b)
	b.WriteString("<pre>")
	for board := s.pool.scoreboard(); board != ""; {
		n := min(64, len(board))
		b.WriteString(board[:n])
		if board = board[n:]; board != "" {
			b.WriteByte('\n')
		}
	}
	b.WriteString("</pre>\n" + scoreboardKey)
	if s.extended {
		s.writeHTMLSlots(b)
	} else {
		b.WriteString("<hr />To obtain a full report with current status information you need to use the <code>ExtendedStatus On</code> directive.\n")
	}
	b.WriteString("</body></html>\n")
}

const scoreboardKey = `<p>Scoreboard Key:<br />
"<b><code>_</code></b>" Waiting for Connection, 
"<b><code>S</code></b>" Starting up, 
"<b><code>R</code></b>" Reading Request,<br />
"<b><code>W</code></b>" Sending Reply, 
"<b><code>K</code></b>" Keepalive (read), 
"<b><code>D</code></b>" DNS Lookup,<br />
"<b><code>C</code></b>" Closing connection, 
"<b><code>L</code></b>" Logging, 
"<b><code>G</code></b>" Gracefully finishing,<br /> 
"<b><code>I</code></b>" Idle cleanup of worker, 
"<b><code>.</code></b>" Open slot with no current process<br />
</p>
`

func (s *status) writeHTMLTotals(b *bytes.Buffer) {
	accesses, kbytes, millis := s.pool.accesses, s.kbytes(), s.pool.duration.Milliseconds()
	fmt.Fprintf(b, "<dt>Total accesses: %d - Total Traffic: %s - Total Duration: %d</dt>\n", accesses, sizeText(1024*float64(kbytes)), millis)
	up := float64(s.uptimeSecs)
	if s.cpu != nil {
		fmt.Fprintf(b, "<dt>CPU Usage: u%s s%s cu%s cs%s", statusNumber(s.cpu.user), statusNumber(s.cpu.system),
			statusNumber(s.cpu.childrenUser), statusNumber(s.cpu.childrenSystem))
		if s.cpu.sum() > 0 && up > 0 {
			fmt.Fprintf(b, " - %s%% CPU load", statusDigits(s.cpu.sum()/up*100, 3))
		}
		b.WriteString("</dt>\n")
	}
	var parts []string
	if up > 0 {
		parts = append(parts, statusDigits(float64(accesses)/up, 3)+" requests/sec", sizeText(1024*float64(kbytes)/up)+"/second")
	}
	if accesses > 0 {
		parts = append(parts, sizeText(1024*float64(kbytes)/float64(accesses))+"/request",
			statusNumber(float64(millis)/float64(accesses))+" ms/request")
	}
	if len(parts) > 0 {
		fmt.Fprintf(b, "<dt>%s</dt>\n", strings.Join(parts, " - "))
	}
}

func (s *status) writeHTMLProcesses(b *bytes.Buffer) {
	b.WriteString(`<table rules="all" cellpadding="1%">
<tr><th rowspan="2">Slot</th><th rowspan="2">PID</th><th rowspan="2">Stopping</th><th colspan="2">Connections</th>
<th colspan="3">Threads</th><th colspan="4">Async connections</th></tr>
<tr><th>total</th><th>accepting</th><th>busy</th><th>graceful</th><th>idle</th><th>wait-io</th><th>writing</th><th>keep-alive</th><th>closing</th></tr>
`)
	idle := len(s.pool.slots) - s.pool.busy
	fmt.Fprintf(b, "<tr><td>0</td><td>%d</td><td>no</td><td>%d</td><td>yes</td><td>%d</td><td>0</td><td>%d</td><td>0</td><td>0</td><td>%d</td><td>0</td></tr>\n",
		s.pid, s.conns, s.pool.busy, idle, s.keepAlive)
	fmt.Fprintf(b, "<tr><td>Sum</td><td>1</td><td>0</td><td>%d</td><td>&nbsp;</td><td>%d</td><td>0</td><td>%d</td><td>0</td><td>0</td><td>%d</td><td>0</td></tr>\n</table>\n",
		s.conns, s.pool.busy, idle, s.keepAlive)
}

// writeHTMLSlots lists the slots that have served. All that a client sent is
// escaped and cut.
func (s *status) writeHTMLSlots(b *bytes.Buffer) {
	b.WriteString("\n\n<table border=\"0\"><tr><th>Srv</th><th>PID</th><th>Acc</th><th>M</th><th>CPU\n</th><th>SS</th><th>Req</th><th>Dur</th>" +
		"<th>Conn</th><th>Child</th><th>Slot</th><th>Client</th><th>Protocol</th><th>VHost</th><th>Request</th></tr>\n\n")
	cpu := 0.0
	if s.cpu != nil {
		cpu = s.cpu.sum()
	}
	for _, slot := range s.pool.slots {
		if slot.began.IsZero() {
			continue
		}
		mode, current := "_", 0
		if slot.busy {
			mode, current = "<b>W</b>", 1
		}
		client, _, err := net.SplitHostPort(slot.request.client)
		if err != nil {
			client = slot.request.client
		}
		mib := float64(slot.bytes) / (1 << 20)
		fmt.Fprintf(b, "<tr><td><b>0-0</b></td><td>%d</td><td>%d/%d/%d</td><td>%s\n</td><td>%.2f</td><td>%d</td><td>%d</td><td>%d</td><td>0.0</td><td>%.2f</td><td>%.2f\n</td>",
			s.pid, current, slot.accesses, slot.accesses, mode, cpu, int64(s.now.Sub(slot.began)/time.Second),
			slot.last.Milliseconds(), slot.duration.Milliseconds(), mib, mib)
		fmt.Fprintf(b, "<td>%s</td><td>%s</td><td nowrap>%s</td><td nowrap>%s</td></tr>\n\n", shown(client), shown(strings.ToLower(slot.request.proto)),
			shown(slot.request.host), shown(slot.request.method+" "+slot.request.uri+" "+slot.request.proto))
	}
	b.WriteString(`</table>
 <hr /> <table>
 <tr><th>Srv</th><td>Child Server number - generation</td></tr>
 <tr><th>PID</th><td>OS process ID</td></tr>
 <tr><th>Acc</th><td>Number of accesses this connection / this child / this slot</td></tr>
 <tr><th>M</th><td>Mode of operation</td></tr>
<tr><th>CPU</th><td>CPU usage, number of seconds</td></tr>
<tr><th>SS</th><td>Seconds since beginning of most recent request</td></tr>
 <tr><th>Req</th><td>Milliseconds required to process most recent request</td></tr>
 <tr><th>Dur</th><td>Sum of milliseconds required to process all requests</td></tr>
 <tr><th>Conn</th><td>Kilobytes transferred this connection</td></tr>
 <tr><th>Child</th><td>Megabytes transferred this child</td></tr>
 <tr><th>Slot</th><td>Total megabytes transferred this slot</td></tr>
 </table>
`)
}

// shown is a client's text cut to Apache's 64 bytes and escaped.
func shown(text string) string {
	if len(text) > 63 {
		text = strings.ToValidUTF8(text[:63], "")
	}
	return html.EscapeString(text)
}

// sizeText writes bytes as B, kB, MB or GB the way mod_status does.
func sizeText(bytes float64) string {
	switch {
	case bytes < 5*1024:
		return fmt.Sprintf("%d B", int64(bytes))
	case bytes < 512*1024:
		return fmt.Sprintf("%.1f kB", bytes/1024)
	case bytes < 512*1024*1024:
		return fmt.Sprintf("%.1f MB", bytes/(1<<20))
	}
	return fmt.Sprintf("%.1f GB", bytes/(1<<30))
}
