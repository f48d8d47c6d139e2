package observe

// Letter is one letter of the scoreboard and what it stands for.
type Letter struct {
	Letter rune   `json:"letter"`
	Word   string `json:"word"`
}

// ScoreboardMeaning lists the scoreboard's letters in the order of Apache's
// own key.
func ScoreboardMeaning() []Letter {
	return []Letter{
		{'_', "waiting"},
		{'S', "starting"},
		{'R', "reading"},
		{'W', "writing"},
		{'K', "keep-alive"},
		{'D', "DNS lookup"},
		{'C', "closing"},
		{'L', "logging"},
		{'G', "finishing"},
		{'I', "idle cleanup"},
		{'.', "open slot"},
	}
}

// meaningOf is the word of one letter, "" for one that no scoreboard has.
func meaningOf(r rune) string {
	for _, l := range ScoreboardMeaning() {
		if l.Letter == r {
			return l.Word
		}
	}
	return ""
}

// ScoreboardCounts counts the slots by letter. They are not the same as
// BusyWorkers and IdleWorkers: after a graceful restart the processes that are
// still finishing stand in the scoreboard but in neither of those.
func ScoreboardCounts(s string) map[rune]int {
	counts := map[rune]int{}
	for _, r := range s {
		counts[r]++
	}
	return counts
}
