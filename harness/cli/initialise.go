package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"abacus/harness/config"
	"abacus/harness/fault"
	"abacus/harness/metric"
	"abacus/harness/number"
	"abacus/scenarios"
)

// initFlags are the flags of `abacus init`.
type initFlags struct {
	full, force bool
	output      string
}

// campaignFile is the name under which init writes the default campaign.
const campaignFile = "config"

func newInitCommand(env *Env) *cobra.Command {
	var f initFlags
	cmd := &cobra.Command{
		Use:   "init [NAME]",
		Short: "List the built-in scenarios, or write one as a file to start from",
		Long: `Without a name, list the built-in scenarios. With one, write it as NAME.yaml: a
commented file to change and run. The name config writes the default campaign.
A file that exists is never overwritten without --force.`,
		Example: `  abacus init                          the list
  abacus init cache-comparison         writes cache-comparison.yaml
  abacus init static-ladder -o my.yaml
  abacus init config                   writes config.yaml, which abacus run then takes
  abacus init --full | less            every key with a comment and its default`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fault.Input(fmt.Errorf("init takes one name, not %d", len(args)), "abacus init NAME -o FILE writes each to a file of your choice")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			switch {
			case f.full && len(args) > 0:
				return fault.Input(errors.New("--full shows all keys, and a name one scenario: give one of them"), "")
			case f.full:
				return writeFull(env, f)
			case len(args) == 0 && f.output != "":
				return fault.Input(errors.New("-o needs a name to write"), "abacus init lists the names")
			case len(args) == 0:
				return listScenarios(env.Stdout)
			}
			return writeScenario(env, f, args[0])
		},
	}
	fl := cmd.Flags()
	fl.BoolVar(&f.full, "full", false, "show every key with a comment and its default")
	fl.StringVarP(&f.output, "output", "o", "", "write to `FILE`, or - for standard output")
	fl.BoolVar(&f.force, "force", false, "overwrite a file that exists")
	return cmd
}

// listScenarios prints one line for each built-in scenario.
func listScenarios(w io.Writer) error {
	var rows [][]string
	for _, name := range scenarios.BuiltIn() {
		s, err := config.BuiltIn(name)
		if err != nil {
			return err
		}
		rows = append(rows, []string{name, s.Title, extent(s)})
	}
	rows = append(rows, []string{campaignFile, "the default campaign, which runs all of them"})
	_, err := fmt.Fprintf(w, "%s\nabacus init NAME writes one as NAME.yaml; abacus run NAME runs it as it is.\n", columns("", rows))
	return err
}

// extent says how many things a scenario compares, and at how many load levels.
func extent(s scenarios.Scenario) string {
	n := max(len(s.Variants), 1) * max(len(s.Engines), 1) * max(len(s.Pages), 1)
	return number.Plural(int64(n), "variant") + ", " + number.Plural(int64(len(s.Steps)), "load level")
}

// writeScenario writes a built-in scenario, or the default campaign.
func writeScenario(env *Env, f initFlags, name string) error {
	text, ok := scenarios.File(name)
	if name == campaignFile {
		text, ok = config.DefaultFile(), true
	}
	if !ok {
		known := append(scenarios.BuiltIn(), campaignFile)
		hint := "abacus init lists the names"
		if near := metric.Nearest(name, known); near != "" {
			hint = "did you mean " + near + "? " + hint
		}
		return fault.Input(fmt.Errorf("there is no built-in scenario %q", name), hint)
	}
	if f.output == "" {
		f.output = name + ".yaml"
	}
	if err := writeNew(env, f, text); err != nil || f.output == "-" {
		return err
	}
	run := "abacus run " + f.output
	if name == campaignFile && f.output == "config.yaml" {
		run = "abacus run"
	}
	_, err := fmt.Fprintf(env.Stdout, "wrote %s; `%s` runs it, `%s --dry-run` shows what that means\n", f.output, run, run)
	return err
}

// writeFull shows every key, on standard output unless a file is named.
func writeFull(env *Env, f initFlags) error {
	if f.output == "" {
		f.output = "-"
	}
	if err := writeNew(env, f, config.FullFile()); err != nil || f.output == "-" {
		return err
	}
	_, err := fmt.Fprintf(env.Stdout, "wrote %s\n", f.output)
	return err
}

// writeNew writes a file that must not exist, unless forced.
func writeNew(env *Env, f initFlags, text []byte) error {
	if f.output == "-" {
		_, err := env.Stdout.Write(text)
		return err
	}
	mode := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if f.force {
		mode = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	file, err := os.OpenFile(f.output, mode, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fault.Input(fmt.Errorf("%s exists already", f.output), "choose another name with -o FILE, or overwrite it with --force")
	}
	if err != nil {
		return fault.Hint(fmt.Errorf("write %s: %w", f.output, err), "-o FILE writes elsewhere")
	}
	_, err = file.Write(text)
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("write %s: %w", f.output, err)
	}
	return nil
}
