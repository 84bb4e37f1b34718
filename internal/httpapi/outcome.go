package httpapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/gin-gonic/gin"

	"seckill/internal/seckill"
)

// replay finds the answer that p's request was given before. Only sales are
// kept: a refused request may be sent again and may then succeed.
func (s *Server) replay(ctx context.Context, p seckill.Purchase) (r seckill.Receipt, found bool, err error) {
	o, err := s.Ledger.Requested(ctx, p.User, p.RequestID)
	switch {
	case errors.Is(err, seckill.ErrUnknownOrder):
		return r, false, nil
	case err != nil:
		return r, false, err
	case o.SKUID != p.SKU || o.Quantity != p.Quantity:
		return r, false, refused(errMismatch, fmt.Sprintf(
			"This Idempotency-Key was used for %d of SKU %d. Use a new key for a new purchase.", o.Quantity, o.SKUID))
	}
	return o.Receipt(), true, nil
}

// Looking has a time of its own: the purchase's may be what ran out.
const lookTimeout = 3 * time.Second

// settle looks up what became of a purchase whose strategy does not know. An
// order that is there is a sale. One that is not there may still come: the
// server may be committing it.
func (s *Server) settle(c *gin.Context, p seckill.Purchase, cause error) (seckill.Receipt, bool, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Request.Context()), lookTimeout)
	defer cancel()
	o, err := s.Ledger.Requested(ctx, p.User, p.RequestID)
	if err == nil {
		s.log(c, slog.LevelWarn, "unknown outcome, and the ledger has the order", "error", cause)
		return o.Receipt(), false, nil
	}
	s.log(c, slog.LevelWarn, "unknown outcome", "error", cause, "look-up", err)
	ask := whereToAsk(p.User, p.RequestID)
	return seckill.Receipt{}, false, &refusal{
		is: seckill.ErrUnknown, requestID: p.RequestID, ask: ask,
		detail: "The purchase may have happened or not. GET " + ask + " tells, once the backends answer again; " +
			"sent again with this request_id as its Idempotency-Key, it will not be sold twice.",
	}
}
