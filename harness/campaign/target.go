package campaign

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"abacus/harness/load"
	"abacus/harness/plan"
	"abacus/harness/preflight"
	"abacus/scenarios"
)

// target is where a cell's load goes.
type target struct {
	lab *Lab
	url string
	// port is what connections go to, for the count of sockets in TIME_WAIT.
	port int
}

// labKey tells labs apart: external ones by what stands behind them.
func labKey(cell plan.Cell) string {
	if cell.Lab != labExternal {
		return cell.Lab
	}
	s := cell.Settings
	var server scenarios.Server
	if s.Server != nil {
		server = *s.Server
	}
	status, off := s.StatusURL()
	return fmt.Sprintf("%s %q %q %q %v", labExternal, server.Host, server.Processes, status, off)
}

// labExternal is the lab of targets that are the user's.
const labExternal = plan.LabExternal

// startLabs starts each lab that the plan needs, once, and resolves the
// cells' targets on them.
func (c *Campaign) startLabs(ctx context.Context) error {
	c.labs = map[string]*Lab{}
	c.targets = map[int]target{}
	for _, cell := range c.Plan.Cells {
		key := labKey(cell)
		lab, ok := c.labs[key]
		if !ok {
			var err error
			if lab, err = c.startLab(ctx, cell); err != nil {
				return err
			}
			c.labs[key] = lab
			c.noteLab(cell.Lab, lab)
		}
		t, err := newTarget(cell, lab)
		if err != nil {
			return err
		}
		c.targets[cell.Index] = t
	}
	return nil
}

func (c *Campaign) startLab(ctx context.Context, cell plan.Cell) (*Lab, error) {
	lab := &Lab{Kind: labExternal}
	if cell.Lab != labExternal {
		var err error
		if lab, err = c.Needs.StartLab(ctx, cell.Lab); err != nil {
			return nil, fmt.Errorf("start lab %s: %w", cell.Lab, err)
		}
	}
	s := cell.Settings
	switch status, off := s.StatusURL(); {
	case off:
		lab.StatusURL = ""
	case status != "":
		lab.StatusURL = status
	}
	if s.Server != nil {
		lab.StatusHost = s.Server.Host
		if pids := c.Needs.Processes(s.Server.Processes); len(pids) > 0 {
			lab.PIDs = map[string][]int{roleServer: pids}
		}
	}
	return lab, nil
}

// noteLab puts into the manifest what is known of a lab.
func (c *Campaign) noteLab(kind string, lab *Lab) {
	for _, n := range lab.Notes {
		if !slices.Contains(c.Manifest.LabNotes, n) {
			c.Manifest.LabNotes = append(c.Manifest.LabNotes, n)
		}
	}
	if lab.StatusURL != "" {
		if c.Manifest.StatusURLs == nil {
			c.Manifest.StatusURLs = map[string]string{}
		}
		c.Manifest.StatusURLs[kind] = lab.StatusURL
	}
	if lab.BaseURL != "" {
		c.event(Event{Kind: EventLab, Text: fmt.Sprintf("%s serves at %s", kind, lab.BaseURL)})
	}
}

// describeMachine writes the environment again with what the labs add to it:
// their versions, and whether client and server share the machine.
func (c *Campaign) describeMachine(ctx context.Context) error {
	e := c.Needs.Environment(ctx)
	versions := maps.Clone(e.Versions)
	if versions == nil {
		versions = map[string]string{}
	}
	shared := true
	for _, t := range c.targets {
		maps.Copy(versions, t.lab.Versions)
		u, err := url.Parse(t.url)
		shared = shared && err == nil && (t.lab.Kind != labExternal || preflight.IsLocal(ctx, u.Hostname()))
	}
	e.Versions, e.SameMachine = versions, &shared
	return c.Record.WriteEnvironment(e)
}

// stopLabs ends all labs that were started; every one is tried.
func (c *Campaign) stopLabs(ctx context.Context) error {
	var errs []error
	for _, key := range slices.Sorted(maps.Keys(c.labs)) {
		if lab := c.labs[key]; lab.Stop != nil {
			errs = append(errs, lab.Stop(ctx))
		}
	}
	return errors.Join(errs...)
}

// newTarget resolves a cell's address.
func newTarget(cell plan.Cell, lab *Lab) (target, error) {
	raw := cell.URL
	if raw == "" {
		raw = lab.BaseURL + cell.Path
	}
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return target{}, fmt.Errorf("target of %s/%s: %q is no absolute URL", cell.Scenario, cell.Variant, raw)
	}
	port := u.Port()
	if to := cell.Settings.ConnectTo; to != "" {
		if _, port, err = net.SplitHostPort(to); err != nil {
			return target{}, fmt.Errorf("connect_to %q: %w", to, err)
		}
	}
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		return target{}, fmt.Errorf("target %q: port %q is no number", raw, port)
	}
	return target{lab: lab, url: raw, port: n}, nil
}

