// Package fault carries two things beside an error's text: a hint on what to
// do, printed on its own line, and whether the input was at fault, so that the
// exit status can say so.
package fault

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

// IsInput tells whether err, or one that it wraps or joins, was made by Input.
func IsInput(err error) bool {
	return find(err, func(f *fault) bool { return f.input }) != nil
}

// HintOf returns the outermost hint of err, of joined ones the first, or "".
func HintOf(err error) string {
	if f := find(err, func(f *fault) bool { return f.hint != "" }); f != nil {
		return f.hint
	}
	return ""
}

// find returns the outermost fault that ok accepts, nil when there is none.
func find(err error, ok func(*fault) bool) *fault {
	if f, is := err.(*fault); is && ok(f) {
		return f
	}
	switch x := err.(type) {
	case interface{ Unwrap() error }:
		return find(x.Unwrap(), ok)
	case interface{ Unwrap() []error }:
		for _, one := range x.Unwrap() {
			if f := find(one, ok); f != nil {
				return f
			}
		}
	}
	return nil
}
