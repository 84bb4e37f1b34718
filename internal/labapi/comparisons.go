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

// A Comparison measures the same sale with several strategies, one strategy after the other, in several rounds.
type Comparison struct {
	Record
	Settings compare.Settings    `json:"settings"`
	Command  string              `json:"command"`           // the command line that makes the same comparison
	Services lab.ServiceSettings `json:"services_settings"` // the settings of the services during the comparison

	Done     int             `json:"done"`           // the number of measurements that have ended
	Total    int             `json:"total"`          // the number of all measurements; 0 before the first of them
	Turn     *compare.Step   `json:"turn,omitempty"` // the current measurement
	Seconds  float64         `json:"seconds"`        // seconds from the start to now, or to the end
	Verdicts *compare.Tally  `json:"verdicts,omitempty"`
	Result   *compare.Result `json:"result,omitempty"` // nil in summaries, because it is large
}

var comparisonType = entryType[Comparison]{kind: "comparison", record: (*Comparison).record,
	summary: Comparison.summary, isComplete: (*Comparison).isComplete}

func (c Comparison) summary() Comparison {
	if !c.State.Ended() {
		c.Seconds = time.Since(c.Started).Seconds()
	}
	c.Result = nil
	return c
}

func (c *Comparison) isComplete() bool {
	return c.Settings.Check() == nil && c.Result != nil && c.Result.Settings.Check() == nil &&
		!slices.Contains(c.Result.Entries, nil)
}

// readComparison reads the settings of a comparison, and finds the strategies that they name. A field that the body
// leaves out gets its value from the preset that the query names. A missing seed is random.
func (s *Server) readComparison(c *gin.Context) (compare.Settings, []catalog.Info, error) {
	var wanted compare.Settings
	query, err := web.ReadQuery(c.Request, "preset")
	if err != nil {
		return wanted, nil, err
	}
	preset, err := compare.PresetNamed(cmp.Or(query.Get("preset"), compare.Presets()[0].Name))
	if err != nil {
		names := compare.PresetNames()
		return wanted, nil, web.Invalid("preset", "one_of", map[string]any{"values": names},
			"is none of "+strings.Join(names, ", "))
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
	blameFixedFields(p, wanted.Scenario)
	chosen := s.Strategies // also the strategies that cannot run here, because the result lists them, too
	if !slices.Equal(wanted.Strategies, []string{compare.All}) {
		chosen = s.chosenStrategies(wanted.Strategies, len(s.Strategies), p)
	}
	blameFields(p, wanted.Check())
	return wanted, chosen, asError(p)
}

func (s *Server) listComparisons(c *gin.Context) {
	c.JSON(http.StatusOK, gin.H{
		"comparisons": s.comparisons.listEntries(), "presets": compare.Presets(), "ranges": compare.Ranges(),
		"history": gin.H{"folder": s.History, "most": maxEntries},
	})
}

func (s *Server) startComparison(c *gin.Context) error {
	wanted, chosen, err := s.readComparison(c)
	if err != nil {
		return err
	}
	if err := s.labLock.acquire("a comparison"); err != nil {
		return err
	}
	// If one service process has ended, restart all of them, because the number of processes affects the figures.
	serving := s.Lab.ServiceSettings()
	err = s.ensureServing(c.Request.Context(), serving)
	targets := s.liveServices()
	if err != nil || len(targets) == 0 {
		s.labLock.release()
		s.Log.Warn("start the service processes for a comparison", "error", err)
		return noService
	}
	ctx, stop := context.WithCancel(s.labLock.closing)
	e := &entry[Comparison]{stop: stop, value: Comparison{Record: Record{ID: rand.Text(), State: Running, Started: time.Now()},
		Settings: wanted, Command: wanted.Command(), Services: serving}}
	s.comparisons.perform(c, e, func() Comparison { return s.performComparison(ctx, e, chosen, targets) })
	return nil
}

func (s *Server) performComparison(ctx context.Context, e *entry[Comparison], chosen []catalog.Info,
	targets []string) Comparison {
	result := s.Compare(ctx, chosen, compare.Options{Settings: s.comparisons.readEntry(e).Settings,
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
