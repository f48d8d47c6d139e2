package native

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"abacus/harness/load"
)

const (
	// backoffAfter connects in a row that failed, a client waits before the
	// next: backoffPerClient times the number of clients, at most maxBackoff.
	// So a dead server is asked some 5,000 times a second in all, whatever
	// the concurrency, and does not heat a processor. A run by requests,
	// whose work is bounded, waits no longer than backoffBudget in all for
	// each client: its requests have to be made, and no report should have to
	// wait for a million refusals.
	backoffAfter     = 3
	backoffPerClient = 200 * time.Microsecond
	maxBackoff       = 100 * time.Millisecond
	backoffBudget    = 2 * time.Second
	// maxServer bounds the Server header that is kept.
	maxServer = 200
)

// client drives one connection: one request after the other.
type client struct {
	run    *run
	id     int
	shard  *shard
	buf    []byte
	parser parser
	out    outcome

	// conn is what requests go over, nil when there is none; used tells that
	// one has.
	conn net.Conn
	used bool
	// refused counts connects that failed in a row.
	refused int
	rested  time.Duration

	// raw is conn's socket for interrupt, which another goroutine calls.
	mu  sync.Mutex
	raw net.Conn
}

func newClient(r *run, id int, s *shard, buffer int) *client {
	return &client{run: r, id: id, shard: s, buf: make([]byte, buffer)}
}

// interrupt makes the reads and writes under way fail at once.
func (c *client) interrupt() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.raw != nil {
		// It fails only on a closed connection, where nothing waits.
		_ = c.raw.SetDeadline(time.Unix(1, 0))
	}
}

// loop makes requests until there are no more.
func (c *client) loop(ctx context.Context) {
	defer c.drop()
	for {
		ticket, ok := c.run.ticket()
		if !ok {
			return
		}
		keep := c.bodyToKeep(ticket)
		c.out = outcome{start: c.run.now()}
		err := c.exchange(ctx, keep)
		if errors.Is(err, errStopped) {
			c.run.dropped.Add(1)
			return
		}
		c.settle(ticket, err)
		if !c.rest() {
			return
		}
	}
}

// bodyToKeep is how much of the answer's body somebody wants to see.
func (c *client) bodyToKeep(ticket int64) int {
	keep := 0
	if c.run.engine.Trace != nil {
		keep = c.run.engine.TraceBody
		if keep == 0 {
			keep = DefaultTraceBody
		}
	}
	if c.run.check.wants(ticket) {
		keep = max(keep, c.run.check.bodyBytes())
	}
	return keep
}

// exchange makes one request and reads its answer, on the connection there is
// or a new one. The error is a *failure, or errStopped.
func (c *client) exchange(ctx context.Context, keep int) error {
	deadline := c.run.base.Add(time.Duration(c.out.start) + c.run.job.Timeout)
	c.out.dialStart = c.out.start
	again := false
	if c.conn != nil {
		c.out.reused, c.out.connected = true, c.out.start
		err := c.roundTrip(deadline, keep)
		if err == nil || !c.closedBetween(err) {
			return err
		}
		// The server closed the kept connection before this request reached
		// it, which it may do at any time.
		c.drop()
		again = true
		c.out.reused, c.out.connected, c.out.dialStart = false, 0, c.run.now()
	}
	if err := c.connect(ctx, deadline); err != nil {
		return err
	}
	c.out.reconnected = again
	return c.roundTrip(deadline, keep)
}

// closedBetween tells whether err is the end of a kept connection before any
// byte of an answer.
func (c *client) closedBetween(err error) bool {
	var f *failure
	return errors.As(err, &f) && f.kind == load.FailReceive && !c.parser.started()
}

// connect opens a connection, with TLS when the job asks for it.
func (c *client) connect(ctx context.Context, deadline time.Time) error {
	conn, err := c.run.dialer.dial(ctx, deadline)
	if err != nil {
		return c.ended(connectFailure("connecting", err))
	}
	c.mu.Lock()
	c.raw = conn
	c.mu.Unlock()
	c.conn, c.used = conn, false
	if c.run.dialer.tls != nil {
		if err := c.handshake(conn, deadline); err != nil {
			c.drop()
			return c.ended(connectFailure("TLS handshake", err))
		}
	}
	c.refused = 0
	c.out.dialled, c.out.connected = true, c.run.now()
	return nil
}

func (c *client) handshake(conn net.Conn, deadline time.Time) error {
	if err := conn.SetDeadline(deadline); err != nil {
		return err
	}
	if c.run.stopped.Load() {
		return errStopped
	}
	t := tls.Client(conn, c.run.dialer.tls)
	if err := t.Handshake(); err != nil {
		return err
	}
	c.conn = t
	seen := &c.run.seen
	seen.mu.Lock()
	defer seen.mu.Unlock()
	if seen.tls == nil {
		seen.tls = load.NewTLSInfo(t.ConnectionState(), c.run.dialer.tls.ServerName)
	}
	return nil
}

// ended turns a failure that the end of the run has caused into errStopped,
// and notes the time of any other.
func (c *client) ended(f *failure) error {
	if c.run.stopped.Load() {
		return errStopped
	}
	if f.kind == load.FailConnect {
		c.refused++
	}
	c.out.end = c.run.now()
	return f
}

