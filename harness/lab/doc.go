// Package lab is who serves when nobody else does: servers of our own on
// loopback ports, in a temporary folder, held by a keeper process.
//
// The demo is one process with a CPU account of its own. It serves a static
// page, the same object from two caches, and pages that misbehave on purpose,
// and tells of itself in the format of Apache's mod_status.
package lab
