package labapi

import (
	"context"
	"crypto/rand"
	"fmt"
	randv2 "math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/loadtest"
)

// sku is what the lab sells.
const sku = 1

// patience is how long a buyer of the lab waits for an answer.
const patience = 15 * time.Second

func (s *Server) listRuns(c *gin.Context) {
	c.JSON(http.StatusOK, gin.H{"runs": s.book.list()})
}

func (s *Server) showRun(c *gin.Context) {
	if e := s.find(c); e != nil {
		c.JSON(http.StatusOK, s.book.read(e))
	}
}

// stopRun lets no more buyers in. What happened so far is audited, so the run
// ends a moment later.
func (s *Server) stopRun(c *gin.Context) {
	if e := s.find(c); e != nil {
		s.book.stop(e)
		c.JSON(http.StatusAccepted, s.book.read(e).summary())
	}
}

func (s *Server) find(c *gin.Context) *entry {
	e := s.book.find(c.Param("id"))
	if e == nil {
		refuse(c, problem{Code: "unknown_run", Status: http.StatusNotFound,
			Detail: fmt.Sprintf("There is no such run; the last %d are kept until the lab ends.", maxRuns)})
	}
	return e
}

func (s *Server) startRun(c *gin.Context) {
	var wanted Settings
	if p := decode(c, map[string]any{
		"strategy": &wanted.Strategy, "stock": &wanted.Stock, "buyers": &wanted.Buyers,
		"concurrency": &wanted.Concurrency, "quantity": &wanted.Quantity,
	}); p != nil {
		refuse(c, *p)
		return
	}
	if p := s.check(wanted); p != nil {
		refuse(c, *p)
		return
	}
	targets := s.live()
	if len(targets) == 0 {
		refuse(c, noService)
		return
	}
	release, other := s.turn.take("a run of " + wanted.Strategy)
	if release == nil {
		refuse(c, inProgress(other))
		return
	}
	// The run lives in this process, not in this request.
	ctx, stop := context.WithCancel(context.Background())
	e := s.book.begin(Run{ID: rand.Text(), Settings: wanted, State: Running, Started: time.Now()}, stop)
	s.runs.Go(func() {
		defer stop()
		defer release()
		s.perform(ctx, e, targets)
	})
	c.Header("Location", "/api/lab/v1/runs/"+e.ID)
	c.JSON(http.StatusCreated, s.book.read(e).summary())
}

func (s *Server) perform(ctx context.Context, e *entry, targets []string) {
	w := e.Settings
	result, err := s.Load(ctx, loadtest.Config{
		Scenario: loadtest.Scenario{
			Strategy: w.Strategy, SKU: sku, Stock: w.Stock, Buyers: w.Buyers, Concurrency: w.Concurrency,
			Quantity: w.Quantity, Timeout: patience, Seed: randv2.Uint64(),
		},
		Targets: targets, AdminToken: s.Token, Ledger: s.Ledger,
		OnProgress: func(p loadtest.Progress) {
			s.look(ctx, &p, w.Strategy)
			s.book.change(e, func(r *Run) bool { return r.add(p) })
		},
	})
	s.book.change(e, func(r *Run) bool {
		r.State, r.Result = Done, result
		if err != nil {
			r.State, r.Error = Failed, err.Error()
		}
		return true
	})
	s.Log.Info("run ended", "run", e.ID, "strategy", w.Strategy, "state", e.State, "error", err)
}

// look replaces what buyers were told by what the database says, if it says so
// at once and keeps the stock of this strategy at all.
func (s *Server) look(ctx context.Context, p *loadtest.Progress, strategy string) {
	i := slices.IndexFunc(s.Strategies, func(i catalog.Info) bool { return i.Name == strategy })
	if s.Left == nil || s.Strategies[i].Stock != ledger.HomeRow {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), pace)
	defer cancel()
	if left, err := s.Left(ctx, sku); err == nil {
		p.Left = left
	}
}

// check finds everything that is wrong with a run's settings.
func (s *Server) check(w Settings) *problem {
	p := &problem{Code: "invalid", Status: http.StatusBadRequest}
	wrong := func(name, format string, args ...any) {
		p.blame(name, "", nil, fmt.Sprintf(format, args...))
	}
	i := slices.IndexFunc(s.Strategies, func(i catalog.Info) bool { return i.Name == w.Strategy })
	switch {
	case w.Strategy == "":
		wrong("strategy", "name a strategy")
	case i < 0:
		p.Code, p.Status = "unknown_strategy", http.StatusNotFound
		wrong("strategy", "there is no strategy %q", w.Strategy)
	default:
		if why := s.Missing(s.Strategies[i]); why != nil {
			p.Code, p.Status = "strategy_unavailable", http.StatusServiceUnavailable
			wrong("strategy", "%s cannot run here: %s", w.Strategy, strings.Join(why, "; "))
		}
	}
	for _, number := range []struct {
		name         string
		value, limit int64
	}{
		{"stock", w.Stock, limits.Stock}, {"buyers", int64(w.Buyers), int64(limits.Buyers)},
		{"concurrency", int64(w.Concurrency), int64(limits.Concurrency)}, {"quantity", w.Quantity, limits.Quantity},
	} {
		if number.value < 1 || number.value > number.limit {
			wrong(number.name, "give a whole number from 1 to %d", number.limit)
		}
	}
	switch demand := int64(w.Buyers) * w.Quantity; {
	case p.Errors != nil:
	case w.Quantity > w.Stock:
		wrong("quantity", "nobody could buy anything: the stock is %d", w.Stock)
	case demand <= w.Stock:
		wrong("buyers", "give more than %d: with less demand than stock nothing can be oversold, and nothing is proven", w.Stock/w.Quantity)
	}
	if p.Errors == nil {
		return nil
	}
	return p
}
