package labapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"seckill/internal/catalog"
	"seckill/internal/history"
	"seckill/internal/web"
	"seckill/loadtest"
	"seckill/loadtest/compare"
)

// A Comparison is the same sale with several strategies, in rounds, as it stands
// now or as it ended.
type Comparison struct {
	Record
	Settings compare.Settings `json:"settings"`
	Command  string           `json:"command"` // that does the same on the command line

	Done  int           `json:"done"`           // turns that are over,
	Total int           `json:"total"`          // of so many; 0: it is just beginning
	Turn  *compare.Step `json:"turn,omitempty"` // what has its turn, while it is on
	// Standings are of the strategies that had a turn, the latest last; summaries
	// of what has ended leave them to the result.
	Standings []compare.Entry `json:"standings,omitempty"`

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
func (c *Comparison) stood(e compare.Entry) {
	kept := make([]compare.Entry, 0, len(c.Standings)+1) // a page may be reading the older slice
	for _, old := range c.Standings {
		if old.Candidate != e.Candidate || old.Concurrency != e.Concurrency {
			kept = append(kept, old)
		}
	}
	e.Rounds, e.Violations, e.Problems = slices.Clone(e.Rounds), slices.Clone(e.Violations), slices.Clone(e.Problems)
	c.Standings = append(kept, e)
}

// what names the comparison for the turn.
func what(s compare.Settings) string {
	switch n := len(s.Strategies); {
	case slices.Equal(s.Strategies, []string{compare.All}):
		return "a comparison of all strategies"
	case n == 1:
		return "a comparison of " + s.Strategies[0]
	default:
		return fmt.Sprintf("a comparison of %d strategies", n)
	}
}

// readComparison reads what is to be compared: what is left out is the preset's, and
// the seed is drawn. It says which strategies that chooses.
func (s *Server) readComparison(w http.ResponseWriter, r *http.Request) (c compare.Settings, chosen []catalog.Info, err error) {
	var usual []string
	p := web.BadRequest("")
	err = web.ReadOver(w, r, func(body []byte) (any, error) {
		named := struct {
			Preset string `json:"preset"`
		}{compare.Presets()[0].Name}
		_ = json.Unmarshal(body, &named) // what is wrong is found below
		preset, err := compare.PresetNamed(named.Preset)
		if err != nil {
			return nil, web.Invalid("preset", "one_of", nil, err.Error())
		}
		c, usual = preset.Settings, preset.Strategies
		c.Strategies, c.Seed = nil, newSeed()
		return &c, nil
	})
	if err != nil {
		return c, nil, err
	}
	if c.Strategies == nil {
		c.Strategies = usual
	}
	c.SKU = sku
	chosen = s.chosen(c.Strategies, p)
	blame(p, c.Check())
	return c, chosen, anyWrong(p)
}

// blame takes over what is wrong with a scenario.
func blame(p *web.Problem, err error) {
	var field *loadtest.FieldError
	if errors.As(err, &field) {
		p.Blame(field.Field, field.Code, field.Params, field.Text)
	}
}

func (s *Server) chosen(names []string, p *web.Problem) (chosen []catalog.Info) {
	if slices.Equal(names, []string{compare.All}) { // what cannot run here is listed as not run
		return s.Strategies
	}
	switch n, most := len(names), len(s.Strategies); {
	case n == 0:
		p.Blame("strategies", "none", nil, "name some, or all")
	case n > most: // some are wrong, and need not all be blamed
		p.Blame("strategies", "too_many", map[string]any{"max": most}, "give at most "+strconv.Itoa(most)+", or all")
		return nil
	}
	for n, name := range names {
		if slices.Index(names, name) < n {
			p.Blame("strategies", "repeated", map[string]any{"name": name}, name+" is named more than once")
			continue
		}
		chosen = append(chosen, s.strategy("strategies", name, p))
	}
	return chosen
}
