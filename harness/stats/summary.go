// Package stats is the mathematics: numbers in, numbers out. It knows no file
// format and no meaning.
package stats

// Spread describes a few independent values, such as one figure of several
// runs. What cannot be computed is nil.
type Spread struct {
	N    int     `json:"n"`
	Mean float64 `json:"mean"`
	// SD is the sample standard deviation (n−1); nil for one value.
	SD  *float64 `json:"sd,omitempty"`
	Min float64  `json:"min"`
	Max float64  `json:"max"`
	// CI95 is the two-sided 95 % interval of the mean by Student's t with n−1
	// degrees of freedom; nil for one value.
	CI95 *[2]float64 `json:"ci95,omitempty"`
}
