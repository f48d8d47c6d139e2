package lab

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// memcachedTimeout bounds one use of memcached, connecting included.
const memcachedTimeout = 5 * time.Second

// maxValue is the largest value that is stored or read, memcached's own
// default.
const maxValue = 1 << 20

// memcachedClient speaks memcached's text protocol. It exists because a new
// connection per request, as PHP makes by default, has to be in our hands.
type memcachedClient struct {
	address string
	idle    chan *memcachedConn
}

// newMemcachedClient keeps at most so many idle connections.
func newMemcachedClient(address string, idle int) *memcachedClient {
	return &memcachedClient{address: address, idle: make(chan *memcachedConn, idle)}
}

// memcachedConn is one connection.
type memcachedConn struct {
	conn   net.Conn
	in     *bufio.Reader
	reused bool
	// answered says that something was read since the connection was taken.
	answered bool
}

func (m *memcachedClient) dial(ctx context.Context) (*memcachedConn, error) {
	dialer := net.Dialer{Timeout: memcachedTimeout, KeepAlive: -1}
	conn, err := dialer.DialContext(ctx, "tcp", m.address)
	if err != nil {
		return nil, err
	}
	return &memcachedConn{conn: conn, in: bufio.NewReaderSize(conn, 1024)}, nil
}

// with runs use on a connection: a new one that is closed afterwards, or with
// keep one out of the pool, to which it returns. A kept connection that was
// closed meanwhile is replaced once.
func (m *memcachedClient) with(ctx context.Context, keep bool, use func(*memcachedConn) (bool, error)) (bool, error) {
	for {
		c, err := m.take(ctx, keep)
		if err != nil {
			return false, err
		}
		if err := c.conn.SetDeadline(time.Now().Add(memcachedTimeout)); err != nil {
			c.close()
			return false, err
		}
		hit, err := use(c)
		if err == nil && keep && m.keep(c) {
			return hit, nil
		}
		c.close()
		if err != nil && c.reused && !c.answered {
			continue
		}
		return hit, err
	}
}

func (m *memcachedClient) take(ctx context.Context, keep bool) (*memcachedConn, error) {
	if keep {
		select {
		case c := <-m.idle:
			c.reused, c.answered = true, false
			return c, nil
		default:
		}
	}
	return m.dial(ctx)
}

func (m *memcachedClient) keep(c *memcachedConn) bool {
	select {
	case m.idle <- c:
		return true
	default:
		return false
	}
}

// Close closes the idle connections.
func (m *memcachedClient) Close() {
	for {
		select {
		case c := <-m.idle:
			c.close()
		default:
			return
		}
	}
}

// close ends the connection by a reset. Everything asked for has been
// answered, so nothing is lost, and ten thousand requests do not leave ten
// thousand sockets in TIME_WAIT, which would hold up the next run.
func (c *memcachedConn) close() {
	if tcp, ok := c.conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = c.conn.Close()
}

// line reads one line without its end.
func (c *memcachedConn) line() (string, error) {
	text, err := c.in.ReadSlice('\n')
	c.answered = c.answered || len(text) > 0
	if err != nil {
		return "", fmt.Errorf("read the answer: %w", err)
	}
	return strings.TrimRight(string(text), "\r\n"), nil
}

// get asks for one value; hit is false when there is none.
func (c *memcachedConn) get(key string) (value []byte, hit bool, err error) {
	if _, err := io.WriteString(c.conn, "get "+key+"\r\n"); err != nil {
		return nil, false, fmt.Errorf("ask: %w", err)
	}
	head, err := c.line()
	if err != nil || head == "END" {
		return nil, false, err
	}
	fields := strings.Fields(head)
	if len(fields) < 4 || fields[0] != "VALUE" || fields[1] != key {
		return nil, false, fmt.Errorf("get: unexpected answer %.80q", head)
	}
	n, err := strconv.Atoi(fields[3])
	if err != nil || n < 0 || n > maxValue {
		return nil, false, fmt.Errorf("get: unexpected length in %.80q", head)
	}
	value = make([]byte, n+2)
	if _, err := io.ReadFull(c.in, value); err != nil {
		return nil, false, fmt.Errorf("read the value: %w", err)
	}
	end, err := c.line()
	switch {
	case err != nil:
		return nil, false, err
	case string(value[n:]) != "\r\n" || end != "END":
		return nil, false, errors.New("get: the value does not end where it should")
	}
	return value[:n], true, nil
}

// set stores one value.
func (c *memcachedConn) set(key string, value []byte, ttl time.Duration) error {
	b := make([]byte, 0, len(key)+len(value)+64)
	b = fmt.Appendf(b, "set %s 0 %d %d\r\n", key, int64(ttl/time.Second), len(value))
	b = append(append(b, value...), "\r\n"...)
	if _, err := c.conn.Write(b); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	answer, err := c.line()
	if err != nil {
		return err
	}
	if answer != "STORED" {
		return fmt.Errorf("set: unexpected answer %.80q", answer)
	}
	return nil
}

// stats asks for the server's own figures.
func (c *memcachedConn) stats() (map[string]string, error) {
	if _, err := io.WriteString(c.conn, "stats\r\n"); err != nil {
		return nil, fmt.Errorf("ask: %w", err)
	}
	all := map[string]string{}
	for range 1000 {
		text, err := c.line()
		if err != nil {
			return nil, err
		}
		if text == "END" {
			return all, nil
		}
		name, ok := strings.CutPrefix(text, "STAT ")
		if !ok {
			return nil, fmt.Errorf("stats: unexpected answer %.80q", text)
		}
		key, value, _ := strings.Cut(name, " ")
		all[key] = value
	}
	return nil, errors.New("stats: the answer does not end")
}
