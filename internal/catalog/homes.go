package catalog

import (
	"context"

	"seckill/internal/ledger"
	"seckill/internal/seckill"
)

// A Seller is a strategy as one instance offers it. Strategy is nil where it
// cannot run.
type Seller struct {
	Info     Info
	Strategy seckill.Strategy
}

// HomeOf says where the strategies of sellers keep their stock, for the judge.
func HomeOf(sellers []Seller) func(strategy string) (ledger.Home, bool) {
	homes := make(map[string]ledger.Home, len(sellers))
	for _, s := range sellers {
		homes[s.Info.Name] = s.Info.Stock
	}
	return func(strategy string) (ledger.Home, bool) {
		home, ok := homes[strategy]
		return home, ok
	}
}

// Homes asks every counter outside the stock row what is left of sku, once
// each. A counter that does not answer, or was not set for the current run, is
// missing from the answer: the judge misses it where it matters.
func Homes(ctx context.Context, sku int64, sellers []Seller) map[ledger.Home]int64 {
	homes := map[ledger.Home]int64{}
	for _, s := range sellers {
		home := s.Info.Stock.Counter()
		c, counts := s.Strategy.(seckill.Counter)
		if _, asked := homes[home]; asked || !counts || home == "" {
			continue
		}
		if left, err := c.Count(ctx, sku); err == nil {
			homes[home] = left
		}
	}
	return homes
}

// Snapshot is everything that is known of one SKU's run: its row, its orders,
// and what the counters of sellers say. Everybody who audits reads it here.
//
// A run that was sold from Redis has its row written from the orders first: no
// purchase touched it. Homes are no part of the database's consistent view, so
// while buyers are between the counter and their order, units seem to be
// missing: read it when the sale has come to rest.
func Snapshot(ctx context.Context, store *ledger.Store, sku int64, sellers []Seller) (ledger.Snapshot, error) {
	snap, err := store.Snapshot(ctx, sku)
	if err != nil {
		return snap, err
	}
	if onlyFrom(ledger.HomeRedis, snap.Orders, HomeOf(sellers)) {
		if err := store.Follow(ctx, sku); err != nil {
			return snap, err
		}
		if snap, err = store.Snapshot(ctx, sku); err != nil {
			return snap, err
		}
	}
	snap.Homes = Homes(ctx, sku, sellers)
	return snap, nil
}

// onlyFrom: a row that any order was sold from is not to be touched.
func onlyFrom(home ledger.Home, orders []ledger.Order, homeOf func(string) (ledger.Home, bool)) bool {
	for _, o := range orders {
		if of, ok := homeOf(o.Strategy); !ok || of != home {
			return false
		}
	}
	return len(orders) > 0
}
