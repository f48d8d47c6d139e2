package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"abacus/harness/analysis"
	"abacus/harness/campaign"
	"abacus/harness/config"
	"abacus/harness/fault"
	"abacus/harness/number"
	"abacus/harness/plan"
	"abacus/harness/preflight"
	"abacus/harness/record"
	"abacus/reporters"
)

// runFlags are the flags of `abacus run` that are no configuration keys.
type runFlags struct {
	dryRun, printConfig, asJSON, open, force bool
	resume                                   string
}

func newRunCommand(env *Env) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run [FILE|NAME|URL...]",
		Short: "Measure: a campaign, a scenario, a URL's ladder, or URLs compared",
		Long: `Run a campaign and leave a record with its page below results/.

FILE is a campaign or scenario (it ends in .yaml or has a slash), NAME a built-in
scenario, a URL gets the static ladder, several URLs are compared. Without an
argument ./config.yaml is run, or the built-in default where there is none.`,
		Example: `  abacus run                                  the default campaign
  abacus run cache-comparison --repeats 10
  abacus run http://127.0.0.1:8080/page       one page at rising concurrency
  abacus run http://127.0.0.1:8080/a http://127.0.0.1:8080/b
  abacus run my.yaml --dry-run                what would be done
  abacus run --quick                          a page within 20 seconds, no verdict
  abacus run --resume results/quickstart/latest`,
		RunE: func(cmd *cobra.Command, args []string) error { return runRun(cmd.Context(), env, cmd, f, args) },
	}
	fl := cmd.Flags()
	config.RegisterFlags(fl)
	fl.BoolVar(&f.dryRun, "dry-run", false, "print runs, order, requests, minutes and commands; start nothing")
	fl.BoolVar(&f.printConfig, "print-config", false, "print the effective configuration and where each value came from; start nothing")
	fl.StringVar(&f.resume, "resume", "", "go on with an interrupted `RECORD`")
	fl.BoolVar(&f.force, "force", false, "resume although configuration or machine differ; the record says so")
	fl.BoolVar(&f.asJSON, "json", false, "print the summary as JSON")
	fl.BoolVar(&f.open, "open", false, "open the page in the browser at the end")
	return cmd
}

// job is everything that one invocation of run decided before it starts.
type runJob struct {
	loaded      *config.Loaded
	plan        *plan.Plan
	fingerprint string
	formats     []reporters.Format
	flags       runFlags
}

func runRun(ctx context.Context, env *Env, cmd *cobra.Command, f runFlags, args []string) error {
	wd, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("working folder: %w", err)
	}
	in := config.Input{Args: args, Flags: cmd.Flags(), Environ: env.Environ(), Dir: wd}
	var old *record.Reader
	if f.resume != "" {
		if len(args) > 0 {
			return fault.Input(errors.New("--resume takes its campaign from the record, so no FILE, NAME or URL may stand beside it"), "abacus run --resume RECORD")
		}
		if old, err = openForResume(f.resume, env, cmd); err != nil {
			return err
		}
		in.Args = []string{filepath.Join(old.Dir(), record.CampaignFile)}
	}
	job, err := prepareRun(env, f, in)
	if err != nil {
		return err
	}
	switch {
	case f.printConfig && f.dryRun:
		return fault.Input(errors.New("--dry-run and --print-config exclude each other"), "call abacus run twice")
	case f.printConfig:
		if f.asJSON {
			return encodeJSON(env.Stdout, job.loaded.Origins)
		}
		return printConfig(env.Stdout, job.loaded)
	case f.dryRun:
		return dryRun(ctx, env, job, old)
	}
	if err := askAllowed(ctx, env, job); err != nil {
		return err
	}
	return measure(ctx, env, job, old)
}

// openForResume finds the record that --resume names: its folder, or the name
// of a campaign below the results folder.
func openForResume(arg string, env *Env, cmd *cobra.Command) (*record.Reader, error) {
	dir, err := record.Find(resultsFolder(env, cmd), arg)
	if err != nil {
		return nil, err
	}
	return record.Open(dir)
}

// resultsFolder is where records are looked for by name: the flag, else the
// variable, else the default, as for a run without a file.
func resultsFolder(env *Env, cmd *cobra.Command) string {
	// The flag's own default is the last resort, and "" where it has none.
	flag := cmd.Flags().Lookup("results")
	if flag.Changed {
		return flag.Value.String()
	}
	return cmp.Or(env.Getenv("ABACUS_RESULTS"), flag.DefValue, "results")
}

