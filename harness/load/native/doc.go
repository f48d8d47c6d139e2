// Package native is abacus's own HTTP/1 load engine: one goroutine per
// connection over net.Conn and crypto/tls, the request built once as bytes, an
// incremental parser for the answers, and exact accounting.
//
// # What is counted
//
// Job.Requests requests are made, not one more or less, and each is either
// whole (Complete) or failed in exactly one way; a whole answer whose body has
// another length than the first whole one is both (FailLength). A kept
// connection that the server closed between two requests, before any byte of
// the answer, is replaced and the request sent once more: that is a reconnect
// and no failure. HeaderBytes holds everything received that is not body
// (heads, interim 1xx heads, chunk framing, trailers), so HeaderBytes plus
// BodyBytes is all that came over the connection.
//
// Names are looked up once, before the start; the first address that answers
// is the one that all requests go to. After some refused connects in a row a
// connection waits a little before the next try, so that a dead server does
// not heat a processor; the requests are made and counted all the same.
//
// # What is timed
//
// Start (before a connect, if one is needed, else before the first byte is
// written), connected, request written, first byte and last byte of the answer
// are read from the monotonic clock. Connect holds real connects only, with
// their TLS handshake. An interim answer (1xx) is the first byte, when one
// comes. A request that was sent again keeps its first start in Total, while
// Connect and Processing are those of the second try.
//
// # How a run ends
//
// By requests: when the last answer has ended. By duration: no request is
// started any more; those under way may end within the shorter of Job.Timeout
// and one second and are counted, ElapsedNS then reaching to the last answer;
// what is still under way after that is dropped, and a note says how many. So
// slow answers are not cut off at the edge, and a dead server cannot hold the
// run. By its context: at once; what is under way is dropped, the result holds
// everything before and is marked Interrupted.
package native
