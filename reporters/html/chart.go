package html

import (
	"encoding/json"
	"fmt"
	"html/template"
	"math"
	"strconv"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"
	"github.com/go-echarts/go-echarts/v2/types"
)

// chart is one drawing: an ECharts option made by go-echarts, and what the
// page's own script adds to it (named marks, exact ticks, texts for hover).
// The option holds no function and no colour but names of CSS variables.
type chart struct {
	c    *charts.Custom
	spec spec
}

// spec travels to the page as JSON.
type spec struct {
	Height int `json:"h"`
	Option any `json:"option"`
	// X and Y hold the ticks of the axes, in the order of the option's.
	X []ticks `json:"x"`
	Y []ticks `json:"y"`
	// Marks has one entry per series of the option.
	Marks []mark `json:"marks"`
	// Cursor draws one time cursor through all panels.
	Cursor bool `json:"cursor,omitempty"`
	// Group links the cursors of the charts that share it.
	Group string `json:"group,omitempty"`
}

// ticks places the labels of one axis. Positions are in the axis' own
// coordinates, which are logarithms on a log axis.
type ticks struct {
	At     []float64 `json:"at"`
	Labels []string  `json:"labels"`
	// Line, Grid and Mark switch the axis line, the grid lines and the short
	// ticks; Inset aligns the outermost labels with the ends of the axis.
	Line  bool `json:"line,omitempty"`
	Grid  bool `json:"grid,omitempty"`
	Mark  bool `json:"mark,omitempty"`
	Inset bool `json:"inset,omitempty"`
}

// mark tells the page's script how to draw one series.
type mark struct {
	// Kind is line, dot, seg, box, text or flow (texts one after another on a
	// row, each in its own colour).
	Kind string `json:"kind"`
	// Color is a CSS colour, always one of our own.
	Color string `json:"color,omitempty"`
	// Shape of a dot: circle, square, diamond, triangle, open, void or cross.
	Shape string  `json:"shape,omitempty"`
	Size  float64 `json:"size,omitempty"`
	Width float64 `json:"width,omitempty"`
	// Opacity 0 means 1.
	Opacity float64 `json:"opacity,omitempty"`
	// Caps is half the length of the end strokes of a seg, in pixels.
	Caps float64 `json:"caps,omitempty"`
	Dash string  `json:"dash,omitempty"`
	// Full stretches a box or seg over its panel: "y" from top to bottom.
	Full string `json:"full,omitempty"`
	// Under draws below axis and grid lines.
	Under bool `json:"under,omitempty"`
	// AbsX and AbsY take the value as pixels from the chart's edge.
	AbsX bool `json:"absx,omitempty"`
	AbsY bool `json:"absy,omitempty"`
	// Spread moves texts that are closer than so many pixels apart.
	Spread float64 `json:"spread,omitempty"`
	// Texts and Tips go with the data, one each.
	Texts []string `json:"texts,omitempty"`
	Tips  []string `json:"tips,omitempty"`
	Align string   `json:"align,omitempty"`
	Bold  bool     `json:"bold,omitempty"`
	Small bool     `json:"small,omitempty"`
	// Colors, one per datum, take the place of Color.
	Colors []string `json:"colors,omitempty"`
	// Name and Unit name the values of a line under the time cursor.
	Name string `json:"name,omitempty"`
	Unit string `json:"unit,omitempty"`
	// Log tells that a line's values are logarithms (base 10).
	Log bool `json:"log,omitempty"`
}

// axis is the extent of one axis and its ticks.
type axis struct {
	min, max float64
	ticks    ticks
}

func newChart(height int) *chart {
	c := charts.NewCustom()
	c.XAxisList, c.YAxisList = nil, nil
	c.Animation = opts.Bool(false)
	c.Tooltip = opts.Tooltip{Show: opts.Bool(true)}
	c.Legend = opts.Legend{Show: opts.Bool(false)}
	return &chart{c: c, spec: spec{Height: height}}
}

// panel adds a grid with one x and one y axis and returns its index. Left and
// right are distances from the chart's edges, in pixels or per cent; top and
// height are pixels.
func (c *chart) panel(left, right string, top, height int, x, y axis) int {
	i := len(c.c.GridList)
	c.c.GridList = append(c.c.GridList, opts.Grid{
		Left: left, Right: right, Top: strconv.Itoa(top), Height: strconv.Itoa(height),
	})
	c.c.XAxisList = append(c.c.XAxisList, opts.XAxis{Type: "value", GridIndex: i, Min: x.min, Max: x.max})
	c.c.YAxisList = append(c.c.YAxisList, opts.YAxis{Type: "value", GridIndex: i, Min: y.min, Max: y.max})
	c.spec.X = append(c.spec.X, x.ticks)
	c.spec.Y = append(c.spec.Y, y.ticks)
	return i
}

// add appends a series of panel p. Each datum is a row of numbers; see the
// page's script for what the kinds take.
func (c *chart) add(p int, m mark, data [][]float64) {
	if len(data) == 0 {
		return
	}
	rows := make([]any, len(data))
	for i, d := range data {
		row := make([]any, len(d))
		for k, v := range d {
			row[k] = number6(v)
		}
		rows[i] = row
	}
	s := charts.SingleSeries{Type: types.ChartCustom, XAxisIndex: p, YAxisIndex: p, Data: rows}
	if m.Kind == "line" {
		s.Type = types.ChartLine
		s.ShowSymbol = opts.Bool(false)
		s.LineStyle = &opts.LineStyle{Color: m.Color, Width: float32(m.Width), Type: m.Dash}
	}
	c.c.MultiSeries = append(c.c.MultiSeries, s)
	c.spec.Marks = append(c.spec.Marks, m)
}

// number6 rounds a coordinate to six significant digits, which is finer than
// a pixel; a gap (NaN) is null.
func number6(v float64) any {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 6, 64), 64)
	if err != nil {
		return nil
	}
	return r
}

// finish returns the spec with the option in it.
func (c *chart) finish() spec {
	option := c.c.JSON()
	delete(option, "toolbox")
	delete(option, "color")
	c.spec.Option = option
	return c.spec
}

// drawing is the wide and the narrow form of one chart.
type drawing struct {
	Wide   spec `json:"wide"`
	Narrow spec `json:"narrow"`
}

// embed writes the drawing for a <script type="application/json">. Marshal
// escapes <, >, & and U+2028/9, so no text in it can end the element.
func (d drawing) embed() (template.JS, error) {
	b, err := json.Marshal(d)
	if err != nil {
		return "", fmt.Errorf("chart: %w", err)
	}
	return template.JS(b), nil
}

// share leaves out the data of the narrow form where the wide one has the
// same at the same place; the page's script puts it back.
func (d *drawing) share() {
	wide, narrow := seriesOf(d.Wide), seriesOf(d.Narrow)
	for i := range narrow {
		if i >= len(wide) {
			return
		}
		w, err1 := json.Marshal(wide[i].Data)
		n, err2 := json.Marshal(narrow[i].Data)
		if err1 == nil && err2 == nil && len(n) > 40 && string(w) == string(n) {
			narrow[i].Data = "wide"
		}
	}
}

func seriesOf(s spec) []charts.SingleSeries {
	option, ok := s.Option.(map[string]any)
	if !ok {
		return nil
	}
	switch v := option["series"].(type) {
	case charts.MultiSeries:
		return v
	case []charts.SingleSeries:
		return v
	}
	return nil
}