// roundTrip sends the request over the connection and reads the answer.
func (c *client) roundTrip(deadline time.Time, keep int) error {
	c.parser.reset(c.run.req.head, keep)
	// The order matters: interrupt sets its own deadline after stopped, so one
	// of the two is seen.
	err := c.conn.SetDeadline(deadline)
	if c.run.stopped.Load() {
		return errStopped
	}
	var writeErr error
	if err == nil {
		var n int
		n, writeErr = c.conn.Write(c.run.req.bytes)
		c.out.sentBytes += int64(n)
		err = writeErr
	}
	if err != nil && (isTimeout(err) || c.used) {
		return c.ended(receiveFailure(false, err))
	}
	// On a new connection a write that failed may still have an answer: a
	// server that refuses a body answers and closes before it has all of it.
	c.out.written = c.run.now()
	err = c.read()
	c.out.status = c.parser.status
	c.out.headerBytes += c.parser.headerBytes
	c.out.bodyBytes = c.parser.bodyBytes
	if err != nil && writeErr != nil && !c.parser.started() {
		return c.ended(receiveFailure(false, writeErr))
	}
	return err
}

// read reads until the answer is whole, or cannot become so.
func (c *client) read() error {
	for {
		n, err := c.conn.Read(c.buf)
		at := c.run.now()
		if n > 0 {
			if !c.parser.started() {
				c.out.first = at
			}
			c.out.end = at
			used, bad := c.parser.feed(c.buf[:n])
			if bad != nil {
				// What else has come is received too, and worth a look.
				c.parser.headerBytes += int64(n - used)
				if c.run.engine.Trace != nil {
					c.parser.head = append(c.parser.head, c.buf[used:n]...)
				}
				return c.ended(&failure{load.FailException, bad})
			}
			if c.parser.done() {
				if used < n {
					// They would be taken for the next answer.
					c.parser.keepAlive = false
					c.run.surplus.Add(1)
				}
				c.parser.keepAlive = c.parser.keepAlive && err == nil
				return nil
			}
		}
		if err == nil {
			continue
		}
		// crypto/tls reports a connection that ends between two records, but
		// without TLS's farewell, as io.EOF too: many servers do that.
		if errors.Is(err, io.EOF) && c.parser.started() {
			if err = c.parser.finish(); err == nil {
				c.out.end = at
				return nil
			}
		}
		return c.ended(receiveFailure(c.parser.started(), err))
	}
}

// settle closes the connection if it cannot be used again, and enters the
// exchange into the account.
func (c *client) settle(ticket int64, err error) {
	out := &c.out
	if err != nil {
		c.fail(err)
	} else {
		out.whole = true
		if !c.run.sameLength(c) {
			out.kind = load.FailLength
		}
		c.run.check.look(ticket, &c.parser)
	}
	open := err == nil && c.parser.keepAlive && c.run.job.KeepAlive
	if !open {
		c.drop()
	}
	c.used = open
	c.shard.record(out)
	if c.run.engine.Trace != nil {
		c.trace(ticket, open)
	}
	if cap(c.parser.body) > DefaultTraceBody {
		c.parser.body = nil // a checked body may be megabytes: not for every connection
	}
}

// fail notes what went wrong. (Its variable lives on the heap: apart from
// settle, it costs nothing while nothing fails.)
func (c *client) fail(err error) {
	f := &failure{load.FailException, err}
	errors.As(err, &f)
	c.out.kind, c.out.err = f.kind, f.err
	c.run.errors.Add(f.kind, errorText(f.err), 1)
}

// sameLength compares the body's length with that of the first whole answer,
// which this may be. (Answers to HEAD have no body and are all alike.)
func (r *run) sameLength(c *client) bool {
	n := c.out.bodyBytes
	if r.firstLen.Load() < 0 && r.firstLen.CompareAndSwap(-1, n) {
		r.seen.mu.Lock()
		defer r.seen.mu.Unlock()
		server := c.parser.server()
		r.seen.server = string(server[:min(len(server), maxServer)])
		r.seen.protocol = "HTTP/1." + string(rune(c.parser.minor))
		return true
	}
	return r.job.AcceptVariableLength || n == r.firstLen.Load()
}

// rest waits after several connects in a row that failed; false when the run
// ends meanwhile.
func (c *client) rest() bool {
	if c.refused < backoffAfter || (c.run.job.Requests > 0 && c.rested >= backoffBudget) {
		return true
	}
	pause := min(backoffPerClient*time.Duration(len(c.run.clients)), maxBackoff)
	c.rested += max(pause, time.Millisecond) // timers are no finer
	t := time.NewTimer(pause)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-c.run.halt:
		return false
	}
}

// drop closes the connection.
func (c *client) drop() {
	if c.conn == nil {
		return
	}
	c.mu.Lock()
	raw := c.raw
	c.raw = nil
	c.mu.Unlock()
	// The socket and not the TLS layer, whose farewell could block.
	_ = raw.Close()
	c.conn, c.used = nil, false
}

// trace hands the exchange to the engine's Trace.
func (c *client) trace(ticket int64, open bool) {
	o := &c.out
	x := Exchange{
		Conn: c.id, Seq: ticket, Request: c.run.req.bytes, Kind: o.kind, Err: o.err, StartNS: o.start,
		Reused: o.reused, Reconnected: o.reconnected,
	}
	if o.headerBytes > 0 {
		x.Head, x.Status, x.BodyBytes = c.parser.head, o.status, o.bodyBytes
		keep := c.run.engine.TraceBody
		if keep == 0 {
			keep = DefaultTraceBody
		}
		x.Body = c.parser.body[:min(len(c.parser.body), max(keep, 0))]
	}
	if o.dialled {
		x.ConnectNS = o.connected - o.dialStart
	}
	if o.whole {
		x.KeepAlive = open
		x.WaitingNS, x.ProcessingNS, x.TotalNS = o.first-o.written, o.end-o.connected, o.end-o.start
	}
	c.run.trace.Lock()
	defer c.run.trace.Unlock()
	c.run.engine.Trace(x)
}
