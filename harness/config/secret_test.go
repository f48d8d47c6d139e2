package config

import (
	"strings"
	"testing"
)

// What a URL on the command line holds must not come back in the message, and
// a header that is not stored is told of before it is missed.
func TestSecretsAreToldOfAndNotRepeated(t *testing.T) {
	for _, u := range []string{"http://127.0.0.1/?token=hunter2", "http://127.0.0.1/a?b=1&api_key=hunter2", "http://u:hunter2@127.0.0.1/"} {
		_, err := Load(Input{Args: []string{u}, Dir: t.TempDir()})
		if err == nil || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "must not hold") {
			t.Errorf("%s: %v", u, err)
		}
	}
	dir := folder(t, map[string]string{"s.yaml": "scenario: s\npages: [/]\nsteps: {concurrency: 1, requests: 1}\nheaders:\n  X-Api-Key: hunter2\n  Accept: text/html\n  Cookie: id=${ID}\n"})
	l := mustLoad(t, Input{Args: []string{"s.yaml"}, Dir: dir, Environ: []string{"ID=1"}})
	var got []string
	for _, w := range l.Warnings {
		if strings.Contains(w, "is stored as") {
			got = append(got, w)
		}
	}
	if len(got) != 1 || !strings.HasPrefix(got[0], "s.yaml:5: headers.X-Api-Key is stored as <redacted>") {
		t.Errorf("warnings %q", got)
	}
}
