package abcompat

import (
	"fmt"
	"io"
	"strings"

	"abacus/harness/load"
)

// writeReport prints ab's report from the two empty lines on.
func writeReport(w io.Writer, o *options, r *load.Result, seen sighting) {
	fmt.Fprint(w, "\n\n")
	line := func(label, format string, args ...any) {
		fmt.Fprintf(w, "%-24s"+format+"\n", append([]any{label}, args...)...)
	}
	writeServer(line, w, o, r)
	c := r.Counts
	seconds := float64(r.ElapsedNS) / 1e9
	done := c.Requests()
	line("Concurrency Level:", "%d", o.concurrency)
	line("Time taken for tests:", "%.3f seconds", seconds)
	line("Complete requests:", "%d", done)
	line("Failed requests:", "%d", c.Failed)
	if c.Failed > 0 {
		fmt.Fprintf(w, "   (Connect: %d, Receive: %d, Length: %d, Exceptions: %d)\n",
			c.Connect, c.Receive+c.Timeout, known(c.Length), c.Exception)
	}
	if seen.writeErrors > 0 {
		line("Write errors:", "%d", seen.writeErrors)
	}
	if c.Non2xx > 0 {
		line("Non-2xx responses:", "%d", c.Non2xx)
	}
	if o.keepAlive {
		line("Keep-Alive requests:", "%d", seen.keptAlive)
	}
	received := known(c.HeaderBytes) + known(c.BodyBytes)
	sent := known(c.SentBytes)
	line("Total transferred:", "%d bytes", received)
	if o.sendBody {
		line("Total body sent:", "%d", sent)
	}
	line("HTML transferred:", "%d bytes", known(c.BodyBytes))
	if seconds > 0 && done > 0 {
		perRequest := seconds * 1000 / float64(done)
		line("Requests per second:", "%.2f [#/sec] (mean)", float64(done)/seconds)
		line("Time per request:", "%.3f [ms] (mean)", float64(o.concurrency)*perRequest)
		line("Time per request:", "%.3f [ms] (mean, across all concurrent requests)", perRequest)
		line("Transfer rate:", "%.2f [Kbytes/sec] received", float64(received)/1024/seconds)
		if o.sendBody {
			line("", "%.2f kb/s sent", float64(sent)/1024/seconds)
			line("", "%.2f kb/s total", float64(received+sent)/1024/seconds)
		}
	}
	writeTimes(w, r)
}

// writeServer prints the two blocks about server and document.
func writeServer(line func(label, format string, args ...any), w io.Writer, o *options, r *load.Result) {
	line("Server Software:", "%s", software(r.Server))
	line("Server Hostname:", "%s", o.target.host)
	line("Server Port:", "%d", o.target.port)
	if t := r.TLS; t != nil {
		line("SSL/TLS Protocol:", "%s,%s,%d,%d", t.Version, t.Cipher, t.KeyBits, t.CipherBits)
		if t.TempKey != "" {
			line("Server Temp Key:", "%s", t.TempKey)
		}
		if t.ServerName != "" {
			line("TLS Server Name:", "%s", t.ServerName)
		}
	}
	fmt.Fprintln(w)
	line("Document Path:", "%s", o.target.path)
	if o.variableLength {
		line("Document Length:", "Variable")
	} else {
		line("Document Length:", "%d bytes", known(r.DocumentBytes))
	}
	fmt.Fprintln(w)
}

// writeTimes prints the table of connection times and that of percentiles:
// both are about whole answers, and left out when there are none.
func writeTimes(w io.Writer, r *load.Result) {
	if r.Total == nil || r.Total.Count() == 0 {
		return
	}
	fmt.Fprint(w, "\nConnection Times (ms)\n              min  mean[+/-sd] median   max\n")
	for _, t := range []struct {
		label string
		d     *load.Distribution
	}{
		{"Connect:", withReused(r.Connect, r.Total)}, {"Processing:", r.Processing},
		{"Waiting:", r.Waiting}, {"Total:", r.Total},
	} {
		if t.d == nil || t.d.Count() == 0 {
			continue
		}
		f := rowOf(t.d)
		fmt.Fprintf(w, "%-12s%5d %4d %5.1f %6d %7d\n", t.label, f.min, f.mean, f.sd, f.median, f.max)
	}
	if r.Total.Count() < 2 {
		return
	}
	fmt.Fprint(w, "\nPercentage of the requests served within a certain time (ms)\n")
	for _, p := range []int64{50, 66, 75, 80, 90, 95, 98, 99} {
		fmt.Fprintf(w, "  %d%%  %5d\n", p, served(r.Total, p))
	}
	longest, _ := r.Total.Max()
	fmt.Fprintf(w, " %d%%  %5d (longest request)\n", 100, wholeMS(longest))
}

// known is a figure that the native engine always knows.
func known(p *int64) int64 {
	if p == nil {
		return 0
	}
	return *p
}

// software is the Server header up to the first white space, as ab has it.
func software(server string) string {
	end := strings.IndexFunc(server, func(r rune) bool { return r <= ' ' })
	if end >= 0 {
		server = server[:end]
	}
	return printable(server)
}
