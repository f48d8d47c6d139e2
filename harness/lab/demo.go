package lab

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// DefaultWorkers is the size of the demo's worker pool unless asked otherwise.
const DefaultWorkers = 150

// DemoConfig says how a demo server is made. The zero value is complete.
type DemoConfig struct {
	// Version stands in the Server header; empty is "dev".
	Version string
	// Built is when the program was built; zero leaves the line out.
	Built time.Time
	// Workers is the size of the worker pool; 0 is DefaultWorkers.
	Workers int
	// Memcached is the host:port of a memcached; empty has the demo serve the
	// protocol itself.
	Memcached string
	// Nonce is what /nonce answers, so that whoever started the demo can tell
	// it from another server on the port.
	Nonce string
	// ExtendedOff leaves out of the status page what Apache leaves out with
	// ExtendedStatus Off.
	ExtendedOff bool
}

// Demo is a server.
type Demo struct {
	config  DemoConfig
	name    string   // abacus-demo/VERSION
	server  []string // the Server header
	started time.Time
	pool    *pool
	conns   connCount
	http    *http.Server
	pages   pages

	local  localCache
	remote *memcachedClient
	own    *memcachedServer // nil when a real memcached is used
	delays delayStats
	varied atomic.Uint64
}

// NewDemo makes a server. Close must be called in the end.
func NewDemo(c DemoConfig) (*Demo, error) {
	if c.Version == "" {
		c.Version = "dev"
	}
	if c.Workers == 0 {
		c.Workers = DefaultWorkers
	}
	if c.Workers < 1 || c.Workers > MaxWorkers {
		return nil, fmt.Errorf("demo: %d workers; from 1 to %d are possible", c.Workers, MaxWorkers)
	}
	d := &Demo{config: c, name: "abacus-demo/" + c.Version, started: time.Now(), pool: newPool(c.Workers), pages: newPages()}
	d.server = []string{d.name}
	address := c.Memcached
	if address == "" {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("demo: listen for the memcached protocol: %w", err)
		}
		d.own = newMemcachedServer()
		go d.own.Serve(l)
		address = l.Addr().String()
	}
	d.remote = newMemcachedClient(address, c.Workers)
	d.http = &http.Server{
		Handler:           http.HandlerFunc(d.serve),
		ReadHeaderTimeout: 20 * time.Second,
		IdleTimeout:       60 * time.Second,
		MaxHeaderBytes:    64 << 10,
		ConnState:         d.conns.change,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, connKey{}, c)
		},
	}
	return d, nil
}

// MemcachedAddress is the host:port of the memcached that is used, and
// whether that is the demo's own.
func (d *Demo) MemcachedAddress() (address string, own bool) { return d.remote.address, d.own != nil }

// Serve answers requests on l until Close; then its error is nil.
func (d *Demo) Serve(l net.Listener) error {
	if err := d.http.Serve(countListener{l}); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("demo: serve: %w", err)
	}
	return nil
}

// Close closes all listeners and connections at once.
func (d *Demo) Close() error {
	err := d.http.Close()
	d.remote.Close()
	if d.own != nil {
		err = errors.Join(err, d.own.Close())
	}
	return err
}

// serve gives a request one of the worker slots and counts it. A request
// that finds all of them busy waits; one whose client leaves meanwhile was
// never served, and is not counted.
func (d *Demo) serve(w http.ResponseWriter, r *http.Request) {
	slot, ok := d.pool.take(r)
	if !ok {
		panic(http.ErrAbortHandler)
	}
	conn, _ := r.Context().Value(connKey{}).(*countConn)
	before := conn.bytes()
	defer func() { d.pool.release(slot, conn.bytes()-before) }()
	w.Header()["Server"] = d.server
	d.answer(w, r, slot)
	// The answer is sent while the worker is held, as in Apache, so that
	// its bytes are counted and a slow reader holds a worker.
	_ = http.NewResponseController(w).Flush()
}
