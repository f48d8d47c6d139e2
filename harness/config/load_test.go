package config

import (
	"testing"
)

func TestTry(t *testing.T) {
	l, err := Load(Input{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range l.Origins {
		t.Log(o.Key, o.Value, o.From)
	}
	b, err := MarshalCampaign(l.Campaign)
	t.Log(string(b), err, l.Warnings)
	l, err = Load(Input{Args: []string{"http://127.0.0.1:1/a", "http://127.0.0.1:1/b"}, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range l.Origins {
		t.Log(o.Key, o.Value, o.From)
	}
}
