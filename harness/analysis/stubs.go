package analysis

import "abacus/harness/record"

func findings(in Input, a *Analysis, s *state) []Finding      { return []Finding{} }
func judgeGoals(m record.Manifest, cells []Cell) []GoalResult { return nil }
func drawTimelines(in Input, s *state) []Timeline             { return nil }

type roundKeeper struct{ want int }

func (k *roundKeeper) offer(run record.Run) {}
