package observe

import (
	"strings"
	"testing"
)

func TestCountTimeWait(t *testing.T) {
	// Ports: 8080 is 1F90, 40000 is 9C40, 40001 is 9C41, 9000 is 2328.
	table := `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1
   1: 0100007F:9C40 0100007F:1F90 06 00000000:00000000 03:00000F00 00000000     0        0 0 3
   2: 0100007F:1F90 0100007F:9C41 06 00000000:00000000 03:00000F00 00000000     0        0 0 3
   3: 0100007F:9C41 0100007F:1F90 01 00000000:00000000 00:00000000 00000000     0        0 2 1
   4: 0100007F:9C41 0100007F:2328 06 00000000:00000000 03:00000F00 00000000     0        0 0 3
   5: 0100007F:2328 0100007F:1F90 06 00000000:00000000 03:00000F00 00000000     0        0 0 3
`
	// Of the sockets in TIME_WAIT only line 1 holds a client port for 8080:
	// line 2 is the server's side, 4 goes to another server, 5 comes from a
	// port outside the ephemeral range.
	got, err := countTimeWait(strings.NewReader(table), 8080, Ports{32768, 60999})
	if err != nil || got != 1 {
		t.Errorf("countTimeWait = %d, %v, want 1", got, err)
	}
	if _, err := countTimeWait(strings.NewReader("h\n0: 01:ZZ 01:1F90 06\n"), 8080, Ports{1, 2}); err == nil {
		t.Error("a damaged port gives no error")
	}
}

func TestParsePortRange(t *testing.T) {
	p, err := parsePortRange("32768\t60999\n")
	if err != nil || p != (Ports{32768, 60999}) || p.Len() != 28232 {
		t.Errorf("got %+v (%d), %v", p, p.Len(), err)
	}
	for _, bad := range []string{"", "5", "60999 32768", "0 70000"} {
		if p, err := parsePortRange(bad); err == nil {
			t.Errorf("parsePortRange(%q) = %+v, want an error", bad, p)
		}
	}
}
