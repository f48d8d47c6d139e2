package record

import (
	"encoding/json"
	"testing"
)

func TestSecretsInJSON(t *testing.T) {
	var s Secrets
	s.Add("hunter22")
	s.Add(`quo"te\\d<x>`)
	s.Add("schema") // reads like a key
	s.Add("short")  // too short to be looked for
	in := map[string]any{
		"schema": 1,
		"plain":  "Bearer hunter22!",
		"quoted": `a quo"te\\d<x> b`,
		"list":   []string{"short", "x?token=hunter22", "schema"},
		"esc":    `ends with a backslash \\`,
	}
	data, err := json.MarshalIndent(in, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Schema             int
		Plain, Quoted, Esc string
		List               []string
	}
	if err := json.Unmarshal(s.json(data), &got); err != nil {
		t.Fatalf("%v\n%s", err, s.json(data))
	}
	if got.Schema != 1 || got.Plain != "Bearer <redacted>!" || got.Quoted != "a <redacted> b" || got.Esc != `ends with a backslash \\` {
		t.Errorf("got %+v", got)
	}
	if got.List[0] != "short" || got.List[1] != "x?token=<redacted>" || got.List[2] != "<redacted>" {
		t.Errorf("list %q", got.List)
	}
}

func TestSecretsInText(t *testing.T) {
	var s Secrets
	if got := s.Text("nothing to hide"); got != "nothing to hide" {
		t.Errorf("the zero value changed the text to %q", got)
	}
	s.Add("sekret 99")
	if got := s.Text("/?q=sekret+99 and sekret 99 and sekret%2099"); got != "/?q=<redacted> and <redacted> and <redacted>" {
		t.Errorf("got %q", got)
	}
}
