package scenarios

import _ "embed"

//go:embed pages/static.html
var staticPage string

// StaticPage is the page that the static scenarios fetch: 37,519 bytes of
// HTML, the size of an ordinary page of text.
func StaticPage() string { return staticPage }
