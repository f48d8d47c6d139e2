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
			"rate": "load at a fixed rate", "arrivals": "load at a fixed rate", "at_least": "a least duration beside requests",
			"protocol": "a choice of protocol", "think": "pauses between requests", "idle_connections": "connections held idle",
			"slow_clients": "slow clients", "threads": "a number of threads", "urls": "several URLs in one run",
		}
	case reflect.TypeFor[scenarios.Observe]():
		return map[string]string{"node_exporter": "figures of another machine"}
	case reflect.TypeFor[scenarios.Server]():
		return map[string]string{"via": "figures of another machine"}
	case reflect.TypeFor[scenarios.Lab]():
		return map[string]string{
			"mpm": "the lab apache", "php": "the lab apache", "max_request_workers": "the lab apache", "threads_per_child": "the lab apache",
			"keepalive_timeout": "the lab apache", "extended_status": "the lab apache", "workers": "a choice of worker slots",
		}
	case reflect.TypeFor[plan.Campaign](), reflect.TypeFor[scenarioFile](), reflect.TypeFor[scenarios.Scenario](), reflect.TypeFor[scenarios.Variant]():
		return map[string]string{
			"cpus": "binding to CPUs", "tls": "settings of TLS", "proxy": "going through a proxy",
			"auth":    "headers: {Authorization: \"Basic ${CREDENTIALS}\"} does the same",
			"cookies": "headers: {Cookie: \"name=${VALUE}\"} does the same",
		}
	}
	return nil
}

// placeOf names the places where a key is known, "" when nowhere.
func placeOf(key string) string {
	if slices.Contains(keysOf(reflect.TypeFor[scenarios.Settings]()), key) {
		return "campaign, scenario and variant"
	}
	var places []string
	for _, p := range []struct {
		t    reflect.Type
		text string
	}{
		{reflect.TypeFor[plan.Campaign](), "campaign"},
		{reflect.TypeFor[scenarios.Scenario](), "scenario"},
		{reflect.TypeFor[scenarios.Variant](), "variant"},
		{reflect.TypeFor[scenarios.Step](), "steps"},
		{reflect.TypeFor[scenarios.Observe](), "observe"},
		{reflect.TypeFor[expect.Rules](), "expect"},
		{reflect.TypeFor[scenarios.Warmup](), "warmup"},
		{reflect.TypeFor[scenarios.Settle](), "settle"},
		{reflect.TypeFor[scenarios.Server](), "server"},
		{reflect.TypeFor[plan.Report](), "report"},
	} {
		if slices.Contains(keysOf(p.t), key) {
			places = append(places, p.text)
		}
	}
	return strings.Join(places, ", ")
}

func list(words []string) string { return strings.Join(words, ", ") }
