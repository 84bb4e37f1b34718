package bench

import (
	"fmt"
	"strings"

	"seckill/internal/measure"
)

// Tables are the report for people: one for each number of contenders, and one of
// the ratios.
func (r *Report) Tables() []measure.Table {
	var all []measure.Table
	for _, n := range r.crowds() {
		all = append(all, r.sceneTable(n))
	}
	if t := r.ratioTable(); len(t.Rows) > 0 {
		all = append(all, t)
	}
	if len(all) > 0 {
		last := &all[len(all)-1]
		last.Notes = append(last.Notes, r.remarks()...)
	}
	return all
}

func (r *Report) sceneTable(n int) measure.Table {
	t := measure.Table{
		Title: "Uncontended: acquire and release, one after the other",
		Head:  []string{"lock", "locks/s", "p50 ms", "p99 ms", "commands"}, Words: 1,
	}
	if n > 1 {
		t.Title = fmt.Sprintf("%d contenders, each holding %v ms", n, r.HoldMS)
		if r.Instances > 1 {
			t.Title += fmt.Sprintf(", with the connections of %d processes", min(n, r.Instances))
		}
		t.Head = []string{"lock", "locks/s", "p50 wait ms", "p99 wait ms", "hand-over ms", "fewest/most", "commands"}
	}
	for _, l := range r.Locks {
		for _, s := range l.Scenes {
			if s.Contenders == n {
				t.Rows = append(t.Rows, s.row(l.Name, len(t.Head)))
			}
		}
	}
	return t
}

func (s Scene) row(name string, width int) []string {
	row := []string{name}
	figures := []figure{rate, waitP50, waitP99}
	if s.Contenders > 1 {
		figures = append(figures, handover, fairness)
	}
	switch {
	case s.Error != "":
		row = append(row, "failed")
	case s.lost() > 0:
		row = append(row, fmt.Sprintf("invalid: overlap seen, %d updates lost", s.lost()))
	case len(s.Passes) > 0:
		for _, f := range figures {
			row = append(row, s.spread(f).String())
		}
		if s.Commands > 0 {
			row = append(row, measure.Number(s.Commands))
		}
	}
	for len(row) < width {
		row = append(row, measure.None)
	}
	return row
}

func (r *Report) ratioTable() measure.Table {
	t := measure.Table{
		Title: "Ratios within this run",
		Head:  []string{"ratio", "of", "contenders", "measured"}, Words: 2,
	}
	for _, x := range r.Ratios {
		t.Rows = append(t.Rows, []string{x.Ours + " / " + x.Foreign, x.Measure, fmt.Sprint(x.Contenders), x.Ratio.String()})
	}
	return t
}

// remarks say how and where the figures were measured.
func (r *Report) remarks() (notes []string) {
	figures := fmt.Sprintf("Figures are medians of %d rounds in alternating order (lowest–highest).", r.Rounds)
	if r.Rounds == 1 {
		figures = "One round only: the spread of these figures is unknown."
	}
	notes = append(notes, figures+" Ratios are taken within a round.")
	var terms []string
	for _, l := range r.Locks {
		if l.Terms != "" {
			terms = append(terms, l.Name+": "+l.Terms)
		}
		for _, s := range l.Scenes {
			if s.Error != "" {
				notes = append(notes, fmt.Sprintf("Failed: %s, %s: %s", l.Name, crowd(s.Contenders), s.Error))
			}
		}
	}
	if len(terms) > 0 {
		notes = append(notes, "Terms: "+strings.Join(terms, "; ")+".")
	}
	for _, name := range r.Overlaps() {
		notes = append(notes, fmt.Sprintf(
			"NOT VALID: %s let two holders in at a time: the counter under it lost updates. Its figures are void.", name))
	}
	return append(notes, fmt.Sprintf("%s; %s; %s.\n%s", r.Began.Format("2006-01-02 15:04"), r.Machine,
		strings.Join(measure.Versions(r.Servers), ", "), r.Command))
}
