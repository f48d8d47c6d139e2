// Package reporters turns an analysis into files and text. A reporter lays
// out; it computes no statistic.
package reporters

import (
	"io"

	"abacus/harness/analysis"
)

// Reporter writes one format.
type Reporter interface {
	// Report writes the analysis to w. The same analysis gives the same bytes.
	Report(w io.Writer, a *analysis.Analysis) error
}
