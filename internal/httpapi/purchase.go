package httpapi

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"github.com/gin-gonic/gin"

	"seckill/internal/seckill"
)

// A sale is the answer to a purchase that worked.
type sale struct {
	OrderID   string `json:"order_id"`
	SKU       int64  `json:"sku_id"`
	Quantity  int64  `json:"quantity"`
	Remaining int64  `json:"remaining"`
	Strategy  string `json:"strategy"`
}

// Outcomes that are no problem's code, as the metrics name them.
const (
	outcomeSold     = "sold"
	outcomeReplayed = "replayed" // answered again from the ledger
	outcomeGone     = "gone"     // the buyer hung up before the answer
)

func (s *Server) purchase(c *gin.Context) error {
	sl, err := s.selected(c)
	if err != nil {
		s.metrics.refused(answerTo(err).code)
		return err
	}
	outcome := internal.code // of a panic
	s.inFlight.Add(1)
	defer func() {
		s.inFlight.Add(-1)
		sl.metrics.count(outcome)
	}()
	r, replayed, err := s.sell(c, sl)
	switch {
	case err == nil && replayed:
		outcome = outcomeReplayed
		c.Header("Idempotency-Replayed", "true")
	case err == nil:
		outcome = outcomeSold
	case hungUp(c):
		outcome = outcomeGone
	default:
		outcome = answerTo(err).code
	}
	if err != nil {
		return err
	}
	c.JSON(http.StatusOK, sale{r.OrderID, r.SKU, r.Quantity, r.Remaining, r.Strategy})
	return nil
}

func hungUp(c *gin.Context) bool { return errors.Is(c.Request.Context().Err(), context.Canceled) }

// selected is the strategy that the buyer asks for.
func (s *Server) selected(c *gin.Context) (*seller, error) {
	q, err := readQuery(c, "strategy")
	if err != nil {
		return nil, err
	}
	if !q.Has("strategy") {
		return s.standard, nil
	}
	return s.available(q.Get("strategy"))
}

// sell gives every copy of a request with an idempotency key one final answer,
// the order's own. A copy that comes while another is worked on, here or in
// another process, is told so. It returns an error for which
// seckill.NothingTaken is false only after the ledger could not say what became
// of the purchase.
func (s *Server) sell(c *gin.Context, sl *seller) (r seckill.Receipt, replayed bool, err error) {
	p, err := readPurchase(c)
	if err != nil {
		return r, false, err
	}
	if err := s.mayBuy(c, p.User); err != nil {
		return r, false, err
	}
	keyed, err := identifyPurchase(c, &p)
	if err != nil {
		return r, false, err
	}
	ctx, cancel := context.WithTimeout(c.Request.Context(), s.PurchaseTimeout)
	defer cancel()
	if err := s.started(ctx, p.SKU); err != nil {
		return r, false, err
	}
	if keyed {
		order, release, err := s.claims.Take(ctx, p.User, p.RequestID)
		defer release()
		if err != nil {
			return r, false, inProgress(err)
		}
		if order != nil {
			r, err = replay(order, p)
			return r, err == nil, err
		}
	}
	r, err = sl.deduct(ctx, p)
	switch {
	case err == nil:
	case errors.Is(err, seckill.ErrNotStarted):
		return r, false, s.late(ctx, p.SKU)
	case !seckill.NothingTaken(err):
		return s.settle(c, p, err)
	case keyed && mayHide(err):
		return s.afterRefusal(ctx, p, err)
	}
	return r, false, err
}

func readPurchase(c *gin.Context) (p seckill.Purchase, err error) {
	body, err := readBody(c)
	if err != nil {
		return p, err
	}
	p.Quantity = 1
	err = readObject(body, func(name string, v value) (err error) {
		switch name {
		case "sku_id":
			p.SKU, err = v.integer(name, 1, maxID)
		case "user_id":
			p.User, err = v.integer(name, 1, maxID)
		case "quantity":
			p.Quantity, err = v.integer(name, 1, seckill.MaxQuantity)
		default:
			err = unknownField(name, "sku_id", "user_id", "quantity")
		}
		return err
	})
	switch {
	case err != nil:
	case p.SKU == 0:
		err = invalid("sku_id", "is missing")
	case p.User == 0:
		err = invalid("user_id", "is missing")
	}
	return p, err
}

// identifyPurchase takes the request id from the Idempotency-Key, if there is
// one. A caller's X-Request-Id will not do: nobody promised that it is unique.
func identifyPurchase(c *gin.Context, p *seckill.Purchase) (keyed bool, err error) {
	const header = "Idempotency-Key"
	keys := c.Request.Header[header]
	switch {
	case len(keys) > 1:
		return false, invalid(header, "is given more than once")
	case len(keys) == 1 && !isKey(keys[0]):
		return false, invalid(header, "must have 1 to 128 visible ASCII characters")
	case len(keys) == 1:
		p.RequestID = keys[0]
		return true, nil
	case madeHere(c):
		p.RequestID = requestID(c)
	default:
		p.RequestID = rand.Text()
	}
	return false, nil
}

// whereToAsk is the call that tells what became of a purchase.
func whereToAsk(user int64, requestID string) string {
	return "/api/v1/orders?user_id=" + strconv.FormatInt(user, 10) + "&request_id=" + url.QueryEscape(requestID)
}
