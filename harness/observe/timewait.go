package observe

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Ports is the range that the system takes the client side's ports from.
type Ports struct{ First, Last int }

// Len is the number of ports in the range.
func (p Ports) Len() int { return max(p.Last-p.First+1, 0) }

// parsePortRange reads net.ipv4.ip_local_port_range.
func parsePortRange(text string) (Ports, error) {
	var p Ports
	if _, err := fmt.Sscan(text, &p.First, &p.Last); err != nil {
		return Ports{}, fmt.Errorf("port range %q: %w", strings.TrimSpace(text), err)
	}
	if p.First < 1 || p.Last > 65535 || p.Last < p.First {
		return Ports{}, fmt.Errorf("port range %q is none", strings.TrimSpace(text))
	}
	return p, nil
}

// timeWait is the state of /proc/net/tcp for TIME_WAIT.
const timeWait = "06"

// countTimeWait reads a table such as /proc/net/tcp and counts the sockets in
// TIME_WAIT that hold a client port for one server port: their local port is
// in the ephemeral range and their remote port is the server's. Those where
// the server closed first hold no client port and do not count.
func countTimeWait(table io.Reader, serverPort int, ports Ports) (int, error) {
	n := 0
	sc := bufio.NewScanner(table)
	for sc.Scan() {
		f := strings.Fields(sc.Text())
		if len(f) < 4 || f[3] != timeWait {
			continue
		}
		local, err := hexPort(f[1])
		if err != nil {
			return 0, err
		}
		remote, err := hexPort(f[2])
		if err != nil {
			return 0, err
		}
		if remote == serverPort && local >= ports.First && local <= ports.Last {
			n++
		}
	}
	return n, sc.Err()
}

// hexPort takes the port out of an address such as 0100007F:1F90.
func hexPort(addr string) (int, error) {
	_, port, ok := strings.Cut(addr, ":")
	if !ok {
		return 0, fmt.Errorf("address %q has no port", addr)
	}
	if b, err := hex.DecodeString(port); err != nil || len(b) != 2 {
		return 0, fmt.Errorf("address %q has no port", addr)
	}
	v, err := strconv.ParseUint(port, 16, 16)
	return int(v), err
}
