package labapi

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"seckill/internal/catalog"
	"seckill/internal/fault"
	"seckill/internal/lab"
	"seckill/internal/seckill"
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
}

// limits of a run, which the page checks before it asks. They are narrower than a
// scenario's own: a run is kept in memory and watched by people. The longest pause
// ends before a run's audit gives up waiting for purchases without an answer; the
// longest lease is shorter, so that a pause can outlast it.
var limits = map[string]loadtest.Range{
	"stock": {Min: 1, Max: 1_000_000}, "buyers": {Min: 1, Max: 200_000}, "concurrency": {Min: 1, Max: 1024}, "quantity": {Min: 1, Max: 1000},
	"rate": {Min: 1, Max: 50_000}, "duration": {Min: 1, Max: 120}, "skus": {Min: 1, Max: 1},
	"strategies": {Min: 1, Max: mostLanes}, "services": {Min: 1, Max: 8},
	"lease_ms": {Min: 100, Max: 20_000}, "wait_ms": {Min: 1, Max: 10_000}, "poll_ms": {Min: 1, Max: 1000},
	"at_ms": {Min: 0, Max: 120_000}, "for_ms": {Min: 1, Max: longestFault},
}

const (
	longestFault = 25_000
	// pauseMargin: by default a pause outlasts the lease by this many milliseconds.
	pauseMargin = 2000
)

// defaultScenario is the command line's, without duplicates and cancellations.
func defaultScenario() loadtest.Scenario {
	s := loadtest.DefaultScenario()
	s.Strategy, s.Duplicates, s.Cancellations, s.Timeout, s.Seed = "", 0, 0, buyerTimeout, newSeed()
	return s
}

func newSeed() uint64 { return rand.Uint64() }

// readSettings reads a run's settings. What is left out is as usual, and as the
// service processes run now.
func (s *Server) readSettings(c *gin.Context) (Settings, error) {
	w := Settings{Scenario: defaultScenario(), ServiceSettings: s.Lab.ServiceSettings()}
	if err := web.ReadJSON(c.Writer, c.Request, &w); err != nil {
		return w, err
	}
	p := web.BadRequest("")
	s.checkSettings(&w, p)
	return w, anyWrong(p)
}

// anyWrong is p, if it blames a field.
func anyWrong(p *web.Problem) error {
	if p.Errors == nil {
		return nil
	}
	return p
}

// checkSettings finds everything that is wrong with a run's settings.
func (s *Server) checkSettings(w *Settings, p *web.Problem) {
	s.chosenStrategies(w.Strategies, mostLanes, p)
	refuseDecided(p, w.Scenario)
	for _, err := range w.Beyond(limits) {
		blameFields(p, err)
	}
	if w.ServiceSettings != s.Lab.ServiceSettings() { // what runs was set when the lab was started
		for name, value := range map[string]int{"services": w.Services, "lease_ms": w.Lease, "wait_ms": w.Wait, "poll_ms": w.Poll} {
			blameFields(p, limits[name].Check(name, float64(value)))
		}
	}
	if p.Errors != nil {
		return
	}
	if n, most := w.Requests(), limits["buyers"].Max; float64(n) > most { // at a rate
		p.Blame("rate", "too_many_requests", map[string]any{"requests": n, "max": most},
			fmt.Sprintf("these are %d requests: give at most %.0f, by a lower rate or for fewer seconds", n, most))
		return
	}
	blameFields(p, w.laneScenario(0).Check())
}

// refuseDecided blames what the lab decides of a sale, and not the caller.
func refuseDecided(p *web.Problem, s loadtest.Scenario) {
	if s.Strategy != "" {
		p.Blame("strategy", "unused", nil, "leave it out: strategies names them")
	}
	if s.SKU != sku {
		p.Blame("sku_id", "unused", nil, fmt.Sprintf("leave it out: SKUs from %d on are sold here", sku))
	}
}

// chosenStrategies are the strategies that a request names, or blames it for.
func (s *Server) chosenStrategies(names []string, most int, p *web.Problem) (chosen []catalog.Info) {
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
		chosen = append(chosen, s.findStrategy("strategies", name, p))
	}
	return chosen
}

// blameFields takes over what is wrong with a field, if anything is.
func blameFields(p *web.Problem, err error) {
	var field *seckill.FieldError
	if errors.As(err, &field) {
		p.Blame(field.Field, field.Code, field.Params, field.Detail)
	}
}

// laneScenario is what a lane's buyers do.
func (w *Settings) laneScenario(lane int) loadtest.Scenario {
	s := w.Scenario
	s.Strategy, s.SKU = w.Strategies[lane], sku+int64(lane)
	return s
}

// findStrategy finds the strategy that a field names, or blames the field.
func (s *Server) findStrategy(field, name string, p *web.Problem) catalog.Info {
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

// checkFault finds what is wrong with a fault, and sets how long it lasts.
func (s *Server) checkFault(f *fault.Planned, of Settings, p *web.Problem) {
	all := s.Lab.Faults()
	i := slices.IndexFunc(all, func(here fault.Status) bool { return here.Kind == f.Kind })
	if i < 0 {
		var kinds []string
		for _, here := range all {
			kinds = append(kinds, string(here.Kind))
		}
		p.Blame("kind", "one_of", map[string]any{"values": kinds}, "give one of "+strings.Join(kinds, ", "))
		return
	}
	known := all[i]
	if !known.Available {
		p.Blame("kind", "fault_unavailable", map[string]any{"kind": f.Kind, "why": known.Missing, "lack": known.Lack},
			"cannot be had here: "+known.Missing)
	}
	switch {
	case known.Holder && f.Service != 0:
		p.Blame("service", "unused", map[string]any{"kind": f.Kind}, "the fault hits the process that has a holder: leave it out")
	case !known.Holder:
		f.Service = cmp.Or(f.Service, 1)
		blameFields(p, loadtest.Range{Min: 1, Max: float64(max(1, of.Services))}.Check("service", float64(f.Service)))
	}
	if known.Holder && f.Strategy == "" && len(of.Strategies) > 1 {
		f.Strategy = of.Strategies[0]
	}
	if f.Strategy != "" && !slices.Contains(of.Strategies, f.Strategy) {
		p.Blame("strategy", "one_of", map[string]any{"values": of.Strategies}, "give one of the run's: "+strings.Join(of.Strategies, ", "))
	}
	blameFields(p, limits["at_ms"].Check("at_ms", float64(f.At)))
	switch {
	case known.Lasts && f.For == 0:
		f.For = min(of.Lease+pauseMargin, longestFault)
	case known.Lasts:
		blameFields(p, limits["for_ms"].Check("for_ms", float64(f.For)))
	case f.For != 0:
		p.Blame("for_ms", "unused", map[string]any{"kind": f.Kind}, "it has no end of its own: leave it out")
	}
}
