package lab

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bradfitz/gomemcache/memcache"
	"github.com/google/go-cmp/cmp"

	"abacus/harness/keeper"
)

// embedded serves the embedded memcached and returns its address.
func embedded(t *testing.T) (*memcachedServer, string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	m := newMemcachedServer()
	done := make(chan struct{})
	go func() { m.Serve(l); close(done) }()
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
		<-done
	})
	return m, l.Addr().String()
}

// The client that most Go programs use gets what it expects.
func TestEmbeddedWithGomemcache(t *testing.T) {
	_, address := embedded(t)
	c := memcache.New(address)
	defer c.Close()
	if err := c.Ping(); err != nil { // asks for the version
		t.Fatal(err)
	}
	if _, err := c.Get("none"); !errors.Is(err, memcache.ErrCacheMiss) {
		t.Errorf("get of nothing: %v", err)
	}
	if err := c.Set(&memcache.Item{Key: "a", Value: []byte("one\r\ntwo"), Flags: 77, Expiration: 100}); err != nil {
		t.Fatal(err)
	}
	item, err := c.Get("a")
	if err != nil || string(item.Value) != "one\r\ntwo" || item.Flags != 77 {
		t.Fatalf("get: %+v, %v", item, err)
	}
	if err := c.Add(&memcache.Item{Key: "a"}); !errors.Is(err, memcache.ErrNotStored) {
		t.Errorf("add of what is there: %v", err)
	}
	if err := c.Replace(&memcache.Item{Key: "b"}); !errors.Is(err, memcache.ErrNotStored) {
		t.Errorf("replace of nothing: %v", err)
	}
	item.Value = []byte("three")
	if err := c.CompareAndSwap(item); err != nil {
		t.Errorf("cas: %v", err)
	}
	if err := c.CompareAndSwap(item); !errors.Is(err, memcache.ErrCASConflict) {
		t.Errorf("cas with an old version: %v", err)
	}
	if err := c.Set(&memcache.Item{Key: "b", Value: nil}); err != nil {
		t.Errorf("set of an empty value: %v", err)
	}
	many, err := c.GetMulti([]string{"a", "b", "none"})
	if err != nil || len(many) != 2 || string(many["a"].Value) != "three" || len(many["b"].Value) != 0 {
		t.Errorf("get of three keys: %v, %v", many, err)
	}
	if err := c.Delete("a"); err != nil {
		t.Errorf("delete: %v", err)
	}
	if err := c.Delete("a"); !errors.Is(err, memcache.ErrCacheMiss) {
		t.Errorf("delete of nothing: %v", err)
	}
	if err := c.Set(&memcache.Item{Key: "gone", Expiration: -1}); err != nil {
		t.Errorf("set of something past: %v", err)
	}
	if _, err := c.Get("gone"); !errors.Is(err, memcache.ErrCacheMiss) {
		t.Errorf("get of something past: %v", err)
	}
	if err := c.DeleteAll(); err != nil {
		t.Errorf("flush_all: %v", err)
	}
	if _, err := c.Get("b"); !errors.Is(err, memcache.ErrCacheMiss) {
		t.Errorf("get after flush_all: %v", err)
	}
}

// conversations are what a client sends on one connection; the answers are
// those of the real memcached, and the test below asks it.
func conversations() []struct{ name, send, want string } {
	long := strings.Repeat("k", 251)
	big := strings.Repeat("v", 1<<20+1)
	return []struct{ name, send, want string }{
		{"set and get", "set a 5 0 3\r\nabc\r\nget a\r\n", "STORED\r\nVALUE a 5 3\r\nabc\r\nEND\r\n"},
		{"bare newlines", "get none\nget none\n", "END\r\nEND\r\n"},
		{"several keys", "set m1 0 0 1\r\n1\r\nset m2 0 0 1\r\n2\r\nget m1 none m2\r\n", "STORED\r\nSTORED\r\nVALUE m1 0 1\r\n1\r\nVALUE m2 0 1\r\n2\r\nEND\r\n"},
		{"noreply", "set n 0 0 1 noreply\r\nx\r\ndelete n noreply\r\ndelete n\r\n", "NOT_FOUND\r\n"},
		{"add and replace", "replace r 0 0 1\r\nx\r\nadd r 0 0 1\r\nx\r\nadd r 0 0 1\r\ny\r\nreplace r 0 0 1\r\nz\r\nget r\r\n", "NOT_STORED\r\nSTORED\r\nNOT_STORED\r\nSTORED\r\nVALUE r 0 1\r\nz\r\nEND\r\n"},
		{"cas of nothing", "cas c 0 0 1 7\r\nx\r\n", "NOT_FOUND\r\n"},
		{"delete", "set d 0 0 1\r\nx\r\ndelete d\r\ndelete d\r\ndelete d 0\r\n", "STORED\r\nDELETED\r\nNOT_FOUND\r\nNOT_FOUND\r\n"},
		{"past at once", "set p 0 -1 1\r\nx\r\nget p\r\n", "STORED\r\nEND\r\n"},
		{"unknown", "nonsense\r\nget none\r\n", "ERROR\r\nEND\r\n"},
		{"no key", "get\r\n", "ERROR\r\n"},
		{"too few words", "set a 0 0\r\n", "ERROR\r\n"},
		{"a length that is none", "set a 0 0 x\r\n", "CLIENT_ERROR bad command line format\r\n"},
		{"a negative length", "set a 0 0 -1\r\n", "CLIENT_ERROR bad command line format\r\n"},
		{"a long key", "get " + long + "\r\n", "CLIENT_ERROR bad command line format\r\n"},
		{"a value too short", "set s 0 0 3\r\nab\r\nget none\r\n", "CLIENT_ERROR bad data chunk\r\nERROR\r\n"},
		{"a value too long", "set s 0 0 3\r\nabcdef\r\nget none\r\n", "CLIENT_ERROR bad data chunk\r\nERROR\r\nEND\r\n"},
		{"too large", "set l 0 0 1\r\nx\r\nset l 0 0 " + strconv.Itoa(len(big)) + "\r\n" + big + "\r\nget l\r\n", "STORED\r\nSERVER_ERROR object too large for cache\r\nEND\r\n"},
		{"verbosity", "verbosity 0\r\n", "OK\r\n"},
		{"an empty line", "\r\n", "ERROR\r\n"},
		{"nothing after quit", "quit\r\nget none\r\n", ""},
	}
}

