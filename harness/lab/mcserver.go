package lab

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	memcachedVersion = "1.6-abacus" // what `version` answers
	maxKey           = 250          // bytes of a key
	maxCommand       = 8192         // bytes of a command line
	maxConnections   = 1024
)

// memcachedServer serves memcached's text protocol for machines without
// memcached: get, gets, set, add, replace, cas, delete, flush_all, stats,
// version, verbosity, quit.
type memcachedServer struct {
	store   *store
	started time.Time
	total   atomic.Int64 // connections so far

	mu       sync.Mutex
	closed   bool
	listener net.Listener
	conns    map[net.Conn]struct{}
}

func newMemcachedServer() *memcachedServer {
	return &memcachedServer{store: newStore(), started: time.Now(), conns: map[net.Conn]struct{}{}}
}

// Serve answers connections until Close.
func (m *memcachedServer) Serve(l net.Listener) {
	m.mu.Lock()
	m.listener = l
	closed := m.closed
	m.mu.Unlock()
	if closed {
		_ = l.Close()
		return
	}
	for {
		conn, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(5 * time.Millisecond) // out of descriptors; they come back
			continue
		}
		if !m.enter(conn) {
			_, _ = io.WriteString(conn, "ERROR Too many open connections\r\n")
			_ = conn.Close()
			continue
		}
		go func() {
			defer m.leave(conn)
			m.talk(conn, conn)
		}()
	}
}

func (m *memcachedServer) enter(c net.Conn) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed || len(m.conns) >= maxConnections {
		return false
	}
	m.conns[c] = struct{}{}
	m.total.Add(1)
	return true
}

func (m *memcachedServer) leave(c net.Conn) {
	m.mu.Lock()
	delete(m.conns, c)
	m.mu.Unlock()
	_ = c.Close()
}

// Close ends the listener and all connections.
func (m *memcachedServer) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	for c := range m.conns {
		_ = c.Close()
	}
	if m.listener == nil {
		return nil
	}
	if err := m.listener.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// errQuit ends a connection at the client's wish.
var errQuit = errors.New("quit")

// talk answers one connection's commands. Answers are sent when no further
// command has come with the last.
func (m *memcachedServer) talk(r io.Reader, w io.Writer) {
	in := bufio.NewReaderSize(r, maxCommand)
	out := bufio.NewWriter(w)
	for {
		line, err := in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			_, _ = out.WriteString("CLIENT_ERROR line too long\r\n")
			_ = out.Flush()
			return
		}
		if err != nil {
			return
		}
		if err := m.command(strings.Fields(string(line)), in, out); err != nil {
			_ = out.Flush()
			return
		}
		if in.Buffered() == 0 {
			if err := out.Flush(); err != nil {
				return
			}
		}
	}
}

const badFormat = "CLIENT_ERROR bad command line format"

// command answers one command; its error ends the connection.
func (m *memcachedServer) command(words []string, in *bufio.Reader, out *bufio.Writer) error {
	if len(words) == 0 {
		return reply(out, "ERROR", false)
	}
	name, args := words[0], words[1:]
	quiet := len(args) > 0 && args[len(args)-1] == "noreply"
	if quiet {
		args = args[:len(args)-1]
	}
	switch name {
	case "get", "gets":
		return m.get(name == "gets", words[1:], out)
	case "set", "add", "replace", "cas":
		return m.put(name, args, quiet, in, out)
	case "delete":
		// The old form `delete KEY 0` is still allowed, as in memcached.
		if len(args) == 0 || len(args) > 2 || len(args) == 2 && args[1] != "0" || len(args[0]) > maxKey {
			return reply(out, badFormat+".  Usage: delete <key> [noreply]", quiet)
		}
		if m.store.delete(args[0], time.Now()) {
			return reply(out, "DELETED", quiet)
		}
		return reply(out, "NOT_FOUND", quiet)
	case "flush_all":
		m.store.flush()
		return reply(out, "OK", quiet)
	case "verbosity":
		return reply(out, "OK", quiet)
	case "version":
		return reply(out, "VERSION "+memcachedVersion, false)
	case "stats":
		if len(args) > 0 {
			return reply(out, "END", false) // no figures by group
		}
		return m.writeStats(out)
	case "quit":
		return errQuit
	}
	return reply(out, "ERROR", false)
}

