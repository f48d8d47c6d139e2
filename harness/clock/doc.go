// Package clock gives one monotonic time that every process of a machine
// shares, so that what a worker measured and what a poller saw can be laid on
// one axis although they are different processes.
package clock
