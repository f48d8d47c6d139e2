package html

import "abacus/harness/number"

// table is a table of finished texts.
type table struct {
	ID string
	// The caption says level, n and which standard deviation: Caption, the
	// emphasised Em, then Rest.
	Caption, Em, Rest string
	Head              [][]cell
	Rows              []tableRow
	Note              string
	// Summary, when set, folds the table under this heading.
	Summary string
}

// tableRow has a heading, a marker before it (CSS classes, or none) and cells.
type tableRow struct {
	Class, Key, Head string
	// Icon stands before the heading: c, w, i or ok.
	Icon  string
	Tag   string
	Cells []cell
}

// cell is one cell of head or body.
type cell struct {
	Text, Class, Title string
	Struck             bool
	// Cols and Rows are spans; 0 is 1.
	Cols, Rows int
	Scope      string
}

func num(text string) cell   { return cell{Text: text} }
func words(text string) cell { return cell{Text: text, Class: "tx"} }
func sdCell(text string) cell {
	if text == "" {
		return cell{Class: "sd"}
	}
	return cell{Text: "± " + text, Class: "sd"}
}

// none is an absent value, with its reason.
func none(reason string) cell { return cell{Text: "–", Class: "abs", Title: reason} }

// requests is a run's count; a run without a result has none.
func requests(n *int64) cell {
	if n == nil {
		return none("the run gave no result")
	}
	return num(number.Count(*n))
}

// nones fills a value and its sd column.
func nones(reason string) []cell { return []cell{none(reason), {Class: "sd"}} }

func col(text string) cell             { return cell{Text: text, Scope: "col"} }
func colText(text string) cell         { return cell{Text: text, Scope: "col", Class: "tx"} }
func colTall(text string) cell         { return cell{Text: text, Scope: "col", Rows: 2, Class: "tall"} }
func colPair(text string) cell         { return cell{Text: text, Scope: "col", Cols: 2, Class: "c2"} }
func colGroup(text string, n int) cell { return cell{Text: text, Scope: "colgroup", Cols: n} }
