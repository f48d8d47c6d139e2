// Package scenarios holds the built-in scenarios and the type that every
// scenario is read into. A scenario says what is compared: variants × pages ×
// steps.
package scenarios

import (
	"time"

	"abacus/harness/expect"
)

// Settings are the keys that may stand at any level: campaign, scenario,
// variant. A lower level overlays the one above it, key by key.
type Settings struct {
	// Lab is who serves.
	Lab *Lab `yaml:"lab" json:"lab,omitempty"`
	// URL is an external target, absolute; with it the lab is external.
	URL string `yaml:"url" json:"url,omitempty"`
	// ConnectTo pins the address (host:port) that is dialled.
	ConnectTo string `yaml:"connect_to" json:"connect_to,omitempty"`
	// Allow lists hosts outside loopback and private networks that may be loaded.
	Allow  []string `yaml:"allow" json:"allow,omitempty"`
	Server *Server  `yaml:"server" json:"server,omitempty"`
	// Engine is who loads; Engines runs each variant by each, as variant/engine.
	Engine  string   `yaml:"engine" json:"engine,omitempty"`
	Engines []string `yaml:"engines" json:"engines,omitempty"`

	// Headers keeps the case and order of the file.
	Headers  Headers  `yaml:"headers" json:"headers,omitempty"`
	Method   string   `yaml:"method" json:"method,omitempty"`
	Body     string   `yaml:"body" json:"body,omitempty"`
	BodyFile string   `yaml:"body_file" json:"body_file,omitempty"`
	Timeout  Duration `yaml:"timeout" json:"timeout,omitempty"`
	// AcceptVariableLength does not count other body lengths as failures.
	AcceptVariableLength *bool `yaml:"accept_variable_length" json:"accept_variable_length,omitempty"`

	// Repeats is the number of rounds; 0 is unset.
	Repeats int `yaml:"repeats" json:"repeats,omitempty"`
	// Seed draws the order of runs; nil means drawn at start.
	Seed    *uint64       `yaml:"seed" json:"seed,omitempty"`
	Warmup  *Warmup       `yaml:"warmup" json:"warmup,omitempty"`
	Settle  *Settle       `yaml:"settle" json:"settle,omitempty"`
	Observe *Observe      `yaml:"observe" json:"observe,omitempty"`
	Expect  *expect.Rules `yaml:"expect" json:"expect,omitempty"`
	// StopIf and Goals are expressions over metrics.
	StopIf []string `yaml:"stop_if" json:"stop_if,omitempty"`
	Goals  []string `yaml:"goals" json:"goals,omitempty"`

	// Hooks, each a list of argument lists; no shell is involved.
	Setup    [][]string `yaml:"setup" json:"setup,omitempty"`
	Prepare  [][]string `yaml:"prepare" json:"prepare,omitempty"`
	Conclude [][]string `yaml:"conclude" json:"conclude,omitempty"`
	Cleanup  [][]string `yaml:"cleanup" json:"cleanup,omitempty"`

	Title    string   `yaml:"title" json:"title,omitempty"`
	Question string   `yaml:"question" json:"question,omitempty"`
	Author   string   `yaml:"author" json:"author,omitempty"`
	Notes    string   `yaml:"notes" json:"notes,omitempty"`
	Caveats  []string `yaml:"caveats" json:"caveats,omitempty"`
}

// Scenario is one comparison.
type Scenario struct {
	Name string `yaml:"scenario" json:"scenario"`
	// Baseline is the reference variant; empty is the first.
	Baseline string `yaml:"baseline" json:"baseline,omitempty"`
	// Primary is the metric that a verdict rests on; empty is throughput.
	Primary string `yaml:"primary" json:"primary,omitempty"`
	// Margin is the share below which a difference does not matter; 0 is unset.
	Margin   float64   `yaml:"margin" json:"margin,omitempty"`
	Variants []Variant `yaml:"variants" json:"variants,omitempty"`
	Pages    []string  `yaml:"pages" json:"pages,omitempty"`
	Steps    Steps     `yaml:"steps" json:"steps"`
	Settings `yaml:",inline"`
}

// Variant is one thing compared.
type Variant struct {
	Name string `yaml:"name" json:"name"`
	// Path is asked for on the lab; URL (in Settings) is absolute.
	Path string `yaml:"path" json:"path,omitempty"`
	// Labs limits the variant to these labs; empty is all.
	Labs []string `yaml:"labs" json:"labs,omitempty"`
	// Source lists files that the page shows.
	Source   []string `yaml:"source" json:"source,omitempty"`
	Settings `yaml:",inline"`
}

// Step is one load level.
type Step struct {
	Concurrency int `yaml:"concurrency" json:"concurrency"`
	// Requests is the number to make, or 0 with Duration.
	Requests int64    `yaml:"requests" json:"requests,omitempty"`
	Duration Duration `yaml:"duration" json:"duration,omitempty"`
	// KeepAlive reuses connections.
	KeepAlive bool `yaml:"keepalive" json:"keepalive"`
}

// Steps are the load levels of a scenario in the order of the file, lists
// already multiplied out.
type Steps []Step

// Lab names who serves, as a kind or a mapping with a kind.
type Lab struct {
	// Kind is demo, apache, nginx or external.
	Kind string `yaml:"kind" json:"kind"`
}

// Server says what stands behind a URL.
type Server struct {
	// Status is the URL of a mod_status page.
	Status string `yaml:"status" json:"status,omitempty"`
	// Host is the Host header for the status page.
	Host string `yaml:"host" json:"host,omitempty"`
	// Processes are names of processes on this machine that serve.
	Processes []string `yaml:"processes" json:"processes,omitempty"`
}

// Warmup says how a variant is warmed up before it is measured.
type Warmup struct {
	Requests int64    `yaml:"requests" json:"requests,omitempty"`
	Duration Duration `yaml:"duration" json:"duration,omitempty"`
	// Until is "steady" or empty.
	Until string `yaml:"until" json:"until,omitempty"`
}

// Settle bounds the wait for idle before each run; Max 0 waits not at all.
type Settle struct {
	Max Duration `yaml:"max" json:"max"`
}

// Observe says what is watched beside the load.
type Observe struct {
	Interval Duration `yaml:"interval" json:"interval,omitempty"`
	// Status is a URL, "off", or empty for the lab's own.
	Status string `yaml:"status" json:"status,omitempty"`
	// Host turns the machine's figures off with false; nil is on.
	Host *bool `yaml:"host" json:"host,omitempty"`
}

// Header is one request header, its case kept. A value may hold ${NAME},
// which is taken from the environment when the request is made and is never
// stored expanded.
type Header struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Headers is a mapping in the file, in its order.
type Headers []Header

// Duration is a time.Duration that is written as text ("200ms") in YAML and
// JSON.
type Duration time.Duration

// String is the shortest text that time.ParseDuration reads back.
func (d Duration) String() string { return time.Duration(d).String() }

// MarshalText writes the duration as text.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	*d = Duration(v)
	return err
}
