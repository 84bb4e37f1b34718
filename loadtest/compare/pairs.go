package compare

import (
	"cmp"
	"fmt"
	"slices"

	"seckill/internal/ledger"
	"seckill/internal/measure"
)

// A Pair says how many times as many sales per second one strategy makes as
// another: Times is at least 1.
type Pair struct {
	Faster string `json:"faster"`
	Slower string `json:"slower"`
	measure.Ratio
	Apart bool `json:"apart"` // false: the rounds cannot tell the two apart
}

// Fastest is the strategy with the most sales per second of those that held as
// they must, or of all if none did; "" if none sold.
func (r *Result) Fastest() string {
	best := ""
	rate := func(e *Entry) (bool, float64) { return e.Verdict == ledger.Held && !e.Breaks, e.Sales.Median }
	for _, e := range r.Strategies {
		held, sales := rate(e)
		if known := r.Entry(best); sales > 0 {
			if known == nil {
				best = e.Strategy
				continue
			}
			if knownHeld, most := rate(known); held && !knownHeld || held == knownHeld && sales > most {
				best = e.Strategy
			}
		}
	}
	return best
}

// Pairs compares each strategy with one of them, round by round, the nearest
// first. Strategies that share no round with it are left out.
func (r *Result) Pairs(with string) []Pair {
	all := []Pair{}
	one := r.Entry(with)
	if one == nil {
		return all
	}
	sales := func(r Round) float64 { return r.SalesRate }
	for _, e := range r.Strategies {
		p := Pair{with, e.Strategy, measure.RatioOf(one.series(sales), e.series(sales)), false}
		if e == one || p.Rounds == 0 {
			continue
		}
		p.Apart = p.Ratio.Apart()
		if p.Times < 1 {
			p.Faster, p.Slower, p.Ratio = p.Slower, p.Faster, p.Inverse()
		}
		all = append(all, p)
	}
	slices.SortStableFunc(all, func(a, b Pair) int { return cmp.Compare(a.Times, b.Times) })
	return all
}

func (p Pair) String() string {
	interval := ""
	if p.High > 0 {
		interval = fmt.Sprintf(" (%s–%s)", times(p.Low), times(p.High))
	}
	if !p.Apart && p.High > 0 {
		return fmt.Sprintf("%s and %s cannot be told apart%s", p.Faster, p.Slower, interval)
	}
	return fmt.Sprintf("%s is %s × %s%s", p.Faster, times(p.Times), p.Slower, interval)
}

// times shows a ratio with two decimals, a large one with fewer.
func times(x float64) string {
	if x < 9.995 {
		return fmt.Sprintf("%.2f", x)
	}
	return measure.Number(x)
}

const pairNote = "Sales per second, compared round by round: the geometric mean of the rounds' ratios and its 95 % interval. " +
	"Each interval stands alone: of twenty, one may be wrong."

// pairTable sets each strategy beside the fastest that held.
func (r *Result) pairTable() measure.Table {
	t := measure.Table{Title: "Beside the fastest that held", Words: 1, Head: []string{"sales per second"}, Notes: []string{pairNote}}
	for _, p := range r.Pairs(r.Fastest()) {
		t.Rows = append(t.Rows, []string{p.String()})
	}
	if t.Rows == nil {
		t.Notes = nil
	}
	return t
}
