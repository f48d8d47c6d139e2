// Package lab is who serves when nobody else does: servers of our own on
// loopback ports, in a temporary folder, held by a keeper process.
//
// The demo is one process with a CPU account of its own. It serves a static
// page, the same object from two caches, and pages that misbehave on purpose,
// and tells of itself in the format of Apache's mod_status.
//
// # What the status page counts
//
// The demo is like the event MPM: a request takes one of a fixed number of
// worker slots when its header has been read, waits when all are held, and
// gives it back when its answer has been sent; an idle connection holds none.
// So the scoreboard knows two letters, W and _, and is as long as the pool.
//
// Total Accesses counts requests when they end, answers cut short and closed
// connections included; requests that net/http refuses by itself (malformed
// ones) and those whose client left before it was their turn are not counted.
// A poll sees itself as one W and is counted from the next one on. Total
// kBytes is every byte sent on the connections, status lines and headers
// included. Total Duration is the time that slots were held. The CPU fields
// are the process's own, in steps of 10 ms; with the embedded memcached its
// work is in them, with a real one it is not. What is not known on a system
// (load averages, CPU time) is left out.
package lab
