package lab

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"abacus/scenarios"
)

// staticModified is the date of the static page: fixed, so that the same
// program gives the same validators.
func staticModified() time.Time { return time.Date(2026, time.November, 30, 12, 0, 0, 0, time.UTC) }

// pages are answers made once. Header values are shared slices: an answer
// then costs no allocation for them.
type pages struct {
	static                                 []byte
	etag, modified, vary, htmlType, length []string
	plainType, noStore, miss, hit, ranges  []string
}

func newPages() pages {
	static := []byte(scenarios.StaticPage())
	return pages{
		static:    static,
		etag:      []string{fmt.Sprintf(`"%x-%x"`, len(static), staticModified().UnixMicro())},
		modified:  []string{staticModified().Format(http.TimeFormat)},
		vary:      []string{"Accept-Encoding"},
		htmlType:  []string{"text/html; charset=utf-8"},
		length:    []string{strconv.Itoa(len(static))},
		plainType: []string{"text/plain; charset=UTF-8"},
		noStore:   []string{"no-store"},
		miss:      []string{"miss"},
		hit:       []string{"hit"},
		ranges:    []string{"bytes"},
	}
}

// answer picks the page.
func (d *Demo) answer(w http.ResponseWriter, r *http.Request, slot int) {
	switch path := r.URL.Path; path {
	case "/static.html":
		d.serveStatic(w, r)
	case "/apcu":
		d.serveLocal(w, r)
	case "/memcached":
		d.serveRemote(w, r)
	case "/server-status":
		d.serveStatus(w, r, slot)
	case "/delay":
		d.serveDelay(w, r)
	case "/delay-stats":
		d.serveDelayStats(w, r)
	case "/vary":
		d.serveVary(w, r)
	case "/redirect":
		d.serveRedirect(w, r)
	case "/close":
		panic(http.ErrAbortHandler) // ends the connection without a byte
	case "/truncate":
		d.serveTruncated(w)
	case "/nonce":
		text(w, r, http.StatusOK, d.config.Nonce+"\n")
	case "/":
		d.serveIndex(w, r)
	default:
		if code, ok := strings.CutPrefix(path, "/status/"); ok {
			serveCode(w, r, code)
			return
		}
		text(w, r, http.StatusNotFound, "404 Not Found\n")
	}
}

// send answers with a whole body.
func send(w http.ResponseWriter, r *http.Request, code int, contentType string, body []byte) {
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(code)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // a client that left is its own affair
	}
}

func text(w http.ResponseWriter, r *http.Request, code int, body string) {
	send(w, r, code, "text/plain; charset=UTF-8", []byte(body))
}

// allowRead refuses all but GET and HEAD.
func allowRead(w http.ResponseWriter, r *http.Request) bool {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return true
	}
	w.Header().Set("Allow", "GET, HEAD")
	text(w, r, http.StatusMethodNotAllowed, "405 Method Not Allowed\n")
	return false
}

// serveStatic gives the static page. The plain case is written by hand for
// speed; conditions and ranges are left to the standard library.
func (d *Demo) serveStatic(w http.ResponseWriter, r *http.Request) {
	if !allowRead(w, r) {
		return
	}
	h := w.Header()
	h["Etag"] = d.pages.etag
	h["Vary"] = d.pages.vary
	h["Content-Type"] = d.pages.htmlType
	for _, key := range []string{"If-None-Match", "If-Modified-Since", "If-Match", "If-Unmodified-Since", "Range"} {
		if _, ok := r.Header[key]; ok {
			http.ServeContent(w, r, "", staticModified(), bytes.NewReader(d.pages.static))
			return
		}
	}
	h["Last-Modified"] = d.pages.modified
	h["Accept-Ranges"] = d.pages.ranges
	h["Content-Length"] = d.pages.length
	if r.Method != http.MethodHead {
		_, _ = w.Write(d.pages.static)
	}
}

// serveVary gives a body whose length differs from one request to the next.
func (d *Demo) serveVary(w http.ResponseWriter, r *http.Request) {
	n := 100 + int(d.varied.Add(1)%400)
	text(w, r, http.StatusOK, strings.Repeat("v", n-1)+"\n")
}

// serveCode answers with the status code asked for.
func serveCode(w http.ResponseWriter, r *http.Request, code string) {
	n, err := strconv.Atoi(code)
	if err != nil || n < 200 || n > 599 {
		text(w, r, http.StatusBadRequest, "400: the code must be a number from 200 to 599\n")
		return
	}
	if n == http.StatusNoContent || n == http.StatusNotModified {
		w.WriteHeader(n)
		return
	}
	text(w, r, n, strings.TrimSpace(fmt.Sprintf("%d %s", n, http.StatusText(n)))+"\n")
}

// serveRedirect points to the static page, or with ?to= to another path of
// this host.
func (d *Demo) serveRedirect(w http.ResponseWriter, r *http.Request) {
	to := r.URL.Query().Get("to")
	if to == "" {
		to = "/static.html"
	}
	if !localPath(to) {
		text(w, r, http.StatusBadRequest, "400: to must be a path of this host\n")
		return
	}
	w.Header().Set("Location", to)
	text(w, r, http.StatusFound, "302 Found\n")
}

// localPath tells a path of the same host from what a browser would take for
// another host, or what would break the header.
func localPath(to string) bool {
	if !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") {
		return false
	}
	return !strings.ContainsFunc(to, func(c rune) bool { return c <= ' ' || c == '\\' || c == 0x7f })
}

// serveTruncated promises the whole static page, sends half of it and ends
// the connection.
func (d *Demo) serveTruncated(w http.ResponseWriter) {
	h := w.Header()
	h["Content-Type"] = d.pages.htmlType
	h["Content-Length"] = d.pages.length
	_, _ = w.Write(d.pages.static[:len(d.pages.static)/2])
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

func (d *Demo) serveIndex(w http.ResponseWriter, r *http.Request) {
	address, own := d.MemcachedAddress()
	kind := "memcached"
	if own {
		kind = "embedded memcached-protocol server"
	}
	text(w, r, http.StatusOK, fmt.Sprintf(`%s

/static.html      %d bytes, never changing
/apcu             an object from a cache inside this process
/memcached        the same object from the %s on %s; ?persistent=1 reuses connections
/delay?ms=20      answers after so many milliseconds; /delay-stats says how long it really took
/vary             a length that differs from request to request
/status/503       any status code
/redirect         to /static.html, or ?to=/path
/close            no answer at all
/truncate         half of what was promised
/server-status    this server's workers and counters; ?auto for machines
`, d.name, len(d.pages.static), kind, address))
}