// prepareRun loads the configuration and makes the plan. Nothing is started.
func prepareRun(env *Env, f runFlags, in config.Input) (*runJob, error) {
	loaded, err := config.Load(in)
	if err != nil {
		return nil, err
	}
	for _, w := range loaded.Warnings {
		fmt.Fprintf(env.Stderr, "warning: %s\n", w)
	}
	c := &loaded.Campaign
	p, err := plan.Expand(*c, *c.Seed)
	if err != nil {
		return nil, fault.Input(err, "")
	}
	fingerprint, err := p.Fingerprint()
	if err != nil {
		return nil, err
	}
	formats, err := formatsNamed(c.Report.Formats)
	if err != nil {
		return nil, err
	}
	f.open = f.open || c.Report.Open
	return &runJob{loaded: loaded, plan: p, fingerprint: fingerprint, formats: formats, flags: f}, nil
}

// measure runs the campaign, renders its page and prints the summary.
func measure(ctx context.Context, env *Env, job *runJob, old *record.Reader) error {
	c := job.plan.Campaign
	now := time.Now()
	walk := &campaign.Campaign{Plan: job.plan, Bounds: campaign.DefaultBounds(c.Quick), Needs: needs(env, job)}
	environment := readEnvironment(ctx)
	walk.Needs.Environment = func(context.Context) preflight.Environment { return environment }
	t := terminalOf(env, env.Stderr)
	show := newProgress(env.Stderr, t, job.plan.Rounds)
	walk.Needs.Events = show.event
	var err error
	if old != nil {
		if err := continueWith(job, walk, old, environment); err != nil {
			return err
		}
		if walk.Record, err = record.Reopen(old.Dir()); err != nil {
			return err
		}
	} else {
		walk.Manifest = campaign.Frame(job.plan, version(), job.fingerprint, now)
		if walk.Record, err = newRecord(job, now); err != nil {
			return err
		}
	}
	defer walk.Record.Close()
	printHead(env.Stderr, t, job)
	if old != nil {
		fmt.Fprintf(env.Stderr, "resume   %s of %s left\n", number.Plural(int64(len(walk.Left())), "run"), number.Count(int64(len(job.plan.Runs))))
	}
	outcome, runErr := walk.Run(ctx)
	show.clear()
	secrets := &walk.Record.Secrets
	return begun(finish(ctx, env, job, walk.Record.Dir(), outcome, begun(runErr, secrets)), secrets)
}

// begun is an error of a campaign that was begun: no wrong input any more,
// whatever it is made of, and without the secrets that a server sent back.
func begun(err error, secrets *record.Secrets) error {
	var code exitStatus
	if err == nil || errors.As(err, &code) {
		return err
	}
	hidden := secrets.Text(err.Error())
	if hidden == err.Error() && !fault.IsInput(err) {
		return err
	}
	return fault.Hint(errors.New(hidden), secrets.Text(fault.HintOf(err)))
}

