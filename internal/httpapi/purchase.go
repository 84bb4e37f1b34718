package httpapi

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"regexp"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"seckill/internal/ledger"
	"seckill/internal/seckill"
	"seckill/internal/tap"
	"seckill/internal/web"
	"seckill/internal/wire"
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
		outcome := wire.Internal.Code // of a panic
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
	by := func(ctx context.Context, p seckill.Purchase) (seckill.Receipt, string, error) {
		r, err := sl.strategy.Deduct(ctx, p)
		return r, outcomeSold, err
	}
	a, accepts := sl.strategy.(seckill.Acceptor)
	if accepts = accepts && keyed && prefersAsync(c.Request.Header); accepts {
		by = func(ctx context.Context, p seckill.Purchase) (seckill.Receipt, string, error) {
			r, written, err := a.Accept(ctx, p)
			switch {
			case err != nil:
				return r, outcomeSold, err
			case written:
				return r, outcomeReplayed, nil
			}
			return r, outcomeAccepted, nil
		}
	}
	r, outcome, err := s.sell(c, sl, p, keyed, !accepts, by)
	if err == nil && outcome == outcomeReplayed {
		err = s.notReserved(c.Request.Context(), r)
	}
	switch {
	case err != nil:
		return "", err
	case outcome == outcomeAccepted:
		answerAccepted(c, p)
	default:
		answer(c, r, outcome)
	}
	return outcome, nil
}

