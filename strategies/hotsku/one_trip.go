package hotsku

import (
	"context"
	_ "embed"
	"fmt"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
)

//go:embed one_trip.sql
var oneTripSQL string

// OneTrip runs the whole transaction in a stored procedure on the server. So
// the row is never locked while a message crosses the network.
var OneTrip = family.Strategy(catalog.Info{
	Name:   "one-trip",
	Source: "stored procedures; AliSQL's COMMIT_ON_SUCCESS does it by a hint",
	Guarantees: catalog.Sound.
		Holds(catalog.DeadHolder, catalog.LostReply,
			catalog.LateCommand, catalog.TwoFaults, catalog.OtherSKUs),
	Needs: []backend.Capability{
		backend.SQL, backend.RowLocks, backend.Procedures,
		backend.ReadCommitted},
	Also: []string{"one_trip.sql"},
	New: func(d catalog.Deps) (seckill.Strategy, error) {
		s, err := newOneTrip(d)
		return &s, err
	},
})

type oneTrip struct{ store *ledger.Store }

func newOneTrip(d catalog.Deps) (oneTrip, error) {
	err := d.EnsureProcedure(context.Background(),
		"seckill_one_trip", oneTripSQL)
	return oneTrip{d.Ledger}, err
}

func (s *oneTrip) Deduct(
	ctx context.Context, p seckill.Purchase,
) (seckill.Receipt, error) {
	outcome, r, err := s.store.SellBy(ctx,
		"CALL seckill_one_trip(?, ?, ?, ?, ?, ?, ?)", p)
	switch {
	case err != nil:
		return seckill.Receipt{}, err
	case outcome == "sold":
		return r, nil
	}
	return seckill.Receipt{}, refusalFor(outcome)
}

func refusalFor(outcome string) error {
	switch outcome {
	case "sold out":
		return seckill.ErrSoldOut
	case "not started":
		return seckill.ErrNotStarted
	case "unknown sku":
		return seckill.ErrUnknownSKU
	case "reset":
		return ledger.ErrReset
	}
	return fmt.Errorf("%w: the procedure answered %q",
		seckill.ErrUnknown, outcome)
}

// Restore runs with READ COMMITTED, which locks no gaps. Restore locks the
// order and then waits for the stock row. The purchase that holds the stock
// row may insert its order meanwhile. With gap locks, Restore could also lock
// the gap for this INSERT when a page is split. Then both would deadlock.
func (s *oneTrip) Restore(ctx context.Context, orderID string) error {
	return s.store.ReadCommitted().CancelOrder(
		ctx, orderID, s.store.ReturnUnits)
}
