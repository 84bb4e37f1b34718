package labapi

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"seckill/internal/catalog"
	"seckill/internal/fault"
	"seckill/internal/lab"
	"seckill/internal/web"
	"seckill/loadtest"
)

// Settings start a run, and repeat it.
type Settings struct {
	Strategies []string `json:"strategies"`
	Stock      int64    `json:"stock"`
	Quantity   int64    `json:"quantity"`

	Profile     loadtest.Profile `json:"profile"`
	Buyers      int              `json:"buyers,omitempty"`      // of Closed and Spike
	Concurrency int              `json:"concurrency,omitempty"` // of Closed
	Rate        int              `json:"rate,omitempty"`        // requests a second, of Constant and where Ramp begins
	ToRate      int              `json:"to_rate,omitempty"`     // where Ramp ends
	Seconds     int              `json:"seconds,omitempty"`     // of Constant and Ramp

	// Seed gives all lanes the same buyers in the same order.
	Seed uint64 `json:"seed,string"` // more than JavaScript's numbers hold

	lab.ServiceSettings
	Faults []fault.Planned `json:"faults"`
	// Repeats of the sale, each a run with a reset and buyers of its own: Series.
	Repeats int `json:"repeats"`
}

// Limits of a run, which the page checks before it asks. They are narrower
// than the service's own: a run is kept in memory and watched by people.
type Limits struct {
	Stock       int64 `json:"stock"`
	Buyers      int   `json:"buyers"` // also requests, where a rate says how many
	Concurrency int   `json:"concurrency"`
	Quantity    int64 `json:"quantity"`
	Strategies  int   `json:"strategies"`
	Rate        int   `json:"rate"`
	Seconds     int   `json:"seconds"`
	Services    int   `json:"services"`
	Lease       int   `json:"lease_ms"`
	Wait        int   `json:"wait_ms"`
	Poll        int   `json:"poll_ms"`
	Faults      int   `json:"faults"`
	At          int   `json:"at_ms"`
	For         int   `json:"for_ms"`
	Repeats     int   `json:"repeats"`
}

// The longest pause ends before a run's audit gives up waiting for purchases
// without an answer; the longest lease is shorter, so that a pause can outlast
// it.
var limits = Limits{Stock: 1_000_000, Buyers: 200_000, Concurrency: 1024, Quantity: 1000,
	Strategies: len(laneSKUs), Rate: 50_000, Seconds: 120,
	Services: 8, Lease: 20_000, Wait: 10_000, Poll: 1000, Faults: 8, At: 120_000, For: 25_000, Repeats: 20}

const (
	leastLease = 100
	// beyond is how much longer than the lease a pause is by default.
	beyond = 2000
)

// readSettings reads a run's settings. What is left out is as usual, and as the
// service processes run now.
func (s *Server) readSettings(c *gin.Context) (Settings, error) {
	w := Settings{Profile: loadtest.Closed, Quantity: 1, Repeats: 1, ServiceSettings: s.Lab.ServiceSettings(), Faults: []fault.Planned{}}
	body := struct {
		*Settings
		Seed   string `json:"seed"`
		Faults []struct {
			wantedFault
			At int `json:"at_ms"`
		} `json:"faults"`
	}{Settings: &w}
	if err := web.ReadJSON(c.Writer, c.Request, &body); err != nil {
		return w, err
	}
	for _, f := range body.Faults {
		w.Faults = append(w.Faults, f.at(f.At))
	}
	p := web.BadRequest("")
	w.Seed = readSeed(body.Seed, p)
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

// A wantedFault is what a request says of a fault, but for its time.
type wantedFault struct {
	Kind     fault.Name `json:"kind"`
	Service  *int       `json:"service"` // none: any
	For      int        `json:"for_ms"`
	Strategy string     `json:"strategy"`
}

func (f wantedFault) at(ms int) fault.Planned {
	planned := fault.Planned{Kind: f.Kind, Service: anyService, At: ms, For: f.For, Strategy: f.Strategy}
	if f.Service != nil {
		planned.Service = *f.Service
	}
	return planned
}

func newSeed() uint64 { return rand.Uint64() }

// readSeed draws one where none is given.
func readSeed(text string, p *web.Problem) uint64 {
	if text == "" {
		return newSeed()
	}
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		p.Blame("seed", "seed", nil, "give a whole number from 0 to 18446744073709551615, as a text; or none, for a new one")
	}
	return seed
}

