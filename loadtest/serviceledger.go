package loadtest

import (
	"context"
	"errors"

	"seckill/internal/ledger"
)

// A serviceLedger is the ledger as the services tell it, for targets whose
// database cannot be reached from here. Pages are no consistent view, so it is
// read until two readings agree.
type serviceLedger []service

const mostReadings = 10

func (l serviceLedger) Snapshot(ctx context.Context, sku int64) (ledger.Snapshot, error) {
	var errs []error
	for _, s := range l { // any that is alive
		snap, err := readTwice(ctx, s, sku)
		if err == nil {
			return snap, nil
		}
		errs = append(errs, err)
	}
	return ledger.Snapshot{}, errors.Join(errs...)
}

func readTwice(ctx context.Context, s service, sku int64) (ledger.Snapshot, error) {
	var last ledger.Snapshot
	for i := range mostReadings {
		now, err := s.stock(ctx, sku)
		if err != nil {
			return ledger.Snapshot{}, err
		}
		if now.Orders, err = s.orders(ctx, sku); err != nil {
			return ledger.Snapshot{}, err
		}
		if i > 0 && same(last, now) {
			return now, nil
		}
		last = now
	}
	return ledger.Snapshot{}, errors.New(s.base + ": the ledger changed while it was read, again and again")
}

// A countedLedger is the ledger of a sale whose stock is counted outside the
// row, too. Only a service can read that counter; it closes the sale, which
// writes the row from the orders where no purchase does.
type countedLedger struct {
	Ledger
	services []service
	home     ledger.Home // the counter
}

func (l countedLedger) Snapshot(ctx context.Context, sku int64) (ledger.Snapshot, error) {
	var errs []error
	var without *ledger.Snapshot // from one that is alive and has no such counter
	for _, s := range l.services {
		if err := s.close(ctx, sku); err != nil {
			errs = append(errs, err)
			continue
		}
		snap, err := l.Ledger.Snapshot(ctx, sku)
		if err != nil {
			return snap, err
		}
		shelf, err := s.stock(ctx, sku)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		snap.Homes = shelf.Homes
		if _, ok := shelf.Homes[l.home]; ok {
			return snap, nil
		}
		without = &snap
	}
	if without != nil {
		return *without, nil
	}
	return ledger.Snapshot{}, errors.Join(errs...)
}