// expectEvery is how often an answer is checked during load: about one in 100.
const expectEvery = 100

// job makes the load job of a cell. stored is the form for the record, with
// secrets unexpanded or redacted; real is what the engine gets.
func (c *Campaign) job(cell plan.Cell) (stored, real load.Job, err error) {
	s := cell.Settings
	t := c.targets[cell.Index]
	j := load.Job{
		Engine: cell.Engine, URL: t.url, ConnectTo: s.ConnectTo, Method: s.Method,
		KeepAlive: cell.Step.KeepAlive, Concurrency: cell.Step.Concurrency,
		Requests: cell.Step.Requests, Duration: time.Duration(cell.Step.Duration),
		Timeout: time.Duration(s.Timeout), Interval: c.interval(cell),
		// A lab of ours has a certificate of its own making.
		InsecureTLS: cell.Lab != labExternal,
	}
	if s.AcceptVariableLength != nil {
		j.AcceptVariableLength = *s.AcceptVariableLength
	}
	if rules, ok := c.expectations(cell); ok {
		j.Expect, j.SampleEvery = rules, expectEvery
	}
	if stored, err = c.withRequest(j, s, false); err != nil {
		return stored, real, err
	}
	real, err = c.withRequest(j, s, true)
	return stored, real, err
}

// reference is a variable of the environment within a value.
var reference = regexp.MustCompile(`\$\{[A-Za-z_][A-Za-z0-9_]*\}`)

// keepSecrets tells the record what must not reach it, even when a server
// sends it back: values from the environment, and headers that are secret by
// their name.
func (c *Campaign) keepSecrets() {
	hide := &c.Record.Secrets
	expanded := func(text string) {
		for _, ref := range reference.FindAllString(text, -1) {
			// A variable that is not set stops the campaign elsewhere.
			if value, err := c.Needs.Expand(ref); err == nil {
				hide.Add(value)
			}
		}
	}
	for _, cell := range c.Plan.Cells {
		for _, h := range cell.Settings.Headers {
			expanded(h.Value)
			if c.Needs.Redact(h) != h.Value {
				hide.Add(h.Value)
				// Without its scheme: "Bearer x" is also looked for as x.
				if _, bare, ok := strings.Cut(h.Value, " "); ok {
					hide.Add(bare)
				}
			}
		}
		expanded(cell.Settings.Body)
	}
}

// withRequest adds headers and body, expanded or as they may be stored.
func (c *Campaign) withRequest(j load.Job, s scenarios.Settings, expand bool) (load.Job, error) {
	agent := false
	for _, h := range s.Headers {
		value := c.Needs.Redact(h)
		if expand {
			var err error
			if value, err = c.Needs.Expand(h.Value); err != nil {
				return j, fmt.Errorf("header %s: %w", h.Name, err)
			}
		}
		agent = agent || strings.EqualFold(h.Name, "User-Agent")
		j.Headers = append(j.Headers, load.Header{Name: h.Name, Value: value})
	}
	if !agent {
		j.Headers = append(j.Headers, load.Header{Name: "User-Agent", Value: UserAgent(c.Needs.Version, c.Manifest.Campaign)})
	}
	switch {
	case s.BodyFile != "" && !expand:
		// campaign.yaml names the file; its content may be large, or secret,
		// and would stand in each run.
	case s.BodyFile != "":
		body, err := c.Needs.ReadFile(s.BodyFile)
		if err != nil {
			return j, fmt.Errorf("body_file: %w", err)
		}
		j.Body = body
	case s.Body != "":
		body := s.Body
		if expand {
			var err error
			if body, err = c.Needs.Expand(body); err != nil {
				return j, fmt.Errorf("body: %w", err)
			}
		}
		j.Body = []byte(body)
	}
	return j, nil
}

// UserAgent is what requests of a campaign call themselves.
func UserAgent(version, campaign string) string {
	return fmt.Sprintf("abacus/%s (%s)", version, campaign)
}

// interval is the rhythm of observation beside a cell's runs.
func (c *Campaign) interval(cell plan.Cell) time.Duration {
	if o := cell.Settings.Observe; o != nil && o.Interval > 0 {
		return time.Duration(o.Interval)
	}
	return load.DefaultInterval
}
