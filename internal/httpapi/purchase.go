package httpapi

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"seckill/internal/judge"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
	"seckill/internal/tap"
	"seckill/internal/web"
)

// A purchaseBody is what a buyer sends.
type purchaseBody struct {
	SKU      *int64 `json:"sku_id"`
	User     *int64 `json:"user_id"`
	Quantity int64  `json:"quantity"`
}

// Outcomes, as the metrics name them, beside the codes of problems.
const (
	outcomeSold     = "sold"
	outcomeReserved = "reserved"
	outcomeReplayed = "replayed" // answered again from the ledger
	outcomeAccepted = "accepted" // the order, or the refusal, comes later
	outcomeGone     = "gone"     // the buyer hung up before the answer
)

// buying is the handler of a call that buys: it finds the seller, and counts what the
// call comes to.
func (s *Server) buying(buy func(*gin.Context, *seller) (outcome string, err error)) gin.HandlerFunc {
	return s.handle(func(c *gin.Context) error {
		sl, err := s.selected(c)
		if err != nil {
			s.metrics.requests.WithLabelValues("none", codeOf(err)).Inc() // it never got as far as a strategy
			return err
		}
		outcome := judge.InternalError.Code // of a panic
		s.inFlight.Add(1)
		defer func() {
			s.inFlight.Add(-1)
			s.metrics.requests.WithLabelValues(sl.info.Name, outcome).Inc()
		}()
		told, err := buy(c, sl)
		switch {
		case err == nil:
			outcome = told
		case hungUp(c):
			outcome = outcomeGone
		default:
			outcome = codeOf(err)
		}
		return err
	})
}

// purchase sells, and answers.
func (s *Server) purchase(c *gin.Context, sl *seller) (outcome string, err error) {
	var body purchaseBody
	p, keyed, err := readPurchase(c, &body, &body)
	if err != nil {
		return "", err
	}
	deduct := func(ctx context.Context, p seckill.Purchase) (Answer, error) {
		r, err := sl.strategy.Deduct(ctx, p)
		return Answer{Receipt: r, Outcome: outcomeSold}, err
	}
	if a, accepts := sl.strategy.(seckill.Acceptor); accepts && keyed && prefersAsync(c.Request.Header) {
		deduct = func(ctx context.Context, p seckill.Purchase) (Answer, error) {
			r, written, err := a.Accept(ctx, p)
			if err == nil && !written {
				return Answer{Outcome: outcomeAccepted}, nil
			}
			return Answer{r, outcomeSold, written && err == nil}, err
		}
	}
	a, err := s.sell(c, sl, p, keyed, deduct)
	if err == nil && a.Replayed {
		err = s.notReserved(c.Request.Context(), a.Receipt)
	}
	switch {
	case err != nil:
		return "", err
	case a.Outcome == outcomeAccepted:
		answerAccepted(c, p)
	default:
		answer(c, a.Receipt, a)
	}
	return a.metric(), nil
}

// answer says what was sold or reserved.
func answer(c *gin.Context, is any, a Answer) {
	if a.Replayed {
		c.Header("Idempotency-Replayed", "true")
	}
	c.JSON(http.StatusOK, is)
}

// hungUp reports whether the caller has closed the connection, or its half of it.
func hungUp(c *gin.Context) bool { return errors.Is(c.Request.Context().Err(), context.Canceled) }

// selected is the strategy that the buyer asks for.
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

// An Answer is what a purchase has come to.
type Answer struct {
	Receipt  seckill.Receipt // empty if the purchase is accepted only
	Outcome  string          // sold, reserved or accepted
	Replayed bool            // an earlier call, or a copy, had bought
}

// metric is what the metrics count a as.
func (a Answer) metric() string {
	if a.Replayed {
		return outcomeReplayed
	}
	return a.Outcome
}

// A deduction is how a purchase reaches its strategy.
type deduction func(context.Context, seckill.Purchase) (Answer, error)

