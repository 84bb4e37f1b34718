package httpapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/gin-gonic/gin"

	"seckill/internal/judge"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
	"seckill/internal/web"
)

// A restocked is the JSON answer to a restock. A repeated call with the same key gets the same answer again.
type restocked struct {
	ID       string `json:"restock_id"`
	SKU      int64  `json:"sku_id"`
	Units    int64  `json:"units"`
	Initial  int64  `json:"initial"` // the initial stock of the sale, including these units
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
