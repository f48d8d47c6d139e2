package lab

import (
	"net"
	"net/http"
	"sync/atomic"
)

// connKey finds a request's connection in its context.
type connKey struct{}

// countListener counts the bytes sent on each of its connections.
type countListener struct{ net.Listener }

func (l countListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &countConn{Conn: c}, nil
}

// countConn counts the bytes that it sends, status lines and headers
// included. Only the goroutine that serves the connection touches it.
type countConn struct {
	net.Conn
	sent int64
	idle bool
}

func (c *countConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.sent += int64(n)
	return n, err
}

// CloseWrite lets the server end an answer gently, as it does with a bare
// TCP connection.
func (c *countConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// bytes is 0 for no connection, as with a recorder in a test.
func (c *countConn) bytes() int64 {
	if c == nil {
		return 0
	}
	return c.sent
}

// connCount counts connections, and those that wait for another request.
type connCount struct{ total, idle atomic.Int64 }

func (n *connCount) change(c net.Conn, s http.ConnState) {
	conn, ok := c.(*countConn)
	if !ok {
		return
	}
	switch s {
	case http.StateNew:
		n.total.Add(1)
	case http.StateActive:
		n.leaveIdle(conn)
	case http.StateIdle:
		if !conn.idle {
			conn.idle = true
			n.idle.Add(1)
		}
	case http.StateClosed, http.StateHijacked:
		n.leaveIdle(conn)
		n.total.Add(-1)
	}
}

func (n *connCount) leaveIdle(c *countConn) {
	if c.idle {
		c.idle = false
		n.idle.Add(-1)
	}
}
