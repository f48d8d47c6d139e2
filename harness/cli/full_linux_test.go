package cli

import (
	"os"
	"strings"
	"testing"
)

// What cannot be printed was not done: a full disk is an error.
func TestOutputThatCannotBeWritten(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	dir := copyOfRecord(t)
	for _, args := range [][]string{
		{"version"}, {"init"}, {"lab", "status"}, {"report", dir}, {"report", "--format", "text", dir}, {"report", "--format", "json", dir},
	} {
		var said strings.Builder
		env := &Env{
			Args: append([]string{"abacus"}, args...), Stdin: strings.NewReader(""), Stdout: full, Stderr: &said,
			Getenv: func(string) string { return "" }, Environ: func() []string { return nil },
		}
		if code := Run(t.Context(), env); code != ExitFailed || !strings.Contains(said.String(), "no space left on device") {
			t.Errorf("%q: exit %d, %q; want 1 and the reason", args, code, said.String())
		}
	}
}
