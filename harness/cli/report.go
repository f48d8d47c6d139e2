package cli

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"abacus/harness/fault"
	"abacus/harness/record"
	"abacus/reporters"
)

// reportFlags are the flags of `abacus report`.
type reportFlags struct {
	formats []string
	output  string
	results string
	open    bool
}

func newReportCommand(env *Env) *cobra.Command {
	var f reportFlags
	cmd := &cobra.Command{
		Use:   "report [RECORD...]",
		Short: "Render a record again: page, JSON, text",
		Long: `Render records again, by default the newest one. A record is named by its folder,
or by a campaign's name (its newest record). The record itself is not changed.

Formats: ` + formatList(),
		Example: `  abacus report                                   the newest record's page
  abacus report results/quickstart/latest
  abacus report --format json quickstart | jq '.cells[].throughput_per_s.mean'
  abacus report --format html,json,text --output out/`,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.results = resultsFolder(env, cmd)
			return runReport(env, f, args)
		},
	}
	fl := cmd.Flags()
	fl.StringSliceVar(&f.formats, "format", []string{"html"}, "formats to render, separated by commas")
	fl.StringVarP(&f.output, "output", "o", "", "folder for the files (default: the record's; json and text go to standard output)")
	fl.StringVar(&f.results, "results", "results", "folder of the records")
	fl.BoolVar(&f.open, "open", false, "open the page in the browser")
	return cmd
}

func formatList() string {
	var parts []string
	for _, f := range reporters.Formats() {
		parts = append(parts, f.Name+" ("+f.About+")")
	}
	return strings.Join(parts, ", ")
}

func runReport(env *Env, f reportFlags, args []string) error {
	formats, err := formatsNamed(f.formats)
	if err != nil {
		return err
	}
	if len(args) == 0 {
		args = []string{""}
	}
	if len(args) > 1 && f.output != "" {
		return fault.Input(fmt.Errorf("--output takes one record, got %d", len(args)), "render them one by one")
	}
	for _, arg := range args {
		dir, err := record.Find(f.results, arg)
		if err != nil {
			return err
		}
		if err := renderRecord(env, dir, formats, f); err != nil {
			return err
		}
	}
	return nil
}

func renderRecord(env *Env, dir string, formats []reporters.Format, f reportFlags) error {
	a, r, err := analyse(dir)
	if err != nil {
		return err
	}
	out := r.Dir()
	if f.output != "" {
		out = f.output
		if err := os.MkdirAll(out, 0o755); err != nil {
			return fmt.Errorf("output folder: %w", err)
		}
	}
	for _, format := range formats {
		if format.Printed && f.output == "" {
			if err := format.Reporter.Report(env.Stdout, a); err != nil {
				return fmt.Errorf("render %s: %w", format.Name, err)
			}
			continue
		}
		path, err := renderFile(a, format, out)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintln(env.Stdout, display(path)); err != nil {
			return fmt.Errorf("print where the page is: %w", err)
		}
		if format.Name == "html" && f.open {
			if err := openInBrowser(path); err != nil {
				fmt.Fprintf(env.Stderr, "abacus: %v\n", err)
			}
		}
	}
	return nil
}
