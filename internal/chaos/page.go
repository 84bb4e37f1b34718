package chaos

import (
	"fmt"
	"math"

	"seckill/internal/fault"
)

// A Page is a result as the page of the lab shows it: as short as it can be, since
// it has the course of every sale.
type Page struct {
	Format   int            `json:"format"`
	Command  string         `json:"command"`
	Repeat   string         `json:"repeat"` // of one cell; STRATEGY and FAULT stand for its own
	Begun    string         `json:"begun"`  // the day
	Machine  string         `json:"machine"`
	Servers  []string       `json:"servers"`
	Settings Settings       `json:"settings"`
	Left     int            `json:"left,omitempty"`
	Faults   []fault.Name   `json:"faults"`
	Rows     []PageRow      `json:"rows"`
	Tally    map[string]int `json:"tally"` // cells by their word; wrong: that break a promise
}

// A PageRow is a strategy with its cells, in the order of Page.Faults. Cells that
// were not run are null; those that need not be are {}.
type PageRow struct {
	Strategy string      `json:"strategy"`
	Cells    []*PageCell `json:"cells"`
}

// A PageCell is a Cell in short. Times are in tenths of a second.
type PageCell struct {
	Word   string    `json:"word,omitempty"` // see Cell.Word
	Wrong  bool      `json:"wrong,omitempty"`
	May    bool      `json:"may,omitempty"`
	Why    fault.Why `json:"why,omitempty"`   // not tested: by a code,
	Not    string    `json:"not,omitempty"`   // or in English
	Rules  []string  `json:"rules,omitempty"` // that were broken,
	Said   string    `json:"said,omitempty"`  // and what it came to, in English
	Seed   string    `json:"seed,omitempty"`
	Units  [5]int64  `json:"units,omitzero"` // told sold, unknown, at first, left after the first part, in the ledger
	After  int       `json:"after,omitempty"`
	Stood  float64   `json:"stood,omitempty"`     // seconds
	Again  *float64  `json:"recovered,omitempty"` // seconds
	Fault  []int     `json:"fault,omitempty"`     // from, until, if it took effect
	Course [][3]int  `json:"course,omitempty"`    // when, sold, without an answer
}

// OfPage shortens a result.
func (r *Result) OfPage() Page {
	p := Page{Format: Format, Command: r.Command, Begun: r.Begun.UTC().Format("2006-01-02"), Machine: r.Machine.String(), Servers: append([]string{}, r.Servers...),
		Settings: r.Settings, Left: r.Left, Faults: r.Faults, Rows: []PageRow{}, Tally: map[string]int{},
		Repeat: r.Settings.command(Cell{Strategy: "STRATEGY", Fault: "FAULT"})}
	for _, name := range r.strategies() {
		row := PageRow{Strategy: name, Cells: make([]*PageCell, len(r.Faults))}
		of := r.of(name)
		for i, f := range r.Faults {
			for _, c := range of {
				if c.Fault == f {
					short := c.short()
					row.Cells[i] = &short
					p.Tally[short.Word]++
					if short.Wrong {
						p.Tally["wrong"]++
					}
				}
			}
		}
		p.Rows = append(p.Rows, row)
	}
	delete(p.Tally, "")
	return p
}

func (c Cell) short() PageCell {
	if c.Verdict == "" {
		return PageCell{}
	}
	s := PageCell{Word: c.Word(), Wrong: c.Wrong(), May: c.May, Seed: fmt.Sprint(c.Seed), After: c.SoldAfter, Stood: tenth(c.Stood),
		Units: [5]int64{int64(c.Sold), int64(c.Unknown), c.Initial, c.Left, c.InLedger}, Said: c.What()}
	for _, v := range c.Violations {
		s.Rules = append(s.Rules, v.Rule)
	}
	if c.Recovered != nil {
		recovered := tenth(*c.Recovered)
		s.Again = &recovered
	}
	if c.NotTested != "" {
		s.Not = c.NotTested
		if h := c.Happened; h != nil && h.Effect != nil {
			s.Why = h.Effect.Why
		}
	}
	if h := c.Happened; h != nil && h.Effect != nil && h.Effect.Took {
		s.Fault = []int{h.At / 100, h.Until / 100}
	}
	for _, p := range c.Course {
		s.Course = append(s.Course, [3]int{int(math.Round(p.At * 10)), p.Sold, p.Trouble})
	}
	return s
}

func tenth(seconds float64) float64 { return math.Round(seconds*10) / 10 }
