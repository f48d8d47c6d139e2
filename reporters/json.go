package reporters

import (
	"encoding/json"
	"fmt"
	"io"

	"abacus/harness/analysis"
)

// JSON writes the analysis as the summary JSON: indented by two spaces, ended
// by a newline. Absent figures are left out; no number is ever NaN or infinite.
type JSON struct{}

var _ Reporter = JSON{}

// Report writes a to w in one piece, so that an analysis that cannot be
// written leaves nothing half done.
func (JSON) Report(w io.Writer, a *analysis.Analysis) error {
	data, err := json.MarshalIndent(a, "", "  ")
	if err != nil {
		return fmt.Errorf("write summary JSON of %s: %w", a.Record, err)
	}
	if _, err := w.Write(append(data, '\n')); err != nil {
		return fmt.Errorf("write summary JSON of %s: %w", a.Record, err)
	}
	return nil
}
