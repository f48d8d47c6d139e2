package clock

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// childVariable makes this test binary print the clock and end.
const childVariable = "CLOCK_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		fmt.Println(Now())
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// What another process reads lies between our readings before and after it.
func TestProcessesShareTheClock(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), childVariable+"=1")
	before := Now()
	out, err := cmd.Output()
	after := Now()
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	if theirs < before || theirs > after {
		t.Errorf("another process read %d, between our %d and %d", theirs, before, after)
	}
}

func TestTimeDoesNotGoBack(t *testing.T) {
	last := Now()
	for range 1000 {
		now := Now()
		if now < last {
			t.Fatalf("%d after %d", now, last)
		}
		last = now
	}
}
