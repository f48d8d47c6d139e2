package config

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"abacus/harness/metric"
	"abacus/scenarios"
)

// mostBody bounds a request body.
const mostBody = 16 << 20

// checkSettings checks the keys that may stand at any level.
func (l *loader) checkSettings(path string, s *scenarios.Settings) {
	at := func(key string) string { return join(path, key) }
	if s.Lab != nil {
		l.checkChoice(l.labPath(at("lab")), s.Lab.Kind, labKinds(), laterLabs())
	}
	if s.URL != "" {
		l.checkURL(at("url"), s.URL)
	}
	l.checkConnectTo(at("connect_to"), s.ConnectTo)
	for i, h := range s.Allow {
		l.checkHost(fmt.Sprintf("%s[%d]", at("allow"), i), h)
	}
	if s.Server != nil {
		l.checkServer(at("server"), *s.Server)
	}
	if s.Engine != "" {
		l.checkChoice(at("engine"), s.Engine, engineNames(), laterEngines())
	}
	for i, e := range s.Engines {
		l.checkChoice(fmt.Sprintf("%s[%d]", at("engines"), i), e, engineNames(), laterEngines())
		if slices.Contains(s.Engines[:i], e) {
			l.bad(fmt.Sprintf("%s[%d]", at("engines"), i), "", "stands twice")
		}
	}
	l.checkRequest(path, s)
	if _, given := l.at[at("repeats")]; given && (s.Repeats < 1 || s.Repeats > mostRepeats) {
		l.bad(at("repeats"), "", "must be 1 to %d", mostRepeats)
	}
	l.checkRhythm(path, s)
	l.checkExpect(at("expect"), s)
	l.checkConditions(at("stop_if"), s.StopIf, true)
	l.checkConditions(at("goals"), s.Goals, false)
	for _, h := range []struct {
		key  string
		argv [][]string
	}{{"setup", s.Setup}, {"prepare", s.Prepare}, {"conclude", s.Conclude}, {"cleanup", s.Cleanup}} {
		l.checkHook(at(h.key), h.argv)
	}
	l.checkText(at("title"), s.Title)
	l.checkText(at("author"), s.Author)
}

// labPath is the position of a lab's kind, in either form.
func (l *loader) labPath(path string) string {
	if _, mapping := l.at[path+".kind"]; mapping {
		return path + ".kind"
	}
	return path
}

// checkChoice checks a word of a closed set; later ones are known and refused.
func (l *loader) checkChoice(path, word string, allowed, later []string) {
	switch {
	case slices.Contains(allowed, word):
	case slices.Contains(later, word):
		l.bad(path, "", "is not in this version yet; allowed are %s", list(allowed))
	default:
		l.bad(path, metric.Nearest(word, allowed), "must be one of %s", list(allowed))
	}
}

func (l *loader) checkURL(path, text string) {
	u, err := url.Parse(text)
	switch {
	case hasControl(text) || strings.ContainsAny(text, " \t"):
		l.bad(path, "", "must not hold spaces or control characters; write them as %%20 and so on")
	case err != nil:
		if e, ok := err.(*url.Error); ok {
			err = e.Err
		}
		l.bad(path, "", "is no URL: %v", err)
	case u.User != nil:
		l.badSecret(path, `must not hold a user or password; use headers: {Authorization: "Basic ${CREDENTIALS}"}`)
	case secretParameter(text) != "":
		l.badSecret(path, secretQueryText(text))
	case u.Scheme != "http" && u.Scheme != "https":
		suggestion := metric.Nearest(u.Scheme, []string{"http", "https"})
		if suggestion != "" && u.Host != "" {
			suggestion += strings.TrimPrefix(text, u.Scheme)
		} else if u.Host == "" && looksLikeHost(text) {
			suggestion = "http://" + text
		} else {
			suggestion = ""
		}
		l.bad(path, suggestion, "must be an absolute URL with http or https")
	case u.Hostname() == "":
		l.bad(path, "", "has no host; write http://HOST/PATH")
	case u.Port() == "" && strings.HasSuffix(u.Host, ":"):
		l.bad(path, "", "has a colon but no port after the host")
	case u.Port() != "" && !validPort(u.Port()):
		l.bad(path, "", "has no valid port; 1 to 65535 are allowed")
	case strings.Contains(text, "#"):
		l.bad(path, strings.SplitN(text, "#", 2)[0], "must not hold a fragment (#), which is never sent")
	case len(text) > mostPath:
		l.bad(path, "", "is longer than %d characters", mostPath)
	}
}

