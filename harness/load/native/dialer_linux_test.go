package native

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"abacus/harness/load"
)

// silentAddress is a loopback address that swallows connects: Linux drops the
// SYN when a listener's queue is full.
func silentAddress(t *testing.T) string {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	if err := unix.Listen(fd, 0); err != nil {
		t.Fatal(err)
	}
	name, err := unix.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	silent := fmt.Sprintf("127.0.0.1:%d", name.(*unix.SockaddrInet4).Port)
	for range 100 {
		conn, err := net.DialTimeout("tcp", silent, 200*time.Millisecond)
		if err != nil {
			return silent
		}
		t.Cleanup(func() { conn.Close() })
	}
	t.Skip("the queue of a listener does not fill up here")
	return ""
}

// An address that swallows connects leaves time for the next one.
func TestFallsBackFromSilentAddress(t *testing.T) {
	t.Parallel()
	silent := silentAddress(t)
	open := strings.TrimSuffix(strings.TrimPrefix(serve(t, say(hello)), "http://"), "/")
	d := &dialer{addrs: []string{silent, open}}
	d.chosen.Store(-1)
	conn, err := d.dial(context.Background(), time.Now().Add(2*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if got := conn.RemoteAddr().String(); got != open {
		t.Errorf("connected to %s, want %s", got, open)
	}
}

// Of connections that begin at once the first to stand chooses the address for
// all: one that was on its way to another does not go on with that.
func TestAllGoToTheChosenAddress(t *testing.T) {
	t.Parallel()
	addr := func() string {
		return strings.TrimSuffix(strings.TrimPrefix(serve(t, say(hello)), "http://"), "/")
	}
	d := &dialer{addrs: []string{silentAddress(t), addr(), addr()}}
	d.chosen.Store(-1)
	// While the first address is silent, another connection chooses the last.
	time.AfterFunc(100*time.Millisecond, func() { d.chosen.Store(2) })
	conn, err := d.dial(context.Background(), time.Now().Add(3*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if got := conn.RemoteAddr().String(); got != d.addrs[2] {
		t.Errorf("connected to %s, want the chosen %s", got, d.addrs[2])
	}
}

// Connects that the end of the run cuts off are no failures of the server.
func TestCancelWhileConnecting(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	j := job("http://"+silentAddress(t)+"/", 1000, 50)
	j.Interval = 20 * time.Millisecond
	ticks := 0
	res, err := new(Engine).Run(ctx, j, func(load.Progress) {
		if ticks++; ticks == 3 {
			cancel()
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if res.Counts.Requests() != 0 || !res.Interrupted || len(res.Notes) != 1 || !strings.Contains(res.Notes[0], "still under way") {
		t.Errorf("counts %+v, errors %v, interrupted %v, notes %v", res.Counts, res.Errors, res.Interrupted, res.Notes)
	}
}
