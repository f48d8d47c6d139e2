package preflight

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"

	"abacus/harness/oneline"
)

// mostQuoted bounds a text of the server's or the user's in quotes, in runes.
const mostQuoted = 80

// Classify resolves a host, a name or an address without port. loopback tells
// that all its addresses are this machine's own, private that all are loopback
// or in a private network (RFC 1918, IPv6 unique local). Link-local addresses
// are not private: 169.254.169.254 is a cloud's metadata service. The addresses
// come in order, at least one.
func Classify(ctx context.Context, host string) (addrs []string, loopback, private bool, err error) {
	found, err := resolve(ctx, host)
	if err != nil {
		return nil, false, false, err
	}
	loopback, private = true, true
	for _, a := range found {
		// To connect to 0.0.0.0 or :: is to connect to this machine.
		local := a.IsLoopback() || a.IsUnspecified()
		loopback = loopback && local
		private = private && (local || a.IsPrivate())
		addrs = append(addrs, a.String())
	}
	return addrs, loopback, private, nil
}

// IsLocal tells whether a host is this machine, by all its addresses; a host
// that cannot be resolved is not.
func IsLocal(ctx context.Context, host string) bool {
	_, loopback, _, err := Classify(ctx, host)
	return err == nil && loopback
}

// resolve returns all addresses of a host, at least one, sorted.
func resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if host == "" {
		return nil, fmt.Errorf("resolve: no host")
	}
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{a.Unmap()}, nil
	}
	list, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, fmt.Errorf("resolve %s: %w", oneline.Quote(host, mostQuoted), err)
	}
	for i, a := range list {
		list[i] = a.Unmap()
	}
	slices.SortFunc(list, netip.Addr.Compare)
	list = slices.Compact(list)
	if len(list) == 0 {
		return nil, fmt.Errorf("resolve %s: no address", oneline.Quote(host, mostQuoted))
	}
	return list, nil
}
