package labapi

import (
	"cmp"
	"context"
	"crypto/rand"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"seckill/internal/catalog"
	"seckill/internal/lab"
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
	// Services are the settings of the service processes, of which it changes none.
	Services lab.ServiceSettings `json:"services_settings"`

	Done     int             `json:"done"`           // turns that are over,
	Total    int             `json:"total"`          // of so many; 0: it is just beginning
	Turn     *compare.Step   `json:"turn,omitempty"` // what has its turn, while it is on
	Seconds  float64         `json:"seconds"`        // that it took, or has taken
	Verdicts *compare.Tally  `json:"verdicts,omitempty"`
	Result   *compare.Result `json:"result,omitempty"` // summaries leave it out
}

type comparisonEntry = entry[Comparison, *Comparison]

// summary is c without what is large.
func (c Comparison) summary() Comparison {
	if !c.State.Ended() {
		c.Seconds = time.Since(c.Started).Seconds()
	}
	c.Result = nil
	return c
}

func (c *Comparison) isWhole() bool {
	return c.Settings.Check() == nil && c.Result != nil && c.Result.Settings.Check() == nil
}

// readComparison reads what is to be compared: what is left out is the preset's, which
// the query names, and the seed is drawn. It says which strategies that chooses.
func (s *Server) readComparison(c *gin.Context) (wanted compare.Settings, chosen []catalog.Info, err error) {
	query, err := web.ReadQuery(c.Request, "preset")
	if err != nil {
		return wanted, nil, err
	}
	preset, err := compare.PresetNamed(cmp.Or(query.Get("preset"), compare.Presets()[0].Name))
	if err != nil {
		return wanted, nil, web.Invalid("preset", "one_of", map[string]any{"values": compare.PresetNames()}, "is none of "+strings.Join(compare.PresetNames(), ", "))
	}
	wanted = preset.Settings
	wanted.Seed = newSeed()
	if err := web.ReadJSON(c.Writer, c.Request, &wanted); err != nil {
		return wanted, nil, err
	}
	p := web.BadRequest("")
	if wanted.Preset != preset.Name {
		p.Blame("preset", "unused", nil, "leave it out: the query names the preset")
	}
	refuseDecided(p, wanted.Scenario)
	if chosen = s.Strategies; !slices.Equal(wanted.Strategies, []string{compare.All}) { // what cannot run here is listed as not run
		chosen = s.chosenStrategies(wanted.Strategies, len(s.Strategies), p)
	}
	blameFields(p, wanted.Check())
	return wanted, chosen, anyWrong(p)
}

func (s *Server) listComparisons(c *gin.Context) {
	c.JSON(http.StatusOK, gin.H{
		"comparisons": s.comparisons.listEntries(), "presets": compare.Presets(), "ranges": compare.Ranges(),
		"history": gin.H{"folder": s.History, "most": most},
	})
}

func (s *Server) startComparison(c *gin.Context) error {
	wanted, chosen, err := s.readComparison(c)
	if err != nil {
		return err
	}
	release, err := s.turn.takeTurn("a comparison")
	if err != nil {
		return err
	}
	// Processes that ended are started again: the figures depend on how many
	// there are.
	serving := s.Lab.ServiceSettings()
	err = s.haveServing(c.Request.Context(), serving)
	targets := s.liveServices()
	if err != nil || len(targets) == 0 {
		release()
		s.Log.Warn("start the service processes for a comparison", "error", err)
		return noService
	}
	_, err = begin(s, c, s.comparisons, release, func(_ context.Context, e *comparisonEntry) {
		e.value = Comparison{Record: Record{ID: rand.Text(), State: Running, Started: time.Now()},
			Settings: wanted, Command: wanted.Command(), Services: serving}
	}, func(ctx context.Context, e *comparisonEntry) Comparison {
		return s.runComparison(ctx, e, wanted, chosen, targets)
	})
	return err
}

// runComparison performs a comparison.
func (s *Server) runComparison(ctx context.Context, e *comparisonEntry, wanted compare.Settings, chosen []catalog.Info, targets []string) Comparison {
	result := s.Compare(ctx, chosen, compare.Options{Settings: wanted,
		Sale: loadtest.Config{Targets: targets, AdminToken: s.ServiceToken, Ledger: s.Ledger},
		OnStep: func(done, total int, next compare.Step) {
			s.comparisons.changeEntry(e, func(c *Comparison) { c.Done, c.Total, c.Turn = done, total, &next })
		},
	})
	c := s.comparisons.readEntry(e)
	result.Command = c.Command
	tally := result.Tally()
	c.Turn = nil
	c.State, c.Seconds, c.Verdicts, c.Result = Done, result.Seconds, &tally, result
	if !result.Interrupted {
		c.Done = c.Total
	}
	return c
}
