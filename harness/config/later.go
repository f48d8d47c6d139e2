package config

import (
	"reflect"
	"slices"
	"strings"

	"abacus/harness/expect"
	"abacus/harness/plan"
	"abacus/scenarios"
)

// labKinds and engineNames are what can be chosen in this version;
// laterLabs and laterEngines are known by name and refused.
func labKinds() []string     { return []string{plan.LabDemo, plan.LabExternal} }
func laterLabs() []string    { return []string{"apache", "nginx"} }
func engineNames() []string  { return []string{"native", "hey"} }
func laterEngines() []string { return []string{"ab"} }

// formatNames are what report.formats may list.
func formatNames() []string  { return []string{"html", "json", "text"} }
func laterFormats() []string { return []string{"markdown", "csv", "benchfmt", "prometheus", "images"} }

// laterKeys are the keys of a struct that the format describes and this
// version does not have: they are refused by name, never silently ignored. Each
// with what it would be.
func laterKeys(t reflect.Type) map[string]string {
	switch t {
	case reflect.TypeFor[scenarios.Step]():
		return map[string]string{
			"rate": "load at a fixed rate", "arrivals": "load at a fixed rate", "at_least": "a least duration beside a number of requests",
			"protocol": "a choice of protocol", "think": "time to think between requests", "idle_connections": "holding idle connections",
			"slow_clients": "slow clients", "threads": "a number of threads", "urls": "a list of URLs in one run",
		}
	case reflect.TypeFor[scenarios.Observe]():
		return map[string]string{"node_exporter": "reading node_exporter"}
	case reflect.TypeFor[scenarios.Server]():
		return map[string]string{"via": "reaching the server's machine"}
	case reflect.TypeFor[scenarios.Lab]():
		return map[string]string{
			"mpm": "the lab apache", "php": "the lab apache", "max_request_workers": "the lab apache", "threads_per_child": "the lab apache",
			"keepalive_timeout": "the lab apache", "extended_status": "the lab apache", "workers": "a choice of worker slots",
		}
	case reflect.TypeFor[plan.Campaign](), reflect.TypeFor[scenarioFile](), reflect.TypeFor[scenarios.Scenario](), reflect.TypeFor[scenarios.Variant]():
		return map[string]string{
			"cpus": "binding to CPUs", "tls": "a choice of TLS settings", "proxy": "going through a proxy",
			"auth":    "this key (headers: {Authorization: \"Basic ${CREDENTIALS}\"} does the same)",
			"cookies": "this key (headers: {Cookie: \"name=${VALUE}\"} does the same)",
		}
	}
	return nil
}

// placeOf names the place where a key is known, "" when nowhere.
func placeOf(key string) string {
	for _, p := range []struct {
		t    reflect.Type
		text string
	}{
		{reflect.TypeFor[plan.Campaign](), "a campaign"},
		{reflect.TypeFor[scenarios.Scenario](), "a scenario"},
		{reflect.TypeFor[scenarios.Variant](), "a variant"},
		{reflect.TypeFor[scenarios.Step](), "steps"},
		{reflect.TypeFor[scenarios.Observe](), "observe"},
		{reflect.TypeFor[expect.Rules](), "expect"},
		{reflect.TypeFor[scenarios.Warmup](), "warmup"},
		{reflect.TypeFor[scenarios.Settle](), "settle"},
		{reflect.TypeFor[scenarios.Server](), "server"},
		{reflect.TypeFor[plan.Report](), "report"},
	} {
		if slices.Contains(keysOf(p.t), key) {
			return p.text
		}
	}
	return ""
}

func list(words []string) string { return strings.Join(words, ", ") }