// sell gives a purchase its answer, in three steps:
//
//  1. One copy of a request works in this process at a time; others are told ErrInProgress.
//  2. The strategy deducts. Its order, in a row with a unique key for the request, is what
//     every copy hears from then on, in any process.
//  3. If that fails, explain finds the answer that the request has, or makes it final.
//
// An error for which seckill.NothingTaken is false means that the ledger, too, could not
// say what became of the purchase.
func (s *Server) sell(c *gin.Context, sl *seller, p seckill.Purchase, keyed bool, deduct deduction) (a Answer, err error) {
	ctx, cancel := context.WithTimeout(c.Request.Context(), s.PurchaseTimeout)
	defer cancel()
	if err := s.wasReset(ctx, sl, p.SKU); err != nil {
		return a, askedBefore(attempt{p, 0, keyed}, err)
	}
	if keyed {
		request := requestKey{p.SKU, p.User, p.RequestID}
		if _, underWay := s.underWay.LoadOrStore(request, true); underWay {
			return a, judge.ErrInProgress
		}
		defer s.underWay.Delete(request)
	}
	for range maxRuns {
		run, err := s.started(ctx, p.SKU)
		if err != nil {
			return a, askedBefore(attempt{p, 0, keyed}, err)
		}
		a, err = s.deduct(ctx, sl, p, deduct)
		if err == nil {
			return a, nil
		}
		if a, err = s.explain(c, sl, attempt{p, run, keyed}, err); !errors.Is(err, ledger.ErrRunOver) {
			return a, err
		}
		s.open.Delete(p.SKU) // what this process knew of the run was old
	}
	return a, ledger.ErrRunOver
}

// maxRuns is how often a buyer is sold to whose refusal was of an earlier run.
const maxRuns = 3

type requestKey struct {
	sku, user int64
	id        string
}

// An attempt is a purchase that a strategy has not sold.
type attempt struct {
	seckill.Purchase
	run   int64 // of the sale, as this process knew it before
	keyed bool  // the buyer sent the RequestID, and may send it again
}

// explain returns what a buyer is told whose purchase failed with cause: the answer that
// their request has already, or else cause. sold_out and duplicate are final: they are
// told when they are written as the answer of the request.
func (s *Server) explain(c *gin.Context, sl *seller, p attempt, cause error) (Answer, error) {
	// The purchase's own time may be what ran out.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Request.Context()), lookTimeout)
	defer cancel()
	var known judge.Order
	var err error
	switch final := errors.Is(cause, seckill.ErrSoldOut) || errors.Is(cause, seckill.ErrDuplicate); {
	case errors.Is(cause, seckill.ErrNotStarted):
		return Answer{}, s.late(ctx, p.SKU)
	case !seckill.NothingTaken(cause):
		known, err = s.ledger.FindRequest(ctx, p.SKU, p.User, p.RequestID)
		s.log(c, slog.LevelWarn, "unknown outcome", "error", cause, "look-up", err)
		if err != nil { // an order that is not there may still come
			return Answer{}, unknownOutcome(p.Purchase)
		}
		a, err := replay(known, p.Purchase)
		a.Replayed = known.Strategy != sl.info.Name // else this call may have bought
		return a, err
	case !p.keyed:
		return Answer{}, cause
	case final:
		known, err = s.refusals.Write(ctx, ledger.Refusal{Purchase: p.Purchase, Run: p.run, Strategy: sl.info.Name, Reason: codeOf(cause)})
	case errors.Is(cause, seckill.ErrBusy), errors.Is(cause, seckill.ErrConflict), errors.Is(cause, seckill.ErrUnavailable):
		known, err = s.ledger.FindRequest(ctx, p.SKU, p.User, p.RequestID)
		if errors.Is(err, seckill.ErrUnknownOrder) {
			return Answer{}, askedBefore(p, cause)
		}
	default:
		return Answer{}, cause
	}
	switch {
	case errors.Is(err, ledger.ErrRunOver):
		return Answer{}, err
	case err != nil: // the request may have an answer that cannot be read now
		return Answer{}, askedBefore(p, fmt.Errorf("%w: %v, and the answer of the request: %v", seckill.ErrUnavailable, cause, err))
	}
	return replay(known, p.Purchase)
}

// askedBefore is cause, as a refusal that says nothing about other calls with the same key where there may be some.
func askedBefore(p attempt, cause error) error {
	if refusal := judge.CodeOf(cause); !p.keyed || refusal.Err != seckill.ErrBusy && refusal.Err != seckill.ErrConflict && refusal.Err != seckill.ErrUnavailable {
		return cause
	}
	problem := refused(cause, judge.CodeOf(cause).Detail+" This is said of this call; GET "+askOf(p.User, p.SKU, p.RequestID)+
		" tells what an earlier call with the same Idempotency-Key has come to.")
	problem.RequestID, problem.Ask = p.RequestID, askOf(p.User, p.SKU, p.RequestID)
	return problem
}

func unknownOutcome(p seckill.Purchase) error {
	ask := askOf(p.User, p.SKU, p.RequestID)
	unknown := refused(seckill.ErrUnknown, "The purchase may have happened or not. GET "+ask+" tells, once the backends answer again; "+
		"sent again with this request_id as its Idempotency-Key, it will not be sold twice.")
	unknown.RequestID, unknown.Ask = p.RequestID, ask
	return unknown
}

