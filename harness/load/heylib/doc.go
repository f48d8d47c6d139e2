// Package heylib is the load engine on rakyll/hey's library
// (github.com/rakyll/hey/requester): a second, independent client beside our
// own, for people who know hey's figures and to check one engine by another.
//
// # What is counted
//
// Exactly Job.Requests requests are made, although a Work of the library with
// C workers makes only floor(N/C)·C of N: every worker is a Work of its own,
// with one connection, and all draw from one number. (Works with several
// workers also race when redirects are off: each worker writes the client's
// CheckRedirect. And beyond 500 workers they drop connections that they should
// keep.) What a worker draws beyond the number fails before it is sent, and is
// not counted. So the concurrency is kept up to the last request, as by the
// native engine; the hey command gives each worker a fixed share instead.
//
// A Work keeps rows for its first million answers only, and their memory is
// bounded by doing long jobs in parts of PartRequests, one after the other.
// Between two parts the library writes its report and no load runs; that
// pause is not in ElapsedNS, and a note says how long it was in all.
//
// Redirects are not followed (one whose Location cannot be parsed is an
// exception to net/http, not an answer), compression is not asked for, the protocol is
// always HTTP/1.1. Header names keep their case but not their order. A
// connection that was kept and then closed by the server is replaced by
// net/http without a word, so the server may see more requests than were made.
//
// # What is timed
//
// The library measures latency from before a request is built to after its
// body was read, and in it the connect (DNS and TLS included, 0 on a reused
// connection), the writing, the wait for the first byte and the reading.
// Connect holds the connects above 0, Waiting the wait, Total the latency and
// Processing latency less connect. When the four phases of an answer add up to
// more than its latency (an answer that came before the request was written),
// only its total is used.
//
// The library's offset is the START of a request, counted from the start of
// the process. Its zero is found by three requests to a listener of our own on
// the loopback interface before the load begins. An answer belongs to the
// interval in which it ended: offset plus latency.
//
// # What cannot be known
//
// The library keeps no time for failures, no length of bodies, and tells
// nothing before it has ended. Absent in the result are therefore: length
// failures, reconnects, bytes, DocumentBytes, Lengths, Server. Interval.Failed
// is 0 because failures have no time; a note says so when there were any. A
// body that broke off, or that the timeout ended, is a whole answer to the
// library, which a note says always. Progress carries the elapsed time and
// Begun, the requests that were begun; its Counts are zero and its Interval is
// nil, so a rule that ends a run early cannot be judged live.
//
// # How a run ends
//
// As with the native engine: by requests when the last answer has ended; by
// duration no request is started any more, those under way may end within the
// shorter of Job.Timeout and one second, and what is still under way then is
// dropped with a note; by its context at once, and the result is marked
// Interrupted.
//
// # Limits
//
// Certificates are never verified by the library, so an https job without
// InsecureTLS is refused. A panic in one of its own goroutines cannot be
// caught: run it in a worker process. Memory is bounded by one part: the rows,
// the library's copy of them and their text. A run of 600,000 requests, in
// three parts, held 121 MB at most. The library keeps every different error
// text whole, though, and a server can put megabytes into one: a run that
// comes to hold 1 GiB is given up with an error. Writing the report costs
// about 2 µs of CPU time per answer, which the process's Usage cannot be
// cleared of.
package heylib
