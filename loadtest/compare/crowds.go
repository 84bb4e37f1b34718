package compare

import (
	"fmt"
	"slices"

	"seckill/internal/measure"
)

// A comparison may have so many further numbers of buyers, each up to MaxCrowd.
const (
	MaxCrowds = 8
	MaxCrowd  = 1024
)

// CheckCrowds says what is wrong with further numbers of buyers at a time.
func CheckCrowds(crowds []int) error {
	if len(crowds) > MaxCrowds {
		return fmt.Errorf("give at most %d numbers of buyers at a time", MaxCrowds)
	}
	for i, n := range crowds {
		if n < 1 || n > MaxCrowd {
			return fmt.Errorf("%d buyers at a time: give whole numbers from 1 to %d, by comma", n, MaxCrowd)
		}
		if slices.Index(crowds, n) < i {
			return fmt.Errorf("%d buyers at a time are given more than once", n)
		}
	}
	return nil
}

// concurrencies are all numbers of buyers that the strategies ran with, the
// comparison's own among them.
func (r *Result) concurrencies() []int {
	all := []int{r.Settings.Concurrency}
	for _, e := range r.Crowds {
		all = append(all, e.Concurrency)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// With is the strategy with so many buyers at a time; nil if it was not run.
func (r *Result) With(strategy string, concurrency int) *Entry {
	if concurrency == r.Settings.Concurrency {
		return r.Entry(strategy)
	}
	i := slices.IndexFunc(r.Crowds, func(e *Entry) bool { return e.Strategy == strategy && e.Concurrency == concurrency })
	if i < 0 {
		return nil
	}
	return r.Crowds[i]
}

// crowdTable has a figure of each number of buyers; no rows if there was one only.
func (r *Result) crowdTable(title string, figure func(*Entry) measure.Spread) measure.Table {
	t := measure.Table{Title: title, Words: 1, Head: []string{"strategy"}}
	crowds := r.concurrencies()
	for _, n := range crowds {
		t.Head = append(t.Head, fmt.Sprint(n))
	}
	for _, e := range r.Strategies {
		row := []string{e.Strategy}
		for _, n := range crowds {
			cell := measure.None
			if with := r.With(e.Strategy, n); with != nil {
				cell = spread(figure(with))
			}
			row = append(row, cell)
		}
		if len(crowds) > 1 {
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

func (r *Result) salesTable() measure.Table {
	return r.crowdTable("Sales per second by buyers at a time", func(e *Entry) measure.Spread { return e.Sales })
}

func (r *Result) serviceTable() measure.Table {
	if !slices.ContainsFunc(r.entries(), func(e *Entry) bool { return e.Service.Median > 0 }) {
		return measure.Table{}
	}
	return r.crowdTable("Service processor time per sale in µs, by buyers at a time", func(e *Entry) measure.Spread { return e.Service })
}
