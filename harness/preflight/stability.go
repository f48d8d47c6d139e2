package preflight

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"abacus/harness/number"
	"abacus/harness/oneline"
)

// stability judges whether all fetches gave the same bytes, and says what
// differs: the length, or bytes within the same length.
func (t Target) stability(page *Page, s survey, good []fetched) Check {
	c := t.check("page.stable", "Does the page stay the same?", "length and SHA-256 of each fetch")
	lengths, hashes := map[int64]int{}, map[string]int{}
	cut := false
	for _, f := range good {
		lengths[f.length]++
		hashes[f.sha256]++
		cut = cut || f.cut
	}
	page.Stable = len(hashes) == 1 && !cut
	for _, n := range slices.Sorted(maps.Keys(lengths)) {
		if len(c.Evidence) == 8 {
			c.Evidence = append(c.Evidence, fmt.Sprintf("and %d more lengths", len(lengths)-8))
			break
		}
		c.Evidence = append(c.Evidence, fmt.Sprintf("%d × %s bytes", lengths[n], number.Count(n)))
	}
	if d := s.differs; d != nil {
		c.Evidence = append(c.Evidence, fmt.Sprintf("first difference within one length at byte %s: %s, later %s",
			number.Count(int64(d.offset)), oneline.Quote(d.was, mostQuoted), oneline.Quote(d.later, mostQuoted)))
	}
	switch {
	case cut:
		c.Severity = NotSeen
		c.Finding = fmt.Sprintf("the body is longer than the %d MiB that are read here", maxBody>>20)
		c.Advice = "Measure a smaller page, unless a large download is what is meant."
	case len(good) == 1:
		c.Severity = NotSeen
		c.Finding = "one answer alone does not tell"
	case len(hashes) == 1:
		c.Finding = fmt.Sprintf("all %d fetches gave the same %s bytes", len(good), number.Count(good[0].length))
	case len(lengths) > 1 && !t.AcceptVariableLength:
		c.Severity = Warning
		c.Finding = fmt.Sprintf("the body's length changes without load: %d lengths in %d fetches", len(lengths), len(good))
		c.Advice = "Answers of another length than the first will be counted as failed: set accept_variable_length if the change is meant."
	case len(lengths) > 1:
		c.Severity = Info
		c.Finding = fmt.Sprintf("the body's length changes, which is accepted: %d lengths in %d fetches", len(lengths), len(good))
	default:
		c.Severity = Info
		c.Finding = fmt.Sprintf("the body changes within its length: %d different bodies in %d fetches", len(hashes), len(good))
		if t.Expect.SameBody {
			c.Severity = Warning
			c.Advice = "expect.same_body cannot hold for this page: take the changing part out, or the rule."
		}
	}
	return c
}

// cache explains an X-Cache header: nil when there is none.
func (t Target) cache(good []fetched) *Check {
	var seen []string
	for _, f := range good {
		if v := f.header.Get("X-Cache"); v != "" {
			seen = append(seen, cacheWord(v))
		}
	}
	if len(seen) == 0 {
		return nil
	}
	c := t.check("page.cache", "Does the page come from a cache?", "the X-Cache header of each fetch")
	c.Severity = Info
	counts := map[string]int{}
	for _, w := range seen {
		counts[w]++
	}
	for _, w := range slices.Sorted(maps.Keys(counts)) {
		c.Evidence = append(c.Evidence, fmt.Sprintf("%d × %s", counts[w], w))
	}
	hits, misses := counts["hit"], counts["miss"]
	switch {
	case hits == len(seen):
		c.Severity = OK
		c.Finding = "every fetch was a hit"
	case misses == len(seen) && misses > 1:
		c.Severity = Warning
		c.Finding = fmt.Sprintf("every one of %d fetches missed the cache", misses)
		c.Advice = "Find out why nothing stays in the cache: as it is, the way without it is measured."
	case misses > 0 && hits > 0 && !slices.Contains(seen[misses:], "miss") && misses <= 2:
		c.Finding = "the first fetch missed and filled the cache, the others hit it: warm-up takes this out of the figures"
	case misses > 0 && hits > 0:
		c.Severity = Warning
		c.Finding = fmt.Sprintf("hits and misses alternate without load: %d hits, %d misses", hits, misses)
		c.Advice = "Look for several caches behind one address, or entries that expire at once."
	default:
		c.Finding = "X-Cache says " + oneline.Quote(seen[0], mostQuoted)
	}
	return &c
}

// cacheWord is hit or miss where X-Cache begins with it, as servers and CDNs
// write it, else the value itself.
func cacheWord(v string) string {
	low := strings.ToLower(strings.TrimSpace(v))
	switch {
	case strings.HasPrefix(low, "hit"), strings.HasPrefix(low, "tcp_hit"):
		return "hit"
	case strings.HasPrefix(low, "miss"), strings.HasPrefix(low, "tcp_miss"):
		return "miss"
	}
	return oneline.Shorten(v, 60)
}

// intermediary tells that something between answers, nil when nothing shows.
func (t Target) intermediary(f fetched) *Check {
	c := t.check("page.intermediary", "Who answers?", "Via, Age and CF-Ray of the first answer")
	for _, name := range []string{"Via", "Age", "Cf-Ray", "Cf-Cache-Status"} {
		if v := f.header.Get(name); v != "" {
			c.Evidence = append(c.Evidence, name+": "+oneline.Shorten(v, 120))
		}
	}
	if len(c.Evidence) == 0 {
		return nil
	}
	c.Severity = Info
	c.Finding = "a proxy or cache stands in front of the server: its figures will be measured, not the server's alone"
	c.Advice = "To measure the server itself, pin its address with connect_to."
	return &c
}

// encoding tells that the body comes compressed, nil when it does not.
func (t Target) encoding(f fetched) *Check {
	v := f.header.Get("Content-Encoding")
	if v == "" || strings.EqualFold(v, "identity") {
		return nil
	}
	c := t.check("page.encoding", "Is the body compressed?", "the Content-Encoding header of the first answer")
	c.Severity = Info
	c.Finding = fmt.Sprintf("the body comes compressed (%s): sizes and bytes per second are of the compressed form", oneline.Quote(v, mostQuoted))
	c.Evidence = []string{"Vary: " + oneline.Shorten(f.header.Get("Vary"), 120)}
	return &c
}

// certificate says how https was checked, nil for http.
func (t Target) certificate(u *url.URL, f fetched) *Check {
	if u.Scheme != "https" {
		return nil
	}
	c := t.check("page.tls", "Is the certificate valid?", "the handshake of the first fetch")
	c.Evidence = []string{f.tls}
	c.Finding = "it is valid for this host"
	if t.InsecureTLS {
		c.Severity = Warning
		c.Finding = "it was not looked at: anyone could answer"
		c.Advice = "Use this for test servers of your own only."
	}
	return &c
}
