package hot

import (
	"fmt"
	"io"

	"seckill/internal/measure"
	"seckill/loadtest/compare"
)

// WriteHTML writes the report as one page without network access or scripts.
func (r *Report) WriteHTML(w io.Writer) error {
	page := compare.Page{Title: "seckill: one hot row", Tables: r.Tables(),
		Lead: "Durable orders per second over HTTP, by strategy and number of buyers at a time. Dashed lines are baselines of the same rounds."}
	for _, x := range r.Results {
		page.Charts = append(page.Charts, x.chart())
	}
	return compare.WritePage(w, page)
}

func (r *Result) chart() compare.Chart {
	c := compare.Chart{Title: "Orders per second against buyers at a time, " + r.how(), Y: "orders per second; the axis is logarithmic"}
	for _, n := range r.Buyers {
		c.X = append(c.X, fmt.Sprint(n))
	}
	for _, name := range r.names() {
		line := compare.Line{Name: name}
		for _, n := range r.Buyers {
			cell := r.Cell(name, n)
			line.Dashed = line.Dashed || cell != nil && cell.Baseline
			line.Y = append(line.Y, cell.series(rate).Spread().Median)
		}
		if name != MultiRow { // one client only
			c.Lines = append(c.Lines, line)
		}
	}
	return c
}

// Markdown is what docs/hot.md shows of a run.
func (r *Report) Markdown(w io.Writer) error { return measure.WriteMarkdown(w, r.pageTables()) }

// pageTables leave out the figures of each number of buyers but the middle one.
func (r *Report) pageTables() (all []measure.Table) {
	for _, x := range r.Results {
		all = append(all, x.goalTable(), x.rateTable())
		if len(x.Buyers) > 0 {
			all = append(all, x.crowdTable(side{"", usually}.near(x.Buyers)))
		}
		all = append(all, x.profileTables()...)
	}
	if len(all) > 0 {
		last := &all[len(all)-1]
		last.Notes = append(last.Notes, r.remarks()...)
	}
	return all
}
