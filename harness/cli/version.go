package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// Version is the release that this source is for.
const Version = "0.1.0"

// version is the release with the commit that it was built from, as far as
// the build knows it.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return Version
	}
	commit, dirty := "", ""
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			commit = s.Value
		case "vcs.modified":
			if s.Value == "true" {
				dirty = ".dirty"
			}
		}
	}
	if commit == "" {
		return Version
	}
	return fmt.Sprintf("%s+%.12s%s", Version, commit, dirty)
}

func newVersionCommand(env *Env) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  abacus version",
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(env.Stdout, "abacus %s %s %s/%s\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}
