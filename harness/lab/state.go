package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// stateFile is the name of a lab's state file in its folder.
const stateFile = "lab.json"

const stateSchema = 1

// State is what a running lab's folder says about it.
type State struct {
	Schema int `json:"schema"`
	*Running
	// Owner says what holds the lab: "lab up" or "run".
	Owner string `json:"owner"`
	// OwnerPID is the process that holds it, OwnerStarted when that process
	// began (clock ticks since the machine's start), which tells it from a
	// later one of that number; 0 where the system does not tell.
	OwnerPID     int       `json:"owner_pid"`
	OwnerStarted uint64    `json:"owner_started_ticks,omitempty"`
	Started      time.Time `json:"started"`
	// Damaged says what is wrong with the state file, and names it. Of such a
	// lab nothing but Dir is known, not even whether it serves.
	Damaged string `json:"damaged,omitempty"`
}

func writeState(r *Running, owner string) error {
	s := State{Schema: stateSchema, Running: r, Owner: owner, OwnerPID: os.Getpid(), Started: time.Now().UTC()}
	if p, err := lookAt(s.OwnerPID); err == nil {
		s.OwnerStarted = p.started
	}
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("write the lab's state: %w", err)
	}
	path := filepath.Join(r.Dir, stateFile)
	if err := os.WriteFile(path+".new", append(text, '\n'), 0o644); err != nil {
		return fmt.Errorf("write the lab's state: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("write the lab's state: %w", err)
	}
	return nil
}

// Labs lists the labs of this user below temp ($TMPDIR when empty), oldest
// first by name. Folders of other users, and those without a state file (a lab
// that is just starting), are left out.
func Labs(temp string) ([]State, error) {
	if temp == "" {
		temp = os.TempDir()
	}
	dirs, err := filepath.Glob(filepath.Join(temp, dirPrefix+"*"))
	if err != nil {
		return nil, fmt.Errorf("look for labs: %w", err)
	}
	var all []State
	for _, dir := range dirs {
		if !ownDirectory(dir) {
			continue
		}
		s, err := readState(filepath.Join(dir, stateFile))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			s = State{Running: &Running{}, Damaged: err.Error()}
		}
		s.Dir = dir // where it really is, not what the file says
		all = append(all, s)
	}
	return all, nil
}

// mostState bounds a state file, in bytes.
const mostState = 1 << 20

// readState reads a state file. The error names the file.
func readState(path string) (State, error) {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return State{}, err
	case !info.Mode().IsRegular():
		return State{}, fmt.Errorf("%s is no regular file", path)
	case info.Size() > mostState:
		return State{}, fmt.Errorf("%s has %d bytes, more than any state file", path, info.Size())
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return State{}, err
	}
	s := State{Running: &Running{}}
	if err := json.Unmarshal(text, &s); err != nil {
		return State{}, fmt.Errorf("%s is damaged: %w", path, err)
	}
	switch {
	case s.Schema > stateSchema:
		return State{}, fmt.Errorf("%s has schema %d, this abacus reads up to %d", path, s.Schema, stateSchema)
	case s.Schema != stateSchema || s.Running == nil || s.BaseURL == "" || s.OwnerPID <= 0:
		return State{}, fmt.Errorf("%s is damaged: it names no lab and no process that holds one", path)
	}
	s.Damaged = ""
	return s, nil
}

// processFacts identify a process.
type processFacts struct {
	started uint64 // clock ticks since the machine's start
	program string // the base name of its program file
}

// OwnerAlive tells whether the process that holds the lab still runs: the
// same number, the same start, the same program as this one. The error says
// that the system, or a damaged state file, does not tell.
func (s State) OwnerAlive() (bool, error) {
	if s.Damaged != "" {
		return false, errors.New(s.Damaged)
	}
	owner, err := lookAt(s.OwnerPID)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	own, err := lookAt(os.Getpid())
	if err != nil {
		return false, err
	}
	return s.OwnerStarted != 0 && owner.started == s.OwnerStarted && owner.program == own.program, nil
}

// Down asks the process that holds the lab to end it, and waits until the
// folder is gone. A folder whose holder is gone is removed. A lab of which
// nothing is known is left alone, with an error.
func (s State) Down(wait time.Duration) error {
	if s.Damaged != "" {
		return fmt.Errorf("stop the lab in %s: %s", s.Dir, s.Damaged)
	}
	alive, err := s.OwnerAlive()
	if err != nil {
		return fmt.Errorf("look at process %d, which holds the lab: %w", s.OwnerPID, err)
	}
	if !alive {
		if err := os.RemoveAll(s.Dir); err != nil {
			return fmt.Errorf("remove what a lab left: %w", err)
		}
		return nil
	}
	if err := askToEnd(s.OwnerPID); err != nil {
		return fmt.Errorf("stop process %d, which holds the lab: %w", s.OwnerPID, err)
	}
	deadline := time.Now().Add(wait)
	for {
		if _, err := os.Stat(s.Dir); errors.Is(err, os.ErrNotExist) {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the lab in %s is still there after %v", s.Dir, wait)
		}
		time.Sleep(20 * time.Millisecond)
	}
}
