package abcompat

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// target is the URL as ab takes it apart.
type target struct {
	secure bool
	// host is the name or address without brackets; hostField is how it
	// stands in a Host header, port aside.
	host, hostField string
	port            int
	// path is everything from the first slash on, as given.
	path string
}

// parseTarget takes [http[s]://]hostname[:port]/path apart. Only the two
// lower-case schemes are known; what else stands before the first slash is
// host and port.
func parseTarget(s string) (target, bool) {
	var t target
	if rest, ok := strings.CutPrefix(s, "http://"); ok && rest != "" {
		s = rest
	} else if rest, ok := strings.CutPrefix(s, "https://"); ok && rest != "" {
		s, t.secure = rest, true
	}
	slash := strings.IndexByte(s, '/')
	if slash < 0 {
		return target{}, false
	}
	authority := s[:slash]
	t.path = s[slash:]
	if !t.splitAuthority(authority) {
		return target{}, false
	}
	if t.port == 0 {
		t.port = 80
		if t.secure {
			t.port = 443
		}
	}
	// The engine takes URLs that net/url understands.
	if _, err := url.ParseRequestURI(escapePath(t.path)); err != nil {
		return target{}, false
	}
	return t, true
}

// splitAuthority parts host and port as APR does: a port is digits after the
// last colon; a port alone is no host.
func (t *target) splitAuthority(a string) bool {
	if a == "" {
		return false
	}
	digits := len(a)
	for digits > 0 && a[digits-1] >= '0' && a[digits-1] <= '9' {
		digits--
	}
	if digits == 0 {
		return false
	}
	if a[digits-1] == ':' && digits < len(a) {
		port, err := strconv.Atoi(a[digits:])
		if err != nil || port < 1 || port > 65535 {
			return false
		}
		t.port = port
		a = a[:digits-1]
	}
	if a == "" {
		return false
	}
	t.host, t.hostField = a, a
	if a[0] == '[' {
		inner, ok := strings.CutSuffix(a[1:], "]")
		addr, err := netip.ParseAddr(inner)
		if !ok || err != nil || !addr.Is6() || addr.Zone() != "" {
			return false
		}
		t.host = inner
	}
	return true
}

// hostHeader is the value of ab's own Host header.
func (t target) hostHeader() string {
	if t.port == t.defaultPort() {
		return t.hostField
	}
	return t.hostField + ":" + strconv.Itoa(t.port)
}

func (t target) defaultPort() int {
	if t.secure {
		return 443
	}
	return 80
}

// url is the absolute URL for the engine.
func (t target) url() string {
	scheme := "http://"
	if t.secure {
		scheme = "https://"
	}
	return scheme + t.hostField + ":" + strconv.Itoa(t.port) + escapePath(t.path)
}

// requestTarget is what goes out in the request line.
func (t target) requestTarget() string {
	u, err := url.Parse(t.url())
	if err != nil {
		return t.path
	}
	return u.RequestURI()
}

// escapePath encodes what cannot stand in a request line. ab sends it as it
// is, which servers answer with 400.
func escapePath(p string) string {
	p, _, _ = strings.Cut(p, "#")
	var b strings.Builder
	for i := range len(p) {
		if c := p[i]; c <= ' ' || c >= 0x7f {
			b.WriteString("%" + strings.ToUpper(strconv.FormatUint(uint64(c)|0x100, 16)[1:]))
			continue
		}
		b.WriteByte(p[i])
	}
	return b.String()
}
