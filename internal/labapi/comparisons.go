package labapi

import (
	"context"
	"crypto/rand"
	"fmt"
	randv2 "math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"seckill/internal/catalog"
	"seckill/loadtest"
	"seckill/loadtest/compare"
)

func (s *Server) routeComparisons(lab *gin.RouterGroup) {
	lab.GET("/comparisons", s.listComparisons)
	lab.POST("/comparisons", s.startComparison)
	lab.GET("/comparisons/:id", s.showComparison)
	lab.DELETE("/comparisons/:id", s.endComparison)
	lab.GET("/comparisons/:id/:file", s.downloadComparison)
	lab.GET("/comparisons/:id/against/:older", s.compareComparisons)
}

func (s *Server) listComparisons(c *gin.Context) {
	c.JSON(http.StatusOK, gin.H{
		"comparisons": s.comparisons.list(), "limits": comparisonLimits, "defaults": comparisonDefaults,
		"history": gin.H{"folder": s.comparisons.folder.Dir(), "most": maxComparisons, "skipped": s.comparisons.skipped},
	})
}

func (s *Server) startComparison(c *gin.Context) {
	wanted, seed := comparisonDefaults, strconv.FormatUint(randv2.Uint64(), 10)
	if p := decode(c, map[string]any{
		"strategies": &wanted.Strategies, "stock": &wanted.Stock, "buyers": &wanted.Buyers,
		"concurrency": &wanted.Concurrency, "quantity": &wanted.Quantity, "repeats": &wanted.Repeats,
		"turn_ms": &wanted.TurnMS, "few": &wanted.Few, "seed": &seed,
	}); p != nil {
		refuse(c, *p)
		return
	}
	chosen, number, p := s.checkComparison(wanted, seed)
	if p != nil {
		refuse(c, *p)
		return
	}
	wanted.Seed = number
	release, other := s.turn.take(wanted.what())
	if release == nil {
		refuse(c, inProgress(other))
		return
	}
	// Which ended by themselves are started again: strategies are known by what
	// they do with so many processes.
	err := s.haveServing(c.Request.Context(), s.Lab.ServiceSettings())
	targets := s.live()
	if err != nil || len(targets) == 0 {
		release()
		s.Log.Warn("start the service processes for a comparison", "error", err)
		refuse(c, noService)
		return
	}
	s.beginning.Lock()
	defer s.beginning.Unlock()
	if s.isClosing() {
		release()
		refuse(c, labCloses)
		return
	}
	// It lives in this process, not in this request.
	ctx, stop := context.WithCancel(context.Background())
	begun := Comparison{ID: rand.Text(), Settings: wanted, Command: wanted.command(), State: Running, Started: time.Now()}
	e := s.comparisons.begin(begun, stop)
	s.runs.Go(func() {
		defer stop()
		defer release()
		ended := s.compare(ctx, e, chosen, targets)
		release() // before anybody hears that it is over, and begins another
		s.comparisons.end(e, ended)
	})
	c.Header("Location", "/api/lab/v1/comparisons/"+begun.ID) // e is being changed
	c.JSON(http.StatusCreated, begun)
}

// compare performs a comparison and keeps what it came to.
func (s *Server) compare(ctx context.Context, e *shelved, chosen []catalog.Info, targets []string) Comparison {
	w := e.Settings
	sale := loadtest.DefaultScenario()
	sale.Copies, sale.Retry = 0, 0 // as in seckill compare
	sale.SKU, sale.Stock, sale.Buyers, sale.Concurrency, sale.Quantity = sku, w.Stock, w.Buyers, w.Concurrency, w.Quantity
	sale.Seed = w.Seed
	serving := s.Lab.ServiceSettings()
	result := s.Compare(ctx, chosen, compare.Options{
		Locks:   &compare.Locks{Lease: serving.Lease, Wait: serving.Wait, Poll: serving.Poll},
		Sale:    loadtest.Config{Scenario: sale, Targets: targets, AdminToken: s.ServiceToken, Ledger: s.Ledger},
		Repeats: w.Repeats, Turn: time.Duration(w.TurnMS) * time.Millisecond, Few: w.Few,
		OnStep: func(done, total int, what string) {
			s.comparisons.change(e, func(c *Comparison) { c.Done, c.Total, c.Step = done, total, what })
		},
		OnTurn: func(standing compare.Standing) {
			s.comparisons.change(e, func(c *Comparison) { c.stood(standing) })
		},
	})
	result.Command = e.Command
	tally := result.Tally()
	c, _ := s.comparisons.read(e) // it is still on
	c.State, c.Step, c.Standings, c.Seconds, c.Verdicts, c.Result = Done, "", nil, result.Seconds, &tally, result
	if !result.Interrupted {
		c.Done = c.Total
	}
	return s.comparisons.keep(c)
}

func (s *Server) showComparison(c *gin.Context) {
	if whole, ok := s.findComparison(c, c.Param("id")); ok {
		c.JSON(http.StatusOK, whole)
	}
}

// endComparison stops one that is on, which is judged then, and removes one
// that has ended.
func (s *Server) endComparison(c *gin.Context) {
	e := s.comparisons.find(c.Param("id"))
	if e == nil {
		refuse(c, unknownComparison)
		return
	}
	if now := e.state(s.comparisons); !now.Ended() {
		s.comparisons.stop(e)
		stopping, _ := s.comparisons.read(e)
		c.JSON(http.StatusAccepted, stopping.summary())
		return
	}
	if err := s.comparisons.remove(e); err != nil {
		refuse(c, problem{Code: "not_removed", Status: http.StatusInternalServerError,
			Detail: fmt.Sprintf("It is still in the history: %v.", err)})
		return
	}
	c.JSON(http.StatusOK, gin.H{"id": e.ID, "state": Removed})
}

var unknownComparison = problem{Code: "unknown_comparison", Status: http.StatusNotFound,
	Detail: fmt.Sprintf("There is no such comparison; the last %d are kept.", maxComparisons)}

// findComparison reads a comparison with its result, if it has one by now.
func (s *Server) findComparison(c *gin.Context, id string) (Comparison, bool) {
	e := s.comparisons.find(id)
	if e == nil {
		refuse(c, unknownComparison)
		return Comparison{}, false
	}
	whole, err := s.comparisons.read(e)
	if err != nil {
		refuse(c, problem{Code: "result_gone", Status: http.StatusGone, Detail: err.Error() + "."})
		return Comparison{}, false
	}
	return whole, true
}

// findResult reads a comparison that has ended.
func (s *Server) findResult(c *gin.Context, id string) (Comparison, bool) {
	whole, ok := s.findComparison(c, id)
	if ok && whole.Result == nil {
		refuse(c, problem{Code: "not_ended", Status: http.StatusConflict,
			Detail: "The comparison is still on. Stop it, or wait for its end."})
		return Comparison{}, false
	}
	return whole, ok
}
