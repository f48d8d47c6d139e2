package observe

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// ClientPorts is the system's range of ports for outgoing connections; ok is
// false where it cannot be known.
func ClientPorts() (p Ports, ok bool) {
	text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err != nil {
		return Ports{}, false
	}
	p, err = parsePortRange(string(text))
	return p, err == nil
}

// ClientTimeWait counts the client ports of this machine that are held in
// TIME_WAIT towards serverPort, over IPv4 and IPv6.
func ClientTimeWait(serverPort int) (int, error) {
	ports, ok := ClientPorts()
	if !ok {
		return 0, errors.New("the range of client ports is not known")
	}
	total := 0
	for _, path := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		f, err := os.Open(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return 0, fmt.Errorf("count sockets: %w", err)
		}
		n, err := countTimeWait(f, serverPort, ports)
		if err := errors.Join(err, f.Close()); err != nil {
			return 0, fmt.Errorf("count sockets in %s: %w", path, err)
		}
		total += n
	}
	return total, nil
}
