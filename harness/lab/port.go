package lab

import (
	"fmt"
	"math/rand/v2"
	"net"
)

const (
	lowestPort  = 20000 // of the ports that a lab takes
	portTries   = 50
	portsNeeded = 1000 // below the ephemeral ones, or any port is taken
)

// Listen takes a free loopback port, below the ephemeral range where there is
// room: a port in it can be taken by any client that connects at the wrong
// moment, and sockets in TIME_WAIT could not be told from a client's.
func Listen() (net.Listener, error) {
	if below := ephemeralLow(); below >= lowestPort+portsNeeded {
		for range portTries {
			port := lowestPort + rand.IntN(below-lowestPort)
			if l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
				return l, nil
			}
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("find a free loopback port: %w", err)
	}
	return l, nil
}

// freePort finds a port for a program that opens it itself. Another program
// may be faster, so whoever uses it must check that the right one answers.
func freePort() (int, error) {
	l, err := Listen()
	if err != nil {
		return 0, err
	}
	port := l.Addr().(*net.TCPAddr).Port
	return port, l.Close()
}
