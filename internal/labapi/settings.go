package labapi

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"seckill/internal/catalog"
	"seckill/internal/fault"
	"seckill/internal/lab"
	"seckill/internal/ledger"
	"seckill/internal/web"
	"seckill/loadtest"
)

// Settings start a run, and repeat it.
type Settings struct {
	Strategies []string `json:"strategies"`
	// Scenario is that of every lane, but for its strategy and SKU. Its seed gives all
	// lanes the same buyers in the same order.
	loadtest.Scenario
	lab.ServiceSettings
	Faults []fault.Planned `json:"faults"`
}

// limits of a run, which the page checks before it asks. They are narrower than a
// scenario's own: a run is kept in memory and watched by people. The longest pause
// ends before a run's audit gives up waiting for purchases without an answer; the
// longest lease is shorter, so that a pause can outlast it.
var limits = map[string]int64{
	"stock": 1_000_000, "buyers": 200_000, "concurrency": 1024, "quantity": 1000, "rate": 50_000, "duration": 120, "skus": 1,
	"strategies": mostLanes, "services": 8, "lease_ms": 20_000, "wait_ms": 10_000, "poll_ms": 1000,
	"faults": 8, "at_ms": 120_000, "for_ms": 25_000,
}

const (
	leastLease = 100
	// pauseMargin: by default a pause outlasts the lease by this many milliseconds.
	pauseMargin = 2000
)

// defaultScenario is the command line's, without duplicates.
func defaultScenario() loadtest.Scenario {
	s := loadtest.DefaultScenario()
	s.Strategy, s.Duplicates, s.Timeout, s.Seed = "", 0, buyerTimeout, newSeed()
	return s
}

func newSeed() uint64 { return rand.Uint64() }

// readSettings reads a run's settings. What is left out is as usual, and as the
// service processes run now.
func (s *Server) readSettings(c *gin.Context) (Settings, error) {
	w := Settings{Scenario: defaultScenario(), ServiceSettings: s.Lab.ServiceSettings(), Faults: []fault.Planned{}}
	if err := web.ReadJSON(c.Writer, c.Request, &w); err != nil {
		return w, err
	}
	p := web.BadRequest("")
	s.check(&w, p)
	return w, anyWrong(p)
}

// anyWrong is p, if it blames a field.
func anyWrong(p *web.Problem) error {
	if p.Errors == nil {
		return nil
	}
	return p
}

// check finds everything that is wrong with a run's settings.
func (s *Server) check(w *Settings, p *web.Problem) {
	s.chosen(w.Strategies, mostLanes, p)
	for field, value := range map[string]float64{"stock": float64(w.Stock), "quantity": float64(w.Quantity), "buyers": float64(w.Buyers), "skus": float64(w.SKUs),
		"concurrency": float64(w.Concurrency), "rate": w.Rate, "duration": w.Duration.Seconds()} {
		if value > float64(limits[field]) { // what is too small, the scenario says
			within(p, field, limits[field]+1, 1)
		}
	}
	running := s.Lab.ServiceSettings()
	for _, f := range []struct {
		name                 string
		value, now, smallest int
	}{
		{"services", w.Services, running.Services, 1}, {"lease_ms", w.Lease, running.Lease, leastLease},
		{"wait_ms", w.Wait, running.Wait, 1}, {"poll_ms", w.Poll, running.Poll, 1},
	} {
		if f.value != f.now { // what runs was set when the lab was started
			within(p, f.name, int64(f.value), int64(f.smallest))
		}
	}
	if len(w.Faults) > int(limits["faults"]) {
		p.Blame("faults", "too_many", map[string]any{"max": limits["faults"]}, fmt.Sprintf("give at most %d", limits["faults"]))
		return
	}
	for i := range w.Faults {
		s.checkFault(fmt.Sprintf("faults[%d].", i), &w.Faults[i], *w, p)
	}
	if p.Errors != nil {
		return
	}
	if n := int64(w.Requests()); n > limits["buyers"] { // at a rate
		p.Blame("rate", "too_many_requests", map[string]any{"requests": n, "max": limits["buyers"]},
			fmt.Sprintf("these are %d requests: give at most %d, by a lower rate or for fewer seconds", n, limits["buyers"]))
		return
	}
	blame(p, w.scenario(0).Check())
}

// chosen are the strategies that a request names, or blames it for.
func (s *Server) chosen(names []string, most int, p *web.Problem) (chosen []catalog.Info) {
	switch n := len(names); {
	case n == 0:
		p.Blame("strategies", "none", nil, "name a strategy")
	case n > most: // some are wrong, and need not all be blamed
		p.Blame("strategies", "too_many", map[string]any{"max": most}, fmt.Sprintf("give at most %d at once", most))
		return nil
	}
	for i, name := range names {
		if slices.Index(names, name) < i {
			p.Blame("strategies", "repeated", map[string]any{"name": name}, name+" is named more than once")
			continue
		}
		chosen = append(chosen, s.strategy("strategies", name, p))
	}
	return chosen
}

