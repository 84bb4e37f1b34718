package compare

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"

	"seckill/internal/measure"
	"seckill/internal/numbers"
)

//go:embed style.html
var pageStyle string

//go:embed page.html
var chartPage string

// PageStyle is the template "style" of all reports.
func PageStyle() string { return pageStyle }

// A Page is a report of charts and tables, in the style of the comparison's, for
// other measurements.
type Page struct {
	Title, Lead string
	Charts      []Chart
	Tables      []measure.Table
}

// A Chart shows figures of several subjects along the same steps. Its axis is
// logarithmic.
type Chart struct {
	Title, Y string
	X        []string
	Lines    []Line
}

// A Line has a figure for each step; 0 where there is none.
type Line struct {
	Name   string
	Y      []float64
	Dashed bool // a baseline
}

// WritePage writes a page without network access or scripts.
func WritePage(w io.Writer, p Page) error {
	t, err := template.New("page").Funcs(template.FuncMap{"say": func(s string) string { return s }}).Parse(pageStyle)
	if err == nil {
		_, err = t.Parse(chartPage)
	}
	if err != nil {
		return err
	}
	page := struct {
		Page
		Charts []*drawn
	}{Page: p}
	for _, c := range p.Charts {
		page.Charts = append(page.Charts, c.draw())
	}
	return t.Execute(w, page)
}

// A drawn chart is in pixels, in a box of chartWidth by chartHeight.
type drawn struct {
	Chart
	Ticks, Steps []tick
	Paths        []path
}

type path struct {
	Name, Points string
	Hue          int
	Dashed       bool
	FromX, FromY float64 // its end
	LabelX       float64
	LabelY       float64
	Dots         []dot
}

type dot struct {
	X, Y float64
	Text string
}

const (
	chartWidth  = 560.0
	chartHeight = 380.0
	labelHeight = 12.0
)

func (c Chart) draw() *drawn {
	d := &drawn{Chart: c}
	least, most := math.Inf(1), 0.0
	for _, l := range c.Lines {
		for _, y := range l.Y {
			if y > 0 {
				least, most = min(least, y), max(most, y)
			}
		}
	}
	if most == 0 {
		return d
	}
	low, high := math.Log10(least)-.05, math.Log10(most)+.05
	at := func(y float64) float64 { return chartHeight * (high - math.Log10(y)) / (high - low) }
	for _, y := range logTicks(least, most) {
		d.Ticks = append(d.Ticks, tick{at(y), numbers.Thousands(int64(y))})
	}
	x := func(i int) float64 { return chartWidth * (float64(i) + .5) / float64(max(1, len(c.X))) }
	for i, name := range c.X {
		d.Steps = append(d.Steps, tick{x(i), name})
	}
	for i, l := range c.Lines {
		p := path{Name: l.Name, Hue: i * 360 / len(c.Lines), Dashed: l.Dashed, LabelX: chartWidth + 16}
		for k, y := range l.Y {
			if y > 0 {
				p.Dots = append(p.Dots, dot{x(k), at(y), fmt.Sprintf("%s, %s: %s", l.Name, c.X[k], measure.Number(y))})
			}
		}
		if len(p.Dots) > 0 {
			end := p.Dots[len(p.Dots)-1]
			p.Points, p.FromX, p.FromY = points(p.Dots), end.X, end.Y
			d.Paths = append(d.Paths, p)
		}
	}
	label(d.Paths)
	return d
}

func points(dots []dot) string {
	var b strings.Builder
	for _, p := range dots {
		fmt.Fprintf(&b, "%.1f,%.1f ", p.X, p.Y)
	}
	return b.String()
}

// LeaderX is where the line to the name ends.
func (p path) LeaderX() float64 { return p.LabelX - 4 }

// label puts each name beside the end of its line, from the top, none over
// another.
func label(paths []path) {
	order := make([]*path, len(paths))
	for i := range paths {
		order[i] = &paths[i]
	}
	slices.SortStableFunc(order, func(a, b *path) int { return int(math.Round(a.FromY - b.FromY)) })
	next := 0.0
	for _, p := range order {
		p.LabelY = max(p.FromY, next)
		next = p.LabelY + labelHeight
	}
	for bottom := chartHeight; len(order) > 0; order = order[:len(order)-1] { // what hangs out is pushed up
		last := order[len(order)-1]
		last.LabelY = min(last.LabelY, bottom)
		bottom = last.LabelY - labelHeight
	}
}

// logTicks are 1, 2 and 5 times each power of ten between two figures.
func logTicks(least, most float64) (all []float64) {
	for power := math.Pow(10, math.Floor(math.Log10(least))); power <= most; power *= 10 {
		for _, k := range []float64{1, 2, 5} {
			if y := k * power; y >= least && y <= most {
				all = append(all, y)
			}
		}
	}
	return all
}
