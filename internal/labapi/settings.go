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
	"seckill/internal/tables"
	"seckill/internal/web"
	"seckill/loadtest"
)

// Settings describe a run completely, so that it can be repeated.
type Settings struct {
	Strategies []string `json:"strategies"`
	// Scenario is the scenario of every lane. A lane is the sale with one strategy. Only the strategy and the SKU of a
	// lane differ. The seed is the same, so all lanes have the same buyers in the same order.
	loadtest.Scenario
	lab.ServiceSettings
}

// limits has the allowed ranges of a run's settings; the page checks them, too. These ranges are narrower than those of
// a scenario, because a run is kept in memory and people watch it. After a sale, the run waits for purchases without
// an answer. Even the longest pause (for_ms) ends before the run stops waiting. The maximum lease is shorter than the
// longest pause.
var limits = map[string]loadtest.Range{
	"stock": {Min: 1, Max: 1_000_000}, "buyers": {Min: 1, Max: 200_000}, "concurrency": {Min: 1, Max: 1024},
	"quantity": {Min: 1, Max: 1000}, "rate": {Min: 1, Max: 50_000}, "duration": {Min: 1, Max: 120},
	"skus": {Min: 1, Max: 1}, "strategies": {Min: 1, Max: maxLanes}, "services": {Min: 1, Max: 8},
	"lease_ms": {Min: 100, Max: 20_000}, "wait_ms": {Min: 1, Max: 10_000}, "poll_ms": {Min: 1, Max: 1000},
	"at_ms": {Min: 0, Max: 120_000}, "for_ms": {Min: 1, Max: maxFaultMS},
}

const (
	maxFaultMS = 25_000
	// pauseMarginMS is how much longer a pause is by default than the lease. When the lease has ended, the row lock of
	// the paused holder can block the next holder for this time. The margin is shorter than the default lease.
	// Otherwise the next holder's lease would also end during the pause, and its purchase would fail with a conflict.
	pauseMarginMS = 1000
)

// defaultScenario returns the scenario of `seckill load` without duplicates and cancellations.
func defaultScenario() loadtest.Scenario {
	s := loadtest.DefaultScenario()
	s.Strategy, s.Duplicates, s.Cancellations, s.Timeout, s.Seed = "", 0, 0, buyerTimeout, newSeed()
	return s
}

func newSeed() uint64 { return rand.Uint64() }

// readSettings reads a run's settings. A missing field gets its default. A missing setting of the
// service processes keeps its current value.
func (s *Server) readSettings(c *gin.Context) (Settings, error) {
	w := Settings{Scenario: defaultScenario(), ServiceSettings: s.Lab.ServiceSettings()}
	if err := web.ReadJSON(c.Writer, c.Request, &w); err != nil {
		return w, err
	}
	p := web.BadRequest("")
	s.checkSettings(&w, p)
	return w, asError(p)
}

func asError(p *web.Problem) error {
	if p.Errors == nil {
		return nil
	}
	return p
}

func (s *Server) checkSettings(w *Settings, p *web.Problem) {
	s.chosenStrategies(w.Strategies, maxLanes, p)
	blameFixedFields(p, w.Scenario)
	for _, err := range w.CheckRanges(limits) {
		blameFields(p, err)
	}
	// The current settings need no check, because a person has chosen them at the lab's start.
	if w.ServiceSettings != s.Lab.ServiceSettings() {
		for name, value := range map[string]int{"services": w.Services, "lease_ms": w.Lease, "wait_ms": w.Wait,
			"poll_ms": w.Poll} {
			blameFields(p, limits[name].Check(name, float64(value)))
		}
	}
	if p.Errors != nil {
		return
	}
	if n, max := w.Requests(), limits["buyers"].Max; float64(n) > max {
		p.Blame("rate", "too_many_requests", map[string]any{"requests": n, "max": max},
			fmt.Sprintf("these are %d requests: give at most %.0f, by a lower rate or for fewer seconds", n, max))
		return
	}
	blameFields(p, w.laneScenario(0).Check())
}

