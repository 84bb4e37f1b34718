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

// StockStoreOf says where the strategies of sellers keep their stock, for the judge.
func StockStoreOf(sellers []Seller) map[string]ledger.StockStore {
	stockStores := make(map[string]ledger.StockStore, len(sellers))
	for _, s := range sellers {
		stockStores[s.Info.Name] = s.Info.Stock
	}
	return stockStores
}

// StockStores asks every counter outside the stock row what is left of sku, once
// each. A counter that does not answer, or was not set for the current run, is
// missing from the answer: the judge misses it where it matters.
func StockStores(ctx context.Context, sku int64, sellers []Seller) map[ledger.StockStore]int64 {
	stockStores := map[ledger.StockStore]int64{}
	for _, s := range sellers {
		stockStore := s.Info.Stock.Counter()
		c, counts := s.Strategy.(seckill.Counter)
		if _, asked := stockStores[stockStore]; asked || !counts || stockStore == "" {
			continue
		}
		if left, err := c.Count(ctx, sku); err == nil {
			stockStores[stockStore] = left
		}
	}
	return stockStores
}

// Snapshot is everything that is known of one SKU's run: its row, its orders,
// and what the counters of sellers say. It changes nothing.
//
// StockStores are no part of the database's consistent view, so while buyers are
// between the counter and their order, units seem to be missing: read it when
// the sale has come to rest.
func Snapshot(ctx context.Context, store *ledger.Store, sku int64, sellers []Seller) (ledger.Snapshot, error) {
	snap, err := store.Snapshot(ctx, sku)
	if err == nil {
		snap.StockStores = StockStores(ctx, sku, sellers)
	}
	return snap, err
}

// Audit judges one SKU's run from the ledger and the counters alone. It changes
// nothing.
func Audit(ctx context.Context, store *ledger.Store, sku int64, sellers []Seller) (ledger.Report, error) {
	snap, err := Snapshot(ctx, store, sku, sellers)
	if err != nil {
		return ledger.Report{}, err
	}
	return ledger.Judge(ledger.Evidence{Snapshot: snap, Initial: snap.Stock.Initial, Run: snap.Stock.Run, StockStoreOf: StockStoreOf(sellers)}), nil
}
