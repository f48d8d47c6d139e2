// Package fault carries two things beside an error's text: a hint on what to
// do, printed on its own line, and whether the input was at fault, so that the
// exit status can say so.
package fault

import "errors"

// fault is an error with advice.
type fault struct {
	err   error
	hint  string
	input bool
}

func (f *fault) Error() string { return f.err.Error() }
func (f *fault) Unwrap() error { return f.err }

// Hint adds advice to err; nil stays nil. The hint is a sentence or command
// without the word "hint".
func Hint(err error, hint string) error {
	if err == nil {
		return nil
	}
	return &fault{err: err, hint: hint}
}

// Input marks err as caused by wrong or disallowed input: nothing was
// started, the exit status is 2. The hint may be empty. nil stays nil.
func Input(err error, hint string) error {
	if err == nil {
		return nil
	}
	return &fault{err: err, hint: hint, input: true}
}

// IsInput tells whether err, or one that it wraps, was made by Input.
func IsInput(err error) bool {
	for err != nil {
		var f *fault
		if !errors.As(err, &f) {
			return false
		}
		if f.input {
			return true
		}
		err = f.err
	}
	return false
}

// HintOf returns the outermost hint of err, or "".
func HintOf(err error) string {
	for err != nil {
		var f *fault
		if !errors.As(err, &f) {
			return ""
		}
		if f.hint != "" {
			return f.hint
		}
		err = f.err
	}
	return ""
}
