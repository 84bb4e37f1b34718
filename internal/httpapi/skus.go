package httpapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/judge"
	"seckill/internal/seckill"
	"seckill/internal/web"
)

// mostSKUs bounds the list of SKUs, which any buyer may ask for.
const mostSKUs = 1000

func (s *Server) listSKUs(c *gin.Context) error {
	ctx, cancel := s.deadline(c)
	defer cancel()
	all, err := s.ledger.SKUs(ctx, mostSKUs)
	if err == nil {
		c.JSON(http.StatusOK, gin.H{"skus": all})
	}
	return err
}

func (s *Server) showSKU(c *gin.Context) error {
	id, err := web.ParseInteger("SKU", c.Param("id"), 1, web.MaxID)
	if err != nil {
		return err
	}
	ctx, cancel := s.deadline(c)
	defer cancel()
	is, err := s.product(ctx, id)
	if err == nil {
		c.JSON(http.StatusOK, is)
	}
	return err
}

// A product is a SKU's row, the time, and what the counters outside of the row
// say.
type product struct {
	judge.Stock
	Now         judge.Moment                 `json:"now"` // by the clock that StartsAt is judged by
	StockStores map[seckill.StockStore]int64 `json:"stock_stores,omitempty"`
	// NotReset are the strategies that a reset did not reach. They do not sell this SKU until one does.
	NotReset []string `json:"not_reset,omitempty"`
}

func (s *Server) product(ctx context.Context, id int64) (p product, err error) {
	if p.Stock, err = s.ledger.SKU(ctx, id); err != nil {
		return p, err
	}
	p.StockStores = catalog.StockStores(ctx, id, s.catalogued)
	clock, err := s.ledger.Start(ctx, id) // last: callers set their clocks by it
	p.Now = clock.Now
	return p, err
}

const maxName = 255 // characters

// resetTimeout is long: a reset waits for purchases in flight to end.
const resetTimeout = 25 * time.Second

// putSKU sets the ledger first, then what strategies keep elsewhere. It goes on
// when the caller hangs up, and resets of a SKU take turns in this process: half a
// reset, or two mixed, would be a sale with a wrong stock.
func (s *Server) putSKU(c *gin.Context) error {
	if err := s.admin(c); err != nil {
		return err
	}
	id, err := web.ParseInteger("SKU", c.Param("id"), 1, web.MaxID)
	if err != nil {
		return err
	}
	want, err := readSKU(c)
	if err != nil {
		return err
	}
	turn := &s.resets[id%int64(len(s.resets))]
	turn.Lock()
	defer turn.Unlock()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Request.Context()), resetTimeout)
	defer cancel()
	if want.name == "" {
		if want.name, err = s.currentName(ctx, id); err != nil {
			return err
		}
	}
	set, err := s.ledger.Schedule(ctx, id, want.name, want.stock, want.startsAt)
	s.open.Delete(id)
	if err != nil {
		return err
	}
	s.sweepSoon()
	notReset := s.resetOutside(ctx, set)
	ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), lookTimeout) // the reset may have used up its time
	defer cancel()
	is, err := s.product(ctx, id)
	if err != nil {
		s.log(c, slog.LevelWarn, "a reset cannot be read back", "error", err)
		p := refused(seckill.ErrUnknown, "The sale was reset; what it is now cannot be read. "+
			"Look before you repeat the call: orders that came since would be swept.")
		p.Ask = fmt.Sprint("/api/v1/skus/", id)
		return p
	}
	is.NotReset = notReset
	c.JSON(http.StatusOK, is)
	return nil
}

// resetOutside resets what strategies keep outside the stock row, and returns the names of those that failed.
// Strategies whose locks and counters are in different backends do not wait for each other: one that hangs takes all
// the time there is. Those of one backend take turns, since many use the same lock.
func (s *Server) resetOutside(ctx context.Context, set judge.Stock) (failed []string) {
	byBackend := map[string][]*seller{}
	for _, sl := range s.sellers {
		if _, ok := sl.strategy.(seckill.Resetter); ok {
			names := backend.NamesOf(sl.info.Uses()...) // the ledger's is the first
			on := names[len(names)-1]
			byBackend[on] = append(byBackend[on], sl)
		}
	}
	var resetting sync.WaitGroup
	for _, group := range byBackend {
		resetting.Go(func() {
			for _, sl := range group {
				sl.reset(ctx, set, s.Log)
			}
		})
	}
	resetting.Wait()
	for _, sl := range s.sellers {
		if _, not := sl.notReset.Load(set.ID); not {
			failed = append(failed, sl.info.Name)
		}
	}
	return failed
}

// reset resets what the strategy keeps outside the stock row, or remembers the run that its reset failed for.
func (sl *seller) reset(ctx context.Context, set judge.Stock, log *slog.Logger) {
	err := sl.strategy.(seckill.Resetter).Reset(ctx, set.ID, set.Initial)
	if err == nil {
		sl.notReset.Delete(set.ID)
		return
	}
	sl.notReset.Store(set.ID, set.Run)
	log.Warn("a strategy was not reset", "strategy", sl.info.Name, "sku", set.ID, "error", err)
}

// wasReset refuses to sell a SKU whose last reset failed for the strategy. Another process may have reset it since.
func (s *Server) wasReset(ctx context.Context, sl *seller, sku int64) error {
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
		err = refused(judge.ErrStrategyUnavailable, fmt.Sprintf("The strategy %s cannot sell SKU %d: what it keeps outside of the "+
			"ledger was not reset (a lock that is still held, or a backend that is down). Reset the SKU again.", sl.info.Name, sku))
	}
	return err
}

// A setting is what a SKU is to be set to.
type setting struct {
	name     string // "": as it was
	stock    int64
	startsAt *judge.Moment // nil: at once
}

func readSKU(c *gin.Context) (want setting, err error) {
	var body struct {
		Name     *string `json:"name"`
		Stock    *int64  `json:"stock"`
		StartsAt *string `json:"starts_at"`
	}
	if err = web.ReadJSON(c.Writer, c.Request, &body); err != nil {
		return want, err
	}
	if want.stock, err = web.Needed("stock", body.Stock, 0, seckill.MaxStock); err != nil {
		return want, err
	}
	if body.Name != nil {
		want.name = *body.Name
		if want.name == "" || utf8.RuneCountInString(want.name) > maxName || strings.ContainsFunc(want.name, unicode.IsControl) {
			return want, invalid("name", fmt.Sprintf("must have 1 to %d characters and no control characters", maxName))
		}
	}
	if body.StartsAt != nil {
		var t time.Time
		if t.UnmarshalText([]byte(*body.StartsAt)) != nil { // stricter than time.Parse
			return want, invalid("starts_at", "must be a date and a time with its zone, such as 2026-11-11T00:00:00+08:00")
		}
		m := judge.MomentOf(t)
		if year := m.Time().Year(); year < 0 || year > 9999 { // it could not be written with four digits
			return want, invalid("starts_at", "must be in the years 0 to 9999, also in UTC")
		}
		want.startsAt = &m
	}
	return want, nil
}

func (s *Server) currentName(ctx context.Context, id int64) (string, error) {
	stock, err := s.ledger.SKU(ctx, id)
	if errors.Is(err, seckill.ErrUnknownSKU) {
		return fmt.Sprintf("SKU %d", id), nil
	}
	return stock.Name, err
}
