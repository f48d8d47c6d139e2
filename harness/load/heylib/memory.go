package heylib

import (
	"runtime"
	"runtime/metrics"
)

// mostHeap is how much memory a run may hold before it is given up. Whole
// parts were seen to take 121 MB; more than this much can only be error texts, which the
// library keeps whole, each different one, and of which a server can write
// megabytes.
const mostHeap = 1 << 30

// heapBytes is the memory in objects, garbage that was not collected yet
// included.
func heapBytes() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// heapOver tells whether more than limit is held, garbage not counted.
func heapOver(limit uint64) bool {
	if heapBytes() <= limit {
		return false
	}
	runtime.GC()
	return heapBytes() > limit
}
