package html

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"abacus/harness/analysis"
)

// browser is one headless Chromium; what it complained of and asked for.
type browser struct {
	ctx context.Context

	mu       sync.Mutex
	problems []string
}

// openBrowser starts Chromium, or skips the test where there is none; with
// ABACUS_REQUIRE_LAB=1 a missing one is a failure.
func openBrowser(t *testing.T) *browser {
	t.Helper()
	if testing.Short() {
		t.Skip("short: no browser")
	}
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			path = p
			break
		}
	}
	if path == "" {
		if os.Getenv("ABACUS_REQUIRE_LAB") == "1" {
			t.Fatal("no chromium on the PATH, and ABACUS_REQUIRE_LAB=1")
		}
		t.Skip("no chromium on the PATH")
	}
	options := append([]chromedp.ExecAllocatorOption{}, chromedp.DefaultExecAllocatorOptions[:]...)
	options = append(options, chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND"), chromedp.WSURLReadTimeout(40*time.Second))
	ctx, cancelTime := context.WithTimeout(context.Background(), 4*time.Minute)
	ctx, cancelExec := chromedp.NewExecAllocator(ctx, options...)
	ctx, cancel := chromedp.NewContext(ctx)
	t.Cleanup(func() { cancel(); cancelExec(); cancelTime() })
	b := &browser{ctx: ctx}
	if err := chromedp.Listen(ctx, b.listen); err != nil {
		t.Fatalf("start chromium: %v", err)
	}
	for _, call := range []func() error{
		func() error { _, err := chromedp.Call(ctx, network.Enable, network.EnableParams{}); return err },
		func() error { _, err := chromedp.Call(ctx, log.Enable, cdp.Empty{}); return err },
		func() error { _, err := chromedp.Call(ctx, runtime.Enable, cdp.Empty{}); return err },
	} {
		if err := call(); err != nil {
			t.Fatalf("start chromium: %v", err)
		}
	}
	return b
}

func (b *browser) listen(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if u := e.Request.URL; !strings.HasPrefix(u, "file:") && !strings.HasPrefix(u, "data:") && u != "about:blank" {
			b.problems = append(b.problems, "request to "+u)
		}
	case *runtime.EventExceptionThrown:
		text := e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			text += ": " + e.ExceptionDetails.Exception.Description
		}
		b.problems = append(b.problems, "exception: "+text)
	case *runtime.EventConsoleAPICalled:
		if e.Type == "error" || e.Type == "warning" || e.Type == "assert" {
			b.problems = append(b.problems, fmt.Sprintf("console %s: %s", e.Type, e.Args[0].Value))
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == "error" || e.Entry.Level == "warning" {
			b.problems = append(b.problems, "log: "+e.Entry.Text)
		}
	case *page.EventJavascriptDialogOpening:
		b.problems = append(b.problems, "dialog: "+e.Message)
	}
}

// complaints returns what was seen so far and forgets it.
func (b *browser) complaints() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.problems
	b.problems = nil
	return p
}

// open loads a page for a window of that width and waits until its charts are
// drawn.
func (b *browser) open(t *testing.T, file string, width int64, dark bool) {
	t.Helper()
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	_, err := chromedp.Call(b.ctx, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: 900, DeviceScaleFactor: 1})
	if err != nil {
		t.Fatal(err)
	}
	_, err = chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := chromedp.Do(b.ctx, chromedp.Navigate("file://"+file)); err != nil {
		t.Fatalf("open %s at %d: %v", file, width, err)
	}
	_, err = chromedp.Run(b.ctx, chromedp.Poll[bool](`Array.from(document.querySelectorAll('.chart')).every(function (c) { return c.querySelector('svg path, svg text') || c.clientWidth === 0; })`, chromedp.WithPollingTimeout(20*time.Second)))
	if err != nil {
		t.Fatalf("charts of %s at %d: %v", file, width, err)
	}
}

