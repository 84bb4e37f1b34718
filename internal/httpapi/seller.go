package httpapi

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"

	"seckill/internal/catalog"
	"seckill/internal/judge"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
	"seckill/internal/tap"
	"seckill/internal/web"
)

// A seller is a strategy of this server, with its counts.
type seller struct {
	info      catalog.Info
	missing   []string         // the reasons why the strategy cannot run here; empty if it can
	strategy  seckill.Strategy // nil if the strategy cannot run here
	commands  tap.Counter      // counts the commands that purchases have sent to the backends
	purchases atomic.Int64     // the number of purchases that the strategy has finished, sold or not
	notReset  sync.Map         // maps a SKU to the run for which this process could not reset the strategy's own state
}

func (s *Server) newSeller(info catalog.Info) *seller {
	sl := &seller{info: info, missing: info.Missing(s.Instance)}
	s.metrics.register(sl)
	if len(sl.missing) > 0 {
		return sl
	}
	deps := catalog.Deps{Instance: s.Instance, Ledger: s.ledger, Settings: s.Settings,
		Log: s.Log.With("strategy", info.Name), Now: s.Now}
	var err error
	if sl.strategy, err = catalog.Build(info, deps); err != nil {
		s.Log.Warn("a strategy cannot run", "strategy", info.Name, "error", err)
		sl.strategy, sl.missing = nil, []string{"it could not be started: the service's log says why"}
	}
	return sl
}

func (s *Server) available(name string) (*seller, error) {
	sl, err := s.find(name)
	if err == nil && sl.strategy == nil {
		return nil, newProblem(judge.ErrStrategyUnavailable,
			fmt.Sprintf("The strategy %s cannot run here: %s.", sl.info.Name, strings.Join(sl.missing, "; ")))
	}
	return sl, err
}

// find returns the strategy with the given name. The name may be one of the strategy's other names.
func (s *Server) find(name string) (*seller, error) {
	if sl := s.byName[name]; sl != nil {
		return sl, nil
	}
	if info, found := catalog.Find(s.Infos, name); found {
		return s.byName[info.Name], nil
	}
	var names []string
	for _, sl := range s.sellers {
		names = append(names, sl.info.Name)
	}
	return nil, newProblem(judge.ErrUnknownStrategy, fmt.Sprintf("There is no strategy %.64q.%s There are: %s.",
		name, catalog.DidYouMean(s.Infos, name), strings.Join(names, ", ")))
}

func (s *Server) buying(buy func(*gin.Context, *seller) (Answer, error)) gin.HandlerFunc {
	return s.handle(func(c *gin.Context) error {
		sl, err := s.selected(c)
		if err != nil {
			s.metrics.requests.WithLabelValues("none", codeOf(err)).Inc()
			return err
		}
		outcome := judge.InternalError.Code // If buy panics, this outcome is counted.
		s.inFlight.Add(1)
		defer func() {
			s.inFlight.Add(-1)
			s.metrics.requests.WithLabelValues(sl.info.Name, outcome).Inc()
		}()
		a, err := buy(c, sl)
		switch {
		case err == nil && a.Replayed:
			outcome = "replayed"
		case err == nil:
			outcome = string(a.Outcome)
		case hungUp(c):
			outcome = "gone" // the buyer closed the connection before the service answered
		default:
			outcome = codeOf(err)
		}
		return err
	})
}

func (s *Server) selected(c *gin.Context) (*seller, error) {
	q, err := web.ReadQuery(c.Request, "strategy")
	if err != nil {
		return nil, err
	}
	if !q.Has("strategy") {
		return s.standard, nil
	}
	return s.available(q.Get("strategy"))
}

// openRun returns the current run of a sale if the strategy may sell now. If not, it refuses the buyer without calling
// the strategy, whose lock would leave a row or a node even for a SKU that does not exist. Buyers who arrive at the
// same time share one read.
//
// Once openRun has read that a sale has started, it does not read the ledger again. Another process
// may then reset the sale. If the new sale has not started, the statement that writes the order notices
// it (ledger.Store.Record). A refusal is not written into the new run (ledger.ErrRunOver).
func (s *Server) openRun(ctx context.Context, sl *seller, sku int64) (int64, error) {
	if err := s.refuseStaleStock(ctx, sl, sku); err != nil {
		return 0, err
	}
	if run, open := s.open.Load(sku); open {
		return run.(int64), nil
	}
	reading := s.starts.DoChan(strconv.FormatInt(sku, 10), func() (any, error) {
		ctx, cancel := context.WithTimeout(context.Background(), lookTimeout)
		defer cancel()
		start, err := s.ledger.Start(ctx, sku)
		if err == nil && start.Wait() == 0 {
			s.open.Store(sku, start.Run)
		}
		return start, err
	})
	select {
	case got := <-reading:
		start := got.Val.(ledger.Start)
		if wait := start.Wait(); got.Err == nil && wait > 0 {
			return 0, notStarted(wait)
		}
		return start.Run, got.Err
	case <-ctx.Done():
		return 0, fmt.Errorf("%w: read the start of the sale: %w", seckill.ErrUnavailable, ctx.Err())
	}
}

// refuseStaleStock returns an error if this process reset the SKU but could not reset the strategy's own
// state. Once another process has reset the SKU, refuseStaleStock returns nil.
func (s *Server) refuseStaleStock(ctx context.Context, sl *seller, sku int64) error {
	run, failed := sl.notReset.Load(sku)
	if !failed {
		return nil
	}
	now, err := s.ledger.SKU(ctx, sku)
	switch {
	case err != nil:
	case now.Run != run:
		sl.notReset.CompareAndDelete(sku, run)
	default:
		err = newProblem(judge.ErrStrategyUnavailable, fmt.Sprintf(
			"The strategy %s cannot sell SKU %d: what it keeps outside of the ledger was not reset "+
				"(a lock that is still held, or a backend that is down). Reset the SKU again.", sl.info.Name, sku))
	}
	return err
}

// refuseEarlyBuyer returns the refusal of a purchase that the ledger refused because the sale has not started. By the
// start that this process has in memory, it had started. So refuseEarlyBuyer reads the start again.
func (s *Server) refuseEarlyBuyer(ctx context.Context, sl *seller, sku int64) error {
	s.open.Delete(sku)
	if _, err := s.openRun(ctx, sl, sku); errors.Is(err, seckill.ErrNotStarted) {
		return err
	}
	// The sale has started meanwhile, or its start cannot be read, so the buyer may try again soon.
	return notStarted(0)
}

func notStarted(wait time.Duration) error {
	seconds := max(1, int64(math.Ceil(wait.Seconds())))
	p := newProblem(seckill.ErrNotStarted,
		fmt.Sprintf("The sale has not started. Nothing was taken: come back in %d s.", seconds))
	p.RetryAfter = seconds
	return p
}
