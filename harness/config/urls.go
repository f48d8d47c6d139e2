package config

import (
	"fmt"
	"net/url"
	"reflect"
	"regexp"
	"strings"
	"time"

	"abacus/harness/plan"
	"abacus/scenarios"
)

// Bounds on one run against a server of which nothing is known: the number of
// requests that a fast one takes a second for, or these durations.
const (
	ladderDuration  = scenarios.Duration(5 * time.Second)
	compareDuration = scenarios.Duration(10 * time.Second)
	compareRequests = 10_000
	compareLevel    = 50
)

// urls makes a campaign of URLs: one is put on the steps of the static
// ladder, several are compared at one load level.
func (l *loader) urls(args []string) {
	l.decoded = true
	names := urlNames(args)
	s := scenarios.Scenario{Name: "ladder"}
	if len(args) > 1 {
		s.Name = "comparison"
	}
	for i, u := range args {
		v := scenarios.Variant{Name: names[i]}
		v.URL = u
		s.Variants = append(s.Variants, v)
		l.at[fmt.Sprintf("scenarios[0].variants[%d].url", i)] = position{file: "argument", value: u, scalar: true}
	}
	if len(args) == 1 {
		s.Title = args[0] + " under growing load"
		s.Question = "How many requests per second does this page reach, and from which concurrency on do clients only wait longer?"
		s.Steps = l.ladderSteps()
	} else {
		s.Title = strings.Join(names, " or ")
		s.Question = "Which of these answers faster under the same load?"
		s.Steps = scenarios.Steps{{Concurrency: compareLevel, Requests: compareRequests, Duration: compareDuration, KeepAlive: true}}
	}
	if u, err := url.Parse(args[0]); err != nil || u.User != nil || secretParameter(args[0]) != "" {
		s.Title = "" // the URL is refused below, and may hold a secret
	}
	l.campaign = plan.Campaign{Name: campaignName(args), Scenarios: []scenarios.Scenario{s}}
	l.campaign.Title, l.campaign.Question = s.Title, s.Question
	l.at["scenarios"] = position{file: "argument"}
}

// ladderSteps are the static ladder's, each ended after a few seconds at most.
func (l *loader) ladderSteps() scenarios.Steps {
	var s scenarioFile
	text, _ := scenarios.File("static-ladder")
	if root, ok := l.parse("built-in static-ladder.yaml", text); ok {
		own := *l
		own.at, own.dirs = map[string]position{}, map[string]string{}
		d := own.decoder("built-in static-ladder.yaml", "")
		d.value(root, reflect.ValueOf(&s).Elem(), "")
	}
	for i := range s.Steps {
		s.Steps[i].Duration = ladderDuration
	}
	return s.Steps
}

// unsafeRunes are what a variant's name may not hold.
var unsafeRunes = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// urlNames names each URL by what tells it from the others: host and path, or
// only one of them where the other is the same for all. A single one is named
// by its path, or by its host where it has none. Each name is unique.
func urlNames(urls []string) []string {
	parsed := make([]*url.URL, len(urls))
	hosts, paths := map[string]bool{}, map[string]bool{}
	for i, s := range urls {
		u, err := url.Parse(s)
		if err != nil {
			u = &url.URL{Path: s}
		}
		parsed[i] = u
		hosts[u.Host], paths[u.RequestURI()] = true, true
	}
	names := make([]string, len(urls))
	taken := map[string]bool{}
	for i, u := range parsed {
		name := u.Host + u.RequestURI()
		switch {
		case len(urls) == 1 && u.RequestURI() == "/", len(urls) > 1 && len(paths) == 1:
			name = u.Host
		case len(hosts) == 1:
			name = u.RequestURI()
		}
		name = strings.Trim(unsafeRunes.ReplaceAllString(name, "-"), "-._")
		if name == "" {
			name = "page"
		}
		if len(name) > mostName-4 {
			name = strings.TrimRight(name[:mostName-4], "-._")
		}
		base := name
		for n := 2; taken[strings.ToLower(name)]; n++ {
			name = fmt.Sprintf("%s-%d", base, n)
		}
		taken[strings.ToLower(name)] = true
		names[i] = name
	}
	return names
}

// campaignName makes a folder's name of the URLs: host and path of the first,
// and the second's path, or host where the path is the same.
func campaignName(urls []string) string {
	var parts []string
	var first *url.URL
	for _, raw := range urls[:min(len(urls), 2)] {
		u, err := url.Parse(raw)
		if err != nil {
			u = &url.URL{Path: raw}
		}
		switch {
		case first == nil:
			first = u
			parts = append(parts, u.Host+u.RequestURI())
		case u.Host == first.Host && u.RequestURI() == "/":
		case u.Host == first.Host:
			parts = append(parts, u.RequestURI())
		default:
			parts = append(parts, u.Host)
		}
	}
	name := regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(strings.ToLower(strings.Join(parts, "-or-")), "-")
	if len(name) > mostName {
		name = name[:mostName]
	}
	if name = strings.Trim(name, "-"); name == "" {
		return "url"
	}
	return name
}