// screenshot keeps a picture where ABACUS_PAGE_SHOTS says, to be looked at.
func (b *browser) screenshot(t *testing.T, name string) {
	t.Helper()
	dir := os.Getenv("ABACUS_PAGE_SHOTS")
	if dir == "" {
		return
	}
	png, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644); err != nil {
		t.Fatal(err)
	}
}

// writePage renders an analysis into a file of the test.
func writePage(t *testing.T, a *analysis.Analysis) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(file, render(t, a), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

func render(t testing.TB, a *analysis.Analysis) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := (Page{}).Report(&b, a); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// drawn is what the browser sees of one chart.
type drawn struct {
	ID       string   `json:"id"`
	Marks    int      `json:"marks"`
	Texts    []string `json:"texts"`
	Overflow float64  `json:"overflow"`
	Cut      []string `json:"cut"`
}

// drawnCharts counts the marks of each chart and lists texts that do not lie
// within the window.
const drawnCharts = `Array.from(document.querySelectorAll('.chart')).map(function (c) {
  var svg = c.querySelector('svg'), box = c.getBoundingClientRect();
  var texts = svg ? Array.from(svg.querySelectorAll('text')) : [];
  return { id: c.dataset.chart, marks: svg ? svg.querySelectorAll('path').length : 0,
    texts: texts.map(function (x) { return x.textContent; }),
    overflow: svg ? svg.getBoundingClientRect().right - box.right : 0,
    cut: texts.filter(function (x) { var r = x.getBoundingClientRect(); return r.width > 0 && (r.right > box.right + 2 || r.left < box.left - 2 || r.bottom > box.bottom + 2 || r.top < box.top - 2); }).map(function (x) { return x.textContent; }) };
})`

// TestBrowser looks at the page in a real browser, one for all parts.
func TestBrowser(t *testing.T) {
	b := openBrowser(t)
	for _, part := range []struct {
		name  string
		check func(*testing.T, *browser)
	}{
		{"complaints", checkComplaints}, {"widths", checkWidths}, {"states", checkStates}, {"shapes", checkShapes}, {"hostile", checkHostile},
		{"hover", checkHover}, {"toggle", checkToggle}, {"print", checkPrint}, {"no script", checkNoScript},
	} {
		t.Run(part.name, func(t *testing.T) { part.check(t, b) })
	}
}

// checkWidths opens the page in windows of three widths, light and dark.
func checkWidths(t *testing.T, b *browser) {
	file := writePage(t, newSample())
	for _, width := range []int64{360, 768, 1440} {
		for _, dark := range []bool{false, true} {
			name := fmt.Sprintf("%d-%v", width, map[bool]string{false: "light", true: "dark"}[dark])
			t.Run(name, func(t *testing.T) {
				b.open(t, file, width, dark)
				b.check(t, width, 17)
				b.screenshot(t, name)
			})
		}
	}
	b.open(t, file, 1200, false)
	end, err := chromedp.Run(b.ctx, chromedp.Evaluate[float64](`document.getElementById('fig_answer').getBoundingClientRect().bottom`))
	if err != nil {
		t.Fatal(err)
	}
	if end > 1050 || end < 300 {
		t.Errorf("the answer's chart ends at %.0f px, want within the first 1,050", end)
	}
}

// check asserts that the page is whole at this width.
func (b *browser) check(t *testing.T, width int64, charts int) {
	t.Helper()
	list, err := chromedp.Run(b.ctx, chromedp.Evaluate[[]drawn](drawnCharts))
	if err != nil {
		t.Fatal(err)
	}
	scroll, err := chromedp.Run(b.ctx, chromedp.Evaluate[int64](`document.documentElement.scrollWidth`))
	if err != nil {
		t.Fatal(err)
	}
	if scroll > width {
		t.Errorf("the page is %d px wide in a window of %d", scroll, width)
	}
	if len(list) != charts {
		t.Errorf("%d charts, want %d", len(list), charts)
	}
	for _, c := range list {
		if c.Marks < 8 || len(c.Texts) < 4 {
			t.Errorf("%s: %d marks and %d texts drawn", c.ID, c.Marks, len(c.Texts))
		}
		if len(c.Cut) > 0 {
			t.Errorf("%s: texts are cut off: %q", c.ID, c.Cut)
		}
	}
	for _, p := range b.complaints() {
		t.Error(p)
	}
}

// checkStates opens the page in each of its states.
func checkStates(t *testing.T, b *browser) {
	for _, s := range []struct {
		name   string
		charts int
		change []func(*analysis.Analysis)
	}{
		{"void-and-failed", 16, []func(*analysis.Analysis){voidLevel, failedCell6, someFailed, interrupted}},
		{"quick-without-status", 11, []func(*analysis.Analysis){quick, noStatus}},
		{"nothing", 0, []func(*analysis.Analysis){nothing}},
	} {
		a := newSample()
		for _, change := range s.change {
			change(a)
		}
		file := writePage(t, a)
		for _, width := range []int64{360, 1440} {
			b.open(t, file, width, false)
			t.Run(fmt.Sprintf("%s-%d", s.name, width), func(t *testing.T) {
				b.check(t, width, s.charts)
				b.screenshot(t, fmt.Sprintf("%s-%d", s.name, width))
			})
		}
	}
}

// checkPrint prints the page from a dark window: it must come out in light
// colours, within the paper, with every fold open.
func checkPrint(t *testing.T, b *browser) {
	b.open(t, writePage(t, newSample()), 1440, true)
	if dir := os.Getenv("ABACUS_PAGE_SHOTS"); dir != "" {
		pdf, err := chromedp.Run(b.ctx, chromedp.PrintToPDF())
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "print.pdf"), pdf, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"}); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Call(b.ctx, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: 700, Height: 1000, DeviceScaleFactor: 1}); err != nil {
		t.Fatal(err)
	}
	got, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](`(dispatchEvent(new Event('beforeprint')), JSON.stringify({
		ground: getComputedStyle(document.body).backgroundColor,
		closed: document.querySelectorAll('details:not([open])').length,
		contents: getComputedStyle(document.querySelector('.toc')).display,
		wide: Array.from(document.querySelectorAll('.chart svg')).filter(function (s) { return s.getBoundingClientRect().right > 701; }).length,
		band: getComputedStyle(document.querySelector('.chart svg path[stroke="var(--a)"]')).stroke }))`))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"ground":"rgb(255, 255, 255)","closed":0,"contents":"none","wide":0,"band":"rgb(26, 92, 179)"}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// checkToggle switches the colours by hand; the charts follow without a redraw.
