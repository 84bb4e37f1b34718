package compare

import (
	"seckill/internal/ledger"
	"seckill/internal/measure"
)

// A Standing is a strategy's result so far while a comparison runs.
type Standing struct {
	Strategy    string         `json:"strategy"`
	Concurrency int            `json:"concurrency"`
	Rounds      int            `json:"rounds"`  // completed
	Verdict     ledger.Verdict `json:"verdict"` // the worst so far; empty: no sale was judged
	Breaks      bool           `json:"breaks"`  // known to break
	Expected    bool           `json:"expected"`
	Sales       float64        `json:"sales_per_second"` // median so far; P99 likewise
	P99         float64        `json:"p99_ms"`
	Rates       []float64      `json:"rates,omitempty"`   // sales per second of each round so far
	NotRun      string         `json:"not_run,omitempty"` // why it is not
}

// standing sums up e so far without changing it.
func (c *comparison) standing(e *Entry) Standing {
	so := *e
	so.times, so.Ratios = nil, map[string]measure.Spread{}
	so.conclude(nil, c.result.Settings.Stock)
	s := Standing{Strategy: e.Strategy, Concurrency: e.Concurrency, Rounds: len(e.Rounds), Verdict: so.Verdict, Breaks: e.Breaks,
		Expected: so.Expected, Sales: so.Sales.Median, P99: so.P99.Median}
	for _, r := range e.Rounds {
		if r.Sales > 0 {
			s.Rates = append(s.Rates, r.SalesRate)
		}
	}
	if e.idle() {
		s.Verdict = ""
		for _, n := range c.result.NotRun {
			if n.Strategy == e.Strategy {
				s.NotRun = n.Why
			}
		}
	}
	return s
}
