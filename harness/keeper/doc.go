// Package keeper is the process that holds what a lab started. The program
// that needs a lab starts itself again as a keeper and talks to it over
// pipes; the keeper starts the lab's servers, and when its standard input
// ends, however the other side went (kill -9 included), it stops them and
// removes the lab's folder.
//
// # The lines
//
// Requests and events are JSON objects, one a line.
//
//	{"op":"open","temp":DIR,"prefix":"abacus-lab-"}   answered by open with the new folder
//	{"op":"start","id":1,"spec":{…}}                  answered by started or failed
//	{"op":"stop","id":1}                              ends one child; its exited follows
//	{"op":"end"}                                      as the end of input, said aloud
//
//	{"event":"open","version":1,"pid":…,"dir":…}
//	{"event":"started","id":1,"pid":…}   {"event":"failed","id":1,"error":…}
//	{"event":"line","id":1,"text":…}     the child's first lines on standard output
//	{"event":"exited","id":1,"code":0,"signal":…,"stderr":…}
//	{"event":"ended","error":…}          all children are gone, and the folder
//
// # Who ends how
//
// The keeper has a session of its own and takes no notice of SIGINT, SIGTERM,
// SIGHUP and SIGPIPE: Ctrl-C at the terminal is for the program that holds
// the lab, which may want to write down what it measured first. Only the end
// of input ends a keeper.
//
// Each child has a session of its own too (apache signals its whole process
// group), and a pipe of the keeper's as standard input, which ends with the
// keeper. A child that does not read its input is bound to the keeper by the
// parent-death signal as well, where the system has one (Linux).
package keeper