// started returns the run of a sale that is on. It turns buyers away, before they reach a
// strategy, from a sale that has not started and from a SKU that does not exist: a lock would
// keep a row or a node for each. Buyers who come at once share one reading.
//
// A sale that was seen open is not asked about again. Should another process set a
// new start, the statement that writes the order refuses (ledger.Store.Record), and
// late asks anew; a refusal of an earlier run is not told (ledger.ErrRunOver).
func (s *Server) started(ctx context.Context, sku int64) (run int64, err error) {
	if run, open := s.open.Load(sku); open {
		return run.(int64), nil
	}
	reading := s.starts.DoChan(strconv.FormatInt(sku, 10), func() (any, error) {
		ctx, cancel := context.WithTimeout(context.Background(), lookTimeout)
		defer cancel()
		start, err := s.ledger.Start(ctx, sku)
		if err == nil && start.In() == 0 {
			s.open.Store(sku, start.Run)
		}
		return start, err
	})
	select {
	case got := <-reading:
		start := got.Val.(ledger.Start)
		if wait := start.In(); got.Err == nil && wait > 0 {
			return 0, notStarted(wait)
		}
		return start.Run, got.Err
	case <-ctx.Done():
		return 0, fmt.Errorf("%w: the start of the sale: %w", seckill.ErrUnavailable, ctx.Err())
	}
}

// late is for a purchase that the ledger refused as too early: what this
// process knew of the start was old.
func (s *Server) late(ctx context.Context, sku int64) error {
	s.open.Delete(sku)
	if _, err := s.started(ctx, sku); errors.Is(err, seckill.ErrNotStarted) {
		return err
	}
	return notStarted(0) // it started meanwhile, or cannot be read
}

func notStarted(wait time.Duration) error {
	seconds := max(1, int64(math.Ceil(wait.Seconds())))
	p := refused(seckill.ErrNotStarted, fmt.Sprintf("The sale has not started. Nothing was taken: come back in %d s.", seconds))
	p.RetryAfter = seconds
	return p
}

// deduct counts the commands and the time that a deduction takes.
func (s *Server) deduct(ctx context.Context, sl *seller, p seckill.Purchase, by deduction) (Answer, error) {
	begun := time.Now()
	defer func() {
		sl.purchases.Add(1)
		s.metrics.duration.WithLabelValues(sl.info.Name).Observe(time.Since(begun).Seconds())
	}()
	ctx = tap.Counting(ctx, &sl.commands)
	if s.Points != nil {
		ctx = s.Points.Watch(ctx, sl.info.Name, sl.info.Key, p)
	}
	return by(ctx, p)
}

// readPurchase reads the body and the Idempotency-Key, if there is one.
// Without it, the request id is made here: a caller's own X-Request-Id may not
// be unique. body is b, or embeds it.
func readPurchase(c *gin.Context, body any, b *purchaseBody) (p seckill.Purchase, keyed bool, err error) {
	b.Quantity = 1
	if err = web.ReadJSON(c.Writer, c.Request, body); err != nil {
		return p, false, err
	}
	p.Quantity = b.Quantity
	if p.SKU, err = web.Needed("sku_id", b.SKU, 1, web.MaxID); err != nil {
		return p, false, err
	}
	if p.User, err = web.Needed("user_id", b.User, 1, web.MaxID); err != nil {
		return p, false, err
	}
	if err = web.Within("quantity", p.Quantity, 1, seckill.MaxQuantity); err != nil {
		return p, false, err
	}
	const header = "Idempotency-Key"
	switch keys := c.Request.Header[header]; {
	case len(keys) > 1:
		return p, false, invalid(header, "is given more than once")
	case len(keys) == 1 && !web.IsKey(keys[0]):
		return p, false, invalid(header, "must have 1 to 128 visible ASCII characters")
	case len(keys) == 1:
		p.RequestID, keyed = keys[0], true
	default:
		p.RequestID = rand.Text()
	}
	return p, keyed, nil
}

// replay is the answer that a request was given before: an order, or a refusal.
func replay(known judge.Order, p seckill.Purchase) (Answer, error) {
	if known.Quantity != p.Quantity {
		return Answer{}, refused(seckill.ErrMismatch, fmt.Sprintf(
			"This Idempotency-Key was used for %d of SKU %d. Use a new key for a new purchase.", known.Quantity, known.SKUID))
	}
	if known.Status == judge.Refused {
		refusal, _ := judge.FindCode(known.Reason)
		return Answer{}, refusal.Err
	}
	return Answer{known.Receipt(), outcomeSold, true}, nil
}

// lookTimeout bounds a look at the ledger, and the writing of a refusal.
const lookTimeout = 5 * time.Second
