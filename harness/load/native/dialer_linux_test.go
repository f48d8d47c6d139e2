package native

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// An address that swallows connects leaves time for the next one. Linux drops
// the SYN when a listener's queue is full.
func TestFallsBackFromSilentAddress(t *testing.T) {
	t.Parallel()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
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
	for i := 0; ; i++ {
		conn, err := net.DialTimeout("tcp", silent, 200*time.Millisecond)
		if err != nil {
			break
		}
		defer conn.Close()
		if i > 100 {
			t.Skip("the queue of a listener does not fill up here")
		}
	}
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
