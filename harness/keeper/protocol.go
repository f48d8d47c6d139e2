package keeper

import "time"

// protocolVersion is raised when a line changes its meaning. Both sides are
// the same program, so it guards against a mixed pair only.
const protocolVersion = 1

// maxLine bounds one line of the protocol in bytes.
const maxLine = 1 << 20

// Spec is a process that the keeper shall start.
type Spec struct {
	// Role names it in messages: server, memcached.
	Role string `json:"role"`
	// Argv is the program's path and its arguments; no shell is involved.
	Argv []string `json:"argv"`
	// Env is the whole environment as KEY=value; nil is the keeper's own.
	Env []string `json:"env,omitempty"`
	// Dir is the working folder; empty is the lab's folder.
	Dir string `json:"dir,omitempty"`
	// UID and GID are what the process runs as, both or neither; nil is the
	// keeper's own user. Changing it needs root.
	UID *uint32 `json:"uid,omitempty"`
	GID *uint32 `json:"gid,omitempty"`
	// DeathSignal is sent when the keeper dies without a word; 0 is SIGKILL.
	// Linux only.
	DeathSignal int `json:"death_signal,omitempty"`
	// Grace is how long the process may take to end on SIGTERM before
	// SIGKILL; 0 is DefaultGrace.
	Grace time.Duration `json:"grace_ns,omitempty"`
}

// Exit is how a child ended.
type Exit struct {
	// Code is the exit status, -1 when a signal ended the child.
	Code int
	// Signal is the signal's name, or empty.
	Signal string
	// Stderr is the end of what the child wrote to standard error.
	Stderr string
}

// request is one line to the keeper.
type request struct {
	Op     string `json:"op"`
	ID     int    `json:"id,omitempty"`
	Spec   *Spec  `json:"spec,omitempty"`
	Temp   string `json:"temp,omitempty"`
	Prefix string `json:"prefix,omitempty"`
}

// event is one line from the keeper.
type event struct {
	Event   string `json:"event"`
	ID      int    `json:"id,omitempty"`
	Version int    `json:"version,omitempty"`
	PID     int    `json:"pid,omitempty"`
	Dir     string `json:"dir,omitempty"`
	Text    string `json:"text,omitempty"`
	Error   string `json:"error,omitempty"`
	Code    int    `json:"code,omitempty"`
	Signal  string `json:"signal,omitempty"`
	Stderr  string `json:"stderr,omitempty"`
}
