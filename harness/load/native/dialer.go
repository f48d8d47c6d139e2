package native

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"abacus/harness/fault"
	"abacus/harness/load"
)

// dialer opens connections to addresses that were looked up once, so that no
// request pays for a name server.
type dialer struct {
	addrs []string
	// chosen is the index of the address that first answered, -1 before.
	chosen atomic.Int32
	tls    *tls.Config // nil without TLS
}

// newDialer looks the host up.
func newDialer(ctx context.Context, job load.Job, t target) (*dialer, error) {
	lookup, cancel := context.WithTimeout(ctx, job.Timeout)
	defer cancel()
	ips, err := net.DefaultResolver.LookupNetIP(lookup, "ip", t.host)
	if err != nil {
		return nil, fault.Hint(fmt.Errorf("look up %s: %w", t.host, err),
			"check the host's name, or give its address with connect_to")
	}
	d := &dialer{}
	d.chosen.Store(-1)
	for _, ip := range ips {
		d.addrs = append(d.addrs, net.JoinHostPort(ip.Unmap().String(), t.port))
	}
	if t.tls {
		d.tls = &tls.Config{ServerName: job.ServerName(), InsecureSkipVerify: job.InsecureTLS}
	}
	return d, nil
}

// dial opens a TCP connection until deadline. Until one address has answered
// they are tried in turn, each for its share of the time left, so that one
// that swallows everything does not hide the next; from then on it is always
// the one that answered, so that all requests measure the same server.
func (d *dialer) dial(ctx context.Context, deadline time.Time) (net.Conn, error) {
	nd := net.Dialer{Deadline: deadline, KeepAlive: -1}
	if i := d.chosen.Load(); i >= 0 {
		return nd.DialContext(ctx, "tcp", d.addrs[i])
	}
	var first error
	for i, addr := range d.addrs {
		left := time.Until(deadline)
		nd.Deadline = time.Now().Add(left / time.Duration(len(d.addrs)-i))
		conn, err := nd.DialContext(ctx, "tcp", addr)
		if err == nil {
			if d.chosen.CompareAndSwap(-1, int32(i)) || d.chosen.Load() == int32(i) {
				return conn, nil
			}
			// Another connection has chosen another address meanwhile.
			_ = conn.Close()
			return d.dial(ctx, deadline)
		}
		if first == nil {
			first = err
		}
	}
	return nil, first
}
