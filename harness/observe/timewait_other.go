//go:build !linux

package observe

import "errors"

// ClientPorts is not known on this system.
func ClientPorts() (p Ports, ok bool) { return Ports{}, false }

// ClientTimeWait cannot be counted on this system.
func ClientTimeWait(int) (int, error) {
	return 0, errors.New("sockets in TIME_WAIT are not counted on this system")
}
