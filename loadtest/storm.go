package loadtest

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"seckill/internal/ledger"
)

// When a run is interrupted, buyers that are waiting get this much longer: an
// answer says more than an unknown outcome.
const interruptGrace = time.Second

// storm sends every buyer once, c.Concurrency at a time, and returns what each
// was told. When ctx ends it sends no more.
func storm(ctx context.Context, c Config, crowd crowd, t *tally) []ledger.Told {
	cl := newClient(c)
	defer context.AfterFunc(ctx, func() { time.AfterFunc(interruptGrace, cl.interrupt) })()

	told := make([]ledger.Told, c.Buyers)
	var next atomic.Int64
	var buyers sync.WaitGroup
	for range min(c.Concurrency, c.Buyers) {
		buyers.Go(func() {
			b := cl.newBuyer()
			defer b.close()
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= c.Buyers {
					return
				}
				user, key := crowd.user(i), crowd.key(i)
				sent := time.Now()
				r := b.buy(purchase{index: i, sku: c.SKU, quantity: c.Quantity, user: user}, []byte(key))
				t.record(r, time.Since(sent))
				told[i] = ledger.Told{RequestID: key, User: user, Quantity: c.Quantity,
					Outcome: r.outcome, OrderID: string(r.orderID), Remaining: r.remaining}
			}
		})
	}
	buyers.Wait()
	// Buyers are sent in order, so those who were not are the last.
	return told[:min(int(next.Load()), c.Buyers)]
}
