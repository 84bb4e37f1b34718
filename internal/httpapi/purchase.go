package httpapi

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"seckill/internal/judge"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
	"seckill/internal/tap"
	"seckill/internal/web"
)

type purchaseBody struct {
	SKU      *int64 `json:"sku_id"`
	User     *int64 `json:"user_id"`
	Quantity int64  `json:"quantity"`
}

// A purchaseRequest is a call to buy or to reserve, as the handler has read it.
type purchaseRequest struct {
	seckill.Purchase
	seller *seller
	keyed  bool          // true if the buyer sent the RequestID, and so can send the request again
	async  bool          // true if the buyer accepts an answer before the order is written (see respondAsync)
	hold   time.Duration // how long a reservation holds its units; 0 if the call is no reservation
	run    int64         // the run of the sale, as it was read before the strategy was called
}

// An Answer is the result of a purchase that succeeded.
type Answer struct {
	Receipt  seckill.Receipt // empty if Outcome is OutcomeAccepted
	Outcome  judge.Outcome   // OutcomeSold, OutcomeReserved or OutcomeAccepted
	Replayed bool            // true if an earlier call wrote the order of this request
}

func (s *Server) purchase(c *gin.Context, sl *seller) (Answer, error) {
	var body purchaseBody
	r, err := readPurchase(c, sl, &body, &body)
	if err != nil {
		return Answer{}, err
	}
	_, accepts := sl.strategy.(seckill.Acceptor)
	r.async = accepts && r.keyed && prefersAsync(c.Request.Header)
	a, err := s.sell(c, r)
	if err == nil && a.Replayed {
		err = s.refuseReservation(c.Request.Context(), a.Receipt)
	}
	switch {
	case err != nil:
		return Answer{}, err
	case a.Outcome == judge.OutcomeAccepted:
		c.Header("Preference-Applied", respondAsync)
		c.JSON(http.StatusAccepted, gin.H{"request_id": r.RequestID, "status": judge.OutcomeAccepted,
			"ask": askOf(r.User, r.SKU, r.RequestID)})
	default:
		writeAnswer(c, a, a.Receipt)
	}
	return a, nil
}

// respondAsync is the preference of RFC 7240 with which a buyer asks for an answer in two steps. The first answer,
// with the status 202, says that the purchase is accepted. The buyer asks for the order in a later call.
const respondAsync = "respond-async"

func prefersAsync(h http.Header) bool {
	for preference := range strings.SplitSeq(strings.Join(h.Values("Prefer"), ","), ",") {
		if strings.EqualFold(strings.TrimSpace(preference), respondAsync) {
			return true
		}
	}
	return false
}

// writeAnswer writes the answer a to a purchase. body is the order or the reservation, to be written as JSON.
func writeAnswer(c *gin.Context, a Answer, body any) {
	if a.Replayed {
		c.Header("Idempotency-Replayed", "true")
	}
	c.JSON(http.StatusOK, body)
}

// sell answers a purchase in three steps:
//
//  1. If this process is working on the same request already, sell refuses with ErrInProgress.
//  2. The strategy deducts the units. A unique key allows one order or one refusal for a request,
//     so every call with the same key, in every process, is answered with the same row.
//  3. If the strategy fails, explain reads the answer that the request has already, or writes the
//     refusal as the final answer.
//
// If sell returns an error for which NothingTaken is false, the outcome is unknown: the ledger could
// not say whether there is an order.
func (s *Server) sell(c *gin.Context, r purchaseRequest) (Answer, error) {
	ctx, cancel := context.WithTimeout(c.Request.Context(), s.PurchaseTimeout)
	defer cancel()
	if r.keyed {
		key := seckill.Purchase{SKU: r.SKU, User: r.User, RequestID: r.RequestID}
		if _, underWay := s.underWay.LoadOrStore(key, true); underWay {
			return Answer{}, judge.ErrInProgress
		}
		defer s.underWay.Delete(key)
	}
	for range 3 { // Each reset of the sale during a purchase makes sell start over.
		var err error
		if r.run, err = s.openRun(ctx, r.seller, r.SKU); err != nil {
			return Answer{}, mentionEarlierCalls(r, err)
		}
		a, err := s.deduct(ctx, r)
		if err != nil {
			a, err = s.explain(c, r, err)
		}
		if !errors.Is(err, ledger.ErrRunOver) {
			return a, err
		}
		s.open.Delete(r.SKU)
	}
	return Answer{}, ledger.ErrRunOver
}

