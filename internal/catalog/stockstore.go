package catalog

import (
	"cmp"
	"context"

	"seckill/internal/judge"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
)

// A Seller is a strategy on one instance. Strategy is nil if the strategy cannot run there.
type Seller struct {
	Info     Info
	Strategy seckill.Strategy
}

// StockStores reads the units left of sku from each counter outside the stock row. The result leaves
// out a counter that does not answer or was not set for the current run. If the run needs such a
// counter, the judge reports RuleUnknownStore.
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

// Evidence reads the evidence for one SKU's run, without the answers of buyers: the stock row, the
// orders, and the stock stores of the strategies (counters outside the row).
//
// The counters are not part of the database's consistent view. So call Evidence when no purchase is running. During a
// purchase, units that its buyer has taken from a counter but not yet ordered seem lost.
func Evidence(ctx context.Context, store *ledger.Store, sku int64, sellers []Seller) (judge.Evidence, error) {
	snap, err := store.Snapshot(ctx, sku)
	snap.StockStores = StockStores(ctx, sku, sellers)
	return judge.Evidence{Snapshot: snap, Initial: snap.Stock.Initial, StockStoreOf: storesOf(sellers)}, err
}

func storesOf(sellers []Seller) map[string]seckill.StockStore {
	of := make(map[string]seckill.StockStore, len(sellers))
	for _, s := range sellers {
		of[s.Info.Name] = cmp.Or(s.Info.Stock, seckill.InRow)
	}
	return of
}

// Audit judges one SKU's run from the ledger and the counters, and keeps no order in memory. It reads the counters
// first, because a counter could need a second database connection while the orders are read.
func Audit(ctx context.Context, store *ledger.Store, sku int64, sellers []Seller) (report judge.Report, err error) {
	counted := StockStores(ctx, sku, sellers)
	err = store.View(ctx, sku, func(e judge.Evidence) {
		e.Snapshot.StockStores, e.StockStoreOf = counted, storesOf(sellers)
		report = judge.Judge(e)
	})
	return report, err
}