// answer says what was sold or reserved.
func answer(c *gin.Context, is any, outcome string) {
	if outcome == outcomeReplayed {
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

// sell buys, and gives every copy of a request with an idempotency key one final
// answer, its order. Copies are kept apart by a claim of the key (ledger.Claims), if
// claims says so; an Acceptor knows the requests that it has accepted. outcome is
// what by says, or replayed: the order was there before, and may be a reservation. An
// error for which seckill.NothingTaken is false means that the ledger, too, could not
// say what became of the purchase.
func (s *Server) sell(
	c *gin.Context, sl *seller, p seckill.Purchase, keyed, claims bool, by deduction,
) (r seckill.Receipt, outcome string, err error) {
	ctx, cancel := context.WithTimeout(c.Request.Context(), s.PurchaseTimeout)
	defer cancel()
	if err = s.wasReset(ctx, sl, p.SKU); err == nil {
		err = s.started(ctx, p.SKU)
	}
	if err != nil {
		return r, "", err
	}
	if keyed && claims {
		begun := time.Now()
		claim, refusal := s.claims.Take(ctx, p.User, p.RequestID)
		if refusal != nil {
			return r, "", refusal
		}
		defer func() {
			// Before the claim ends: another copy may buy afterwards, while this answer is on its way.
			c.Header("Server-Timing", fmt.Sprintf("purchase;dur=%.3f", float64(time.Since(begun).Microseconds())/1000))
			err = s.unclaim(ctx, claim, err)
		}()
		if claim.Order != nil {
			r, err = replay(claim.Order, p)
			return r, outcomeReplayed, err
		}
		p.Fence = claim.Fence
	}
	r, outcome, err = s.deduct(ctx, sl, p, by)
	switch {
	case err == nil:
	case errors.Is(err, seckill.ErrNotStarted):
		err = s.late(ctx, p.SKU)
	case !seckill.NothingTaken(err):
		if r, err = s.settle(c, p, err); err == nil && r.Strategy != sl.info.Name { // by an earlier call
			outcome = outcomeReplayed
		}
	case keyed && (errors.Is(err, seckill.ErrDuplicate) || mayHide(err) && (!claims || idMadeHere.MatchString(p.RequestID))):
		// Of a copy that no claim kept out: one at another node of Galera, one without a key, or one that an Acceptor
		// turned away, whose order another strategy may have written.
		r, err = s.earlier(ctx, p, err)
		outcome = outcomeReplayed
	}
	return r, outcome, err
}

// started turns buyers away, before they reach a strategy, from a sale that has not
// started and from a SKU that does not exist: a lock would keep a row or a node for
// each. Buyers who come at once share one reading.
//
// A sale that was seen open is not asked about again. Should another process set a
// new start, the statement that writes the order refuses (ledger.Store.Record), and
// late asks anew.
func (s *Server) started(ctx context.Context, sku int64) error {
	if _, open := s.open.Load(sku); open {
		return nil
	}
	reading := s.starts.DoChan(strconv.FormatInt(sku, 10), func() (any, error) {
		ctx, cancel := context.WithTimeout(context.Background(), lookTimeout)
		defer cancel()
		start, err := s.ledger.Start(ctx, sku)
		if err == nil && start.In() == 0 {
			s.open.Store(sku, true)
		}
		return start.In(), err
	})
	select {
	case got := <-reading:
		if wait := got.Val.(time.Duration); got.Err == nil && wait > 0 {
			return notStarted(wait)
		}
		return got.Err
	case <-ctx.Done():
		return fmt.Errorf("%w: the start of the sale: %w", seckill.ErrUnavailable, ctx.Err())
	}
}

// late is for a purchase that the ledger refused as too early: what this
// process knew of the start was old.
func (s *Server) late(ctx context.Context, sku int64) error {
	s.open.Delete(sku)
	if err := s.started(ctx, sku); errors.Is(err, seckill.ErrNotStarted) {
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

// A deduction is how a purchase reaches its strategy. outcome is what it has come to;
// with an error, what it is if the ledger has its order.
type deduction func(context.Context, seckill.Purchase) (r seckill.Receipt, outcome string, err error)

// deduct counts the commands and the time that a deduction takes.
func (s *Server) deduct(ctx context.Context, sl *seller, p seckill.Purchase, by deduction) (seckill.Receipt, string, error) {
	begun := time.Now()
	defer func() { s.metrics.duration.WithLabelValues(sl.info.Name).Observe(time.Since(begun).Seconds()) }()
	ctx = tap.Counting(ctx, &sl.commands)
	if s.Points != nil {
		ctx = s.Points.Watch(ctx, sl.info.Name, sl.info.Key, p)
	}
	return by(ctx, p)
}

// earlier looks for the order that another copy of a refused purchase got.
func (s *Server) earlier(ctx context.Context, p seckill.Purchase, refusal error) (r seckill.Receipt, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookTimeout)
	defer cancel()
	o, err := s.ledger.Requested(ctx, 0, p.User, p.RequestID)
	switch {
	case errors.Is(err, seckill.ErrUnknownOrder):
		return r, refusal
	case err != nil:
		return r, ledger.ErrInProgress
	}
	return replay(&o, p)
}

// idMadeHere is what the request ids of purchases without a key look like. One whose
// outcome is unknown may be sent again with its id as the key: that has a claim, and
// the first purchase, which may still be on its way, has none.
var idMadeHere = regexp.MustCompile("^[A-Z2-7]{26}$") // rand.Text

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

// replay is the answer that p's request was given before. Only sales are kept:
// a refused request may be sent again and may then succeed.
func replay(o *ledger.Order, p seckill.Purchase) (seckill.Receipt, error) {
	if o.SKUID != p.SKU || o.Quantity != p.Quantity {
		return seckill.Receipt{}, refused(seckill.ErrMismatch, fmt.Sprintf(
			"This Idempotency-Key was used for %d of SKU %d. Use a new key for a new purchase.", o.Quantity, o.SKUID))
	}
	return o.Receipt(), nil
}

// unclaim releases a claim. A refusal counts if the claim was held until then: else
// another copy may have got the order meanwhile.
func (s *Server) unclaim(ctx context.Context, claim *ledger.Claim, err error) error {
	if held := claim.Release(ctx); !held && mayHide(err) {
		return ledger.ErrInProgress
	}
	return err
}

// mayHide: a copy must not be told these while its own request has the order,
// or is getting it.
func mayHide(err error) bool {
	return errors.Is(err, seckill.ErrSoldOut) || errors.Is(err, seckill.ErrDuplicate) ||
		errors.Is(err, seckill.ErrBusy) || errors.Is(err, seckill.ErrConflict)
}

// lookTimeout bounds a look at the ledger. It has a time of its own, because
// the purchase's may be what ran out.
const lookTimeout = 3 * time.Second

// settle looks up a purchase whose strategy does not know what became of it.
// An order in the ledger is a sale. A missing one may still come: the server
// may be committing it.
func (s *Server) settle(c *gin.Context, p seckill.Purchase, cause error) (seckill.Receipt, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Request.Context()), lookTimeout)
	defer cancel()
	o, err := s.ledger.Requested(ctx, p.SKU, p.User, p.RequestID)
	if err == nil {
		s.log(c, slog.LevelWarn, "unknown outcome, and the ledger has the order", "error", cause)
		return replay(&o, p)
	}
	s.log(c, slog.LevelWarn, "unknown outcome", "error", cause, "look-up", err)
	ask := askOf(p.User, p.SKU, p.RequestID)
	unknown := refused(seckill.ErrUnknown, "The purchase may have happened or not. GET "+ask+" tells, once the backends answer again; "+
		"sent again with this request_id as its Idempotency-Key, it will not be sold twice.")
	unknown.RequestID, unknown.Ask = p.RequestID, ask
	return seckill.Receipt{}, unknown
}