// badSecret reports a value that is not repeated, since it holds a secret.
func (l *loader) badSecret(path, text string) {
	rest, pos, _ := l.nearest(path)
	p := Problem{File: pos.file, Line: pos.line, Key: strings.TrimPrefix(pos.key+rest, "."), Text: text}
	if !slices.Contains(l.problems, p) {
		l.problems = append(l.problems, p)
	}
}

func secretQueryText(text string) string {
	return fmt.Sprintf("must not hold a secret (%s=), since URLs are stored and shown; send it in a header from the environment, as in headers: {Authorization: \"Bearer ${TOKEN}\"}", secretParameter(text))
}

func validPort(s string) bool {
	n, err := strconv.Atoi(s)
	return err == nil && n >= 1 && n <= 65535
}

func hasControl(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f })
}

// checkPath checks a path that is asked for on a lab's or url's host.
func (l *loader) checkPath(path, text string) {
	_, err := url.ParseRequestURI(text)
	switch {
	case !strings.HasPrefix(text, "/"):
		suggestion := "/" + text
		if isURL(text) {
			suggestion = ""
		}
		l.bad(path, suggestion, "must be a path that begins with /; an absolute address goes under url:")
	case secretParameter(text) != "":
		l.badSecret(path, secretQueryText(text))
	case strings.HasPrefix(text, "//"):
		l.bad(path, "", "must not begin with //, which would name another host")
	case hasControl(text) || strings.ContainsAny(text, " \t"):
		l.bad(path, "", "must not hold spaces or control characters; write them as %%20 and so on")
	case strings.Contains(text, "#"):
		l.bad(path, strings.SplitN(text, "#", 2)[0], "must not hold a fragment (#), which is never sent")
	case err != nil:
		l.bad(path, "", "is no valid path; a %% must be followed by two hexadecimal digits")
	case len(text) > mostPath:
		l.bad(path, "", "is longer than %d characters", mostPath)
	}
}

func (l *loader) checkConnectTo(path, text string) {
	if text == "" {
		return
	}
	host, port, err := net.SplitHostPort(text)
	if err != nil || host == "" || !validPort(port) || hasControl(text) || strings.ContainsAny(host, " /") {
		l.bad(path, "", "must be host:port, as in 127.0.0.1:8080 or [::1]:8080")
	}
}

var hostName = regexp.MustCompile(`^[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?(\.[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?)*\.?$`)

// checkHost checks an entry of allow: a host's name or address, alone.
func (l *loader) checkHost(path, text string) {
	if _, err := netip.ParseAddr(strings.Trim(text, "[]")); err == nil || (hostName.MatchString(text) && len(text) <= 253) {
		return
	}
	suggestion := ""
	if u, err := url.Parse(text); err == nil && u.Host != "" && hostName.MatchString(u.Hostname()) {
		suggestion = u.Hostname()
	} else if h, _, err := net.SplitHostPort(text); err == nil && hostName.MatchString(h) {
		suggestion = h
	}
	l.bad(path, suggestion, "must be the name or address of a host, without scheme, port, path or wildcard")
}

func (l *loader) checkServer(path string, s scenarios.Server) {
	if s.Status != "" {
		l.checkURL(path+".status", s.Status)
	}
	if s.Host != "" && (!httpguts.ValidHostHeader(s.Host) || hasControl(s.Host)) {
		l.bad(path+".host", "", "is no value for a Host header")
	}
	for i, p := range s.Processes {
		if strings.TrimSpace(p) == "" || strings.ContainsAny(p, "/\x00") {
			l.bad(fmt.Sprintf("%s.processes[%d]", path, i), "", "must be the name of a process, without a folder")
		}
	}
}

