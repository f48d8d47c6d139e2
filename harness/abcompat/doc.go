// Package abcompat is ApacheBench on top of package load: ab's command line,
// its messages and exit codes, and its report line by line, so that scripts
// that call ab and read its output go on working. Where ab's figures are
// wrong the layout stays and the figure is right; docs/ab-differences.md lists
// every such place.
//
// The order of things: options (parse) → target and job (request) → watch
// (progress, verbosity, ab's rules for giving up) → report.
package abcompat
