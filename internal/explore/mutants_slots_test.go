package explore_test

import (
	"context"
	"sync"
	"time"

	"gorm.io/gorm"

	"seckill/internal/catalog"
	"seckill/internal/explore"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
	"seckill/strategies/hotsku"
)

// lastSlot: the only slot is sold; two cancel that order, and one buys.
func lastSlot() *explore.Scenario {
	return &explore.Scenario{Name: "two cancel the same order, one buys its slot", Stock: 1, Buyers: []explore.Buyer{
		{Name: "A", Process: 0, Quantity: 1, Does: explore.Cancels},
		{Name: "B", Process: 1, Quantity: 1, Does: explore.Buys},
		{Name: "C", Process: 2, Quantity: 1, Does: explore.Cancels, Same: "A"}}}
}

// freesTwice frees an order's slots each time that it is cancelled, whosever they
// are by then.
func freesTwice() catalog.Info {
	i, restore := hotsku.SlotLease, freesAgain()
	build := i.New
	i.New = func(d catalog.Deps) (seckill.Strategy, error) {
		inner, err := build(d)
		return &freer{inner, d.Ledger, inner.(seckill.Counter), restore}, err
	}
	return i
}

type freer struct {
	seckill.Strategy
	store *ledger.Store
	seckill.Counter
	restore func(context.Context, *ledger.Store, string) error
}

func (s *freer) Restore(ctx context.Context, orderID string) error {
	return s.restore(ctx, s.store, orderID)
}

// freesAgain remembers which slots an order had, and frees them each time that
// the order is cancelled.
func freesAgain() func(context.Context, *ledger.Store, string) error {
	var mu sync.Mutex
	had := map[string][]int64{}
	return func(ctx context.Context, store *ledger.Store, orderID string) error {
		return store.Tx(ctx, func(tx *gorm.DB) error {
			o, _, err := store.Cancel(tx, orderID)
			if err != nil {
				return err
			}
			var slots []int64
			err = tx.Raw("SELECT slot FROM slot_sold WHERE sku_id = ? AND run = ? AND order_id = ?", o.SKUID, o.Run, o.ID).Scan(&slots).Error
			if err != nil {
				return err
			}
			mu.Lock()
			if len(slots) > 0 {
				had[orderID] = slots
			}
			slots = had[orderID]
			mu.Unlock()
			for n, slot := range slots {
				err = tx.Exec("DELETE FROM slot_sold WHERE sku_id = ? AND run = ? AND slot = ?", o.SKUID, o.Run, slot).Error
				if err == nil {
					err = tx.Exec("INSERT INTO slot_lease (sku_id, run, id, first_slot, last_slot, holder) VALUES (?, ?, ?, ?, ?, '')",
						o.SKUID, o.Run, time.Now().UnixNano()+int64(n), slot, slot).Error
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
}
