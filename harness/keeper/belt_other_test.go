//go:build unix && !linux

package keeper

const parentDeathSignal = false
