package httpapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/judge"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
	"seckill/internal/web"
)

func (s *Server) listSKUs(ctx context.Context, c *gin.Context) (any, error) {
	all, err := s.ledger.SKUs(ctx, 1000) // The limit bounds the cost, because every buyer may ask for the list.
	return gin.H{"skus": all}, err
}

func (s *Server) showSKU(ctx context.Context, c *gin.Context) (any, error) {
	id, err := web.ParseInteger("SKU", c.Param("id"), 1, web.MaxID)
	if err != nil {
		return nil, err
	}
	return s.product(ctx, id)
}

// A product is the stock row of a SKU, with the counts of units that strategies keep elsewhere.
type product struct {
	judge.Stock
	// the time of this answer by the database's clock, which also decides when StartsAt is reached
	Now         judge.Moment                 `json:"now"`
	StockStores map[seckill.StockStore]int64 `json:"stock_stores,omitempty"`
	// NotReset lists the strategies whose own state could not be reset with the SKU. These strategies refuse
	// to sell the SKU until a later reset succeeds.
	NotReset []string `json:"not_reset,omitempty"`
}

func (s *Server) product(ctx context.Context, id int64) (product, error) {
	stock, err := s.ledger.SKU(ctx, id)
	if err != nil {
		return product{}, err
	}
	counts := catalog.StockStores(ctx, id, s.catalogued)
	clock, err := s.ledger.Start(ctx, id) // Now is read last, because callers set their clocks by it.
	return product{Stock: stock, Now: clock.Now, StockStores: counts}, err
}

const maxName = 255 // in characters

// resetTimeout bounds the time of a reset, because a reset waits for the purchases in flight.
const resetTimeout = 25 * time.Second

// putSKU resets the stock row first, and then the state that strategies keep elsewhere. Half a reset, or a
// mixture of two resets, would leave a wrong stock. So putSKU continues even if the caller hangs up, and
// resets of one SKU run one at a time in this process.
func (s *Server) putSKU(_ context.Context, c *gin.Context) (any, error) {
	id, err := web.ParseInteger("SKU", c.Param("id"), 1, web.MaxID)
	if err != nil {
		return nil, err
	}
	want, err := readSKU(c)
	if err != nil {
		return nil, err
	}
	turn := &s.resets[id%int64(len(s.resets))]
	turn.Lock()
	defer turn.Unlock()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Request.Context()), resetTimeout)
	defer cancel()
	if want.Name == "" {
		if want.Name, err = s.currentName(ctx, id); err != nil {
			return nil, err
		}
	}
	set, err := s.ledger.Schedule(ctx, id, want.Name, want.Initial, want.StartsAt)
	s.open.Delete(id)
	if err != nil {
		return nil, err
	}
	s.sweepSoon()
	notReset := s.resetOutside(ctx, set)
	// The reset may have used up the time limit, so the next read has a limit of its own.
	ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), lookTimeout)
	defer cancel()
	now, err := s.product(ctx, id)
	if err != nil {
		s.log(c, slog.LevelWarn, "cannot read the SKU after its reset", "error", err)
		p := newProblem(seckill.ErrUnknown, "The sale was reset; what it is now cannot be read. "+
			"Look before you repeat the call: orders that came since would be swept.")
		p.Ask = fmt.Sprint("/api/v1/skus/", id)
		return nil, p
	}
	now.NotReset = notReset
	return now, nil
}

// sweep removes the orders of earlier runs while the sale goes on. It does so once at the start and after
// each reset. At the start there may be such orders because a process died between a reset and its sweep.
func (s *Server) sweep(ctx context.Context) {
	for {
		if err := ledger.Sweep(ctx, s.Instance.DB); err != nil && ctx.Err() == nil {
			s.Log.Warn("cannot remove orders of earlier runs", "error", err)
		}
		select {
		case <-s.stale:
		case <-ctx.Done():
			return
		}
	}
}

func (s *Server) sweepSoon() {
	select {
	case s.stale <- struct{}{}:
	default: // The channel already holds a token that sweep will receive.
	}
}

