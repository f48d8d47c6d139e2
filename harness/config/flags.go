package config

import (
	"github.com/spf13/pflag"
)

// flagKeys maps each flag to the key that it sets.
func flagKeys() map[string]string {
	return map[string]string{
		"repeats": "repeats", "engine": "engine", "lab": "lab", "url": "url", "status-url": "observe.status",
		"seed": "seed", "results": "results", "quick": "quick",
	}
}

// RegisterFlags adds the flags that change a configuration. Their values are
// read like values of a file, so that whatever is wrong is said together with
// all else.
func RegisterFlags(fs *pflag.FlagSet) {
	fs.String("repeats", "", "rounds over everything, `N` (default 6; fewer give no verdict)")
	fs.String("engine", "", "who loads: `NAME` native or hey; engines: in a file stands")
	fs.String("lab", "", "who serves: `KIND` demo or external")
	fs.String("url", "", "load this `URL` instead of a lab; paths of the scenarios are asked for on its host")
	fs.String("status-url", "", "the server's status page, `URL` of mod_status, or off")
	fs.String("seed", "", "draw the order of runs from `N` (default: drawn and printed)")
	fs.String("results", "", "the `FOLDER` that records land in (default results)")
	fs.StringSlice("allow", nil, "a `HOST` outside loopback and private networks that may be loaded; may be repeated")
	fs.Bool("quick", false, "a short look: one round, a tenth of the requests, no verdict")
	fs.StringArray("set", nil, "set any key, `KEY=VALUE` with VALUE in YAML, as in observe.interval=100ms; may be repeated")
}
