package httpapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"seckill/internal/judge"
	"seckill/internal/seckill"
	"seckill/internal/web"
)

// How long units may be held for a buyer, in seconds.
const (
	usualTerm   = 300
	longestTerm = 3600
)

// A held is a reservation as its buyer sees it. Its id is that of its order.
type held struct {
	ID        string                   `json:"reservation_id"`
	SKU       int64                    `json:"sku_id"`
	User      int64                    `json:"user_id"`
	Quantity  int64                    `json:"quantity"`
	Remaining int64                    `json:"remaining"`
	Strategy  string                   `json:"strategy"`
	State     seckill.ReservationState `json:"state"`
	ExpiresAt judge.Moment             `json:"expires_at,omitzero"` // 0: one call bought and paid
	// ExpiresIn is what is left until then by the database's clock, in
	// milliseconds, for buyers whose own clock is another.
	ExpiresIn int64 `json:"expires_in_ms"`
}

func heldAs(o judge.Order) held {
	left := int64(0)
	if o.Reservation.State == seckill.Reserved {
		left = max(0, o.Reservation.Left/1000)
	}
	return held{o.PublicID, o.SKUID, o.UserID, o.Quantity, o.Remaining, o.Strategy, o.Reservation.State, o.Reservation.Ends, left}
}

// reserve holds units for a buyer, as purchase sells them. A copy of the request
// is answered with the reservation as it is by then.
func (s *Server) reserve(c *gin.Context, sl *seller) (outcome string, err error) {
	reserver, ok := sl.strategy.(seckill.Reserver)
	if !ok {
		return "", invalid("strategy", fmt.Sprintf("must be one that reserves, and %s does not: GET /api/v1/strategies says which do", sl.info.Name))
	}
	body := struct {
		purchaseBody
		ExpiresIn int64 `json:"expires_in"` // seconds
	}{ExpiresIn: usualTerm}
	p, keyed, err := readPurchase(c, &body, &body.purchaseBody)
	if err == nil {
		err = web.Within("expires_in", body.ExpiresIn, 1, longestTerm)
	}
	if err != nil {
		return "", err
	}
	a, err := s.sell(c, sl, p, keyed, func(ctx context.Context, p seckill.Purchase) (Answer, error) {
		r, err := reserver.Reserve(ctx, p, time.Duration(body.ExpiresIn)*time.Second)
		return Answer{Receipt: r, Outcome: outcomeReserved}, err
	})
	if err != nil {
		return "", err
	}
	if a.Replayed && s.reserver(a.Receipt.Strategy) == nil {
		return "", refused(seckill.ErrMismatch, "This Idempotency-Key was used for a purchase. Use a new key for a reservation.")
	}
	// The units are held. Should this look fail, the same key tells.
	o, err := s.reservation(c.Request.Context(), a.Receipt.OrderID)
	if err != nil {
		s.log(c, slog.LevelWarn, "a reservation cannot be read", "error", err)
		return "", unknownReservation(a.Receipt.OrderID)
	}
	answer(c, heldAs(o), a)
	return a.metric(), nil
}

// reservation reads a reservation, even when the call's own time is over.
func (s *Server) reservation(ctx context.Context, id string) (judge.Order, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookTimeout)
	defer cancel()
	return s.ledger.Reservation(ctx, id)
}

// notReserved refuses to call a request sold whose order is a reservation that is
// not paid.
func (s *Server) notReserved(ctx context.Context, sold seckill.Receipt) error {
	if s.reserver(sold.Strategy) == nil {
		return nil
	}
	o, err := s.reservation(ctx, sold.OrderID)
	if err != nil {
		return unknownReservation(sold.OrderID)
	}
	switch r := o.Reservation; {
	case r.State == seckill.ReservationExpired:
		return seckill.ErrExpired
	case r.State == seckill.ReservationReleased && r.Ends != 0:
		return seckill.ErrCancelled
	case r.State == seckill.Reserved:
		return refused(seckill.ErrMismatch, fmt.Sprintf("This Idempotency-Key was used for a reservation. POST /api/v1/reservations/%s/pay pays it.", sold.OrderID))
	}
	return nil
}

// reserver is the strategy that keeps reservations; nil if it has none here.
func (s *Server) reserver(strategy string) seckill.Reserver {
	if sl := s.byName[strategy]; sl != nil {
		reserver, _ := sl.strategy.(seckill.Reserver)
		return reserver
	}
	return nil
}

func (s *Server) showReservation(c *gin.Context) error {
	ctx, cancel := s.deadline(c)
	defer cancel()
	o, err := s.namedReservation(ctx, c)
	if err == nil {
		c.JSON(http.StatusOK, heldAs(o))
	}
	return err
}

var noReservation = refused(seckill.ErrUnknownOrder, "There is no such reservation.")

// namedReservation is the reservation that a call names.
func (s *Server) namedReservation(ctx context.Context, c *gin.Context) (o judge.Order, err error) {
	id := c.Param("id")
	if !web.IsKey(id) {
		return o, noReservation
	}
	if o, err = s.ledger.Reservation(ctx, id); errors.Is(err, seckill.ErrUnknownOrder) {
		err = noReservation
	}
	return o, err
}

func (s *Server) payReservation(c *gin.Context) error {
	return s.withReservation(c, func(ctx context.Context, r seckill.Reserver, o *judge.Order) error {
		err := r.Pay(ctx, o.PublicID)
		if err == nil {
			o.Reservation.State = seckill.Paid
		}
		return err
	})
}

// cancelReservation reads what it has come to: the reservation may have expired before.
func (s *Server) cancelReservation(c *gin.Context) error {
	return s.withReservation(c, func(ctx context.Context, r seckill.Reserver, o *judge.Order) error {
		err := r.Release(ctx, o.PublicID)
		if err != nil {
			return err
		}
		if *o, err = s.reservation(ctx, o.PublicID); err != nil {
			err = fmt.Errorf("%w: the released reservation cannot be read: %w", seckill.ErrUnknown, err)
		}
		return err
	})
}

// withReservation does something to the reservation that a call names, and answers
// with what it is then.
func (s *Server) withReservation(c *gin.Context, do func(context.Context, seckill.Reserver, *judge.Order) error) error {
	ctx, cancel := s.deadline(c)
	defer cancel()
	o, err := s.namedReservation(ctx, c)
	if err != nil {
		return err
	}
	reserver := s.reserver(o.Strategy)
	if reserver == nil {
		return refused(judge.ErrStrategyUnavailable, fmt.Sprintf("The reservation was made by the strategy %q, which cannot run here.", o.Strategy))
	}
	id := o.PublicID
	switch err = do(ctx, reserver, &o); {
	case err == nil:
		c.JSON(http.StatusOK, heldAs(o))
		return nil
	case errors.Is(err, seckill.ErrUnknownOrder): // the sale was reset meanwhile
		return noReservation
	case seckill.NothingTaken(err):
		return err
	}
	s.log(c, slog.LevelWarn, "unknown outcome of a reservation", "error", err)
	return unknownReservation(id)
}

func unknownReservation(id string) error {
	ask := "/api/v1/reservations/" + id
	p := refused(seckill.ErrUnknown, "This may have happened or not. GET "+ask+" tells, once the backends answer again; "+
		"to send it again does no harm.")
	p.Ask = ask
	return p
}
