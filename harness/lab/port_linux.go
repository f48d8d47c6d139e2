package lab

import (
	"os"
	"strconv"
	"strings"
)

// ephemeralLow is the lowest port that the kernel gives to clients.
func ephemeralLow() int {
	if text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range"); err == nil {
		if fields := strings.Fields(string(text)); len(fields) == 2 {
			if low, err := strconv.Atoi(fields[0]); err == nil {
				return low
			}
		}
	}
	return 32768
}
