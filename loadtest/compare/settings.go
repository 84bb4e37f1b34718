// Package compare runs the same seeded sale with one strategy after the other. It does so in rounds, and every second
// round is in reverse order. A Result says of each strategy whether it was right, whether it served its buyers, and
// how fast it was. The speed is also given as a ratio to the speed of one strategy, with an interval.
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
	"seckill/internal/tables"
	"seckill/loadtest"
)

// Settings describe a comparison completely. Flags or the page's form set them, and a result repeats them.
type Settings struct {
	Preset string `json:"preset" kong:"-"`
	// Strategies are names of strategies, or only the word all. If it is empty, the strategies of the preset
	// are compared.
	Strategies []string `json:"strategies" placeholder:"NAME" help:"${Strategies}"`
	Baselines  []string `json:"baselines,omitempty" placeholder:"NAME" group:"rare" help:"${Baselines}"`

	loadtest.Scenario
	Keys   bool  `json:"keys,omitempty" group:"sale" help:"${Keys}"`
	Crowds []int `json:"crowds,omitempty" group:"sale" placeholder:"N" help:"${Crowds}"`

	Rounds int `json:"rounds" group:"time" placeholder:"N" help:"${Rounds}"`
	// AllRounds lists the strategies that are measured in every round. If the list is not empty, all other
	// strategies are measured in the first round only.
	AllRounds []string `json:"all_rounds,omitempty" group:"time" placeholder:"NAME" help:"${AllRounds}"`
	// Turn is how long one strategy is measured before the next. If its sale is shorter, the sale is
	// repeated. With plenty of stock, the sale gets more buyers instead, so that it lasts this long.
	Turn time.Duration `json:"turn_ns" group:"time" placeholder:"D" help:"${Turn}"`
	By   string        `json:"by" kong:"-"` // the metric that Entry.Factor compares
}

// FlagHelp returns the help texts of the flags that Settings has in addition to a Scenario, by their names in the tags.
func FlagHelp() map[string]string {
	usual := Presets()[0]
	return map[string]string{
		"Strategies": "Strategies by comma, all, or six: those that people ask for first. Default: the preset's.",
		"Baselines":  "Bare handlers to measure as well: all, or some of " + strings.Join(BaselineNames(), ",") + ".",
		"Keys":       "Measure each strategy a second time without an Idempotency-Key in the requests.",
		"Crowds":     "Measure also with these numbers of buyers at a time, such as 1,16,256.",
		"Rounds": fmt.Sprintf("How often each strategy has its turn; every second round is reversed (%d).",
			usual.Rounds),
		"AllRounds": "Strategies that take part in all rounds; the others get one round and are marked so. " +
			"Default: all strategies.",
		"Turn": fmt.Sprintf("How long a strategy is measured in a turn; short sales are repeated (%s).", usual.Turn),
	}
}

// All is the word that means all strategies, or all baselines, in a list of names.
const All = "all"

// A Preset is a named comparison with a text that says what it shows.
type Preset struct {
	Name string `json:"name"`
	Says string `json:"says"`
	Settings
}

// Presets returns the presets of the command line and the page. The first is the default. No preset sends a
// request several times, because the rates of such runs cannot be compared.
func Presets() []Preset {
	preset := func(name, by, says string, change func(*Settings), strategies ...string) Preset {
		s := Settings{Preset: name, Strategies: strategies, Scenario: loadtest.DefaultScenario(),
			Rounds: 3, Turn: 500 * time.Millisecond, By: by}
		s.Strategy, s.Duplicates, s.Cancellations, s.Copies, s.Retry = "", 0, 0, 0, 0
		change(&s)
		return Preset{name, says, s}
	}
	return []Preset{
		preset("flash-sale", Answers, "Few units, 20 buyers for each: which answers most buyers?",
			func(*Settings) {}, "conditional", "redis-counter-mysql"),
		preset("hot-row", Sales, "The stock never ends: how fast can one row sell?",
			func(s *Settings) { s.Stock, s.Buyers, s.Plenty = 5000, 1000, true },
			"conditional", "one-trip", "merged", "redis-counter", "redis-stream"),
		preset("many-skus", Sales, "50 SKUs: which lock or scan makes buyers of other SKUs wait?",
			func(s *Settings) { s.SKUs, s.Stock = 50, 20 }, "lock-table-central", "lock-table-segmented"),
		preset("few-buyers", Sales, "Two at a time: how long does a purchase take without a queue?",
			func(s *Settings) { s.Concurrency, s.Stock, s.Buyers = 2, 200, 250 },
			"for-update", "version", "conditional"),
	}
}

// PresetNamed returns the preset with the given name.
func PresetNamed(name string) (Preset, error) {
	all := Presets()
	if i := slices.IndexFunc(all, func(p Preset) bool { return p.Name == name }); i >= 0 {
		return all[i], nil
	}
	return Preset{}, fmt.Errorf("there is no preset %q; there are: %s", name, strings.Join(PresetNames(), ", "))
}

// PresetNames returns the names of all presets.
func PresetNames() []string {
	return tables.Map(Presets(), func(p Preset) string { return p.Name })
}

// Ranges returns the allowed ranges of the numbers of a scenario, and of the numbers that a comparison adds.
func Ranges() map[string]loadtest.Range {
	all := maps.Clone(loadtest.Ranges)
	all["rounds"] = loadtest.Range{Min: 1, Max: stats.MaxRounds}
	all["turn"] = loadtest.Range{Min: 0, Max: 600}
	all["crowds"] = loadtest.Range{Min: 1, Max: 1024}
	return all
}

const maxCrowds = 8

// Check returns an error if a comparison is impossible or pointless. The error is a
// *seckill.FieldError.
func (s Settings) Check() error {
	wrong := func(field, format string, args ...any) error {
		return &seckill.FieldError{Field: field, Code: field, Detail: fmt.Sprintf(format, args...)}
	}
	ranges := Ranges()
	wrongNumber := cmp.Or(ranges["rounds"].Check("rounds", float64(s.Rounds)),
		ranges["turn"].Check("turn", s.Turn.Seconds()))
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
		return wrong("crowds", "the profile %q does not use numbers of buyers at a time", s.Profile)
	case s.Keys && (s.Copies > 0 || s.Retry > 0 || s.Duplicates > 0):
		return wrong("keys", "copies, retries and second purchases are told apart by their keys: leave them out")
	case s.Require != nil:
		return wrong("require", "a comparison has no thresholds: give them to seckill load")
	}
	for i, name := range s.Baselines {
		if !slices.Contains(BaselineNames(), name) && name != All || slices.Index(s.Baselines, name) < i {
			return wrong("baselines", "baseline %q: give each name once, of %s, or %s",
				name, strings.Join(BaselineNames(), ", "), All)
		}
	}
	for _, name := range s.AllRounds {
		if !slices.Contains(s.Strategies, name) && !slices.Equal(s.Strategies, []string{All}) {
			return wrong("all_rounds", "%q is not one of the strategies that are compared", name)
		}
	}
	sale := s.Scenario
	sale.Strategy = "any"
	return sale.Check()
}

// takesPart reports whether the candidate k is measured in a round. Rounds are counted from 1.
func (s Settings) takesPart(k Candidate, round int) bool {
	return round == 1 || s.AllRounds == nil || k.Baseline || slices.Contains(s.AllRounds, k.Strategy)
}

// Command returns the command line that repeats the comparison.
func (s Settings) Command() string {
	preset, err := PresetNamed(s.Preset)
	if err != nil {
		preset = Presets()[0]
	}
	return "seckill compare --preset " + preset.Name + loadtest.Flags(s, preset.Settings)
}
