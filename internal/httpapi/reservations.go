package httpapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/gin-gonic/gin"

	"seckill/internal/judge"
	"seckill/internal/seckill"
	"seckill/internal/web"
)

type reservation struct {
	ID        string                   `json:"reservation_id"` // the id of the reservation's order
	SKU       int64                    `json:"sku_id"`
	User      int64                    `json:"user_id"`
	Quantity  int64                    `json:"quantity"`
	Remaining int64                    `json:"remaining"`
	Strategy  string                   `json:"strategy"`
	State     seckill.ReservationState `json:"state"`
	ExpiresAt judge.Moment             `json:"expires_at,omitzero"` // the deadline; 0 if one call both bought and paid
	// ExpiresIn is the time until ExpiresAt in milliseconds, by the database's clock. A buyer needs it
	// because the buyer's own clock may differ.
	ExpiresIn int64 `json:"expires_in_ms"`
}

func reservationOf(o judge.Order) reservation {
	left := int64(0)
	if o.Reservation.State == seckill.Reserved {
		left = max(0, o.Reservation.Left/1000)
	}
	return reservation{o.PublicID, o.SKUID, o.UserID, o.Quantity, o.Remaining, o.Strategy,
		o.Reservation.State, o.Reservation.Ends, left}
}

// reserve handles POST /reservations: it holds units for a buyer. If the same request was sent before, the
// answer is its reservation in the present state.
func (s *Server) reserve(c *gin.Context, sl *seller) (Answer, error) {
	if _, ok := sl.strategy.(seckill.Reserver); !ok {
		return Answer{}, invalid("strategy", fmt.Sprintf(
			"must be one that reserves, and %s does not: GET /api/v1/strategies says which do", sl.info.Name))
	}
	body := struct {
		purchaseBody
		ExpiresIn int64 `json:"expires_in"` // in seconds
	}{ExpiresIn: 300}
	r, err := readPurchase(c, sl, &body, &body.purchaseBody)
	if err == nil {
		err = web.Within("expires_in", body.ExpiresIn, 1, 3600)
	}
	if err != nil {
		return Answer{}, err
	}
	r.hold = time.Duration(body.ExpiresIn) * time.Second
	a, err := s.sell(c, r)
	if err != nil {
		return Answer{}, err
	}
	if a.Replayed && s.reserver(a.Receipt.Strategy) == nil {
		return Answer{}, newProblem(seckill.ErrMismatch,
			"This Idempotency-Key was used for a purchase. Use a new key for a reservation.")
	}
	// The units are reserved now. If this read fails, the buyer can repeat the request with the same key.
	o, err := s.readReservation(c.Request.Context(), a.Receipt.OrderID)
	if err != nil {
		s.log(c, slog.LevelWarn, "cannot read a reservation", "error", err)
		return Answer{}, unknownReservation(a.Receipt.OrderID)
	}
	writeAnswer(c, a, reservationOf(o))
	return a, nil
}

// readReservation reads a reservation, even if ctx has ended.
func (s *Server) readReservation(ctx context.Context, id string) (judge.Order, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookTimeout)
	defer cancel()
	return s.ledger.Reservation(ctx, id)
}

// refuseReservation returns an error if the order of a repeated purchase is a reservation that is not paid.
// Such a purchase must not be answered as sold.
func (s *Server) refuseReservation(ctx context.Context, sold seckill.Receipt) error {
	if s.reserver(sold.Strategy) == nil {
		return nil
	}
	o, err := s.readReservation(ctx, sold.OrderID)
	if err != nil {
		return unknownReservation(sold.OrderID)
	}
	switch r := o.Reservation; {
	case r.State == seckill.ReservationExpired:
		return seckill.ErrExpired
	case r.State == seckill.ReservationReleased && r.Ends != 0:
		return seckill.ErrCancelled
	case r.State == seckill.Reserved:
		return newProblem(seckill.ErrMismatch, fmt.Sprintf(
			"This Idempotency-Key was used for a reservation. POST /api/v1/reservations/%s/pay pays it.", sold.OrderID))
	}
	return nil
}

// reserver returns the named strategy. It returns nil if the strategy makes no reservations or cannot run here.
func (s *Server) reserver(strategy string) seckill.Reserver {
	if sl := s.byName[strategy]; sl != nil {
		reserver, _ := sl.strategy.(seckill.Reserver)
		return reserver
	}
	return nil
}

func (s *Server) showReservation(ctx context.Context, c *gin.Context) (any, error) {
	o, err := s.namedReservation(ctx, c)
	if err != nil {
		return nil, err
	}
	return reservationOf(o), nil
}

var noReservation = newProblem(seckill.ErrUnknownOrder, "There is no such reservation.")

func (s *Server) namedReservation(ctx context.Context, c *gin.Context) (judge.Order, error) {
	id := c.Param("id")
	if !web.IsKey(id) {
		return judge.Order{}, noReservation
	}
	o, err := s.ledger.Reservation(ctx, id)
	if errors.Is(err, seckill.ErrUnknownOrder) {
		err = noReservation
	}
	return o, err
}

func (s *Server) payReservation(ctx context.Context, c *gin.Context) (any, error) {
	return s.withReservation(ctx, c, func(r seckill.Reserver, o *judge.Order) error {
		err := r.Pay(ctx, o.PublicID)
		if err == nil {
			o.Reservation.State = seckill.Paid
		}
		return err
	})
}

// cancelReservation releases a reservation. It then reads the reservation's state, because the reservation
// may have expired before it was released.
func (s *Server) cancelReservation(ctx context.Context, c *gin.Context) (any, error) {
	return s.withReservation(ctx, c, func(r seckill.Reserver, o *judge.Order) error {
		err := r.Release(ctx, o.PublicID)
		if err != nil {
			return err
		}
		if *o, err = s.readReservation(ctx, o.PublicID); err != nil {
			err = fmt.Errorf("%w: read the released reservation: %w", seckill.ErrUnknown, err)
		}
		return err
	})
}

// withReservation reads the reservation whose id is in the call's path, and passes it to the function change, which may
// change it. If change succeeds, withReservation returns the changed reservation.
func (s *Server) withReservation(
	ctx context.Context, c *gin.Context, change func(seckill.Reserver, *judge.Order) error,
) (any, error) {
	o, err := s.namedReservation(ctx, c)
	if err != nil {
		return nil, err
	}
	reserver := s.reserver(o.Strategy)
	if reserver == nil {
		return nil, newProblem(judge.ErrStrategyUnavailable,
			fmt.Sprintf("The reservation was made by the strategy %q, which cannot run here.", o.Strategy))
	}
	id := o.PublicID
	switch err = change(reserver, &o); {
	case err == nil:
		return reservationOf(o), nil
	case errors.Is(err, seckill.ErrUnknownOrder): // The sale was reset meanwhile, so the reservation is gone.
		return nil, noReservation
	case seckill.NothingTaken(err):
		return nil, err
	}
	s.log(c, slog.LevelWarn, "unknown outcome of a reservation", "error", err)
	return nil, unknownReservation(id)
}

func unknownReservation(id string) error {
	ask := "/api/v1/reservations/" + id
	p := newProblem(seckill.ErrUnknown, "This may have happened or not. GET "+ask+
		" tells, once the backends answer again; to send it again does no harm.")
	p.Ask = ask
	return p
}
