package heylib

import (
	"crypto/tls"
	"net"
	"net/http/httptrace"
	"sync"

	"abacus/harness/load"
)

// tracer looks on while the library's transport works: it remembers the
// connections, which the library never closes, and the first TLS handshake.
type tracer struct {
	serverName string
	conns      sync.Map // net.Conn -> nothing

	mu  sync.Mutex
	tls *load.TLSInfo
}

func (t *tracer) trace(keepAlive bool) *httptrace.ClientTrace {
	ct := &httptrace.ClientTrace{TLSHandshakeDone: t.handshake}
	if keepAlive {
		ct.GotConn = func(info httptrace.GotConnInfo) {
			if _, known := t.conns.Load(info.Conn); !known {
				t.conns.Store(info.Conn, struct{}{})
			}
		}
	}
	return ct
}

func (t *tracer) handshake(s tls.ConnectionState, err error) {
	if err != nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.tls == nil {
		t.tls = load.NewTLSInfo(s, t.serverName)
	}
}

// closeAll closes what a part has left open. Left alone, the idle connections
// of one part would hold the server's workers during the next.
func (t *tracer) closeAll() {
	t.conns.Range(func(c, _ any) bool {
		_ = c.(net.Conn).Close()
		t.conns.Delete(c)
		return true
	})
}
