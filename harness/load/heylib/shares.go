package heylib

// keptConnections is the number of idle connections that one Work keeps; with
// more workers it closes and dials again between two requests.
const keptConnections = 500

// share is one Work: so many workers that make so many requests each.
type share struct{ workers, each int }

// split deals n requests to c workers as evenly as it goes, in Works that each
// give all their workers the same number (the library makes floor(N/C)·C) and
// have at most keptConnections workers. Fewer requests than workers make
// fewer workers.
func split(n int64, c int) []share {
	each, more := int(n/int64(c)), int(n%int64(c))
	var shares []share
	deal := func(workers, each int) {
		for workers > 0 && each > 0 {
			w := min(workers, keptConnections)
			shares = append(shares, share{workers: w, each: each})
			workers -= w
		}
	}
	deal(more, each+1)
	deal(c-more, each)
	return shares
}

// partSize is the number of requests of the next part: all that are left, or
// the most that a part may have, dealt evenly. left < 0 is without end.
func partSize(left, most int64, c int) int64 {
	if left >= 0 && left <= most {
		return left
	}
	if int64(c) < most {
		return most - most%int64(c)
	}
	return most
}
