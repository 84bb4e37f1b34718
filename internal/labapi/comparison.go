package labapi

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"seckill/internal/catalog"
	"seckill/internal/history"
	"seckill/internal/web"
	"seckill/loadtest/compare"
)

// A Comparison is the same sale with several strategies, in rounds, as it stands
// now or as it ended.
type Comparison struct {
	Record
	Settings ComparisonSettings `json:"settings"`
	Command  string             `json:"command"` // that does the same on the command line

	Done  int    `json:"done"`  // turns of a strategy or a baseline that are over,
	Total int    `json:"total"` // of so many; 0: it is just beginning
	Step  string `json:"step"`  // what has its turn, while it is on: in words,
	// and as a strategy or a baseline, for clients that word it themselves.
	Turn *compare.Step `json:"turn,omitempty"`
	// Standings are of the strategies that had a turn, the latest last; summaries
	// of what has ended leave them to the result.
	Standings []compare.Standing `json:"standings,omitempty"`

	Seconds  float64         `json:"seconds"` // that it took, or has taken
	Verdicts *compare.Tally  `json:"verdicts,omitempty"`
	Result   *compare.Result `json:"result,omitempty"` // summaries leave it out
}

// maxComparisons are kept, their results on disk only.
const maxComparisons = 100

type comparisonEntry = entry[Comparison, *Comparison]

func (s *Server) openComparisons() {
	s.comparisons = &store[Comparison, *Comparison]{kind: history.Comparison, most: maxComparisons, folder: s.History,
		log: s.Log, bell: s.bell, light: func(c Comparison) Comparison { c.Result = nil; return c }}
	s.comparisons.load(Comparison.check)
}

// check refuses what was read and is no comparison that ended.
func (c Comparison) check() error {
	if c.Result == nil || !c.State.Ended() {
		return errors.New("it has no result")
	}
	return c.Result.Check()
}

func (c Comparison) whole() Comparison { return c }

// ComparisonSettings are what a comparison is started with.
type ComparisonSettings struct {
	Strategies  []string `json:"strategies"` // names, or "all" alone
	Stock       int64    `json:"stock"`
	Buyers      int      `json:"buyers"`
	Concurrency int      `json:"concurrency"`
	Quantity    int64    `json:"quantity"`
	Repeats     int      `json:"repeats"`
	TurnMS      int      `json:"turn_ms"`          // least that is measured in a turn
	Few         int      `json:"few"`              // buyers at a time of the second run of some; 0: none
	Crowds      []int    `json:"crowds,omitempty"` // numbers of buyers at a time of further runs of all
	Seed        uint64   `json:"seed,string"`
}

// comparisonDefaults are those of `seckill compare`.
var comparisonDefaults = settingsOf(compare.DefaultOptions())

func settingsOf(o compare.Options) ComparisonSettings {
	return ComparisonSettings{Stock: o.Sale.Stock, Buyers: o.Sale.Buyers, Concurrency: o.Sale.Concurrency, Quantity: o.Sale.Quantity,
		Repeats: o.Repeats, TurnMS: int(o.Turn.Milliseconds()), Few: o.Few}
}

// ComparisonLimits are the maxima of the settings.
type ComparisonLimits struct {
	Stock       int64 `json:"stock"`
	Buyers      int   `json:"buyers"`
	Concurrency int   `json:"concurrency"`
	Quantity    int64 `json:"quantity"`
	Repeats     int   `json:"repeats"`
	TurnMS      int   `json:"turn_ms"`
}

var comparisonLimits = ComparisonLimits{Stock: limits.Stock, Buyers: limits.Buyers, Concurrency: limits.Concurrency,
	Quantity: limits.Quantity, Repeats: 100, TurnMS: 600_000}

const everyStrategy = "all"

func (s ComparisonSettings) all() bool {
	return len(s.Strategies) == 1 && s.Strategies[0] == everyStrategy
}

// command does the same on the command line.
func (s ComparisonSettings) command() string {
	crowds := ""
	for i, n := range s.Crowds {
		crowds += []string{" --crowds ", ","}[min(i, 1)] + strconv.Itoa(n)
	}
	return fmt.Sprintf("seckill compare --strategies %s --stock %d --buyers %d --concurrency %d --quantity %d "+
		"--repeats %d --turn %s --few %d%s --seed %d", strings.Join(s.Strategies, ","), s.Stock, s.Buyers, s.Concurrency,
		s.Quantity, s.Repeats, time.Duration(s.TurnMS)*time.Millisecond, s.Few, crowds, s.Seed)
}