func (s *Server) deduct(ctx context.Context, r purchaseRequest) (Answer, error) {
	sl, begun := r.seller, time.Now()
	defer func() {
		sl.purchases.Add(1)
		s.metrics.duration.WithLabelValues(sl.info.Name).Observe(time.Since(begun).Seconds())
	}()
	ctx = tap.Counting(ctx, &sl.commands)
	if s.Points != nil {
		ctx = s.Points.Watch(ctx, sl.info, r.Purchase)
	}
	switch {
	case r.hold > 0:
		receipt, err := sl.strategy.(seckill.Reserver).Reserve(ctx, r.Purchase, r.hold)
		return Answer{Receipt: receipt, Outcome: judge.OutcomeReserved}, err
	case r.async:
		receipt, written, err := sl.strategy.(seckill.Acceptor).Accept(ctx, r.Purchase)
		if written {
			return Answer{Receipt: receipt, Outcome: judge.OutcomeSold, Replayed: true}, err
		}
		return Answer{Outcome: judge.OutcomeAccepted}, err
	}
	receipt, err := sl.strategy.Deduct(ctx, r.Purchase)
	return Answer{Receipt: receipt, Outcome: judge.OutcomeSold}, err
}

// explain returns the answer to a purchase that failed with cause:
//
//	cause                        answer
//	not started                  a refusal with the start of the sale
//	unknown outcome              the order, if the ledger has one; otherwise unknown again
//	sold_out or duplicate        the answer that the request has already; if it has none, cause.
//	                             This refusal is final, so the ledger has it before the buyer does.
//	busy, conflict, unavailable  the answer that the request has already; if it has none, cause
//	any other, or no key         cause
func (s *Server) explain(c *gin.Context, r purchaseRequest, cause error) (Answer, error) {
	// The purchase may have failed because its time ran out, so the ledger is read with a time limit of its own.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Request.Context()), lookTimeout)
	defer cancel()
	var known judge.Order
	var err error
	switch {
	case errors.Is(cause, seckill.ErrNotStarted):
		return Answer{}, s.refuseEarlyBuyer(ctx, r.seller, r.SKU)
	case !seckill.NothingTaken(cause):
		known, err = s.ledger.FindRequest(ctx, r.SKU, r.User, r.RequestID)
		s.log(c, slog.LevelWarn, "unknown outcome", "error", cause, "look-up", err)
		return answerUnknown(r, known, err)
	case !r.keyed:
		return Answer{}, cause
	case errors.Is(cause, seckill.ErrSoldOut), errors.Is(cause, seckill.ErrDuplicate):
		known, err = s.refusals.Write(ctx, ledger.Refusal{
			Purchase: r.Purchase, Run: r.run, Strategy: r.seller.info.Name, Reason: codeOf(cause)})
	case isTransient(cause):
		known, err = s.ledger.FindRequest(ctx, r.SKU, r.User, r.RequestID)
		if errors.Is(err, seckill.ErrUnknownOrder) {
			return Answer{}, mentionEarlierCalls(r, cause)
		}
	default:
		return Answer{}, cause
	}
	switch {
	case errors.Is(err, ledger.ErrRunOver):
		return Answer{}, err
	// The ledger may have an answer to this request, but it cannot be read now.
	case err != nil:
		return Answer{}, mentionEarlierCalls(r, fmt.Errorf("%w: %v; read the answer of the request: %v",
			seckill.ErrUnavailable, cause, err))
	}
	return replay(known, r.Purchase)
}

