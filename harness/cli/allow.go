package cli

import (
	"bufio"
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"strings"

	"golang.org/x/term"

	"abacus/harness/campaign"
	"abacus/harness/fault"
	"abacus/harness/plan"
)

// askAllowed refuses to load hosts outside loopback and private networks that
// are not allowed by name. At a terminal one question is asked instead.
func askAllowed(ctx context.Context, env *Env, job *runJob) error {
	foreign, err := campaign.ForeignTargets(ctx, job.plan)
	if err != nil {
		return fault.Input(err, "check the name, or pin an address with connect_to")
	}
	if len(foreign) == 0 {
		return nil
	}
	var names, lines []string
	for _, f := range foreign {
		names = append(names, f.Host)
		lines = append(lines, f.Describe())
	}
	e := job.plan.Estimate()
	about := fmt.Sprintf("%s; about %s in all", strings.Join(lines, "; "), brief(e.Took))
	refusal := fault.Input(fmt.Errorf("not allowed to load %s", about), "if you may load it: --allow "+strings.Join(names, ","))
	if !isTerminal(env) {
		return refusal
	}
	fmt.Fprintf(env.Stderr, "This loads %s.\nDo you have permission? [y/N] ", about)
	answer := make(chan string, 1)
	go func() {
		// What was read until an error is the answer: nothing is no.
		line, _ := bufio.NewReader(env.Stdin).ReadString('\n')
		answer <- strings.ToLower(strings.TrimSpace(line))
	}()
	select {
	case a := <-answer:
		if a == "y" || a == "yes" {
			return nil
		}
		return refusal
	case <-ctx.Done():
		fmt.Fprintln(env.Stderr)
		return interruptedStatus(ctx)
	}
}

// isTerminal tells whether a person can be asked.
func isTerminal(env *Env) bool {
	in, ok := env.Stdin.(*os.File)
	if !ok || !term.IsTerminal(int(in.Fd())) {
		return false
	}
	out, ok := env.Stderr.(*os.File)
	return ok && term.IsTerminal(int(out.Fd()))
}

// hostOf is the host of a URL with its port.
func hostOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return raw
	}
	return u.Host
}

// labCommands lists the processes that a run of the plan starts, hooks aside.
func labCommands(env *Env, p *plan.Plan) [][]string {
	var list [][]string
	seen := map[string]bool{}
	for _, cell := range p.Cells {
		if seen[cell.Lab] || cell.Lab != plan.LabDemo {
			continue
		}
		seen[cell.Lab] = true
		list = append(list, []string{env.Executable, "keeper"}, []string{env.Executable, "demo"})
		if path, err := exec.LookPath("memcached"); err == nil {
			list = append(list, []string{path, "-l", "127.0.0.1"})
		}
	}
	return append(list, []string{env.Executable, "worker"})
}
