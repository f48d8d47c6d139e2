package reporters

import "abacus/reporters/html"

// Format is one row of the table of formats.
type Format struct {
	// Name is what --format and the key report.formats take.
	Name string
	// File is the name within a record's folder.
	File string
	// Printed tells that the format goes to standard output unless a folder
	// is named.
	Printed bool
	// About says in a few words what it is.
	About    string
	Reporter Reporter
}

// Formats is the table of all formats.
func Formats() []Format {
	return []Format{
		{Name: "html", File: "report.html", About: "one page that opens offline", Reporter: html.Page{}},
		{Name: "json", File: "summary.json", Printed: true, About: "the summary, for programs", Reporter: JSON{}},
		{Name: "text", File: "summary.txt", Printed: true, About: "tables as `abacus run` prints them", Reporter: Text{}},
	}
}

// Lookup finds a format by its name.
func Lookup(name string) (Format, bool) {
	for _, f := range Formats() {
		if f.Name == name {
			return f, true
		}
	}
	return Format{}, false
}