// answerUnknown returns the answer to a purchase with an unknown outcome. The ledger was asked for the order of the
// request; the arguments known and err are its answer.
func answerUnknown(r purchaseRequest, known judge.Order, err error) (Answer, error) {
	if err != nil { // Even if there is no order now, the transaction of the purchase may still commit one.
		return Answer{}, unknownOutcome(r.Purchase)
	}
	a, err := replay(known, r.Purchase)
	// If this strategy sold the order, this very call may have placed it. So the order does not count as replayed.
	a.Replayed = known.Strategy != r.seller.info.Name
	return a, err
}

// isTransient reports whether err means that nothing was taken, and that the same purchase may succeed later.
func isTransient(err error) bool {
	code := judge.CodeOf(err).Err
	return slices.Contains([]error{seckill.ErrBusy, seckill.ErrConflict, seckill.ErrUnavailable}, code)
}

// mentionEarlierCalls returns the refusal for the given cause. If the buyer may have sent the request before,
// the refusal says that it is about this call only, and how to find out what an earlier call did.
func mentionEarlierCalls(r purchaseRequest, cause error) error {
	if !r.keyed || !isTransient(cause) {
		return cause
	}
	ask := askOf(r.User, r.SKU, r.RequestID)
	p := newProblem(cause, judge.CodeOf(cause).Detail+" This is said of this call; GET "+ask+
		" tells what an earlier call with the same Idempotency-Key has come to.")
	p.RequestID, p.Ask = r.RequestID, ask
	return p
}

func unknownOutcome(p seckill.Purchase) error {
	ask := askOf(p.User, p.SKU, p.RequestID)
	unknown := newProblem(seckill.ErrUnknown, "The purchase may have happened or not. GET "+ask+
		" tells, once the backends answer again; sent again with this request_id as its Idempotency-Key, "+
		"it will not be sold twice.")
	unknown.RequestID, unknown.Ask = p.RequestID, ask
	return unknown
}

// readPurchase reads the body and the Idempotency-Key. If there is no key, it makes up a request id, because a
// caller's X-Request-Id may not be unique. The argument body points to *b, or to a struct that embeds it.
func readPurchase(c *gin.Context, sl *seller, body any, b *purchaseBody) (purchaseRequest, error) {
	r := purchaseRequest{seller: sl}
	b.Quantity = 1
	err := web.ReadJSON(c.Writer, c.Request, body)
	if err != nil {
		return r, err
	}
	r.Quantity = b.Quantity
	if r.SKU, err = web.Needed("sku_id", b.SKU, 1, web.MaxID); err != nil {
		return r, err
	}
	if r.User, err = web.Needed("user_id", b.User, 1, web.MaxID); err != nil {
		return r, err
	}
	if err = web.Within("quantity", r.Quantity, 1, seckill.MaxQuantity); err != nil {
		return r, err
	}
	if r.RequestID, err = readKey(c); err != nil {
		return r, err
	}
	if r.keyed = r.RequestID != ""; !r.keyed {
		r.RequestID = rand.Text()
	}
	return r, nil
}

const keyHeader = "Idempotency-Key"

func readKey(c *gin.Context) (string, error) {
	switch keys := c.Request.Header[keyHeader]; {
	case len(keys) == 0:
		return "", nil
	case len(keys) > 1:
		return "", invalid(keyHeader, "is given more than once")
	case !web.IsKey(keys[0]):
		return "", invalid(keyHeader, "must have 1 to 128 visible ASCII characters")
	default:
		return keys[0], nil
	}
}

// replay returns the answer that a request got before. The argument known is the order or the refusal of that request.
func replay(known judge.Order, p seckill.Purchase) (Answer, error) {
	if known.Quantity != p.Quantity {
		return Answer{}, newProblem(seckill.ErrMismatch, fmt.Sprintf(
			"This Idempotency-Key was used for %d of SKU %d. Use a new key for a new purchase.",
			known.Quantity, known.SKUID))
	}
	if known.Status == judge.Refused {
		refusal, _ := judge.FindCode(known.Reason)
		return Answer{}, refusal.Err
	}
	return Answer{known.Receipt(), judge.OutcomeSold, true}, nil
}

// lookTimeout limits the time to read the ledger after a purchase, or to write a refusal.
const lookTimeout = 5 * time.Second