// blameFixedFields adds an error to p for each field of s that only the lab may set.
func blameFixedFields(p *web.Problem, s loadtest.Scenario) {
	if s.Strategy != "" {
		p.Blame("strategy", "unused", nil, "leave it out: strategies names them")
	}
	if s.SKU != sku {
		p.Blame("sku_id", "unused", nil, fmt.Sprintf("leave it out: SKUs from %d on are sold here", sku))
	}
}

func (s *Server) chosenStrategies(names []string, maxNames int, p *web.Problem) []catalog.Info {
	switch n := len(names); {
	case n == 0:
		p.Blame("strategies", "none", nil, "name a strategy")
	case n > maxNames:
		p.Blame("strategies", "too_many", map[string]any{"max": maxNames},
			fmt.Sprintf("give at most %d at once", maxNames))
		return nil
	}
	var chosen []catalog.Info
	for i, name := range names {
		if slices.Index(names, name) < i {
			p.Blame("strategies", "repeated", map[string]any{"name": name}, name+" is named more than once")
			continue
		}
		chosen = append(chosen, s.findStrategy("strategies", name, p))
	}
	return chosen
}

func blameFields(p *web.Problem, err error) {
	var field *seckill.FieldError
	if errors.As(err, &field) {
		p.Blame(field.Field, field.Code, field.Params, field.Detail)
	}
}

func (w *Settings) laneScenario(lane int) loadtest.Scenario {
	s := w.Scenario
	s.Strategy, s.SKU = w.Strategies[lane], sku+int64(lane)
	return s
}

// findStrategy returns the strategy with this name. If no strategy has this name, or if the strategy cannot run here,
// findStrategy adds an error to p about the given field.
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

// checkFault adds an error to p for each invalid field of f. It sets missing fields to their defaults.
func (s *Server) checkFault(f *fault.Planned, run Settings, p *web.Problem) {
	all := s.Lab.Faults()
	i := slices.IndexFunc(all, func(here fault.Status) bool { return here.Kind == f.Kind })
	if i < 0 {
		kinds := tables.Map(all, func(here fault.Status) string { return string(here.Kind) })
		p.Blame("kind", "one_of", map[string]any{"values": kinds}, "give one of "+strings.Join(kinds, ", "))
		return
	}
	known := all[i]
	if !known.Available {
		p.Blame("kind", "fault_unavailable", map[string]any{"kind": f.Kind, "why": known.Missing, "lack": known.Lack},
			"is not available here: "+known.Missing)
	}
	switch {
	case known.Holder && f.Service != 0:
		p.Blame("service", "unused", map[string]any{"kind": f.Kind},
			"leave it out: the fault hits the process of the holder")
	case !known.Holder:
		f.Service = cmp.Or(f.Service, 1)
		blameFields(p, loadtest.Range{Min: 1, Max: float64(max(1, run.Services))}.Check("service", float64(f.Service)))
	}
	if known.Holder && f.Strategy == "" && len(run.Strategies) > 1 {
		f.Strategy = run.Strategies[0]
	}
	if f.Strategy != "" && !slices.Contains(run.Strategies, f.Strategy) {
		p.Blame("strategy", "one_of", map[string]any{"values": run.Strategies},
			"give one of the run's: "+strings.Join(run.Strategies, ", "))
	}
	blameFields(p, limits["at_ms"].Check("at_ms", float64(f.At)))
	switch {
	case known.Lasts && f.For == 0:
		f.For = min(run.Lease+pauseMarginMS, maxFaultMS)
	case known.Lasts:
		blameFields(p, limits["for_ms"].Check("for_ms", float64(f.For)))
	case f.For != 0:
		p.Blame("for_ms", "unused", map[string]any{"kind": f.Kind}, "leave it out: the fault has no duration")
	}
}
