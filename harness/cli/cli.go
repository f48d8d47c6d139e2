// Package cli is the command line: one file per command. It alone names
// concrete engines, pollers, reporters and labs, and joins them.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"abacus/harness/fault"
	"abacus/reporters"
)

// The exit statuses of every command but ab.
const (
	ExitDone        = 0
	ExitFailed      = 1   // a goal was missed, a run failed, or an error came
	ExitInput       = 2   // the input was wrong or not allowed; nothing was started
	ExitInterrupted = 130 // SIGINT; what was measured is kept
	ExitTerminated  = 143 // SIGTERM, likewise
	ExitHungUp      = 129 // SIGHUP, likewise
)

// Env is the world of one invocation, so that commands can be run in tests.
type Env struct {
	Args           []string // the program's name first
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Getenv looks up one variable; Environ lists all as KEY=value.
	Getenv  func(string) string
	Environ func() []string
	// Executable is the path of this program, started again for workers.
	Executable string
}

// System is the world of this process.
func System() *Env {
	exe, err := os.Executable()
	if err != nil {
		// Started by a name that is on the PATH, it can be started so again.
		exe = os.Args[0]
	}
	return &Env{
		Args: os.Args, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Getenv: os.Getenv, Environ: os.Environ, Executable: exe,
	}
}

// exitStatus ends a command with a status other than those of errors. It
// carries no message: what there is to say has been said.
type exitStatus int

func (e exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// Run runs one command line and returns the exit status.
func Run(ctx context.Context, env *Env) int {
	if name := strings.TrimSuffix(filepath.Base(env.Args[0]), ".exe"); name == "ab" {
		return runAB(ctx, env, env.Args[1:])
	}
	if len(env.Args) > 1 && env.Args[1] == "ab" {
		// ab has its own option syntax, which cobra must not touch.
		return runAB(ctx, env, env.Args[2:])
	}
	root := newRoot(env)
	root.SetArgs(env.Args[1:])
	err := root.ExecuteContext(ctx)
	return status(env, err)
}

// status prints the error with its hint and turns it into an exit status.
func status(env *Env, err error) int {
	var code exitStatus
	switch {
	case err == nil:
		return ExitDone
	case errors.As(err, &code):
		return int(code)
	}
	fmt.Fprintf(env.Stderr, "abacus: %s\n", plainLines(err.Error()))
	if hint := fault.HintOf(err); hint != "" {
		fmt.Fprintf(env.Stderr, "hint: %s\n", plainLines(hint))
	}
	if fault.IsInput(err) {
		return ExitInput
	}
	return ExitFailed
}

// plainLines takes control characters out of a text but for its line ends.
func plainLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = reporters.Plain(l)
	}
	return strings.Join(lines, "\n")
}

// newRoot builds the command tree. The literal table below is the only list
// of commands.
func newRoot(env *Env) *cobra.Command {
	root := &cobra.Command{
		Use:   "abacus",
		Short: "A scripted HTTP benchmark harness with report generation",
		Long:  "abacus checks what is really running, drives load, repeats and interleaves runs,\nwatches the server and the machine while it does, and says what the numbers mean.",
		Example: `  abacus run                            the default campaign, on a server of its own
  abacus run http://127.0.0.1:8080/     one page under rising load
  abacus report                         the newest record's page again
  abacus init cache-comparison          a commented file to start from`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          knownCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SuggestionsMinimumDistance = 2
	root.SetIn(env.Stdin)
	root.SetOut(env.Stdout)
	root.SetErr(env.Stderr)
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fault.Input(err, fmt.Sprintf("see `%s --help`", cmd.CommandPath()))
	})
	root.AddGroup(&cobra.Group{ID: groupEveryday, Title: "Everyday:"}, &cobra.Group{ID: groupMore, Title: "More:"})
	root.SetHelpCommandGroupID(groupMore)
	for _, c := range []struct {
		group string
		cmd   *cobra.Command
	}{
		{groupEveryday, newRunCommand(env)},
		{groupEveryday, newReportCommand(env)},
		{groupEveryday, newWatchCommand(env)},
		{groupEveryday, newABCommand(env)},
		{groupEveryday, newInitCommand(env)},
		{groupMore, newLabCommand(env)},
		{groupMore, newVersionCommand(env)},
		{"", newWorkerCommand(env)},
		{"", newKeeperCommand(env)},
		{"", newDemoCommand(env)},
	} {
		c.cmd.GroupID = c.group
		root.AddCommand(c.cmd)
	}
	return root
}

const (
	groupEveryday = "everyday"
	groupMore     = "more"
)