func reply(out *bufio.Writer, text string, quiet bool) error {
	if quiet {
		return nil
	}
	_, err := out.WriteString(text + "\r\n")
	return err
}

func (m *memcachedServer) get(unique bool, keys []string, out *bufio.Writer) error {
	if len(keys) == 0 {
		return reply(out, "ERROR", false)
	}
	now := time.Now()
	for _, key := range keys {
		if len(key) > maxKey {
			return reply(out, badFormat, false)
		}
		item, ok := m.store.get(key, now)
		if !ok {
			continue
		}
		head := fmt.Appendf(out.AvailableBuffer(), "VALUE %s %d %d", key, item.flags, len(item.value))
		if unique {
			head = fmt.Appendf(head, " %d", item.unique)
		}
		_, _ = out.Write(append(head, "\r\n"...))
		_, _ = out.Write(item.value)
		if _, err := out.WriteString("\r\n"); err != nil {
			return err
		}
	}
	return reply(out, "END", false)
}

// put reads `KEY FLAGS EXPIRY BYTES [UNIQUE]` and the value behind it.
func (m *memcachedServer) put(name string, args []string, quiet bool, in *bufio.Reader, out *bufio.Writer) error {
	want := 4
	if name == "cas" {
		want = 5
	}
	if len(args) != want {
		return reply(out, "ERROR", false)
	}
	flags, err1 := strconv.ParseUint(args[1], 10, 32)
	expiry, err2 := strconv.ParseInt(args[2], 10, 64)
	length, err3 := strconv.ParseInt(args[3], 10, 32)
	var unique uint64
	var err4 error
	if name == "cas" {
		unique, err4 = strconv.ParseUint(args[4], 10, 64)
	}
	if errors.Join(err1, err2, err3, err4) != nil || length < 0 || len(args[0]) > maxKey {
		// The value that follows cannot be told from commands; memcached
		// answers and goes on, too.
		return reply(out, badFormat, false)
	}
	if length > maxValue {
		if _, err := io.CopyN(io.Discard, in, length+2); err != nil {
			return err
		}
		m.store.forget(args[0]) // the old value must not stand for the new one
		return reply(out, "SERVER_ERROR object too large for cache", quiet)
	}
	value := make([]byte, length+2)
	if _, err := io.ReadFull(in, value); err != nil {
		return err
	}
	if string(value[length:]) != "\r\n" {
		// What follows is read as commands, as the real memcached does.
		return reply(out, "CLIENT_ERROR bad data chunk", false)
	}
	now := time.Now()
	item := storedItem{value: value[:length:length], flags: uint32(flags), expires: expiresAt(expiry, now)}
	return reply(out, m.store.put(name, args[0], item, unique, now), quiet)
}

// expiresAt reads memcached's expiry: 0 is never, up to 30 days are seconds
// from now, more is a time since 1970, and a negative one is past at once.
func expiresAt(expiry int64, now time.Time) time.Time {
	const month = 30 * 24 * 60 * 60
	switch {
	case expiry == 0:
		return time.Time{}
	case expiry < 0:
		return now
	case expiry <= month:
		return now.Add(time.Duration(expiry) * time.Second)
	}
	return time.Unix(expiry, 0)
}

func (m *memcachedServer) writeStats(out *bufio.Writer) error {
	s := m.store.snapshot()
	m.mu.Lock()
	open := len(m.conns)
	m.mu.Unlock()
	now := time.Now()
	for _, f := range []struct {
		name  string
		value any
	}{
		{"pid", os.Getpid()},
		{"uptime", int64(now.Sub(m.started) / time.Second)},
		{"time", now.Unix()},
		{"version", memcachedVersion},
		{"max_connections", maxConnections},
		{"curr_connections", open},
		{"total_connections", m.total.Load()},
		{"cmd_get", s.gets},
		{"cmd_set", s.sets},
		{"get_hits", s.hits},
		{"get_misses", s.misses},
		{"get_expired", s.expired},
		{"delete_misses", s.deleteMisses},
		{"delete_hits", s.deletes},
		{"limit_maxbytes", maxStored},
		{"bytes", s.bytes},
		{"curr_items", s.items},
		{"total_items", s.total},
		{"evictions", s.out},
	} {
		if _, err := fmt.Fprintf(out, "STAT %s %v\r\n", f.name, f.value); err != nil {
			return err
		}
	}
	return reply(out, "END", false)
}