// newRecord makes the record's folder and its campaign file.
func newRecord(job *runJob, now time.Time) (*record.Writer, error) {
	c := job.plan.Campaign
	yaml, err := config.MarshalCampaign(c)
	if err != nil {
		return nil, fmt.Errorf("write campaign.yaml: %w", err)
	}
	w, err := record.Create(c.Results, c.Name, now, recordNeed(job.plan))
	if err != nil {
		return nil, err
	}
	if err := w.WriteCampaign(yaml); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

// recordNeed is the space that a record and its page may take, in bytes: what
// runs took at most in trials, and room for the page.
func recordNeed(p *plan.Plan) int64 { return int64(len(p.Runs))*(48<<10) + 4<<20 }

// continueWith lets the walk go on with an old record, if machine and
// configuration are the same or the user forces it.
func continueWith(job *runJob, walk *campaign.Campaign, old *record.Reader, environment preflight.Environment) error {
	differences, err := campaign.Differences(old, job.plan, job.fingerprint, environment)
	if err != nil {
		return err
	}
	if len(differences) > 0 && !job.flags.force {
		return fault.Input(fmt.Errorf("resume %s: not the same as when it was begun:\n  %s", old.Dir(), strings.Join(differences, "\n  ")),
			"start a new campaign, or add --force to go on and have the record say so")
	}
	if err := walk.Continue(old); err != nil {
		return fault.Input(fmt.Errorf("resume %s: %w", old.Dir(), err), "start a new campaign")
	}
	for _, d := range differences {
		if !slices.Contains(walk.Manifest.Differences, d) {
			walk.Manifest.Differences = append(walk.Manifest.Differences, d)
		}
	}
	return nil
}

// finish renders what there is, prints the summary and settles the status.
func finish(ctx context.Context, env *Env, job *runJob, dir string, outcome campaign.Outcome, runErr error) error {
	a, _, err := analyse(dir)
	if err != nil {
		return errors.Join(runErr, err)
	}
	if err := printResults(env, job, dir, a); err != nil {
		return errors.Join(runErr, err)
	}
	switch {
	case outcome.Interrupted:
		if runErr != nil {
			fmt.Fprintf(env.Stderr, "abacus: %s\n", plainLines(runErr.Error()))
		}
		fmt.Fprintf(env.Stderr, "hint: go on with `abacus run --resume %s`\n", display(dir))
		return interruptedStatus(ctx)
	case runErr != nil:
		return runErr
	case outcome.FailedRuns > 0:
		return exitStatus(ExitFailed)
	}
	for _, g := range a.Goals {
		if g.Outcome == "missed" {
			return exitStatus(ExitFailed)
		}
	}
	return nil
}

// printResults renders the files, prints the summary and names the page.
func printResults(env *Env, job *runJob, dir string, a *analysis.Analysis) error {
	page := ""
	for _, f := range job.formats {
		path, err := renderFile(a, f, dir)
		if err != nil {
			return err
		}
		if f.Name == "html" {
			page = path
		}
	}
	if job.flags.asJSON {
		return reporters.JSON{}.Report(env.Stdout, a)
	}
	if err := summary(env.Stdout, terminalOf(env, env.Stdout), a); err != nil {
		return err
	}
	if page == "" {
		_, err := fmt.Fprintf(env.Stdout, "record   %s\n", display(dir))
		return err
	}
	if _, err := fmt.Fprintf(env.Stdout, "page     %s\n         %s\n", display(page), fileURL(page)); err != nil {
		return fmt.Errorf("print where the page is: %w", err)
	}
	if job.flags.open {
		// What was measured is no worse for a browser that does not start.
		if err := openInBrowser(page); err != nil {
			fmt.Fprintf(env.Stderr, "abacus: %v\n", err)
		}
	}
	return nil
}

// printHead says what is about to be done.
func printHead(w io.Writer, t terminal, job *runJob) {
	c, e := job.plan.Campaign, job.plan.Estimate()
	fmt.Fprintf(w, "%s · seed %d\n", t.paint(c.Name, "1"), job.plan.Seed)
	fmt.Fprintf(w, "%s in %s · about %s and %s requests · to %s\n\n", number.Plural(int64(e.Runs), "run"), number.Plural(int64(job.plan.Rounds), "round"), brief(e.Took), approximate(e.Requests), strings.Join(targets(job.plan), ", "))
}

// approximate writes a number of requests for an announcement.
func approximate(n int64) string {
	switch {
	case n >= 1_000_000:
		return fmt.Sprintf("%.1f million", float64(n)/1e6)
	case n >= 10_000:
		return fmt.Sprintf("%d thousand", (n+500)/1000)
	}
	return number.Count(n)
}

// dryRun prints what would be done: all, or what an old record lacks.
func dryRun(ctx context.Context, env *Env, job *runJob, old *record.Reader) error {
	d := dryPlan{loaded: job.loaded, plan: job.plan, commands: labCommands(env, job.plan)}
	walk := &campaign.Campaign{Plan: job.plan}
	if old != nil {
		if err := continueWith(job, walk, old, readEnvironment(ctx)); err != nil {
			return err
		}
		d.record = display(old.Dir())
	}
	d.left = walk.Left()
	if job.flags.asJSON {
		return encodeJSON(env.Stdout, struct {
			*plan.Plan
			// Left are the runs that would be made.
			Left []plan.Run `json:"left"`
		}{d.plan, d.left})
	}
	if err := printDryRun(env.Stdout, d); err != nil {
		return err
	}
	// A real run would ask or refuse; the dry one only says so.
	foreign, err := campaign.ForeignTargets(ctx, job.plan)
	if err != nil {
		return fault.Input(err, "check the name, or pin an address with connect_to")
	}
	for _, f := range foreign {
		fmt.Fprintf(env.Stdout, "\nnot allowed yet: %s; --allow %s\n", f.Describe(), f.Host)
	}
	return nil
}

func encodeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
