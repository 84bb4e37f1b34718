// Package compare runs the same seeded sale with one strategy after the other,
// in rounds that alternate their direction. A Result says of each strategy
// whether it was right, whether it served its buyers, and how fast it was, also as
// a factor to one of them with an interval.
package compare

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"seckill/internal/seckill"
	"seckill/internal/stats"
	"seckill/loadtest"
)

// Settings say what is compared: flags, the page's form, and results have them.
type Settings struct {
	Preset string `json:"preset" kong:"-"`
	// Strategies are names, or all alone; none stands for the preset's.
	Strategies []string `json:"strategies" placeholder:"NAME" help:"By comma; all, or six: the ones that people ask for first. Default: the preset's."`
	Baselines  []string `json:"baselines,omitempty" placeholder:"NAME" group:"rare" help:"Also measure these bare handlers, or all: ${Baselines}."`

	loadtest.Scenario
	Keys   bool  `json:"keys,omitempty" group:"sale" help:"Measure each strategy also without the Idempotency-Key that every request has."`
	Crowds []int `json:"crowds,omitempty" group:"sale" placeholder:"N" help:"Measure also with these numbers of buyers at a time: 1,16,256."`

	Rounds int `json:"rounds" group:"time" placeholder:"N" help:"Rounds; every other one runs in reverse (${PresetRounds})."`
	// Turn: short sales are repeated, so that a turn measures this long. Where there is
	// plenty of stock, more buyers come to one sale instead.
	Turn time.Duration `json:"turn_ns" group:"time" placeholder:"D" help:"Repeat a short sale until its turn has lasted this long (${PresetTurn})."`
	By   string        `json:"by" kong:"-"` // the metric that the factor is of
}

// All is the name that stands for all strategies.
const All = "all"

// A Preset is a comparison with a name: what it shows, and its settings.
type Preset struct {
	Name string `json:"name"`
	Says string `json:"says"`
	Settings
}

// Presets are those of the command line and the page; the first is the default.
// Calls are made once: rates of copies and retries cannot be compared.
func Presets() []Preset {
	preset := func(name, by, says string, change func(*Settings), strategies ...string) Preset {
		s := Settings{Preset: name, Strategies: strategies, Scenario: loadtest.DefaultScenario(), Rounds: 3, Turn: 500 * time.Millisecond, By: by}
		s.Strategy, s.Duplicates, s.Cancellations, s.Copies, s.Retry = "", 0, 0, 0, 0
		change(&s)
		return Preset{name, says, s}
	}
	return []Preset{
		preset("flash-sale", Answers, "Few units, 20 buyers for each: which answers most buyers?",
			func(*Settings) {}, "conditional", "redis-counter-mysql"),
		preset("hot-row", Sales, "The stock never ends: how fast can one row sell?",
			func(s *Settings) { s.Stock, s.Buyers, s.Plenty = 5000, 1000, true }, "conditional", "one-trip", "merged", "redis-counter", "redis-stream"),
		preset("many-skus", Sales, "50 SKUs: which lock or scan makes buyers of other SKUs wait?",
			func(s *Settings) { s.SKUs, s.Stock = 50, 20 }, "lock-table-central", "lock-table-segmented"),
		preset("few-buyers", Sales, "Two at a time: how long does a purchase take without a queue?",
			func(s *Settings) { s.Concurrency, s.Stock, s.Buyers = 2, 200, 250 }, "for-update", "version", "conditional"),
	}
}

// PresetNamed finds a preset.
func PresetNamed(name string) (Preset, error) {
	all := Presets()
	if i := slices.IndexFunc(all, func(p Preset) bool { return p.Name == name }); i >= 0 {
		return all[i], nil
	}
	return Preset{}, fmt.Errorf("there is no preset %q; there are: %s", name, strings.Join(PresetNames(), ", "))
}

// PresetNames are those of all presets.
func PresetNames() (names []string) {
	for _, p := range Presets() {
		names = append(names, p.Name)
	}
	return names
}

// Ranges are those of the scenario's and the comparison's own numbers.
func Ranges() map[string]loadtest.Range {
	all := maps.Clone(loadtest.Ranges)
	all["rounds"], all["turn"], all["crowds"] = loadtest.Range{Min: 1, Max: stats.MaxRounds}, loadtest.Range{Min: 0, Max: 600}, loadtest.Range{Min: 1, Max: 1024}
	return all
}

const maxCrowds = 8

// Check finds what makes a comparison impossible or pointless; the error is a
// *seckill.FieldError.
func (s Settings) Check() error {
	wrong := func(field, format string, args ...any) error {
		return &seckill.FieldError{Field: field, Code: field, Detail: fmt.Sprintf(format, args...)}
	}
	ranges := Ranges()
	wrongNumber := cmp.Or(ranges["rounds"].Check("rounds", float64(s.Rounds)), ranges["turn"].Check("turn", s.Turn.Seconds()))
	for _, n := range s.Crowds {
		wrongNumber = cmp.Or(wrongNumber, ranges["crowds"].Check("crowds", float64(n)))
	}
	switch {
	case wrongNumber != nil:
		return wrongNumber
	case s.By != Answers && s.By != Sales:
		return wrong("by", "factors of %q: give %s or %s", s.By, Answers, Sales)
	case len(s.Crowds) > maxCrowds || len(slices.Compact(slices.Sorted(slices.Values(s.Crowds)))) < len(s.Crowds):
		return wrong("crowds", "give at most %d numbers of buyers at a time, each once", maxCrowds)
	case s.Crowds != nil && s.Open():
		return wrong("crowds", "buyers at a time mean nothing with the profile %q", s.Profile)
	case s.Keys && (s.Copies > 0 || s.Retry > 0 || s.Duplicates > 0):
		return wrong("keys", "copies, retries and second purchases are told apart by their keys: leave them out")
	case s.Require != nil:
		return wrong("require", "a comparison has no thresholds: give them to seckill load")
	}
	for i, name := range s.Baselines {
		if !slices.Contains(BaselineNames(), name) && name != All || slices.Index(s.Baselines, name) < i {
			return wrong("baselines", "baseline %q: give each name once, of %s, or %s", name, strings.Join(BaselineNames(), ", "), All)
		}
	}
	sale := s.Scenario
	sale.Strategy = "any"
	return sale.Check()
}

// Command is the command line that compares the same again.
func (s Settings) Command() string {
	usual, err := PresetNamed(s.Preset)
	if err != nil {
		usual = Presets()[0]
	}
	return "seckill compare --preset " + usual.Name + loadtest.Flags(s, usual.Settings)
}
