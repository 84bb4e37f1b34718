package catalog

import (
	"context"

	"seckill/internal/judge"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
)

// A Seller is a strategy as one instance offers it. Strategy is nil where it
// cannot run.
type Seller struct {
	Info     Info
	Strategy seckill.Strategy
}

// StockStores asks every counter outside the stock row what is left of sku, once
// each. A counter that does not answer, or was not set for the current run, is
// missing from the answer: the judge misses it where it matters.
func StockStores(ctx context.Context, sku int64, sellers []Seller) map[seckill.StockStore]int64 {
	stockStores := map[seckill.StockStore]int64{}
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

// Evidence is everything that is known of one SKU's run but what its buyers were told:
// its row, its orders, where the strategies of sellers keep their stock, and what their
// counters say. It changes nothing.
//
// StockStores are no part of the database's consistent view, so while buyers are
// between the counter and their order, units seem to be missing: read it when
// the sale has come to rest.
func Evidence(ctx context.Context, store *ledger.Store, sku int64, sellers []Seller) (judge.Evidence, error) {
	snap, err := store.Snapshot(ctx, sku)
	if err != nil {
		return judge.Evidence{}, err
	}
	snap.StockStores = StockStores(ctx, sku, sellers)
	set := snap.Stock
	return judge.Evidence{Snapshot: snap, Initial: set.Initial, Run: set.Run, StockStoreOf: storesOf(sellers)}, nil
}

func storesOf(sellers []Seller) map[string]seckill.StockStore {
	of := make(map[string]seckill.StockStore, len(sellers))
	for _, s := range sellers {
		of[s.Info.Name] = s.Info.Stock
	}
	return of
}

// Audit judges one SKU's run from the ledger and the counters alone. It changes
// nothing, and keeps no order in memory. It asks the counters first: some need a
// connection, and the view keeps one.
func Audit(ctx context.Context, store *ledger.Store, sku int64, sellers []Seller) (report judge.Report, err error) {
	counted := StockStores(ctx, sku, sellers)
	err = store.View(ctx, sku, func(e judge.Evidence) {
		e.Snapshot.StockStores, e.StockStoreOf = counted, storesOf(sellers)
		report = judge.Judge(e)
	})
	return report, err
}
