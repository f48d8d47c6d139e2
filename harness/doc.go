// Package harness holds the stages of abacus, a package each. It has no code
// of its own; its test holds the real imports against the table of what may
// import what.
//
// Plain values pass one way, and each stage can be run again from what the
// one before has left:
//
//  1. config: config.yaml and scenarios, flags and environment, become one
//     checked campaign. Every mistake names file, line and key.
//  2. plan: the campaign becomes an ordered, seeded list of runs. Pure.
//  3. campaign: preflight checks what is really running, an idle baseline is
//     taken, and the runs are walked; load drives the engine in a worker
//     process, observe takes samples beside it, lab and keeper hold the server.
//  4. record: what was measured, run by run, in results/<campaign>/<time>/.
//  5. analysis: a record becomes summaries, comparisons, curves and findings,
//     with stats doing the arithmetic. Pure: the same record gives the same
//     analysis.
//  6. reporters (beside this folder): an analysis becomes a page, a table or
//     JSON. No statistic is computed there.
//
// `abacus run` goes through all six; `abacus report` and `abacus compare`
// begin at the fourth. The package cli joins them and alone names concrete
// engines, pollers, labs and reporters. The leaves clock, expect, fault,
// metric, number and oneline serve all stages.
//
// abcompat stands beside this way: ApacheBench's command line and report on
// the load stage alone.
package harness
