package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"strconv"
	"strings"
	"time"

	"abacus/harness/keeper"
	"abacus/harness/oneline"
)

// memcachedProcess is a real memcached of ours.
type memcachedProcess struct {
	path, address, version string
	child                  *keeper.Child
}

// memcachedTries is how many ports are tried: another program may take one
// between the search and memcached's start.
const memcachedTries = 3

// memcachedGrace is how long memcached may take to end by itself.
const memcachedGrace = 200 * time.Millisecond

// startMemcached starts the real memcached when there is one; without one, or
// when it does not start, it says why not.
func (r *Running) startMemcached(ctx context.Context, look func(string) (string, error)) (*memcachedProcess, string) {
	path, err := look("memcached")
	if err != nil {
		return nil, "memcached is not on the PATH"
	}
	for range memcachedTries {
		p, failed := r.tryMemcached(ctx, path)
		if failed == nil {
			return p, ""
		}
		if ctx.Err() != nil && err != nil {
			break // the time is up, and an earlier try says more
		}
		err = failed
		if ctx.Err() != nil {
			break
		}
	}
	return nil, fmt.Sprintf("%s did not start: %v", path, err)
}

func (r *Running) tryMemcached(ctx context.Context, path string) (*memcachedProcess, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	spec := keeper.Spec{
		Role: "memcached",
		// It has nothing to save, and takes up to a second to see a SIGTERM.
		Grace: memcachedGrace,
		// It keeps nothing in files, and nobody may not enter a private $TMPDIR.
		Dir:  string(os.PathSeparator),
		Argv: []string{path, "-l", "127.0.0.1", "-p", strconv.Itoa(port), "-U", "0", "-m", "64", "-c", "1024"},
	}
	if err := dropRights(&spec); err != nil {
		return nil, err
	}
	child, err := r.keeper.Launch(ctx, spec)
	if err != nil {
		return nil, err
	}
	p := &memcachedProcess{path: path, address: fmt.Sprintf("127.0.0.1:%d", port), child: child}
	if err := p.waitReady(ctx); err != nil {
		stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
		defer cancel()
		_ = child.Stop(stop)
		return nil, fmt.Errorf("%w%s", err, lastWords(child))
	}
	return p, nil
}

// lastWords are what a memcached that was stopped had said.
func lastWords(child *keeper.Child) string {
	select {
	case <-child.Done():
	default:
		return "" // nothing is known of it
	}
	over, cancel := context.WithCancel(context.Background())
	cancel()
	var said []string
	for {
		line, err := child.Line(over)
		if err != nil {
			break
		}
		said = append(said, line)
	}
	said = append(said, child.Exit().Stderr)
	text := strings.TrimSpace(strings.Join(said, "\n"))
	if text == "" {
		return "; it said nothing"
	}
	return "; it said " + oneline.Quote(text[max(len(text)-mostWords, 0):], mostWords)
}

// mostWords bounds how much of a memcached's output is repeated, in bytes.
const mostWords = 500

// dropRights has root's memcached run as nobody, which memcached insists on.
// The keeper changes the user, not memcached's own -u: a process that changes
// its user itself loses the signal that ends it with its keeper.
func dropRights(spec *keeper.Spec) error {
	if os.Geteuid() != 0 {
		return nil
	}
	nobody, err := user.Lookup("nobody")
	if err != nil {
		return fmt.Errorf("memcached does not run as root: %w", err)
	}
	uid, err1 := strconv.ParseUint(nobody.Uid, 10, 32)
	gid, err2 := strconv.ParseUint(nobody.Gid, 10, 32)
	if err1 != nil || err2 != nil {
		return fmt.Errorf("memcached does not run as root, and the user nobody has the ids %q and %q", nobody.Uid, nobody.Gid)
	}
	u, g := uint32(uid), uint32(gid)
	spec.UID, spec.GID = &u, &g
	return nil
}

// waitReady asks until memcached answers and proves by its process id that it
// is the one that was started.
func (p *memcachedProcess) waitReady(ctx context.Context) error {
	begun := time.Now()
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	probe := newMemcachedClient(p.address, 1)
	for {
		var stats map[string]string
		_, err := probe.with(ctx, false, func(c *memcachedConn) (bool, error) {
			var err error
			stats, err = c.stats()
			return false, err
		})
		if err == nil {
			if stats["pid"] != strconv.Itoa(p.child.PID) {
				return fmt.Errorf("another server than ours answers on %s", p.address)
			}
			p.version = stats["version"]
			return nil
		}
		select {
		case <-p.child.Done():
			return fmt.Errorf("it %s", p.child.Exit())
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return fmt.Errorf("no answer on %s within %v", p.address, time.Since(begun).Round(100*time.Millisecond))
			}
			return context.Cause(ctx)
		case <-time.After(5 * time.Millisecond):
		}
	}
}
