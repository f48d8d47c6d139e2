package cli

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// maxPage is the promised size of the default campaign's page.
const maxPage = 1_600_000

// The page of a campaign that was really run opens without a network, draws
// every chart and complains of nothing.
func TestPageOpensOffline(t *testing.T) {
	if testing.Short() {
		t.Skip("short: no browser")
	}
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		needsLab(t, "chromium on the PATH")
	}
	dir := t.TempDir()
	if code, _, stderr := runAbacus(t, dir, "run", "--quick"); code != ExitDone {
		t.Fatalf("exit %d\n%s", code, stderr)
	}
	path := filepath.Join(recordDir(t, dir), "report.html")
	info, err := os.Stat(path)
	if err != nil || info.Size() >= maxPage {
		t.Fatalf("page of %d bytes (%v), want less than %d", info.Size(), err, maxPage)
	}
	// A network namespace of its own has not even a loopback that is up.
	cmd := exec.Command("unshare", "--net", chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--user-data-dir="+t.TempDir(),
		"--enable-logging=stderr", "--v=0", "--virtual-time-budget=8000", "--dump-dom", "file://"+path)
	var dom, log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &dom, &log
	if err := cmd.Run(); err != nil {
		if strings.Contains(log.String(), "unshare") {
			needsLab(t, fmt.Sprintf("a network namespace: %v", err))
		}
		t.Fatalf("chromium: %v\n%s", err, log.String())
	}
	for line := range strings.Lines(log.String()) {
		// The browser's own pages may complain; ours may not.
		if strings.Contains(line, "CONSOLE") && strings.Contains(line, "file://") {
			t.Errorf("console: %s", line)
		}
	}
	asked := regexp.MustCompile(`data-chart="([a-z0-9_]+)"`).FindAllStringSubmatch(string(mustRead(t, path)), -1)
	if len(asked) < 10 {
		t.Fatalf("the page has %d charts: this test has looked at too little", len(asked))
	}
	for _, c := range asked {
		_, after, found := strings.Cut(dom.String(), `data-chart="`+c[1]+`"`)
		drawn, _, _ := strings.Cut(after, "</svg>")
		if marks := strings.Count(drawn, "<path"); !found || !strings.Contains(drawn, "<svg") || marks < 3 {
			t.Errorf("chart %s has %d marks", c[1], marks)
		}
	}
}

func mustRead(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
