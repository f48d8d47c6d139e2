package preflight

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
)

// Class says where a host is.
type Class struct {
	// Addresses are all addresses that the host resolves to, in order.
	Addresses []string
	// Loopback tells that all of them are this machine's loopback, Private
	// that all are loopback or in a private network (RFC 1918, IPv6 unique
	// local). Link-local addresses are not private: 169.254.169.254 is a
	// cloud's metadata service.
	Loopback, Private bool
}

// Near tells whether the host may be loaded without being allowed by name.
func (c Class) Near() bool { return c.Loopback || c.Private }

// Classify resolves a host, a name or an address without port.
func Classify(ctx context.Context, host string) (Class, error) {
	found, err := resolve(ctx, host)
	if err != nil {
		return Class{}, err
	}
	c := Class{Loopback: true, Private: true}
	for _, a := range found {
		// To connect to 0.0.0.0 or :: is to connect to this machine.
		local := a.IsLoopback() || a.IsUnspecified()
		c.Loopback = c.Loopback && local
		c.Private = c.Private && (local || a.IsPrivate())
		c.Addresses = append(c.Addresses, a.String())
	}
	return c, nil
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
		return nil, fmt.Errorf("resolve %s: %w", quoted(host), err)
	}
	for i, a := range list {
		list[i] = a.Unmap()
	}
	slices.SortFunc(list, netip.Addr.Compare)
	list = slices.Compact(list)
	if len(list) == 0 {
		return nil, fmt.Errorf("resolve %s: no address", quoted(host))
	}
	return list, nil
}
