package html

import (
	"reflect"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"abacus/harness/analysis"
	"abacus/harness/preflight"
)

// payload tries to end a script element, an attribute, a text, a template and
// a JavaScript string, and to run something.
const payload = "</script><script>window.pwned=1</script><img src=x onerror=\"window.pwned=1\">'\"`{{.}}${1}\u2028&lt;"

// poison puts the payload into every text of v, map keys included. Texts that
// the program itself chooses from a closed list stay.
func poison(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			poison(v.Elem())
		}
	case reflect.Struct:
		for i := 0; i < v.NumField(); i++ {
			if f := v.Type().Field(i); f.IsExported() && f.Name != "Kind" && f.Name != "Outcome" {
				poison(v.Field(i))
			}
		}
	case reflect.Slice, reflect.Array:
		for i := 0; i < v.Len(); i++ {
			poison(v.Index(i))
		}
	case reflect.Map:
		if v.Type().Key().Kind() == reflect.String && !v.IsNil() {
			for _, k := range v.MapKeys() {
				value := reflect.New(v.Type().Elem()).Elem()
				value.Set(v.MapIndex(k))
				poison(value)
				v.SetMapIndex(k, reflect.Value{})
				v.SetMapIndex(reflect.ValueOf(k.String()+payload).Convert(v.Type().Key()), value)
			}
		}
	case reflect.String:
		if v.CanSet() && v.Type() != reflect.TypeFor[preflight.Severity]() {
			v.SetString(v.String() + payload)
		}
	}
}

// poisoned keeps what ties the parts together: equal names stay equal, since
// the payload is appended to all of them.
func poisoned() *analysis.Analysis {
	a := newSample()
	a.Complete, a.Quick = false, true
	voidLevel(a)
	failedCell6(a)
	noStatus(a)
	a.Goals = []analysis.GoalResult{{Goal: "p95 < 30ms", Outcome: "missed", Evidence: "e"}}
	a.Author, a.Notes, a.Reason = "author", "notes", "reason"
	a.Timelines[0].Scoreboard = newSample().Timelines[0].Scoreboard
	a.Pages[0].Error = ""
	a.Pages = append(a.Pages, preflight.Page{Error: "e", Redirect: "r"})
	poison(reflect.ValueOf(a).Elem())
	return a
}

func TestHostileTexts(t *testing.T) {
	page := string(render(t, poisoned()))
	safe := string(render(t, newSample()))
	if n := strings.Count(page, "window.pwned"); n < 200 {
		t.Fatalf("the payload is only %d times on the page: the test tests nothing", n)
	}
	for _, bad := range []string{"<img", "<script>window", "</script><script>window", "onerror=\"window"} {
		if strings.Contains(page, bad) && !strings.Contains(safe, bad) {
			i := strings.Index(page, bad)
			t.Errorf("%q is in the page: …%s…", bad, page[max(0, i-120):min(len(page), i+80)])
		}
	}
	opened, closed := strings.Count(page, "<script"), strings.Count(page, "</script>")
	charts := strings.Count(page, `<script type="application/json"`)
	if opened != charts+2 || closed != charts+2 {
		t.Errorf("%d script elements opened, %d closed, want %d", opened, closed, charts+2)
	}
	chartData(t, []byte(page))
}

// checkHostile opens a page whose every text tries to run something.
func checkHostile(t *testing.T, b *browser) {
	for _, width := range []int64{360, 1440} {
		b.open(t, writePage(t, poisoned()), width, false)
		got, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](`JSON.stringify({
			pwned: typeof window.pwned, images: document.images.length, scroll: document.documentElement.scrollWidth,
			title: document.querySelector('h1').textContent.indexOf('</script><script>window.pwned=1') >= 0,
			chart: Array.from(document.querySelectorAll('.chart svg text')).some(function (x) { return x.textContent.indexOf('</script>') >= 0; }) })`))
		if err != nil {
			t.Fatal(err)
		}
		var want = map[int64]string{360: `{"pwned":"undefined","images":0,"scroll":360,"title":true,"chart":true}`, 1440: `{"pwned":"undefined","images":0,"scroll":1440,"title":true,"chart":true}`}[width]
		if got != want {
			t.Errorf("at %d: got %s, want %s", width, got, want)
		}
		// A tip under the pointer is made of text too.
		tip, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](`(function () {
			var c = document.querySelector('[data-chart=data_s1_stress]') || document.querySelector('[data-chart=data_answer]');
			c.focus();
			c.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight' }));
			return Array.from(document.querySelectorAll('.tip')).map(function (x) { return x.textContent + '|' + x.querySelectorAll('script, img').length; }).join('');
		})()`))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(tip, "window.pwned") && !strings.Contains(tip, "</script>") || !strings.HasSuffix(tip, "|0") {
			t.Errorf("at %d: the tip reads %q", width, tip)
		}
		for _, p := range b.complaints() {
			t.Error(p)
		}
		b.screenshot(t, "hostile")
	}
}
