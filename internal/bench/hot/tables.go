package hot

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"seckill/internal/measure"
	"seckill/internal/numbers"
)

// Tables are the report for people.
func (r *Report) Tables() (all []measure.Table) {
	for _, x := range r.Results {
		all = append(all, x.rateTable(), x.goalTable())
		for _, n := range x.Buyers {
			all = append(all, x.crowdTable(n))
		}
		all = append(all, x.profileTables()...)
	}
	if len(all) > 0 {
		last := &all[len(all)-1]
		last.Notes = append(last.Notes, r.remarks()...)
	}
	return all
}

func (r *Result) how() string {
	if r.Binlog == Given {
		return "the database as it was given"
	}
	return "binlog " + r.Binlog
}

// rateTable has the orders per second of everything, by number of buyers.
func (r *Result) rateTable() measure.Table {
	t := measure.Table{Title: "Durable orders per second by buyers at a time, " + r.how(), Words: 1, Head: []string{""}}
	for _, n := range r.Buyers {
		t.Head = append(t.Head, fmt.Sprint(n))
	}
	for _, name := range r.names() {
		if name == MultiRow {
			continue
		}
		row, best := []string{name}, r.best(name)
		for _, n := range r.Buyers {
			cell := r.Cell(name, n)
			text := cell.text(rate)
			if cell != nil && cell.Error != "" {
				text = "failed"
			}
			if name == Update && cell == best && best != nil {
				text += " best"
			}
			row = append(row, text)
		}
		t.Rows = append(t.Rows, row)
	}
	if c := r.Cell(MultiRow, 1); c != nil {
		t.Notes = append(t.Notes, fmt.Sprintf("%s, %d in a transaction with one UPDATE, one client: %s orders per second.", MultiRow, multiRows, c.text(rate)))
	}
	return t
}

// goalTable is what must be reached, computed.
func (r *Result) goalTable() measure.Table {
	t := measure.Table{Title: "It must reach, " + r.how(), Words: 2, Head: []string{"what", "of", "measured", "must", "aim", "met"},
		Notes: []string{"Ratios are the geometric mean of the rounds' ratios with its 95 % interval; a time has the median of its rounds, the lowest and the highest."}}
	for _, g := range r.Goals {
		bound := "≥ "
		if g.AtMost {
			bound = "≤ "
		}
		measured, aim := measure.None, measure.None
		if g.Missing == "" {
			measured = ratioText(g.Ratio)
		}
		if g.Aim > 0 {
			aim = bound + fmt.Sprint(g.Aim)
		}
		t.Rows = append(t.Rows, []string{g.What, g.Figure, measured, bound + fmt.Sprint(g.AtLeast), aim, g.Met()})
	}
	return t
}

// crowdTable has all figures of one number of buyers, the fastest first.
func (r *Result) crowdTable(buyers int) measure.Table {
	t := measure.Table{Title: fmt.Sprintf("%s at a time, %s", atATime(buyers), r.how()), Words: 1}
	figures := []figure{rate, p50, p99, service, servers, generator, processors}
	t.Head = []string{""}
	for _, f := range figures {
		t.Head = append(t.Head, f.name)
	}
	t.Head = append(t.Head, "/ "+Frozen, "/ "+Update)
	for _, c := range r.sorted(buyers) {
		row := []string{c.Name}
		for _, f := range figures {
			if f.name == processors.name && c.Name == Accepted { // its orders are written after its answers
				row = append(row, measure.None)
				continue
			}
			row = append(row, c.text(f))
		}
		for _, other := range []string{Frozen, Update} {
			row = append(row, ratioText(measure.RatioOf(c.series(rate), r.Cell(other, buyers).series(rate))))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func (r *Result) sorted(buyers int) (all []*Cell) {
	for _, c := range r.Cells {
		if c.Buyers == buyers && c.Name != MultiRow && len(c.series(rate)) > 0 {
			all = append(all, c)
		}
	}
	slices.SortStableFunc(all, func(a, b *Cell) int {
		return cmp.Compare(b.series(rate).Spread().Median, a.series(rate).Spread().Median)
	})
	return all
}

func ratioText(r measure.Ratio) string {
	switch {
	case r.Rounds == 0:
		return measure.None
	case r.High == 0:
		return measure.Number(r.Times)
	}
	return fmt.Sprintf("%s (%s–%s)", measure.Number(r.Times), measure.Number(r.Low), upper(r.High))
}

// upper keeps the end of an interval short that two rounds leave wide open.
func upper(x float64) string {
	if x >= 10_000 {
		return "∞"
	}
	return measure.Number(x)
}

// remarks say how and where the figures were measured.
func (r *Report) remarks() (notes []string) {
	for _, x := range r.Results {
		figures := fmt.Sprintf("medians of %d rounds in alternating order (lowest–highest)", x.Rounds)
		if x.Rounds == 1 {
			figures = "one round only, so their spread is unknown"
		}
		notes = append(notes, fmt.Sprintf("%s: %s; figures are %s; every sale was audited from the ledger. %s; %s.",
			x.how(), numbers.CountOf(x.Processes, "service process", "service processes"), figures, strings.Join(measure.Versions(x.Servers), ", "), settings(x.Durability)))
	}
	for _, why := range r.Failed() {
		notes = append(notes, "FAILED: "+why)
	}
	return append(notes, fmt.Sprintf("%s; %s.\n%s", r.Began.Format("2006-01-02 15:04"), r.Machine, r.Command))
}

func settings(all []measure.ServerSetting) string {
	var list []string
	for _, s := range all {
		list = append(list, s.Name+" "+s.Value)
	}
	return strings.Join(list, ", ")
}
