// Package worker runs one load job in a child process, and is both sides of
// it: Engine in the parent, Serve in the child. A child of its own gives every
// run clean memory and exact CPU accounting, and contains an engine that
// panics, leaks or exits.
//
// # Protocol, version 1
//
// The parent writes one line of JSON to the child's standard input,
//
//	{"version":1,"job":{…}}
//
// and keeps the pipe open: its end means stop, whether the parent closed it
// or died. The child writes one JSON record per line to its standard output,
//
//	{"version":1,"type":"progress","progress":{…}}
//	{"version":1,"type":"result","result":{…}}
//	{"version":1,"type":"error","error":{"message":"…"},"result":{…}}
//
// any number of progress records, then one result or error (with the part of
// a result that there is, if any), and exits. Empty lines have no meaning:
// after the end of its input the child writes them to learn whether anybody
// still reads. A record of another version is an error.
package worker