func checkToggle(t *testing.T, b *browser) {
	b.open(t, writePage(t, newSample()), 1440, false)
	colours := `JSON.stringify([getComputedStyle(document.body).backgroundColor, getComputedStyle(document.querySelector('.chart svg path[stroke="var(--a)"]')).stroke, document.getElementById('th').textContent])`
	for _, want := range []string{`["rgb(253, 253, 252)","rgb(26, 92, 179)","Dark"]`, `["rgb(20, 23, 26)","rgb(106, 168, 251)","Light"]`, `["rgb(253, 253, 252)","rgb(26, 92, 179)","Dark"]`} {
		got, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](colours))
		if err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if err := chromedp.Do(b.ctx, chromedp.Click(chromedp.CSS("#th"))); err != nil {
			t.Fatal(err)
		}
	}
}

// checkComplaints makes sure that the other parts would notice.
func checkComplaints(t *testing.T, b *browser) {
	file := filepath.Join(t.TempDir(), "bad.html")
	bad := `<img src="http://127.0.0.1:9/x.png"><script>console.error("said"); setTimeout(function () { throw new Error("thrown"); }, 0)</script><footer></footer>`
	if err := os.WriteFile(file, []byte(bad), 0o644); err != nil {
		t.Fatal(err)
	}
	b.open(t, file, 800, false)
	var seen []string
	deadline := time.Now().Add(20 * time.Second)
	for time.Now().Before(deadline) {
		seen = append(seen, b.complaints()...)
		all := strings.Join(seen, "\n")
		if strings.Contains(all, "request to http://127.0.0.1:9/x.png") && strings.Contains(all, "said") && strings.Contains(all, "thrown") {
			return
		}
		if _, err := chromedp.Run(b.ctx, chromedp.Evaluate[int64](`1`)); err != nil {
			t.Fatal(err)
		}
	}
	t.Errorf("not all was noticed: %q", seen)
}

