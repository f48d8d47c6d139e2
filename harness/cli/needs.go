package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/shirou/gopsutil/v4/process"

	"abacus/harness/campaign"
	"abacus/harness/config"
	"abacus/harness/fault"
	"abacus/harness/lab"
	"abacus/harness/load"
	"abacus/harness/observe"
	"abacus/harness/plan"
	"abacus/harness/preflight"
	"abacus/harness/worker"
)

// statusTimeout bounds one poll of a status page: with the pool full it
// queues, and how long it did is itself worth knowing.
const statusTimeout = 5 * time.Second

// needs joins the concrete engines, labs and pollers to what a campaign asks
// for.
func needs(env *Env, job *runJob) campaign.Needs {
	engine := newWorkers(env)
	return campaign.Needs{
		Engine:    engine,
		ClientPID: func() int { return int(engine.pid.Load()) },
		StartLab:  func(ctx context.Context, kind string) (*campaign.Lab, error) { return startLab(ctx, env, kind) },
		Processes: processesNamed,
		Pollers: func(l *campaign.Lab, host bool, roles func() map[string][]int) []campaign.Poller {
			var list []campaign.Poller
			if l.StatusURL != "" {
				p := observe.NewStatusPoller(l.StatusURL, l.StatusHost, statusTimeout)
				p.UserAgent = campaign.UserAgent(Version, job.plan.Campaign.Name)
				list = append(list, p)
			}
			if host {
				list = append(list, observe.NewHostPoller())
			}
			return append(list, observe.NewProcessPoller(roles))
		},
		Expand:   func(s string) (string, error) { return config.Expand(s, env.Getenv) },
		Redact:   config.Redact,
		ReadFile: func(name string) ([]byte, error) { return readBeside(job.loaded.File, name) },
		Now:      time.Now,
		Version:  Version,
	}
}

// workers runs each job in a worker process, and knows the one that runs now.
type workers struct {
	worker.Engine
	pid atomic.Int64
}

func newWorkers(env *Env) *workers {
	w := &workers{}
	w.Command = []string{env.Executable, "worker"}
	w.Started = func(pid int) { w.pid.Store(int64(pid)) }
	return w
}

// Run runs one job. When it is over no worker is left to be watched: its
// number may be another process's by the next run.
func (w *workers) Run(ctx context.Context, job load.Job, progress func(load.Progress)) (*load.Result, error) {
	defer w.pid.Store(0)
	return w.Engine.Run(ctx, job, progress)
}

// startLab starts one of the labs that abacus can start itself.
func startLab(ctx context.Context, env *Env, kind string) (*campaign.Lab, error) {
	if kind != plan.LabDemo {
		return nil, fault.Input(fmt.Errorf("lab %s cannot be started", kind), "this version starts: "+plan.LabDemo)
	}
	running, err := lab.StartDemo(ctx, lab.Options{Command: []string{env.Executable}})
	if err != nil {
		return nil, err
	}
	return &campaign.Lab{
		Kind: running.Kind, BaseURL: running.BaseURL, StatusURL: running.StatusURL,
		PIDs: running.PIDs, Notes: running.Notes, Versions: running.Versions,
		Alive: running.Alive, Ended: running.Ended, Stop: running.Stop,
	}, nil
}

// readBeside reads a body_file named in a configuration, relative to that file.
func readBeside(configuration, name string) ([]byte, error) {
	if !filepath.IsAbs(name) && configuration != "" {
		name = filepath.Join(filepath.Dir(configuration), name)
	}
	return config.ReadBody(name)
}

// processesNamed lists the processes of this machine with one of the names.
func processesNamed(names []string) []int {
	if len(names) == 0 {
		return nil
	}
	want := map[string]bool{}
	for _, n := range names {
		want[n] = true
	}
	all, err := process.Processes()
	if err != nil {
		return nil
	}
	var pids []int
	for _, p := range all {
		// A process that ends while it is looked at is not one that serves.
		if name, err := p.Name(); err == nil && want[name] {
			pids = append(pids, int(p.Pid))
		}
	}
	return pids
}

// readEnvironment reads the machine as the record keeps it.
func readEnvironment(ctx context.Context) preflight.Environment {
	return preflight.ReadEnvironment(ctx, version())
}
