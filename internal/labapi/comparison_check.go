package labapi

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"seckill/internal/catalog"
)

// A field of a setting that was sent, to be checked.
type ranged struct {
	name      string
	value     int64
	low, high int64
}

// checkComparison finds everything that is wrong with a comparison's settings,
// and which strategies they choose.
func (s *Server) checkComparison(w ComparisonSettings, seed string) (chosen []catalog.Info, _ uint64, _ *problem) {
	p := &problem{Code: "invalid", Status: http.StatusBadRequest}
	wrong := func(field, code string, params map[string]any, format string, args ...any) {
		p.blame(field, code, params, fmt.Sprintf(format, args...))
	}
	chosen = s.chosen(w, p)
	most := comparisonLimits
	for _, f := range []ranged{
		{"stock", w.Stock, 1, most.Stock}, {"buyers", int64(w.Buyers), 1, int64(most.Buyers)},
		{"concurrency", int64(w.Concurrency), 1, int64(most.Concurrency)}, {"quantity", w.Quantity, 1, most.Quantity},
		{"repeats", int64(w.Repeats), 1, int64(most.Repeats)}, {"turn_ms", int64(w.TurnMS), 0, int64(most.TurnMS)},
		{"few", int64(w.Few), 0, int64(most.Concurrency)},
	} {
		if f.value < f.low || f.value > f.high {
			wrong(f.name, "range", map[string]any{"min": f.low, "max": f.high}, "give a whole number from %d to %d", f.low, f.high)
		}
	}
	number, err := strconv.ParseUint(seed, 10, 64)
	if err != nil {
		wrong("seed", "seed", nil, "give a whole number from 0 to 18446744073709551615, as text; or none, for a new one")
	}
	switch demand := int64(w.Buyers) * w.Quantity; {
	case p.Errors != nil:
	case w.Quantity > w.Stock:
		wrong("quantity", "too_much", map[string]any{"stock": w.Stock}, "nobody could buy anything: the stock is %d", w.Stock)
	case demand <= w.Stock:
		least := w.Stock / w.Quantity
		wrong("buyers", "no_demand", map[string]any{"least": least},
			"give more than %d: with less demand than stock nothing can be oversold, and nothing is proven", least)
	case w.Few >= w.Concurrency && w.Few != comparisonDefaults.Few:
		wrong("few", "few", map[string]any{"concurrency": w.Concurrency},
			"give fewer than the %d buyers at a time of the comparison itself, or 0", w.Concurrency)
	}
	if p.Errors == nil {
		return chosen, number, nil
	}
	return nil, 0, p
}

func (s *Server) chosen(w ComparisonSettings, p *problem) (chosen []catalog.Info) {
	if w.all() { // what cannot run here is listed as not run
		return s.Strategies
	}
	switch n, most := len(w.Strategies), len(s.Strategies); {
	case n == 0:
		p.blame("strategies", "none", nil, "name some, or all")
	case n > most: // some are wrong, and need not all be blamed
		p.blame("strategies", "too_many", map[string]any{"max": most}, fmt.Sprintf("give at most %d, or all", most))
		return nil
	}
	for n, name := range w.Strategies {
		if slices.Index(w.Strategies, name) < n {
			p.blame("strategies", "repeated", map[string]any{"name": name}, name+" is named more than once")
			continue
		}
		chosen = append(chosen, s.strategy("strategies", name, p))
	}
	return chosen
}
