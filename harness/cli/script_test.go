package cli

import (
	"context"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain lets the test binary be the program: copied to the name abacus, it
// runs commands, and starts itself again for workers, keepers and demos.
func TestMain(m *testing.M) {
	program := func() {
		ctx, stop := WithSignals(context.Background())
		code := Run(ctx, System())
		stop()
		os.Exit(code)
	}
	testscript.Main(m, map[string]func(){"abacus": program, "ab": program})
}

// TestScripts runs testdata/script/<command>_<case>.txtar: usage, success,
// each refusal, exit status.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			// No colours, no surprise from the caller's environment.
			e.Setenv("NO_COLOR", "1")
			e.Setenv("TMPDIR", e.WorkDir)
			return nil
		},
	})
}
