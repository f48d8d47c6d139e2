package fault

import (
	"errors"
	"fmt"
	"testing"
)

func TestFaults(t *testing.T) {
	base := errors.New("base")
	wrap := func(err error) error { return fmt.Errorf("around: %w", err) }
	for name, tt := range map[string]struct {
		err   error
		input bool
		hint  string
	}{
		"nil":                          {nil, false, ""},
		"another error":                {base, false, ""},
		"a hint":                       {Hint(base, "do"), false, "do"},
		"input":                        {Input(base, "give"), true, "give"},
		"input without a hint":         {Input(base, ""), true, ""},
		"wrapped":                      {wrap(Input(base, "give")), true, "give"},
		"the outermost hint counts":    {Hint(wrap(Input(base, "inner")), "outer"), true, "outer"},
		"an empty hint hides no other": {Input(Hint(base, "inner"), ""), true, "inner"},
		"joined":                       {errors.Join(base, Input(base, "give")), true, "give"},
		"joined after another hint":    {errors.Join(Hint(base, "do"), Input(base, "give")), true, "do"},
	} {
		if IsInput(tt.err) != tt.input || HintOf(tt.err) != tt.hint {
			t.Errorf("%s: input %v, hint %q; want %v, %q", name, IsInput(tt.err), HintOf(tt.err), tt.input, tt.hint)
		}
		if tt.err != nil && !errors.Is(tt.err, base) {
			t.Errorf("%s: the error itself is lost", name)
		}
	}
	if Hint(nil, "x") != nil || Input(nil, "x") != nil {
		t.Error("advice makes an error of none")
	}
	if got := Input(base, "give").Error(); got != "base" {
		t.Errorf("text %q: the hint must not be in it", got)
	}
}
