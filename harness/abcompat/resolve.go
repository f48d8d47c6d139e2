package abcompat

import (
	"context"
	"errors"
	"net/netip"
	"strings"
)

// lookup finds the addresses of a host name.
type lookup func(ctx context.Context, host string) ([]string, error)

// addresses looks a host up before any load, so that a name without an
// address is told in ab's words.
func (look lookup) addresses(ctx context.Context, host string) ([]string, error) {
	if _, err := netip.ParseAddr(host); err == nil {
		return []string{host}, nil
	}
	if !isHostName(host) {
		return nil, errors.New("not a host name")
	}
	addrs, err := look(ctx, host)
	if err == nil && len(addrs) == 0 {
		err = errors.New("no address")
	}
	return addrs, err
}

// isHostName keeps what can be no name ("user@host", "ftp:") from being asked
// of a name server.
func isHostName(s string) bool {
	return s != "" && len(s) <= 253 && strings.IndexFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '-' || r == '_')
	}) < 0
}

// firstFar is the first address that is neither on this machine nor in a
// private network, "" when there is none.
func firstFar(addrs []string) string {
	for _, s := range addrs {
		a, err := netip.ParseAddr(s)
		if a = a.Unmap(); err != nil || !(a.IsLoopback() || a.IsPrivate() || a.IsLinkLocalUnicast() || a.IsUnspecified()) {
			return s
		}
	}
	return ""
}