// within blames a field that is not from least to its limit, which has the name of
// the field behind the last dot.
func within(p *web.Problem, field string, value, least int64) {
	if most := limits[field[strings.LastIndexByte(field, '.')+1:]]; value < least || value > most {
		p.Blame(field, "range", map[string]any{"min": least, "max": most},
			fmt.Sprintf("give a whole number from %d to %d", least, most))
	}
}

// scenario is what a lane's buyers do.
func (w *Settings) scenario(lane int) loadtest.Scenario {
	s := w.Scenario
	s.Strategy, s.SKU = w.Strategies[lane], sku+int64(lane)
	return s
}

// strategy finds the strategy that a field names, or blames the field.
func (s *Server) strategy(field, name string, p *web.Problem) catalog.Info {
	i := slices.IndexFunc(s.Strategies, func(i catalog.Info) bool { return i.Name == name })
	params := map[string]any{"name": name}
	switch {
	case name == "":
		p.Blame(field, "none", nil, "name a strategy")
	case i < 0:
		p.Code, p.Status = "unknown_strategy", http.StatusNotFound
		p.Blame(field, "unknown_strategy", params, fmt.Sprintf("there is no strategy %q", name))
	default:
		if missing := s.Missing(s.Strategies[i]); missing != nil {
			why := strings.Join(missing, "; ")
			params["why"] = why
			p.Code, p.Status = "strategy_unavailable", http.StatusServiceUnavailable
			p.Blame(field, "strategy_unavailable", params, fmt.Sprintf("%s cannot run here: %s", name, why))
		}
		return s.Strategies[i]
	}
	return catalog.Info{}
}

// checkFault finds what is wrong with a fault, and sets how long it lasts; at
// goes before the names of its fields.
func (s *Server) checkFault(at string, f *fault.Planned, of Settings, p *web.Problem) {
	all := s.Lab.Faults()
	i := slices.IndexFunc(all, func(here fault.Status) bool { return here.Kind == f.Kind })
	if i < 0 {
		var kinds []string
		for _, here := range all {
			kinds = append(kinds, string(here.Kind))
		}
		p.Blame(at+"kind", "one_of", map[string]any{"values": kinds}, "give one of "+strings.Join(kinds, ", "))
		return
	}
	known := all[i]
	if !known.Available {
		p.Blame(at+"kind", "fault_unavailable", map[string]any{"kind": f.Kind, "why": known.Missing, "lack": known.Lack},
			"cannot be had here: "+known.Missing)
	}
	switch {
	case known.Holder && f.Service != 0:
		p.Blame(at+"service", "unused", map[string]any{"kind": f.Kind}, "the fault hits the process that has a holder: leave it out")
	case !known.Holder:
		f.Service = cmp.Or(f.Service, 1)
		if most := max(1, of.Services); f.Service < 1 || f.Service > most {
			p.Blame(at+"service", "range", map[string]any{"min": 1, "max": most}, fmt.Sprintf("give a whole number from 1 to %d", most))
		}
	}
	if known.Holder && f.Strategy == "" && len(of.Strategies) > 1 {
		f.Strategy = of.Strategies[0]
	}
	if f.Strategy != "" && !slices.Contains(of.Strategies, f.Strategy) {
		p.Blame(at+"strategy", "one_of", map[string]any{"values": of.Strategies}, "give one of the run's: "+strings.Join(of.Strategies, ", "))
	}
	within(p, at+"at_ms", int64(f.At), 0)
	switch {
	case known.Lasts && f.For == 0:
		f.For = min(of.Lease+pauseMargin, int(limits["for_ms"]))
	case known.Lasts:
		within(p, at+"for_ms", int64(f.For), 1)
	case f.For != 0:
		p.Blame(at+"for_ms", "unused", map[string]any{"kind": f.Kind}, "it has no end of its own: leave it out")
	}
}

// readKnown reads the counterexamples of the guarantee matrix, if there is one.
func (s *Server) readKnown() (loadtest.Counterexamples, error) {
	if s.Guarantees == nil {
		return nil, nil
	}
	f, err := s.Guarantees.Open("matrix.json")
	if err != nil {
		return nil, fmt.Errorf("the guarantee matrix cannot be read: %w", err)
	}
	defer f.Close()
	return loadtest.ReadCounterexamples(f)
}

// known are the schedules that break the strategy of a lane that held.
func (s *Server) known(r Run, lane int) []loadtest.Known {
	l := r.Lanes[lane]
	if l.Result == nil || l.Result.Verdict != ledger.Held {
		return nil
	}
	asked := map[string]string{}
	for _, f := range slices.Backward(r.Faults) {
		kind, _ := fault.Find(f.Kind)
		elsewhere := kind.Holder && f.Strategy != "" && f.Strategy != l.Strategy
		if f.Effect != nil && f.Effect.Matters && !elsewhere {
			asked[kind.Question] = string(f.Kind)
		}
	}
	return s.counterexamples.Breaking(l.Strategy, r.Settings.Services, asked)
}
