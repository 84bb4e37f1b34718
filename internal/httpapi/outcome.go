package httpapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/gin-gonic/gin"

	"seckill/internal/ledger"
	"seckill/internal/seckill"
)

// replay is the answer that p's request was given before. Only sales are kept:
// a refused request may be sent again and may then succeed.
func replay(o *ledger.Order, p seckill.Purchase) (seckill.Receipt, error) {
	if o.SKUID != p.SKU || o.Quantity != p.Quantity {
		return seckill.Receipt{}, refused(errMismatch, fmt.Sprintf(
			"This Idempotency-Key was used for %d of SKU %d. Use a new key for a new purchase.", o.Quantity, o.SKUID))
	}
	return o.Receipt(), nil
}

// copyAfter is when a copy may ask again, in seconds: a purchase rarely takes
// longer.
const copyAfter = 1

// inProgress is the answer to a copy of a request that is being worked on. Other
// errors stay as they are.
func inProgress(err error) error {
	if !errors.Is(err, ledger.ErrInProgress) {
		return err
	}
	return &refusal{is: errInProgress, retryAfter: copyAfter,
		detail: "Another copy of this request is in progress. Send it again after Retry-After seconds: " +
			"you then get its order, or a chance of your own."}
}

// mayHide: refusals that are no answer to a copy whose own request has the
// order, or is getting it.
func mayHide(err error) bool {
	return errors.Is(err, seckill.ErrSoldOut) || errors.Is(err, seckill.ErrDuplicate) ||
		errors.Is(err, seckill.ErrBusy) || errors.Is(err, seckill.ErrConflict)
}

// afterRefusal looks once whether the refused request has an order all the
// same. An earlier attempt whose COMMIT got no answer may have left one, and it
// may be on its way still: then this waits for it.
func (s *Server) afterRefusal(ctx context.Context, p seckill.Purchase, cause error) (r seckill.Receipt, replayed bool, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookTimeout)
	defer cancel()
	o, err := s.Ledger.Undecided(ctx, p.SKU, p.User, p.RequestID)
	switch {
	case errors.Is(err, seckill.ErrUnknownOrder):
		return r, false, cause
	case errors.Is(err, seckill.ErrBusy):
		return r, false, inProgress(ledger.ErrInProgress)
	case err != nil:
		return r, false, err
	}
	r, err = replay(&o, p)
	return r, err == nil, err
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
