package bench

import (
	"fmt"
	"slices"
	"strings"

	"seckill/internal/measure"
)

// Tables are the report for people: one for each number of contenders.
func (r *Report) Tables() (all []measure.Table) {
	var crowds []int
	for _, s := range r.Scenes {
		if !slices.Contains(crowds, s.Contenders) {
			crowds = append(crowds, s.Contenders)
			all = append(all, r.table(s.Contenders))
		}
	}
	if len(all) > 0 {
		all[len(all)-1].Notes = r.remarks()
	}
	return all
}

func (r *Report) table(contenders int) measure.Table {
	t := measure.Table{
		Title: "Uncontended: acquire and release, one after the other",
		Head:  []string{"lock"}, Words: 1,
	}
	columns := []column{{"locks/s", rate, true}, {"p50 ms", waitP50, false}, {"p99 ms", waitP99, true}, {"commands", commands, false}}
	if contenders > 1 {
		t.Title = fmt.Sprintf("%d contenders, each holding %v ms", contenders, r.HoldMS)
		columns = []column{{"locks/s", rate, true}, {"p50 wait ms", waitP50, false}, {"p99 wait ms", waitP99, true},
			{"hand-over ms", handover, false}, {"fewest/most", fairness, false}, {"commands", commands, false}}
	}
	for _, c := range columns {
		t.Head = append(t.Head, c.head)
	}
	for _, s := range r.Scenes {
		if s.Contenders == contenders {
			t.Rows = append(t.Rows, append([]string{s.Lock}, s.row(columns)...))
		}
	}
	return t
}

// A column is a median, with the lowest and the highest round where those say something: of rates
// and of the longest waits, which differ most between rounds.
type column struct {
	head   string
	of     figure
	spread bool
}

func (s *Scene) row(columns []column) (row []string) {
	switch {
	case s.Error != "":
		row = append(row, "failed")
	case s.lost() > 0:
		row = append(row, fmt.Sprintf("invalid: overlap seen, %d updates lost", s.lost()))
	case len(s.Passes) > 0:
		for _, c := range columns {
			text := measure.Number(s.spread(c.of).Median)
			if c.spread {
				text = s.spread(c.of).String()
			}
			row = append(row, text)
		}
	}
	for len(row) < len(columns) {
		row = append(row, measure.None)
	}
	return row
}

// remarks say how and where the figures were measured.
func (r *Report) remarks() (notes []string) {
	figures := fmt.Sprintf("Figures are medians of %d rounds in alternating order (lowest–highest).", r.Rounds)
	if r.Rounds == 1 {
		figures = "One round only: the spread of these figures is unknown."
	}
	notes = append(notes, figures)
	var terms []string
	for _, s := range r.Scenes {
		if s.Contenders == 1 && s.candidate.Terms != "" {
			terms = append(terms, s.Lock+": "+s.candidate.Terms)
		}
		if s.Error != "" {
			notes = append(notes, fmt.Sprintf("Failed: %s, %s: %s", s.Lock, crowd(s.Contenders), s.Error))
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

// LocksName is of the block of figures in Markdown files, and of their member in
// the file that the lessons read.
const LocksName = "locks"

// Report is the report in all its forms.
func (r *Report) Report() measure.Report {
	return measure.Report{Tables: r.Tables(), JSON: r, Name: LocksName, From: r.run().String(), Block: r.Tables(), Figures: r.Figures()}
}

// LockFigures are what the lessons read of a run of locks; those that failed are
// left out.
type LockFigures struct {
	measure.Run
	HoldMS float64                 `json:"hold_ms"`
	Locks  map[string]CrowdFigures `json:"locks"`
}

// CrowdFigures are those of one lock by the number of contenders; a single one
// acquires and releases without a pause.
type CrowdFigures struct {
	Foreign bool                     `json:"foreign,omitempty"`
	Crowds  map[int]ContenderFigures `json:"crowds"`
}

// ContenderFigures are medians with the lowest and the highest round.
type ContenderFigures struct {
	Rate     [3]float64 `json:"locks_per_second"`
	P50      [3]float64 `json:"p50_ms"` // of waiting
	P99      [3]float64 `json:"p99_ms"`
	Fairness [3]float64 `json:"fairness"` // fewest/most locks per contender
	Sent     float64    `json:"commands"`
}

// Figures extracts them.
func (r *Report) Figures() LockFigures {
	f := LockFigures{Run: r.run(), HoldMS: r.HoldMS, Locks: map[string]CrowdFigures{}}
	for _, s := range r.Scenes {
		if !s.valid() {
			continue
		}
		if f.Locks[s.Lock].Crowds == nil {
			f.Locks[s.Lock] = CrowdFigures{s.Foreign, map[int]ContenderFigures{}}
		}
		f.Locks[s.Lock].Crowds[s.Contenders] = ContenderFigures{s.spread(rate).Short(), s.spread(waitP50).Short(),
			s.spread(waitP99).Short(), s.spread(fairness).Short(), measure.Digits(s.spread(commands).Median)}
	}
	return f
}
