package preflight

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"abacus/harness/oneline"
)

// DefaultFetches is how often a page is fetched without load.
const DefaultFetches = 20

// CheckTarget fetches a page fetches times without load (0 is DefaultFetches)
// and says what it is: whether it can be reached, its status, size and hash,
// whether it stays the same, its headers, where it redirects to, what it keeps
// of the target's expectations. At most 64 MiB of a body and one minute for
// all fetches are used; where that cut something short, a check says so.
//
// A page that must not be loaded has Page.Error (nothing whole came) or
// Page.RedirectElsewhere set.
func CheckTarget(ctx context.Context, t Target, fetches int) (Page, []Check) {
	if fetches <= 0 {
		fetches = DefaultFetches
	}
	page := Page{Scenario: t.Scenario, Variant: t.Variant, Path: t.Path, URL: redact(t.URL)}
	u, err := t.parse()
	if err != nil {
		page.Error = "the URL is not usable: " + oneline.Shorten(err.Error(), 160)
		c := t.check("page.reachable", "Can the page be reached?", "parse the URL")
		c.Severity, c.Finding, c.Advice = Critical, page.Error, "Write an absolute URL such as http://127.0.0.1:8080/page."
		return page, []Check{c}
	}
	if addrs, err := resolve(ctx, dialledHost(t, u)); err == nil {
		for _, a := range addrs {
			page.Addresses = append(page.Addresses, a.String())
		}
	}
	s := fetchAll(ctx, t, u, fetches)
	page.Fetches = len(s.fetches)
	good := s.good()
	checks := []Check{t.reachable(&page, s, good)}
	if len(good) == 0 {
		return page, checks
	}
	fill(&page, good)
	if c, redirects := t.redirect(&page, u, good[0]); redirects {
		checks = append(checks, c)
		if t.Expect.Status == 0 {
			return page, checks
		}
	} else {
		checks = append(checks, t.status(good))
	}
	checks = append(checks, t.stability(&page, s, good))
	if !t.Expect.Empty() {
		checks = append(checks, t.expectations(good))
	}
	for _, c := range []*Check{t.cache(good), t.intermediary(good[0]), t.encoding(good[0]), t.certificate(u, good[0])} {
		if c != nil {
			checks = append(checks, *c)
		}
	}
	return page, checks
}

// check begins a check of the target that has passed so far.
func (t Target) check(id, question, method string) Check {
	return Check{ID: id, Question: question, Method: method, Severity: OK, Target: t.name()}
}

// redact hides a password in a URL.
func redact(raw string) string {
	if u, err := url.Parse(raw); err == nil {
		return u.Redacted()
	}
	return oneline.Shorten(raw, 200)
}

func dialledHost(t Target, u *url.URL) string {
	if t.ConnectTo == "" {
		return u.Hostname()
	}
	c := url.URL{Host: t.ConnectTo}
	return c.Hostname()
}

// fill takes the first whole answer over into the page.
func fill(p *Page, good []fetched) {
	f := good[0]
	p.Status, p.Protocol, p.TLS = f.status, oneline.Shorten(f.proto, 20), f.tls
	if !f.cut {
		n := f.length
		p.Bytes, p.SHA256 = &n, f.sha256
	}
	p.Headers = notable(f.header)
}

// notable are the headers that matter for a benchmark.
func notable(h http.Header) map[string]string {
	kept := map[string]string{}
	for _, name := range []string{
		"Age", "Cache-Control", "Cf-Cache-Status", "Cf-Ray", "Connection", "Content-Encoding", "Content-Length", "Content-Type",
		"Etag", "Last-Modified", "Server", "Vary", "Via", "X-Cache", "X-Powered-By",
	} {
		if values := h.Values(name); len(values) > 0 {
			kept[name] = oneline.Shorten(strings.Join(values, ", "), 200)
		}
	}
	if len(kept) == 0 {
		return nil
	}
	return kept
}

func (t Target) reachable(page *Page, s survey, good []fetched) Check {
	c := t.check("page.reachable", "Can the page be reached?", fmt.Sprintf("%d fetches without load, one after another", len(s.fetches)))
	if len(page.Addresses) > 0 {
		c.Evidence = append(c.Evidence, "addresses: "+strings.Join(page.Addresses, ", "))
	}
	reasons := map[string]int{}
	var advice string
	for _, f := range s.fetches {
		if f.err == nil {
			continue
		}
		finding, a := explain(f.err, t)
		reasons[finding]++
		advice = a
	}
	for _, r := range slices.Sorted(maps.Keys(reasons)) {
		c.Evidence = append(c.Evidence, fmt.Sprintf("%d × %s", reasons[r], r))
	}
	failed := len(s.fetches) - len(good)
	switch {
	case len(good) == 0:
		c.Severity, c.Finding, c.Advice = Critical, "no answer came", advice
		if len(s.fetches) > 0 {
			c.Finding, _ = explain(s.fetches[0].err, t)
		}
		page.Error = c.Finding
	case failed > 0:
		c.Severity, c.Advice = Warning, advice
		c.Finding = fmt.Sprintf("%d of %d fetches failed although there was no load", failed, len(s.fetches))
	default:
		c.Finding = fmt.Sprintf("all %d fetches were answered", len(good))
	}
	if len(good) > 0 && len(s.fetches) < s.asked && s.outOfTime {
		c.Evidence = append(c.Evidence, fmt.Sprintf("%d of %d fetches were made, a minute was over", len(s.fetches), s.asked))
	}
	return c
}

