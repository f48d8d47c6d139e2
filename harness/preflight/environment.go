package preflight

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"abacus/harness/oneline"
)

// environmentSchema is the schema of environment.json that this program writes.
const environmentSchema = 1

// ReadEnvironment describes this machine. What is not known is left out; the
// caller adds what it alone knows (SameMachine, Versions).
func ReadEnvironment(ctx context.Context, abacusVersion string) Environment {
	return readEnvironment(ctx, abacusVersion, "/")
}

// readEnvironment reads below root, so that tests have machines of their own.
func readEnvironment(ctx context.Context, abacusVersion, root string) Environment {
	e := Environment{
		Schema: environmentSchema, AbacusVersion: abacusVersion, GoVersion: runtime.Version(),
		OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU(),
		TimeZone: timeZone(root, os.Getenv("TZ")),
	}
	readMachine(ctx, root, &e)
	return e
}

// timeZone is the IANA name of the local zone where it can be found, else its
// abbreviation.
func timeZone(root, tz string) string {
	if tz = strings.TrimPrefix(tz, ":"); tz != "" && !filepath.IsAbs(tz) {
		return oneline.Shorten(tz, 60)
	}
	link := tz
	if link == "" {
		link = filepath.Join(root, "etc", "localtime")
	}
	if to, err := os.Readlink(link); err == nil {
		link = to
	}
	if _, name, ok := strings.Cut(filepath.ToSlash(link), "/zoneinfo/"); ok {
		return oneline.Shorten(name, 60)
	}
	name, _ := time.Now().Zone()
	return name
}

// PortCount is the number of ports in a range as Environment.PortRange writes
// it ("32768-60999"); 0 when it is unknown.
func PortCount(portRange string) int {
	first, last, ok := strings.Cut(portRange, "-")
	a, okA := wholeNumber(first)
	b, okB := wholeNumber(last)
	if !ok || !okA || !okB || a < 1 || b < a || b > 65535 {
		return 0
	}
	return int(b - a + 1)
}