// check finds everything that is wrong with a run's settings.
func (s *Server) check(w *Settings, p *web.Problem) {
	s.checkStrategies(w.Strategies, p)
	within(p, "stock", w.Stock, 1, limits.Stock)
	within(p, "quantity", w.Quantity, 1, limits.Quantity)
	within(p, "repeats", int64(w.Repeats), 1, int64(limits.Repeats))
	w.checkProfile(p)
	running := s.Lab.ServiceSettings()
	for _, f := range []struct {
		name            string
		value, now      int
		smallest, limit int
	}{
		{"services", w.Services, running.Services, 1, limits.Services},
		{"lease_ms", w.Lease, running.Lease, leastLease, limits.Lease},
		{"wait_ms", w.Wait, running.Wait, 1, limits.Wait},
		{"poll_ms", w.Poll, running.Poll, 1, limits.Poll},
	} {
		if f.value != f.now { // what runs was set when the lab was started
			within(p, f.name, int64(f.value), int64(f.smallest), int64(f.limit))
		}
	}
	if len(w.Faults) > limits.Faults {
		p.Blame("faults", "too_many", map[string]any{"max": limits.Faults}, fmt.Sprintf("give at most %d", limits.Faults))
	}
	for i := range min(len(w.Faults), limits.Faults) {
		s.checkFault(fmt.Sprintf("faults[%d].", i), &w.Faults[i], *w, p)
	}
	if p.Errors == nil {
		w.checkDemand(p)
	}
}

func (s *Server) checkStrategies(names []string, p *web.Problem) {
	switch n := len(names); {
	case n == 0:
		p.Blame("strategies", "none", nil, "name a strategy")
	case n > limits.Strategies:
		p.Blame("strategies", "too_many", map[string]any{"max": limits.Strategies},
			fmt.Sprintf("give at most %d at once", limits.Strategies))
		return
	}
	for i, name := range names {
		if slices.Index(names, name) < i {
			p.Blame("strategies", "repeated", map[string]any{"name": name}, name+" is named more than once")
			continue
		}
		s.strategy("strategies", name, p)
	}
}

var labProfiles = []string{string(loadtest.Closed), string(loadtest.Spike), string(loadtest.Constant), string(loadtest.Ramp)}

// checkProfile refuses fields that the profile does not use.
func (w *Settings) checkProfile(p *web.Problem) {
	if !slices.Contains(labProfiles, string(w.Profile)) {
		p.Blame("profile", "one_of", map[string]any{"values": labProfiles}, "give one of "+strings.Join(labProfiles, ", "))
		return
	}
	rated := w.Profile == loadtest.Constant || w.Profile == loadtest.Ramp
	for _, f := range []struct {
		name  string
		value int
		limit int
		used  bool
	}{
		{"buyers", w.Buyers, limits.Buyers, !rated},
		{"concurrency", w.Concurrency, limits.Concurrency, w.Profile == loadtest.Closed},
		{"rate", w.Rate, limits.Rate, rated}, {"seconds", w.Seconds, limits.Seconds, rated},
		{"to_rate", w.ToRate, limits.Rate, w.Profile == loadtest.Ramp},
	} {
		switch {
		case f.used:
			within(p, f.name, int64(f.value), 1, int64(f.limit))
		case f.value != 0:
			p.Blame(f.name, "unused", map[string]any{"profile": w.Profile},
				fmt.Sprintf("means nothing with the profile %s: leave it out", w.Profile))
		}
	}
}

// checkDemand refuses a sale that cannot oversell, or has too many requests.
func (w *Settings) checkDemand(p *web.Problem) {
	n, field := int64(w.scenario(0).Requests()), "buyers"
	if w.Buyers == 0 {
		field = "rate"
	}
	least := w.Stock / w.Quantity
	switch {
	case n > int64(limits.Buyers):
		p.Blame(field, "too_many_requests", map[string]any{"requests": n, "max": limits.Buyers},
			fmt.Sprintf("these are %d requests: give at most %d, by a lower rate or for fewer seconds", n, limits.Buyers))
	case w.Quantity > w.Stock:
		p.Blame("quantity", "too_much", map[string]any{"stock": w.Stock},
			fmt.Sprintf("no buyer could buy anything: the stock is %d", w.Stock))
	case n <= least && field == "rate":
		p.Blame(field, "no_demand_rate", map[string]any{"requests": n, "least": least},
			fmt.Sprintf("these are %d requests: give more than %d, by a higher rate or for more seconds; "+
				"with less demand than stock nothing can be oversold, and nothing is proven", n, least))
	case n <= least:
		p.Blame(field, "no_demand", map[string]any{"least": least},
			fmt.Sprintf("give more than %d: with less demand than stock nothing can be oversold, and nothing is proven", least))
	}
}

func within(p *web.Problem, field string, value, least, most int64) {
	if value < least || value > most {
		p.Blame(field, "range", map[string]any{"min": least, "max": most},
			fmt.Sprintf("give a whole number from %d to %d", least, most))
	}
}

// scenario is what a lane's buyers do.
func (w *Settings) scenario(lane int) loadtest.Scenario {
	return loadtest.Scenario{
		Strategy: w.Strategies[lane], SKU: laneSKUs[lane], Stock: w.Stock, Quantity: w.Quantity,
		Profile: w.Profile, Buyers: w.Buyers, Concurrency: w.Concurrency,
		Rate: float64(w.Rate), ToRate: float64(w.ToRate), Duration: time.Duration(w.Seconds) * time.Second,
		Timeout: buyerTimeout, Seed: w.Seed, Copies: loadtest.UsualCopies, Retry: loadtest.UsualRetry,
	}
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
