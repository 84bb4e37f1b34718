package labapi

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
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
		"comparisons": s.comparisons.list(), "presets": compare.Presets(), "ranges": compare.Ranges(),
		"history": gin.H{"folder": s.comparisons.folder.Dir(), "most": maxComparisons, "skipped": s.comparisons.skipped},
	})
}

func (s *Server) startComparison(c *gin.Context) error {
	wanted, chosen, err := s.readComparison(c.Writer, c.Request)
	if err != nil {
		return err
	}
	release, err := s.turn.take(what(wanted))
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
		Settings: wanted, Command: wanted.Command()}
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
	serving := s.Lab.ServiceSettings()
	result := s.Compare(ctx, chosen, compare.Options{Settings: begun.Settings,
		Locks: &compare.Locks{Lease: serving.Lease, Wait: serving.Wait, Poll: serving.Poll},
		Sale:  loadtest.Config{Targets: targets, AdminToken: s.ServiceToken, Ledger: s.Ledger},
		OnStep: func(done, total int, next compare.Step) {
			s.comparisons.change(e, func(c *Comparison) { c.Done, c.Total, c.Turn = done, total, &next })
		},
		OnTurn: func(so compare.Entry) {
			s.comparisons.change(e, func(c *Comparison) { c.stood(so) })
		},
	})
	result.Command = begun.Command
	tally := result.Tally()
	c := s.comparisons.read(e)
	c.Turn = nil
	c.State, c.Standings, c.Seconds, c.Verdicts, c.Result = Done, nil, result.Seconds, &tally, result
	if !result.Interrupted {
		c.Done = c.Total
	}
	return s.comparisons.keep(c)
}

func (s *Server) showComparison(c *gin.Context) error {
	whole, err := s.findComparison(c.Param("id"))
	if err != nil {
		return err
	}
	if with := c.Query("with"); with != "" && whole.Result != nil { // set beside another strategy
		whole.Result.Beside(with)
	}
	c.JSON(http.StatusOK, whole)
	return nil
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