// checkHover reads the tips: one value under the pointer on a chart, all panels
// at one time on a timeline.
func checkHover(t *testing.T, b *browser) {
	b.open(t, writePage(t, newSample()), 1440, false)
	tip := func(chart string, x, y float64, want string) {
		t.Helper()
		box, err := chromedp.Run(b.ctx, chromedp.Evaluate[[]float64](fmt.Sprintf(`(function () {
			var c = document.querySelector('[data-chart=%s]');
			c.scrollIntoView({ block: 'center', behavior: 'instant' });
			var r = c.getBoundingClientRect();
			return [r.left, r.top, r.width, r.height];
		})()`, chart)))
		if err != nil {
			t.Fatal(err)
		}
		if err := chromedp.Do(b.ctx, chromedp.MouseEvent("mouseMoved", box[0]+x*box[2], box[1]+y*box[3])); err != nil {
			t.Fatal(err)
		}
		poll := fmt.Sprintf(`Array.from(document.querySelectorAll('[data-chart=%s] .tip')).map(function (e) { return e.innerText; }).join('|')`, chart)
		text, err := chromedp.Run(b.ctx, chromedp.Poll[string](poll, chromedp.WithPollingTimeout(10*time.Second)))
		if err != nil {
			t.Fatalf("%s: no tip: %v", chart, err)
		}
		for _, w := range strings.Split(want, "|") {
			if !strings.Contains(text, w) {
				t.Errorf("%s: the tip reads %q, want %q in it", chart, text, w)
			}
		}
		b.screenshot(t, "hover-"+chart)
	}
	tip("data_time1", 0.5, 0.5, "\u00a0s|Throughput |p99 latency |Busy workers |server |client |Server memory |Swap in + out 0")
	tip("data_time1_heat", 0.3, 0.78, "of 150 slots")
	// The arrow keys do what the pointer does.
	keys := `(function () {
		var c = document.querySelector('[data-chart=data_time2]');
		c.focus();
		for (var i = 0; i < 3; i++) c.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight' }));
		return Array.from(c.querySelectorAll('.tip')).map(function (x) { return x.innerText; }).join('|');
	})()`
	text, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](keys))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text, "Throughput") || !strings.Contains(text, "server") {
		t.Errorf("after three arrow keys the tip reads %q", text)
	}
	for _, p := range b.complaints() {
		t.Error(p)
	}
}

// checkNoScript opens the page with JavaScript off: the tables are there, and
// each drawing's place says where its figures are.
func checkNoScript(t *testing.T, b *browser) {
	if _, err := chromedp.Call(b.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_, _ = chromedp.Call(b.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{})
	}()
	if err := chromedp.Do(b.ctx, chromedp.Navigate("file://"+writePage(t, newSample()))); err != nil {
		t.Fatal(err)
	}
	got, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](`JSON.stringify({
		hints: Array.from(document.querySelectorAll('noscript p')).filter(function (p) { return p.offsetHeight > 0 && p.textContent.indexOf('This drawing needs JavaScript') === 0; }).length,
		drawn: document.querySelectorAll('.chart svg').length,
		toggle: document.getElementById('th').offsetHeight,
		rows: document.querySelectorAll('#s1 tbody tr').length > 6 })`))
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"hints":17,"drawn":0,"toggle":0,"rows":true}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
