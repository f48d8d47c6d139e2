package cli

import (
	"strings"
	"testing"

	"abacus/harness/fault"
	"abacus/harness/lab"
)

func TestCheckKind(t *testing.T) {
	for _, tc := range []struct {
		args []string
		want string // a part of the error; empty is none
	}{
		{nil, ""},
		{[]string{"demo"}, ""},
		{[]string{"apache"}, `there is no lab "apache"`},
		{[]string{""}, `there is no lab ""`},
		{[]string{"demo", "demo"}, "one kind at a time, not 2"},
	} {
		err := checkKind(tc.args)
		if tc.want == "" {
			if err != nil {
				t.Errorf("%q: %v", tc.args, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), tc.want) || !fault.IsInput(err) || !strings.Contains(fault.HintOf(err), "demo; apache and nginx come later") {
			t.Errorf("%q: %v, hint %q; want an input error with %q", tc.args, err, fault.HintOf(err), tc.want)
		}
	}
}

// someLab is a lab of an owner; alive may be unknown.
func someLab(url, owner string, alive *bool) labStatus {
	return labStatus{State: lab.State{Running: &lab.Running{Kind: "demo", BaseURL: url, Dir: "/tmp/" + url[len(url)-1:]}, Owner: owner, OwnerPID: 7}, Alive: alive}
}

func TestChooseLabs(t *testing.T) {
	yes, no := true, false
	one := someLab("http://127.0.0.1:1", ownerLabUp, &yes)
	two := someLab("http://127.0.0.1:2", ownerLabUp, nil)
	campaign := someLab("http://127.0.0.1:3", "run", &yes)
	broken := labStatus{State: lab.State{Running: &lab.Running{Dir: "/tmp/5"}, Damaged: "/tmp/5/lab.json is damaged"}}
	stale := someLab("http://127.0.0.1:4", "run", &no)
	for _, tc := range []struct {
		name  string
		all   []labStatus
		args  []string
		every bool
		want  string // the folders' last digits
		err   string
	}{
		{"none", nil, nil, false, "", ""},
		{"the only one", []labStatus{one}, nil, false, "1", ""},
		{"beside a campaign's", []labStatus{campaign, one}, nil, false, "1", ""},
		{"a campaign's alone", []labStatus{campaign}, nil, false, "", ""},
		{"two", []labStatus{one, two}, nil, false, "", "2 labs are running: http://127.0.0.1:1, http://127.0.0.1:2"},
		{"all", []labStatus{one, campaign, two, stale}, nil, true, "124", ""},
		{"by URL", []labStatus{one, two}, []string{"http://127.0.0.1:2/"}, false, "2", ""},
		{"by folder", []labStatus{one, two}, []string{"/tmp/1"}, false, "1", ""},
		{"unknown", []labStatus{one}, []string{"/tmp/9"}, false, "", "no lab is running at /tmp/9"},
		{"a campaign's by name", []labStatus{one, campaign}, []string{"http://127.0.0.1:3"}, false, "", "belongs to a running campaign (process 7)"},
		{"a damaged one alone", []labStatus{broken}, nil, false, "", "the lab in /tmp/5 is not known: /tmp/5/lab.json is damaged"},
		{"a damaged one by folder", []labStatus{one, broken}, []string{"/tmp/5"}, false, "", "the lab in /tmp/5 is not known"},
		{"beside a damaged one", []labStatus{one, broken}, nil, false, "1", ""},
		{"all with a damaged one", []labStatus{one, broken}, nil, true, "15", ""},
		{"a campaign's leftover", []labStatus{stale}, nil, false, "4", ""},
	} {
		got, err := chooseLabs(tc.all, tc.args, tc.every)
		var digits string
		for _, l := range got {
			digits += l.Dir[len(l.Dir)-1:]
		}
		if digits != tc.want {
			t.Errorf("%s: chose %q, want %q", tc.name, digits, tc.want)
		}
		if tc.err == "" && err != nil || tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err) || !fault.IsInput(err)) {
			t.Errorf("%s: error %v, want %q", tc.name, err, tc.err)
		}
	}
}
