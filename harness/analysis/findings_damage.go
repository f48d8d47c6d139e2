package analysis

import (
	"fmt"
	"strings"

	"abacus/harness/number"
	"abacus/harness/preflight"
)

// damagedFiles names the files beside the runs that cannot be read: there are
// at most four.
func (f *finder) damagedFiles() {
	if len(f.in.Damaged) == 0 {
		return
	}
	var texts []string
	for _, err := range f.in.Damaged {
		texts = append(texts, short(err.Error(), 300))
	}
	f.add(Finding{ID: "record_damaged", Severity: preflight.Warning,
		Title: fmt.Sprintf("%s beside the runs cannot be read.", number.Plural(int64(len(texts)), "file")),
		Evidence: sentence(strings.Join(texts, "; "),
			"What they say of the machine, the checks or the plan is missing here; the figures come from the run files"),
		Advice: "restore the files from a copy of the record."})
}
