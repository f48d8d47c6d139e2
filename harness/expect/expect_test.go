package expect

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCheck(t *testing.T) {
	n := func(v int64) *int64 { return &v }
	answer := Answer{Status: 200, Header: http.Header{"Vary": {"Accept", "Cookie"}}, Body: []byte("hello, world")}
	// The hash of "abc" is the first example of FIPS 180-2.
	const abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
	for name, tt := range map[string]struct {
		rules  Rules
		answer Answer
		want   []string
	}{
		"no rule":                {Rules{}, Answer{Status: 500}, nil},
		"all kept":               {Rules{Status: 200, Contains: []string{"hello", "world"}, NotContains: []string{"Warning"}, Bytes: n(12), Header: map[string]string{"vary": "Cookie"}}, answer, nil},
		"status":                 {Rules{Status: 204}, answer, []string{"status 200, expected 204"}},
		"length":                 {Rules{Bytes: n(0)}, answer, []string{"body of 12 bytes, expected 0"}},
		"text missing":           {Rules{Contains: []string{"bye"}}, answer, []string{`body does not contain "bye"`}},
		"text that must not be":  {Rules{NotContains: []string{"world"}}, answer, []string{`body contains "world"`}},
		"header missing":         {Rules{Header: map[string]string{"ETag": "x"}}, answer, []string{`header ETag is "", expected "x"`}},
		"header, a hostile one":  {Rules{Header: map[string]string{"A": "x"}}, Answer{Header: http.Header{"A": {"\x1b[2J" + strings.Repeat("y", 99)}}}, []string{`header A is "\x1b[2J` + strings.Repeat("y", 55) + `…", expected "x"`}},
		"another body":           {Rules{SameBody: true, BodySHA256: abc}, Answer{Body: []byte("abd")}, []string{"body differs from the first one: sha256 a52d159f262b…, expected ba7816bf8f01…"}},
		"the same body":          {Rules{SameBody: true, BodySHA256: abc}, Answer{Body: []byte("abc")}, nil},
		"no body to compare yet": {Rules{SameBody: true}, answer, nil},
		"each broken rule":       {Rules{Status: 1, Bytes: n(1), Contains: []string{"a"}}, Answer{}, []string{"status 0, expected 1", "body of 0 bytes, expected 1", `body does not contain "a"`}},
	} {
		if diff := cmp.Diff(tt.want, tt.rules.Check(tt.answer)); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

func TestNeeds(t *testing.T) {
	zero := int64(0)
	for name, tt := range map[string]struct {
		rules       Rules
		empty, body bool
	}{
		"nothing":          {Rules{}, true, false},
		"status":           {Rules{Status: 200}, false, false},
		"header":           {Rules{Header: map[string]string{"A": "b"}}, false, false},
		"an empty body":    {Rules{Bytes: &zero}, false, true},
		"contains":         {Rules{Contains: []string{"a"}}, false, true},
		"not contains":     {Rules{NotContains: []string{"a"}}, false, true},
		"same body, hash":  {Rules{SameBody: true, BodySHA256: "a"}, false, true},
		"same body, later": {Rules{SameBody: true}, false, false},
	} {
		if tt.rules.Empty() != tt.empty || tt.rules.NeedsBody() != tt.body {
			t.Errorf("%s: empty %v, needs the body %v; want %v, %v", name, tt.rules.Empty(), tt.rules.NeedsBody(), tt.empty, tt.body)
		}
	}
}