// resetOutside resets the state that strategies keep outside the stock row, and returns the names of the strategies
// that failed. Backends are reset at the same time, so that a backend that hangs does not use up the time of the
// others. The strategies of one backend are reset one at a time, because many of them use the same lock.
func (s *Server) resetOutside(ctx context.Context, set judge.Stock) []string {
	byBackend := map[string][]*seller{}
	for _, sl := range s.sellers {
		if _, ok := sl.strategy.(seckill.Resetter); ok {
			// NamesOf lists the ledger's database first. If the strategy keeps state in another backend, the name of
			// that backend is last.
			names := backend.NamesOf(sl.info.Uses()...)
			last := names[len(names)-1]
			byBackend[last] = append(byBackend[last], sl)
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
	var failed []string
	for _, sl := range s.sellers {
		if _, notReset := sl.notReset.Load(set.ID); notReset {
			failed = append(failed, sl.info.Name)
		}
	}
	return failed
}

// reset resets the state that the strategy keeps outside the stock row. If this fails, it records the run in notReset.
func (sl *seller) reset(ctx context.Context, set judge.Stock, log *slog.Logger) {
	err := sl.strategy.(seckill.Resetter).Reset(ctx, set.ID, set.Initial)
	if err == nil {
		sl.notReset.Delete(set.ID)
		return
	}
	sl.notReset.Store(set.ID, set.Run)
	log.Warn("cannot reset a strategy", "strategy", sl.info.Name, "sku", set.ID, "error", err)
}

// readSKU reads the body of a reset. If it has no name, the SKU keeps its present name.
func readSKU(c *gin.Context) (judge.Stock, error) {
	var want judge.Stock
	var body struct {
		Name     *string `json:"name"`
		Stock    *int64  `json:"stock"`
		StartsAt *string `json:"starts_at"`
	}
	err := web.ReadJSON(c.Writer, c.Request, &body)
	if err != nil {
		return want, err
	}
	if want.Initial, err = web.Needed("stock", body.Stock, 0, seckill.MaxStock); err != nil {
		return want, err
	}
	if body.Name != nil {
		want.Name = *body.Name
		length := utf8.RuneCountInString(want.Name)
		if length == 0 || length > maxName || strings.ContainsFunc(want.Name, unicode.IsControl) {
			return want, invalid("name", fmt.Sprintf("must have 1 to %d characters and no control characters", maxName))
		}
	}
	if body.StartsAt != nil {
		var t time.Time
		// UnmarshalText accepts only RFC 3339, while time.Parse accepts more.
		if t.UnmarshalText([]byte(*body.StartsAt)) != nil {
			return want, invalid("starts_at",
				"must be a date and a time with its zone, such as 2026-11-11T00:00:00+08:00")
		}
		m := judge.MomentOf(t)
		if year := m.Time().Year(); year < 0 || year > 9999 { // RFC 3339 allows only four digits for the year.
			return want, invalid("starts_at", "must be in the years 0 to 9999, also in UTC")
		}
		want.StartsAt = &m
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

// A restocked is the JSON answer to a restock. A repeated call with the same key gets the same answer again.
type restocked struct {
	ID       string `json:"restock_id"`
	SKU      int64  `json:"sku_id"`
	Units    int64  `json:"units"`
	Initial  int64  `json:"initial"` // the initial stock of the sale, including the units of this restock
	Strategy string `json:"strategy"`
}

// restock adds units to the current sale, through the strategy that sells it. It goes on even if the caller hangs up.
func (s *Server) restock(_ context.Context, c *gin.Context) (any, error) {
	sl, err := s.selected(c)
	if err != nil {
		return nil, err
	}
	r, err := readRestock(c)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Request.Context()), resetTimeout)
	defer cancel()
	if err := s.refuseStaleStock(ctx, sl, r.SKU); err != nil {
		return nil, err
	}
	o, replayed, err := ledger.AddUnits(ctx, s.ledger.For(sl.info.Name), sl.strategy, r)
	if err != nil {
		s.log(c, slog.LevelWarn, "restock", "sku", r.SKU, "units", r.Units, "key", r.Key, "error", err)
		return nil, explainRestock(err)
	}
	if replayed {
		c.Header("Idempotency-Replayed", "true")
	}
	return restocked{o.PublicID, o.SKUID, o.Quantity, o.Remaining, o.Strategy}, nil
}

func readRestock(c *gin.Context) (ledger.Restock, error) {
	var body struct {
		Units *int64 `json:"units"`
	}
	var r ledger.Restock
	var err error
	if r.SKU, err = web.ParseInteger("SKU", c.Param("id"), 1, web.MaxID); err != nil {
		return r, err
	}
	if err = web.ReadJSON(c.Writer, c.Request, &body); err != nil {
		return r, err
	}
	if r.Units, err = web.Needed("units", body.Units, 1, seckill.MaxStock); err != nil {
		return r, err
	}
	if r.Key, err = readKey(c); err == nil && r.Key == "" {
		err = invalid(keyHeader, "is missing: without one, a restock whose answer is lost could not be sent again")
	}
	return r, err
}

func explainRestock(err error) error {
	switch {
	case errors.Is(err, seckill.ErrInvalid):
		return invalid("units", fmt.Sprintf("are too many: a sale has at most %d", seckill.MaxStock))
	case errors.Is(err, seckill.ErrMismatch):
		return newProblem(seckill.ErrMismatch,
			"This Idempotency-Key was used for another restock of this SKU. Use a new key for a new one.")
	case errors.Is(err, seckill.ErrPending):
		return newProblem(judge.ErrInProgress, "The restock is on record, and its units are not in the stock yet. "+
			"Send it again with the same Idempotency-Key.")
	case errors.Is(err, seckill.ErrConflict):
		return newProblem(seckill.ErrConflict, "The sale was reset meanwhile, and the new one got no units. "+
			"Send the restock again if it should.")
	case !seckill.NothingTaken(err):
		return newProblem(seckill.ErrUnknown, "The units may be in the stock or not. "+
			"Send the restock again with the same Idempotency-Key: it adds them once.")
	}
	return err
}

// auditTimeout bounds an audit, which reads every order of a run. A million orders take some seconds.
const auditTimeout = time.Minute

// audit handles GET /audit. It judges the current run from the ledger and the counters. It cannot
// judge the answers that buyers got, because the service does not keep them.
func (s *Server) audit(_ context.Context, c *gin.Context) (any, error) {
	q, err := web.ReadQuery(c.Request, "sku_id")
	if err != nil {
		return nil, err
	}
	if !q.Has("sku_id") {
		return nil, invalid("sku_id", "is missing: name the SKU to audit")
	}
	sku, err := web.QueryInteger(q, "sku_id", 0, 1, web.MaxID)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(c.Request.Context(), auditTimeout)
	defer cancel()
	select {
	case s.auditing <- struct{}{}:
		defer func() { <-s.auditing }()
		return catalog.Audit(ctx, s.ledger, sku, s.catalogued)
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: other audits are under way: %w", seckill.ErrBusy, ctx.Err())
	}
}
