//go:build !linux

package lab

// ephemeralLow is the usual start of the dynamic ports (RFC 6335) on systems
// other than Linux.
func ephemeralLow() int { return 49152 }
