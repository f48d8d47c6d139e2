package analysis

import "abacus/harness/record"

func judgeGoals(m record.Manifest, cells []Cell) []GoalResult { return nil }
