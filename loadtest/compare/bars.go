package compare

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"seckill/internal/measure"
	"seckill/internal/numbers"
)

// bars is a chart with a row per strategy. Positions are percentages of its
// width, so that it fits every page without scaling its text.
type bars struct {
	Rows  []bar
	Ticks []tick
}

type bar struct {
	Name, Text string
	Class      string // of the stylesheet
	Parts      []part
	Dots       []float64 // a round each
}

type part struct {
	X, Width    float64
	Class, Text string
}

type tick struct {
	X    float64
	Text string
}

// salesBars has the fastest first, and the transaction that all of them run
// among them. The bare UPDATE is left out: it is several times as fast and would
// flatten the others.
func (r *Result) salesBars(in tongue) *bars {
	b := &bars{}
	type row struct {
		bar
		s      measure.Spread
		rounds []float64
	}
	var rows []row
	for _, e := range r.Strategies {
		if e.Sales.Median > 0 {
			rows = append(rows, row{bar{Name: e.Strategy, Class: badge(e)}, e.Sales, rates(e.series(func(r Round) float64 { return r.SalesRate }))})
		}
	}
	for _, f := range r.measuredBaselines(r.Settings.Concurrency) {
		if f.ID == BaselineTransaction {
			rows = append(rows, row{bar{Name: in.say(f.Title), Class: "baseline"}, f.Rate, rates(f.series())})
		}
	}
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(b.s.Median, a.s.Median) })
	most := 0.0
	for _, x := range rows {
		most = max(most, x.s.High)
	}
	if most == 0 {
		return nil
	}
	b.Ticks, most = linearTicks(most)
	for _, x := range rows {
		x.Text = x.s.String()
		x.Parts = []part{{Width: 100 * x.s.Median / most, Class: x.Class}}
		for _, rate := range x.rounds {
			x.Dots = append(x.Dots, 100*rate/most)
		}
		b.Rows = append(b.Rows, x.bar)
	}
	return b
}

// rates are a series' figures by round.
func rates(s measure.Series) (all []float64) {
	for _, round := range slices.Sorted(maps.Keys(s)) {
		all = append(all, s[round])
	}
	return all
}

// linearTicks returns at most six round numbers from 0, and the axis's end.
func linearTicks(most float64) (ticks []tick, end float64) {
	unit := math.Pow(10, math.Floor(math.Log10(most)))
	for _, k := range []float64{.2, .5, 1, 2, 5} {
		if most <= 5*k*unit {
			unit *= k
			break
		}
	}
	end = unit * math.Ceil(most/unit)
	for x := 0.0; x <= end+unit/2; x += unit {
		ticks = append(ticks, tick{100 * x / end, numbers.Thousands(int64(math.Round(x)))})
	}
	return ticks, end
}

// latencyBars go from the median to p99, on a logarithmic axis.
func (r *Result) latencyBars() *bars {
	b := &bars{}
	least, most := math.Inf(1), 0.0
	for _, e := range r.Strategies {
		if e.P50.Median > 0 {
			least, most = min(least, e.P50.Median), max(most, e.P99.Median)
		}
	}
	if most == 0 {
		return nil
	}
	axis := newLogAxis(least, most)
	for _, d := range axis.decades() {
		b.Ticks = append(b.Ticks, tick{100 * axis.at(d), milliseconds(d)})
	}
	sorted := r.sorted(func(e *Entry) float64 { return e.P99.Median })
	for _, e := range sorted {
		if e.P50.Median > 0 {
			from, to := 100*axis.at(e.P50.Median), 100*axis.at(e.P99.Median)
			b.Rows = append(b.Rows, bar{Name: e.Strategy, Class: badge(e),
				Text:  measure.Number(e.P50.Median) + " – " + measure.Number(e.P99.Median),
				Parts: []part{{X: from, Width: max(to-from, .5), Class: badge(e)}}})
		}
	}
	return b
}

// backendClass are classes of the stylesheet.
var backendClass = map[string]string{"sql": "k1", "redis": "k2", "zookeeper": "k3", "etcd": "k4", "jetstream": "k5"}

func (r *Result) commandBars() *bars {
	b := &bars{}
	sorted := r.sorted((*Entry).CommandsEach)
	most := 0.0
	for _, e := range sorted {
		most = max(most, e.CommandsEach())
	}
	if most == 0 {
		return nil
	}
	b.Ticks, most = linearTicks(most)
	for _, e := range sorted {
		if e.CommandsEach() == 0 {
			continue
		}
		row := bar{Name: e.Strategy, Text: measure.Number(e.CommandsEach())}
		if e.LockWait != nil {
			row.Text += fmt.Sprintf(" · %s ms", measure.Number(e.LockWait.Median))
		}
		at := 0.0
		for _, c := range e.Commands {
			width := 100 * c.PerPurchase / most
			row.Parts = append(row.Parts, part{at, width, backendClass[c.Backend], c.Backend + " " + measure.Number(c.PerPurchase)})
			at += width
		}
		b.Rows = append(b.Rows, row)
	}
	return b
}

// sorted returns the strategies in ascending order.
func (r *Result) sorted(by func(*Entry) float64) []*Entry {
	return slices.SortedStableFunc(slices.Values(r.Strategies), func(a, b *Entry) int { return cmp.Compare(by(a), by(b)) })
}

// A logAxis spans whole decades.
type logAxis struct{ low, high float64 } // log10

func newLogAxis(least, most float64) logAxis {
	a := logAxis{math.Floor(math.Log10(least)), math.Ceil(math.Log10(most))}
	if a.high == a.low {
		a.high++
	}
	return a
}

// at is a position from 0 to 1.
func (a logAxis) at(x float64) float64 {
	return min(1, max(0, (math.Log10(max(x, 1e-9))-a.low)/(a.high-a.low)))
}

func (a logAxis) decades() (all []float64) {
	for d := a.low; d <= a.high; d++ {
		all = append(all, math.Pow(10, d))
	}
	return all
}

func milliseconds(ms float64) string {
	if ms >= 1000 {
		return fmt.Sprintf("%g s", ms/1000)
	}
	return fmt.Sprintf("%g ms", ms)
}
