// Package metric names every figure that abacus knows, once: its id, unit,
// better direction and definition; and it reads expressions over them, as the
// keys goals and stop_if hold. It computes nothing.
package metric

import (
	"slices"
	"strings"
)

// The units of Definition.Unit.
const (
	UnitPerSecond      = "/s"
	UnitNanoseconds    = "ns"
	UnitOne            = "1" // a count, or a share from 0 to 1
	UnitBytesPerSecond = "bytes/s"
)

// Definition is what one figure means.
type Definition struct {
	// ID is the name in JSON, CSV and everywhere else.
	ID string `json:"id"`
	// Aliases are further names that expressions may use.
	Aliases []string `json:"aliases,omitempty"`
	// Unit is one of the Unit constants; values are always in it.
	Unit string `json:"unit"`
	// HigherIsBetter is nil when neither direction is better by itself.
	HigherIsBetter *bool `json:"higher_is_better,omitempty"`
	// OfRequests tells that the figure counts requests, so that a percentage
	// of it means a share of the requests that were made.
	OfRequests bool `json:"of_requests,omitempty"`
	// Live tells that each interval of a run in flight has it, so that stop_if
	// can be judged on it.
	Live bool `json:"-"`
	// Source says who measures it: client, status page, processes.
	Source string `json:"source"`
	// Text defines the figure in a sentence or two.
	Text string `json:"text"`
}

// The sources of Definition.Source.
const (
	fromClient    = "client"
	fromStatus    = "status page"
	fromProcesses = "processes"
)

// Table lists all metrics in the order in which they are shown. The caller may
// change the returned slice.
func Table() []Definition {
	higher, lower := new(bool), new(bool)
	*higher = true
	latency := func(id, text string) Definition {
		return Definition{ID: id, Unit: UnitNanoseconds, HigherIsBetter: lower, Source: fromClient, Text: text}
	}
	part := func(name, text string) Definition {
		return Definition{ID: name + "_ns", Aliases: []string{name}, Unit: UnitNanoseconds, HigherIsBetter: lower, Source: fromClient, Text: text}
	}
	count := func(id string, better *bool, text string) Definition {
		return Definition{ID: id, Unit: UnitOne, HigherIsBetter: better, OfRequests: true, Source: fromClient, Text: text}
	}
	table := []Definition{
		{ID: "throughput_per_s", Aliases: []string{"throughput"}, Unit: UnitPerSecond, HigherIsBetter: higher, Source: fromClient,
			Text: "Complete answers divided by the time from the start of the load to its end."},
		{ID: "latency_mean_ns", Aliases: []string{"latency", "latency_mean", "mean"}, Unit: UnitNanoseconds, HigherIsBetter: lower, Source: fromClient,
			Text: "Arithmetic mean of the total time of all complete answers, from the exact sum."},
		latency("p50", "Median total time: half of the complete answers took no longer."),
		latency("p75", "Total time that 75 % of the complete answers did not exceed."),
		latency("p90", "Total time that 90 % of the complete answers did not exceed."),
		latency("p95", "Total time that 95 % of the complete answers did not exceed."),
		latency("p99", "Total time that 99 % of the complete answers did not exceed."),
		latency("p999", "Total time that 99.9 % of the complete answers did not exceed."),
		latency("max", "Longest total time of a complete answer, exact."),
		part("connect", "Mean time to open a connection, TLS included, over the requests that opened one; a reused connection does not count as 0."),
		part("waiting", "Mean time from the request being written to the first byte of the answer."),
		part("processing", "Mean time from the connection being ready to the last byte of the answer: waiting and reading."),
		part("total", "Mean time from the start of the request, connecting included, to the last byte of the answer."),
		{ID: "service_p99", Unit: UnitNanoseconds, HigherIsBetter: lower, Source: fromClient,
			Text: "99th percentile counted from when a request was really sent, beside the latency that counts from when it should have been sent; only with a request rate."},
		count("complete", higher, "Whole answers, of any status and length."),
		count("failed", lower, "Failed requests: the sum of the kinds connect, receive, length, timeout and exception."),
		count("failed_connect", lower, "Requests for which no connection, or no TLS on it, could be made."),
		count("failed_receive", lower, "Requests whose connection broke or closed before the answer was whole."),
		count("failed_length", lower, "Whole answers whose body has another length than the first one; they also count as complete."),
		count("failed_timeout", lower, "Requests whose answer was not whole within the timeout."),
		count("failed_exception", lower, "Requests answered by something that is not HTTP, or that failed in no other of these ways."),
		count("non_2xx", lower, "Whole answers whose status is not 2xx. They are no failures by themselves."),
		count("status_429", lower, "Whole answers with status 429, Too Many Requests: the server asks for less load."),
		count("reconnects", lower, "Requests sent again on a new connection because the kept one had been closed between two requests."),
		{ID: "bytes_per_s", Aliases: []string{"bytes"}, Unit: UnitBytesPerSecond, HigherIsBetter: higher, Source: fromClient,
			Text: "Bytes received, headers and bodies, divided by the time of the load."},
		{ID: "client_cpu_ns_per_request", Aliases: []string{"client_cpu"}, Unit: UnitNanoseconds, HigherIsBetter: lower, Source: fromProcesses,
			Text: "CPU time, user and system, of the load generator's process divided by the requests that it made."},
		{ID: "server_cpu_ns_per_request", Aliases: []string{"server_cpu"}, Unit: UnitNanoseconds, HigherIsBetter: lower, Source: fromProcesses,
			Text: "CPU time, user and system, of the server's processes during the load divided by the requests made; only when they run on this machine."},
		{ID: "busy_workers_peak", Aliases: []string{"busy_workers"}, Unit: UnitOne, Source: fromStatus,
			Text: "Highest number of busy workers that the status page showed during the load; short peaks between two polls are not seen."},
		{ID: "idle_workers_min", Aliases: []string{"idle_workers"}, Unit: UnitOne, Source: fromStatus,
			Text: "Lowest number of idle workers that the status page showed during the load; near 0 the pool is the limit."},
		{ID: "client_cpu_share", Unit: UnitOne, HigherIsBetter: lower, Source: fromProcesses,
			Text: "CPU time of the load generator divided by the time of the load and by the CPUs that it may use, 0 to 1; near 1 the client is the limit."},
		{ID: "send_lag_p99_ns", Aliases: []string{"send_lag", "send_lag_p99"}, Unit: UnitNanoseconds, HigherIsBetter: lower, Source: fromClient,
			Text: "99th percentile of how much later than intended a request was sent; only with a request rate."},
	}
	for i := range table {
		table[i].Live = slices.Contains(live(), table[i].ID)
	}
	return table
}

// live lists the metrics that an interval of a run in flight has.
func live() []string {
	return []string{"throughput_per_s", "p50", "p95", "p99", "max", "complete", "failed", "failed_timeout", "status_429"}
}

// Lookup finds a metric by id or alias. Letter case matters.
func Lookup(id string) (Definition, bool) {
	for _, d := range Table() {
		if d.ID == id {
			return d, true
		}
		for _, a := range d.Aliases {
			if a == id {
				return d, true
			}
		}
	}
	return Definition{}, false
}

// names lists every id and alias.
func names() []string {
	var all []string
	for _, d := range Table() {
		all = append(all, d.ID)
		all = append(all, d.Aliases...)
	}
	return all
}

// allowed is the short list for error messages: the name that one would type.
func allowed() string {
	var short []string
	for _, d := range Table() {
		name := d.ID
		if len(d.Aliases) > 0 {
			name = d.Aliases[0]
		}
		short = append(short, name)
	}
	return strings.Join(short, ", ")
}
