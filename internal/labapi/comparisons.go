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
	"seckill/internal/history"
	"seckill/internal/web"
	"seckill/loadtest"
	"seckill/loadtest/compare"
)

func (s *Server) listComparisons(c *gin.Context) {
	c.JSON(http.StatusOK, gin.H{
		"comparisons": s.comparisons.list(), "limits": comparisonLimits, "defaults": comparisonDefaults,
		"history": gin.H{"folder": s.comparisons.folder.Dir(), "most": maxComparisons, "skipped": s.comparisons.skipped},
	})
}

func (s *Server) startComparison(c *gin.Context) error {
	wanted := comparisonDefaults
	body := struct {
		*ComparisonSettings
		Seed string `json:"seed"`
	}{&wanted, strconv.FormatUint(randv2.Uint64(), 10)}
	if err := web.ReadJSON(c.Writer, c.Request, &body); err != nil {
		return err
	}
	chosen, number, err := s.checkComparison(&wanted, body.Seed)
	if err != nil {
		return err
	}
	wanted.Seed = number
	release, err := s.turn.take(wanted.what())
	if err != nil {
		return err
	}
	// Processes that ended are started again: the figures depend on how many
	// there are.
	err = s.haveServing(c.Request.Context(), s.Lab.ServiceSettings())
	targets := s.live()
	if err != nil || len(targets) == 0 {
		release()
		s.Log.Warn("start the service processes for a comparison", "error", err)
		return noService
	}
	s.beginning.Lock()
	defer s.beginning.Unlock()
	if s.isClosing() {
		release()
		return labCloses
	}
	// The comparison outlives this request.
	ctx, stop := context.WithCancel(context.Background())
	begun := Comparison{Record: Record{ID: rand.Text(), State: Running, Started: time.Now()},
		Settings: wanted, Command: wanted.command()}
	e := s.comparisons.begin(begun, stop)
	s.ongoing.Go(func() {
		defer stop()
		defer release()
		ended := s.compare(ctx, e, begun, chosen, targets)
		release() // first: a page that hears of the end may begin another
		s.comparisons.change(e, func(c *Comparison) { *c = ended })
	})
	c.Header("Location", "/api/lab/v1/comparisons/"+begun.ID) // e is being changed
	c.JSON(http.StatusCreated, begun)
	return nil
}

// compare performs a comparison and keeps what it came to.
func (s *Server) compare(ctx context.Context, e *comparisonEntry, begun Comparison, chosen []catalog.Info, targets []string) Comparison {
	w := begun.Settings
	sale := compare.DefaultOptions().Sale.Scenario
	sale.SKU, sale.Stock, sale.Buyers, sale.Concurrency, sale.Quantity = sku, w.Stock, w.Buyers, w.Concurrency, w.Quantity
	sale.Seed = w.Seed
	serving := s.Lab.ServiceSettings()
	result := s.Compare(ctx, chosen, compare.Options{
		Locks:   &compare.Locks{Lease: serving.Lease, Wait: serving.Wait, Poll: serving.Poll},
		Sale:    loadtest.Config{Scenario: sale, Targets: targets, AdminToken: s.ServiceToken, Ledger: s.Ledger},
		Repeats: w.Repeats, Turn: time.Duration(w.TurnMS) * time.Millisecond, Few: w.Few, Crowds: w.Crowds,
		OnStep: func(done, total int, next compare.Step) {
			s.comparisons.change(e, func(c *Comparison) { c.Done, c.Total, c.Step, c.Turn = done, total, next.What, &next })
		},
		OnTurn: func(standing compare.Standing) {
			s.comparisons.change(e, func(c *Comparison) { c.stood(standing) })
		},
	})
	result.Command = begun.Command
	tally := result.Tally()
	c := s.comparisons.read(e)
	c.Turn = nil
	c.State, c.Step, c.Standings, c.Seconds, c.Verdicts, c.Result = Done, "", nil, result.Seconds, &tally, result
	if !result.Interrupted {
		c.Done = c.Total
	}
	return s.comparisons.keep(c)
}

func (s *Server) showComparison(c *gin.Context) error {
	whole, err := s.findComparison(c.Param("id"))
	if err == nil {
		c.JSON(http.StatusOK, whole)
	}
	return err
}

// endComparison stops one that is on, which is then judged, and removes one
// that has ended.
func (s *Server) endComparison(c *gin.Context) error {
	e := s.comparisons.find(c.Param("id"))
	if e == nil {
		return unknownComparison
	}
	if !s.comparisons.read(e).State.Ended() {
		s.comparisons.stop(e)
		c.JSON(http.StatusAccepted, s.comparisons.read(e).summary())
		return nil
	}
	if err := s.comparisons.remove(e); err != nil {
		return &web.Problem{Code: "not_removed", Status: http.StatusInternalServerError,
			Detail: fmt.Sprintf("It is still in the history: %v.", err)}
	}
	c.JSON(http.StatusOK, gin.H{"id": c.Param("id"), "state": Removed})
	return nil
}

var unknownComparison = &web.Problem{Code: "unknown_comparison", Status: http.StatusNotFound,
	Detail: fmt.Sprintf("There is no such comparison; the last %d are kept.", maxComparisons)}

// findComparison reads a comparison with its result, if it has one by now.
func (s *Server) findComparison(id string) (Comparison, error) {
	e := s.comparisons.find(id)
	if e == nil {
		return Comparison{}, unknownComparison
	}
	whole := s.comparisons.read(e)
	if !whole.State.Ended() {
		return whole.summary(), nil
	}
	if whole.Result != nil { // it could not be written
		return whole, nil
	}
	var kept Comparison
	err := s.History.Get(history.Comparison, id, &kept)
	if err == nil {
		err = kept.check()
	}
	if err != nil {
		return whole, &web.Problem{Code: "result_gone", Status: http.StatusGone,
			Detail: fmt.Sprintf("The result is not in the history any more: %v.", err)}
	}
	whole.Result = kept.Result
	return whole, nil
}

// findResult reads a comparison that has ended.
func (s *Server) findResult(id string) (Comparison, error) {
	whole, err := s.findComparison(id)
	if err == nil && whole.Result == nil {
		err = &web.Problem{Code: "not_ended", Status: http.StatusConflict,
			Detail: "The comparison is still on. Stop it, or wait for its end."}
	}
	return whole, err
}