// checkRequest checks what is sent.
func (l *loader) checkRequest(path string, s *scenarios.Settings) {
	at := func(key string) string { return join(path, key) }
	seen := map[string]bool{}
	for _, h := range s.Headers {
		l.checkHeader(join(at("headers"), h.Name), h)
		if seen[strings.ToLower(h.Name)] {
			l.bad(join(at("headers"), h.Name), "", "stands twice; the names of headers do not differ by case")
		}
		seen[strings.ToLower(h.Name)] = true
	}
	if s.Method != "" {
		l.checkChoice(at("method"), s.Method, []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}, nil)
	}
	if s.Body != "" {
		l.checkReferences(at("body"), s.Body)
		if s.BodyFile != "" {
			l.bad(at("body_file"), "", "stands beside body:; give one of them")
		}
	}
	if s.BodyFile != "" {
		l.checkFile(at("body_file"), s.BodyFile)
	}
	if _, given := l.at[at("timeout")]; given {
		l.checkDuration(at("timeout"), s.Timeout, time.Millisecond, time.Hour)
	}
}

func (l *loader) checkHeader(path string, h scenarios.Header) {
	switch {
	case !httpguts.ValidHeaderFieldName(h.Name):
		l.bad(path, "", "%q is no header name; letters, digits and - are allowed", h.Name)
	case slices.Contains([]string{"connection", "content-length", "transfer-encoding"}, strings.ToLower(h.Name)):
		l.bad(path, "", "is set by abacus itself; steps.keepalive decides on connections, body on lengths")
	case !httpguts.ValidHeaderFieldValue(h.Value):
		l.bad(path, "", "must not hold line breaks or control characters")
	case strings.Contains(h.Value, redacted):
		l.bad(path, "", "was not stored because it is secret; give it again, best as ${NAME} from the environment")
	default:
		l.checkReferences(path, h.Value)
		if Redact(h) == redacted {
			_, pos, _ := l.nearest(path)
			l.warnings = append(l.warnings, fmt.Sprintf("%s: headers.%s is stored as %s, so that the record cannot be resumed or repeated as it is; ${NAME} from the environment can", pos, h.Name, redacted))
		}
	}
}

// checkReferences tries to expand ${NAME}, without keeping the result.
func (l *loader) checkReferences(path, value string) {
	expanded, err := Expand(value, l.getenv)
	if err != nil {
		l.bad(path, "", "%v", err)
	} else if strings.Contains(path, "headers.") && !httpguts.ValidHeaderFieldValue(expanded) {
		l.bad(path, "", "the environment gives it line breaks or control characters")
	}
}

func (l *loader) getenv(name string) string {
	for _, entry := range l.in.Environ {
		if k, v, _ := strings.Cut(entry, "="); k == name {
			return v
		}
	}
	return ""
}

func (l *loader) checkFile(path, file string) {
	info, err := os.Stat(file)
	switch {
	case !filepath.IsAbs(file): // of a built-in scenario
	case err != nil:
		l.bad(path, "", "cannot be read: %s", cause(err))
	default:
		if err := fits(info, mostBody); err != nil {
			l.bad(path, "", "%v", err)
		}
	}
}