func (t Target) status(good []fetched) Check {
	c := t.check("page.status", "Is the answer a success?", "the status of each fetch")
	counts := map[int]int{}
	bad := 0
	for _, f := range good {
		counts[f.status]++
		if f.status < 200 || f.status > 299 {
			bad++
		}
	}
	for _, code := range slices.Sorted(maps.Keys(counts)) {
		c.Evidence = append(c.Evidence, fmt.Sprintf("%d × status %d", counts[code], code))
	}
	code := good[0].status
	switch {
	case bad == 0:
		c.Finding = fmt.Sprintf("status %d", code)
	case t.Expect.Status != 0 && counts[t.Expect.Status] == len(good):
		c.Finding = fmt.Sprintf("status %d, as expected", code)
	case bad == len(good):
		c.Severity = Critical
		c.Finding = fmt.Sprintf("the page answers %d %s: an error page would be measured", code, http.StatusText(code))
		c.Advice = "Correct the path or the server; if this answer is meant, say so with expect.status."
	default:
		c.Severity = Warning
		c.Finding = fmt.Sprintf("%d of %d fetches were no success although there was no load", bad, len(good))
		c.Advice = "Find out why the server answers differently before loading it."
	}
	return c
}

// redirect judges an answer 3xx that points somewhere; ok is false for others.
func (t Target) redirect(page *Page, u *url.URL, f fetched) (Check, bool) {
	location := f.header.Get("Location")
	if f.status < 300 || f.status > 399 || location == "" {
		return Check{}, false
	}
	page.Redirect = oneline.Shorten(location, 300)
	c := t.check("page.redirect", "Does the page redirect?", "the Location header of the first answer")
	c.Evidence = []string{fmt.Sprintf("status %d, Location: %s", f.status, oneline.Shorten(location, 200))}
	to, err := u.Parse(location)
	if err != nil {
		c.Severity = Warning
		c.Finding = fmt.Sprintf("status %d points to something that is no URL", f.status)
		c.Advice = "Correct the redirect, or measure the page itself."
		return c, true
	}
	page.Redirect = oneline.Shorten(to.Redacted(), 300)
	if elsewhere(t, u, to) {
		page.RedirectElsewhere = true
		c.Severity = Critical
		c.Finding = fmt.Sprintf("the page redirects to another host, %s, which is never loaded", oneline.Quote(to.Host, mostQuoted))
		c.Advice = "If that host is yours, name its URL as the target and allow it."
		return c, true
	}
	c.Severity = Warning
	c.Finding = "the page redirects, and the redirect is not followed: you would measure the redirect"
	c.Advice = "Name " + oneline.Quote(to.Redacted(), mostQuoted) + " as the target."
	if t.Expect.Status == f.status {
		c.Severity, c.Advice = Info, ""
		c.Finding = "the page redirects, as expected: the redirect itself is measured"
	}
	return c, true
}

// elsewhere tells whether a redirect leaves the host that was asked, by name
// or by port. From http to https of one name, on their own ports, is the same
// host.
func elsewhere(t Target, from, to *url.URL) bool {
	if to.Scheme != "http" && to.Scheme != "https" {
		return true
	}
	asked := url.URL{Host: t.hostHeader(from)}
	if !strings.EqualFold(to.Hostname(), from.Hostname()) && !strings.EqualFold(to.Hostname(), asked.Hostname()) {
		return true
	}
	toPort := to.Port()
	if toPort == "" {
		// The scheme's own port: another scheme's is the usual move to https.
		return to.Scheme == from.Scheme && portOf(from) != portOf(to) && portOf(&url.URL{Scheme: from.Scheme, Host: asked.Host}) != portOf(to)
	}
	return toPort != portOf(from) && toPort != portOf(&url.URL{Scheme: from.Scheme, Host: asked.Host})
}

// portOf is the URL's port, or its scheme's.
func portOf(u *url.URL) string {
	if p := u.Port(); p != "" {
		return p
	}
	if u.Scheme == "https" {
		return "443"
	}
	return "80"
}

func (t Target) expectations(good []fetched) Check {
	c := t.check("page.expect", "Does the answer keep the expectations?", "the rules of expect on each fetch")
	broken := map[string]int{}
	bad, cut := 0, 0
	for _, f := range good {
		if f.cut {
			cut++
		}
		if len(f.unmet) > 0 {
			bad++
		}
		for _, u := range f.unmet {
			broken[u]++
		}
	}
	for _, u := range slices.Sorted(maps.Keys(broken)) {
		c.Evidence = append(c.Evidence, fmt.Sprintf("%d × %s", broken[u], u))
	}
	switch {
	case bad > 0:
		c.Severity = Critical
		c.Finding = fmt.Sprintf("%d of %d answers break what expect asks for", bad, len(good))
		c.Advice = "This is not the page that was meant: correct the server, or the rules."
	case cut > 0:
		c.Severity = NotSeen
		c.Finding = fmt.Sprintf("the body is longer than the %d MiB that are read here", maxBody>>20)
	default:
		c.Finding = fmt.Sprintf("all %d answers keep them", len(good))
	}
	return c
}