// converse sends everything, ends with quit and returns all answers.
func converse(t *testing.T, address, send string) string {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, send+"quit\r\n"); err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(conn)
	if err != nil && len(all) == 0 {
		// memcached resets a connection with unread input behind quit.
		return ""
	}
	return string(all)
}

func TestEmbeddedProtocol(t *testing.T) {
	for _, tc := range conversations() {
		t.Run(tc.name, func(t *testing.T) {
			_, address := embedded(t)
			if diff := cmp.Diff(tc.want, converse(t, address, tc.send)); diff != "" {
				t.Errorf("want (-) and got (+):\n%s", diff)
			}
		})
	}
}

// requireMemcached finds the real memcached or skips.
func requireMemcached(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("memcached")
	if err == nil {
		return path
	}
	if os.Getenv("ABACUS_REQUIRE_LAB") == "1" {
		t.Fatalf("ABACUS_REQUIRE_LAB=1, but memcached is missing: %v", err)
	}
	t.Skip("memcached is not on the PATH: not compared with the real one")
	return ""
}

// The real memcached gives the answers that the tests of the embedded one
// expect.
func TestRealMemcachedAgrees(t *testing.T) {
	path := requireMemcached(t)
	port, err := freePort()
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"-l", "127.0.0.1", "-p", strconv.Itoa(port), "-U", "0", "-m", "64"}
	if os.Geteuid() == 0 {
		args = append(args, "-u", "nobody")
	}
	cmd := exec.Command(path, args...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	address := fmt.Sprintf("127.0.0.1:%d", port)
	for deadline := time.Now().Add(10 * time.Second); ; {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			conn.Close()
			break
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
	for _, tc := range conversations() {
		converse(t, address, "flush_all\r\n")
		if diff := cmp.Diff(tc.want, converse(t, address, tc.send)); diff != "" {
			t.Errorf("%s: expected (-) and the real memcached (+):\n%s", tc.name, diff)
		}
	}
	// Our own client reads the real one's answers.
	c := newMemcachedClient(address, 1)
	defer c.Close()
	_, err = c.with(context.Background(), true, func(conn *memcachedConn) (bool, error) {
		if err := conn.set("k", []byte("v\r\nw"), time.Hour); err != nil {
			return false, err
		}
		v, hit, err := conn.get("k")
		if err != nil || !hit || string(v) != "v\r\nw" {
			return false, fmt.Errorf("get = %q, %v, %w", v, hit, err)
		}
		stats, err := conn.stats()
		if stats["pid"] != strconv.Itoa(cmd.Process.Pid) || stats["get_hits"] == "" {
			return false, fmt.Errorf("stats = %v, %w", stats, err)
		}
		return true, nil
	})
	if err != nil {
		t.Error(err)
	}
}

// Another memcached on the port is not taken for ours.
func TestForeignMemcached(t *testing.T) {
	_, address := embedded(t) // tells this process's number
	p := memcachedProcess{address: address, child: &keeper.Child{PID: os.Getpid()}}
	if err := p.waitReady(t.Context()); err != nil || p.version != memcachedVersion {
		t.Errorf("ours: %v, version %q", err, p.version)
	}
	p.child.PID++
	if err := p.waitReady(t.Context()); err == nil || !strings.Contains(err.Error(), "another server than ours") {
		t.Errorf("another one: %v", err)
	}
}

func TestEmbeddedStats(t *testing.T) {
	_, address := embedded(t)
	got := converse(t, address, "set a 0 0 3\r\nabc\r\nget a\r\nget b\r\ngets a\r\ndelete b\r\nstats\r\nversion\r\n")
	_, stats, _ := strings.Cut(got, "NOT_FOUND\r\n")
	for _, line := range []string{
		"STAT pid " + strconv.Itoa(os.Getpid()), "STAT cmd_get 3", "STAT cmd_set 1", "STAT get_hits 2", "STAT get_misses 1",
		"STAT delete_misses 1", "STAT curr_items 1", "STAT total_items 1", "STAT curr_connections 1", "STAT total_connections 1",
		"STAT evictions 0", "END", "VERSION " + memcachedVersion,
	} {
		if !strings.Contains(stats, line+"\r\n") {
			t.Errorf("no line %q in:\n%s", line, stats)
		}
	}
}

func TestExpiresAt(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	for _, tc := range []struct {
		expiry int64
		want   time.Time
	}{
		{0, time.Time{}},
		{-1, now},
		{60, now.Add(time.Minute)},
		{2_592_000, now.Add(30 * 24 * time.Hour)},
		{2_592_001, time.Unix(2_592_001, 0)}, // long past
		{1_800_000_060, now.Add(time.Minute)},
	} {
		if got := expiresAt(tc.expiry, now); !got.Equal(tc.want) {
			t.Errorf("expiresAt(%d) = %v, want %v", tc.expiry, got, tc.want)
		}
	}
}

// The memory is bounded: old items go when new ones need their room.
func TestStoreIsBounded(t *testing.T) {
	s := newStore()
	now := time.Now()
	value := make([]byte, maxValue)
	for i := range 100 { // 100 MiB into 64
		if got := s.put("set", strconv.Itoa(i), storedItem{value: value}, 0, now); got != "STORED" {
			t.Fatalf("set %d: %s", i, got)
		}
	}
	st := s.snapshot()
	if st.bytes > maxStored || st.items != 63 || st.out != 37 {
		t.Errorf("%d bytes in %d items, %d thrown out; want at most %d bytes, 63 items (64 would need their keys and overhead too), 37 out", st.bytes, st.items, st.out, maxStored)
	}
	if _, ok := s.get("99", now); !ok {
		t.Error("the newest item was thrown out")
	}
}

// Whatever a client sends: the server ends, does not grow beyond its bounds,
// and answers in whole lines.
func FuzzEmbedded(f *testing.F) {
	for _, tc := range conversations() {
		if len(tc.send) < 1000 {
			f.Add([]byte(tc.send))
		}
	}
	f.Add([]byte("set a 0 0 99999999999999999999\r\n"))
	f.Add([]byte("gets \x00\r\nstats\r\nversion\r\nflush_all\r\n"))
	f.Fuzz(func(t *testing.T, sent []byte) {
		m := newMemcachedServer()
		var out bytes.Buffer
		m.talk(bytes.NewReader(sent), &out)
		if out.Len() > 0 && !bytes.HasSuffix(out.Bytes(), []byte("\r\n")) {
			t.Errorf("%q is answered by %q, which is not whole lines", sent, &out)
		}
		if st := m.store.snapshot(); st.bytes > int64(len(sent))+st.items*itemOverhead || st.items != int64(len(m.store.items)) {
			t.Errorf("%q left %+v", sent, st)
		}
	})
}

// talker is one end of a connection with a prepared answer.
type talker struct {
	net.Conn
	io.Reader
}

func (t talker) Read(p []byte) (int, error)  { return t.Reader.Read(p) }
func (t talker) Write(p []byte) (int, error) { return len(p), nil }

// Whatever a server answers: the client ends, and a hit has the length that
// was promised.
func FuzzMemcachedClient(f *testing.F) {
	f.Add([]byte("VALUE k 0 3\r\nabc\r\nEND\r\n"))
	f.Add([]byte("END\r\n"))
	f.Add([]byte("VALUE k 0 99999999999\r\n"))
	f.Add([]byte("VALUE k 0 3\r\nabcdef\r\nEND\r\n"))
	f.Add([]byte("STAT pid 1\r\nSTAT x\r\nEND\r\n"))
	f.Fuzz(func(t *testing.T, answer []byte) {
		conn := func() *memcachedConn {
			return &memcachedConn{conn: talker{Reader: bytes.NewReader(answer)}, in: bufio.NewReaderSize(bytes.NewReader(answer), 1024)}
		}
		value, hit, err := conn().get("k")
		if hit && (err != nil || !bytes.Contains(answer, append(append([]byte("\n"), value...), "\r\nEND"...))) {
			t.Errorf("%q gives %q, %v", answer, value, err)
		}
		_, _ = conn().stats()
		_ = conn().set("k", nil, 0)
	})
}