// checkRhythm checks warm-up, settling and observation.
func (l *loader) checkRhythm(path string, s *scenarios.Settings) {
	if w := s.Warmup; w != nil {
		at := join(path, "warmup")
		var given []string
		for _, key := range []string{"requests", "duration", "until"} {
			if _, ok := l.at[at+"."+key]; ok {
				given = append(given, key)
			}
		}
		if len(given) > 1 {
			l.bad(at, "", "has %s; give one of requests, duration and until: steady", list(given))
		}
		if slices.Contains(given, "requests") && (w.Requests < 1 || w.Requests > mostRequests) {
			l.bad(at+".requests", "", "must be 1 to %d", mostRequests)
		}
		if slices.Contains(given, "duration") {
			l.checkDuration(at+".duration", w.Duration, 10*time.Millisecond, time.Hour)
		}
		if slices.Contains(given, "until") {
			l.checkChoice(at+".until", w.Until, []string{"steady"}, nil)
		}
	}
	if s.Settle != nil {
		l.checkDuration(join(path, "settle")+".max", s.Settle.Max, 0, time.Hour)
	}
	if o := s.Observe; o != nil {
		at := join(path, "observe")
		if _, given := l.at[at+".interval"]; given {
			l.checkDuration(at+".interval", o.Interval, 10*time.Millisecond, time.Minute)
		}
		if o.Status != "" && o.Status != "off" {
			l.checkURL(at+".status", o.Status)
		}
	}
}

func (l *loader) checkDuration(path string, d scenarios.Duration, least, most time.Duration) {
	if time.Duration(d) < least || time.Duration(d) > most {
		l.bad(path, "", "must be %s to %s", shortDuration(scenarios.Duration(least)), shortDuration(scenarios.Duration(most)))
	}
}

func (l *loader) checkExpect(path string, s *scenarios.Settings) {
	e := s.Expect
	if e == nil {
		return
	}
	if _, given := l.at[path+".status"]; given && (e.Status < 100 || e.Status > 599) {
		l.bad(path+".status", "", "must be a status code, 100 to 599")
	}
	if e.Bytes != nil && *e.Bytes < 0 {
		l.bad(path+".bytes", "", "must be a length from 0")
	}
	for _, texts := range []struct {
		key  string
		list []string
	}{{"contains", e.Contains}, {"not_contains", e.NotContains}} {
		for i, t := range texts.list {
			if t == "" {
				l.bad(fmt.Sprintf("%s.%s[%d]", path, texts.key, i), "", "is an empty text, which stands in every body")
			}
		}
	}
	for name := range e.Header {
		if !httpguts.ValidHeaderFieldName(name) {
			l.bad(path+".header."+name, "", "%q is no header name; letters, digits and - are allowed", name)
		}
	}
}

// checkConditions parses stop_if and goals.
func (l *loader) checkConditions(path string, exprs []string, stop bool) {
	for i, text := range exprs {
		at := fmt.Sprintf("%s[%d]", path, i)
		e, err := metric.Parse(text)
		switch {
		case err != nil:
			l.bad(at, "", "%v", err)
		case stop && !live(e.Metric):
			l.bad(at, "", "%s is only known when the run is over, so nothing can be stopped by it; allowed are %s", e.Metric, list(liveMetrics()))
		case stop && e.OfBaseline:
			l.bad(at, "", "a comparison with the baseline is only known at the end; put it under goals:")
		case !stop && e.For > 0:
			l.bad(at, "", "`for` is of stop_if; a goal is judged on whole runs")
		}
	}
}

func live(id string) bool {
	d, ok := metric.Lookup(id)
	return ok && d.Live
}

// liveMetrics lists what stop_if may name.
func liveMetrics() []string {
	var ids []string
	for _, d := range metric.Table() {
		if d.Live {
			ids = append(ids, d.ID)
		}
	}
	return ids
}

func (l *loader) checkHook(path string, argv [][]string) {
	for i, args := range argv {
		at := fmt.Sprintf("%s[%d]", path, i)
		if len(args) > 0 && strings.TrimSpace(args[0]) == "" {
			l.bad(at+"[0]", "", "is empty; it must be the command")
		}
		for j, a := range args {
			if strings.ContainsRune(a, 0) {
				l.bad(fmt.Sprintf("%s[%d]", at, j), "", "must not hold a zero byte")
			}
		}
	}
}

// checkText checks a text that stands on one line.
func (l *loader) checkText(path, text string) {
	if hasControl(strings.TrimRight(text, "\n")) {
		l.bad(path, "", "must be one line without control characters")
	}
	if len(text) > mostPath {
		l.bad(path, "", "is longer than %d characters", mostPath)
	}
}