// what names the comparison for the turn.
func (s ComparisonSettings) what() string {
	switch n := len(s.Strategies); {
	case s.all():
		return "a comparison of all strategies"
	case n == 1:
		return "a comparison of " + s.Strategies[0]
	default:
		return fmt.Sprintf("a comparison of %d strategies", n)
	}
}

// summary is c without what is large.
func (c Comparison) summary() Comparison {
	if !c.State.Ended() {
		c.Seconds = time.Since(c.Started).Seconds()
	} else {
		c.Standings = nil
	}
	c.Result = nil
	return c
}

// stood replaces the standing of a strategy.
func (c *Comparison) stood(s compare.Standing) {
	kept := make([]compare.Standing, 0, len(c.Standings)+1) // a page may be reading the older slice
	for _, old := range c.Standings {
		if old.Strategy != s.Strategy || old.Concurrency != s.Concurrency {
			kept = append(kept, old)
		}
	}
	c.Standings = append(kept, s)
}

// checkComparison finds everything that is wrong with a comparison's settings,
// and which strategies they choose.
func (s *Server) checkComparison(w *ComparisonSettings, seed string) (chosen []catalog.Info, _ uint64, _ error) {
	p, most := web.BadRequest(""), comparisonLimits
	chosen = s.chosen(*w, p)
	within(p, "stock", w.Stock, 1, most.Stock)
	within(p, "buyers", int64(w.Buyers), 1, int64(most.Buyers))
	within(p, "concurrency", int64(w.Concurrency), 1, int64(most.Concurrency))
	within(p, "quantity", w.Quantity, 1, most.Quantity)
	within(p, "repeats", int64(w.Repeats), 1, int64(most.Repeats))
	within(p, "turn_ms", int64(w.TurnMS), 0, int64(most.TurnMS))
	within(p, "few", int64(w.Few), 0, int64(most.Concurrency))
	wrong := func(field, code string, params map[string]any, format string, args ...any) {
		p.Blame(field, code, params, fmt.Sprintf(format, args...))
	}
	if err := compare.CheckCrowds(w.Crowds); err != nil {
		wrong("crowds", "crowds", map[string]any{"max": compare.MaxCrowd, "most": compare.MaxCrowds}, "%s", err)
	}
	number, err := strconv.ParseUint(seed, 10, 64)
	if err != nil {
		wrong("seed", "seed", nil, "give a whole number from 0 to 18446744073709551615, as text; or none, for a new one")
	}
	switch demand := int64(w.Buyers) * w.Quantity; {
	case p.Errors != nil:
	case w.Quantity > w.Stock:
		wrong("quantity", "too_much", map[string]any{"stock": w.Stock}, "no buyer could buy anything: the stock is %d", w.Stock)
	case demand <= w.Stock:
		least := w.Stock / w.Quantity
		wrong("buyers", "no_demand", map[string]any{"least": least},
			"give more than %d: with less demand than stock nothing can be oversold, and nothing is proven", least)
	case w.Few >= w.Concurrency && w.Few != comparisonDefaults.Few:
		wrong("few", "few", map[string]any{"concurrency": w.Concurrency},
			"give fewer than the %d buyers at a time of the comparison itself, or 0", w.Concurrency)
	}
	return chosen, number, anyWrong(p)
}

func (s *Server) chosen(w ComparisonSettings, p *web.Problem) (chosen []catalog.Info) {
	if w.all() { // what cannot run here is listed as not run
		return s.Strategies
	}
	switch n, most := len(w.Strategies), len(s.Strategies); {
	case n == 0:
		p.Blame("strategies", "none", nil, "name some, or all")
	case n > most: // some are wrong, and need not all be blamed
		p.Blame("strategies", "too_many", map[string]any{"max": most}, fmt.Sprintf("give at most %d, or all", most))
		return nil
	}
	for n, name := range w.Strategies {
		if slices.Index(w.Strategies, name) < n {
			p.Blame("strategies", "repeated", map[string]any{"name": name}, name+" is named more than once")
			continue
		}
		chosen = append(chosen, s.strategy("strategies", name, p))
	}
	return chosen
}
