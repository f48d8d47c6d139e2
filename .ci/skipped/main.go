// Command skipped reads `go test -json` on stdin and prints what `go test`
// prints: a line for each package, and the output of what failed. It then
// lists the tests that were skipped, and ends with status 1 when one was
// skipped for any other reason than that it belongs to scripts/long.sh. So a
// CI run in which half the tests found nothing to do does not pass.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// event is one line of `go test -json`.
type event struct {
	Action, Package, Test, Output string
	ImportPath                    string // of build output
}

// allowed stands in the reason of a test that scripts/long.sh runs.
const allowed = "ABACUS_LONG"

func main() {
	n, err := filter(os.Stdin, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "skipped: read go test's output:", err)
		os.Exit(1)
	}
	if n > 0 {
		fmt.Printf("%d tests were skipped that CI must run\n", n)
		os.Exit(1)
	}
}

// filter prints the normal output and returns the number of tests that were
// skipped without leave.
func filter(r io.Reader, w io.Writer) (unexpected int, err error) {
	type key struct{ pkg, test string }
	output := map[key][]string{}
	var skips []string
	in := bufio.NewReader(r)
	for {
		line, err := in.ReadString('\n')
		if errors.Is(err, io.EOF) && line == "" {
			break
		} else if err != nil && !errors.Is(err, io.EOF) {
			return unexpected, err
		}
		var e event
		if json.Unmarshal([]byte(line), &e) != nil {
			fmt.Fprint(w, line) // not an event: the go command itself
			continue
		}
		k := key{e.Package, e.Test}
		switch {
		case e.Action == "output" && e.Test != "":
			output[k] = append(output[k], e.Output)
		case e.Action == "output" && e.Output != "PASS\n", e.Action == "build-output":
			fmt.Fprint(w, e.Output)
		case e.Action == "fail" && e.Test != "":
			fmt.Fprint(w, strings.Join(output[k], ""))
		case e.Action == "skip" && e.Test != "":
			reason := strings.Join(output[k], "")
			if !strings.Contains(reason, allowed) {
				unexpected++
				skips = append(skips, fmt.Sprintf("SKIPPED %s %s\n%s", e.Package, e.Test, reason))
			}
		}
		if e.Test != "" && (e.Action == "pass" || e.Action == "fail" || e.Action == "skip") {
			delete(output, k)
		}
	}
	// What never ended died with its package.
	for k, lines := range output {
		fmt.Fprintf(w, "did not end: %s %s\n%s", k.pkg, k.test, strings.Join(lines, ""))
	}
	for _, s := range skips {
		fmt.Fprint(w, s)
	}
	return unexpected, nil
}
