// Package html writes the result page: one file that opens offline, with all
// figures in tables and its charts drawn by a script that it carries. Every
// text is escaped by html/template or by json.Marshal; nothing in the page is
// asked for from anywhere.
package html

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"

	"abacus/harness/analysis"
)

//go:embed assets/page.html
var pageHTML string

//go:embed assets/*.css
var styles embed.FS

// styleFiles are joined in this order: a later one may override.
var styleFiles = []string{"tokens.css", "page.css", "parts.css", "states.css", "media.css"}

//go:embed assets/page.js
var pageJS string

// echartsJS is Apache ECharts, its licence in its first comment; the texts
// stand beside it (scripts/vendor-echarts.sh).
//
//go:embed assets/echarts.min.js
var echartsJS string

// Page is the reporter of the result page.
type Page struct{}

// Report writes the page for a. The same analysis gives the same bytes.
func (Page) Report(w io.Writer, a *analysis.Analysis) error {
	v, err := newView(a)
	if err != nil {
		return fmt.Errorf("page: %w", err)
	}
	t, err := template.New("page").Parse(pageHTML)
	if err != nil {
		return fmt.Errorf("page: %w", err)
	}
	v.CSS, err = css()
	if err != nil {
		return fmt.Errorf("page: %w", err)
	}
	v.Script = template.JS("\n" + pageJS)
	scripts := []string{string(v.Script)}
	if v.hasCharts() {
		v.Library = template.JS(echartsJS)
		scripts = append(scripts, echartsJS)
	}
	v.Policy = policy(scripts)
	if err := t.Execute(w, v); err != nil {
		return fmt.Errorf("page: %w", err)
	}
	return nil
}

func css() (template.CSS, error) {
	var b strings.Builder
	for _, name := range styleFiles {
		text, err := styles.ReadFile("assets/" + name)
		if err != nil {
			return "", err
		}
		b.Write(text)
	}
	return template.CSS(b.String()), nil
}

// policy lets exactly the given scripts run and nothing be fetched. ECharts
// sets style attributes, which style-src must allow.
func policy(scripts []string) string {
	var hashes []string
	for _, s := range scripts {
		sum := sha256.Sum256([]byte(strings.ReplaceAll(s, "\r\n", "\n")))
		hashes = append(hashes, "'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'")
	}
	return "default-src 'none'; style-src 'unsafe-inline'; script-src " + strings.Join(hashes, " ") + "; base-uri 'none'; form-action 'none'"
}
