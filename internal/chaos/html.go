package chaos

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"

	"seckill/internal/fault"
	"seckill/internal/ledger"
	"seckill/loadtest"
	"seckill/loadtest/compare"
)

//go:embed report.html
var reportPage string

// WriteHTML writes a page without network access or scripts: the table, and the
// course of each sale with its fault as a band.
func (r *Result) WriteHTML(w io.Writer) error {
	t, err := template.New("report").Funcs(template.FuncMap{
		"say": func(s string) string { return s }, "badge": badge, "course": draw,
		"seconds": func(s *float64) string { return fmt.Sprintf("%.1f s", *s) },
		"of": func(strategy string, name fault.Name) *Cell {
			for i, c := range r.Cells {
				if c.Strategy == strategy && c.Fault == name {
					return &r.Cells[i]
				}
			}
			return nil
		},
	}).Parse(compare.PageStyle())
	if err == nil {
		_, err = t.Parse(reportPage)
	}
	if err != nil {
		return err
	}
	return t.Execute(w, struct {
		*Result
		Outcome    string
		About      [][2]string
		Strategies []string
		Note       string
	}{r, r.Summary(), r.facts(), r.strategies(), r.table().Notes[0]})
}

// badge is a class of the stylesheet.
func badge(c *Cell) string {
	switch {
	case c.Wrong():
		return "wrong"
	case c.Broken() || c.Verdict == loadtest.Blocked || c.Tested() && !c.GoesOn:
		return "caught"
	case !c.Tested():
		return "void"
	case c.Verdict == ledger.Held:
		return "held"
	}
	return "void"
}

// A drawing is a cell's course, in a box of width by height.
type drawing struct {
	Sold, Trouble string  // points of lines
	From, Width   float64 // of the fault
	Most          int
	Seconds       string
	Says          string
}

const width, height = 300, 70

// draw is nil if there is nothing to draw.
func draw(c *Cell) *drawing {
	if len(c.Course) < 2 {
		return nil
	}
	last := c.Course[len(c.Course)-1]
	d := &drawing{Most: max(1, last.Sold, last.Trouble), Seconds: fmt.Sprintf("%.1f s", last.At)}
	at := func(seconds float64) float64 { return min(1, max(0, seconds/last.At)) * width }
	line := func(figure func(Point) int) string {
		var b strings.Builder
		for _, p := range c.Course {
			fmt.Fprintf(&b, "%.1f,%.1f ", at(p.At), height-float64(figure(p))/float64(d.Most)*height)
		}
		return strings.TrimSpace(b.String())
	}
	d.Sold, d.Trouble = line(func(p Point) int { return p.Sold }), line(func(p Point) int { return p.Trouble })
	if h := c.Happened; h != nil && h.Effect != nil && h.Effect.Took {
		d.From = at(float64(h.At) / 1000)
		d.Width = max(2, at(float64(h.Until)/1000)-d.From)
	}
	d.Says = fmt.Sprintf("%d sold in %s, %d without an answer or with an error; no sale for %.1f s at most", last.Sold, d.Seconds, last.Trouble, c.Stood)
	return d
}
