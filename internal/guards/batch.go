package guards

import (
	"context"
	"errors"
	"sync"

	"gorm.io/gorm"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

// One buyer of a process commits for all who wait in it, and tells them.
var batches = []catalog.Info{
	batching("batch", func(b *batch) seckill.Strategy { return &tellingEach{b} }),
	batching("batch-after-all", func(b *batch) seckill.Strategy { return &tellingAll{b} }),
	batching("batch-deferred", func(b *batch) seckill.Strategy { return &tellingDeferred{b} }),
	batching("batch-after-commit", func(b *batch) seckill.Strategy { return &tellingCommitted{b} }),
}

func batching(name string, use func(*batch) seckill.Strategy) catalog.Info {
	i := variant(name, func(d catalog.Deps) seckill.Strategy { return use(&batch{store: d.Ledger}) }, backend.RowLocks)
	i.Shares = true
	return i
}

// batch gathers the buyers of one process who come while another is at work.
type batch struct {
	final
	store *ledger.Store

	mu      sync.Mutex
	busy    bool
	waiting []*buyer
}

type buyer struct {
	seckill.Purchase
	seckill.Receipt
	err  error
	told chan bool // true: lead the next batch; false: Receipt and err are set
	done bool
}

func (b *buyer) tell(err error) {
	if b.done {
		return
	}
	b.err, b.done = err, true
	b.told <- false
}

// deduct has sell sell to a batch: to this buyer alone, or to all who wait.
func (b *batch) deduct(ctx context.Context, p seckill.Purchase, sell func(context.Context, []*buyer) error) (seckill.Receipt, error) {
	me := &buyer{Purchase: p, told: make(chan bool, 2)}
	b.mu.Lock()
	lead := !b.busy
	if b.busy = true; !lead {
		b.waiting = append(b.waiting, me)
	}
	b.mu.Unlock()
	all := []*buyer{me}
	if !lead {
		var err error
		if lead, err = tap.Wait(ctx, "the batch", me.told); err != nil {
			return seckill.Receipt{}, err
		}
		if !lead {
			return me.Receipt, me.err
		}
		b.mu.Lock()
		all, b.waiting = append(all, b.waiting...), nil
		b.mu.Unlock()
	}
	defer b.next()
	if err := sell(ctx, all); err != nil {
		for _, one := range all {
			one.tell(err)
		}
		return seckill.Receipt{}, err // whatever they have told the others
	}
	return me.Receipt, me.err
}

// next lets the first of those who wait lead.
func (b *batch) next() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.busy = len(b.waiting) > 0; b.busy {
		b.waiting[0].told <- true
		b.waiting = b.waiting[1:]
	}
}

// take sells to one, in the transaction of all. Who comes too late is told at
// once: that needs no COMMIT.
func (b *batch) take(tx *gorm.DB, one *buyer) error {
	rows, left, err := b.store.Exec(tx, "UPDATE stock SET num = LAST_INSERT_ID(num - ?) WHERE id = ? AND num >= ?",
		one.Purchase.Quantity, one.Purchase.SKU, one.Purchase.Quantity)
	if err != nil {
		return err
	}
	if rows == 0 {
		one.tell(seckill.ErrSoldOut)
		return nil
	}
	one.Receipt, err = b.store.Record(tx, one.Purchase, ledger.AnyRun, left)
	if errors.Is(err, seckill.ErrDuplicate) {
		return seckill.ErrConflict
	}
	return err
}

// tellingEach tells a buyer as soon as their order is written.
type tellingEach struct{ *batch }

func (s *tellingEach) Deduct(ctx context.Context, p seckill.Purchase) (seckill.Receipt, error) {
	return s.deduct(ctx, p, s.sell)
}

func (s *tellingEach) sell(ctx context.Context, all []*buyer) error {
	return s.store.Tx(ctx, func(tx *gorm.DB) error {
		for _, one := range all {
			if err := s.take(tx, one); err != nil {
				return err
			}
			one.tell(nil)
		}
		return nil
	})
}

// tellingAll tells them when all orders are written.
type tellingAll struct{ *batch }

func (s *tellingAll) Deduct(ctx context.Context, p seckill.Purchase) (seckill.Receipt, error) {
	return s.deduct(ctx, p, s.sell)
}

func (s *tellingAll) sell(ctx context.Context, all []*buyer) error {
	return s.store.Tx(ctx, func(tx *gorm.DB) error {
		for _, one := range all {
			if err := s.take(tx, one); err != nil {
				return err
			}
		}
		for _, one := range all {
			one.tell(nil)
		}
		return nil
	})
}

// tellingDeferred tells them when the function has ended.
type tellingDeferred struct{ *batch }

func (s *tellingDeferred) Deduct(ctx context.Context, p seckill.Purchase) (seckill.Receipt, error) {
	return s.deduct(ctx, p, s.sell)
}

func (s *tellingDeferred) sell(ctx context.Context, all []*buyer) error {
	return s.store.Tx(ctx, func(tx *gorm.DB) (err error) {
		defer func() {
			for _, one := range all {
				one.tell(err)
			}
		}()
		for _, one := range all {
			if err := s.take(tx, one); err != nil {
				return err
			}
		}
		return nil
	})
}

// tellingCommitted tells them when the COMMIT has been answered.
type tellingCommitted struct{ *batch }

func (s *tellingCommitted) Deduct(ctx context.Context, p seckill.Purchase) (seckill.Receipt, error) {
	return s.deduct(ctx, p, s.sell)
}

func (s *tellingCommitted) sell(ctx context.Context, all []*buyer) error {
	err := s.store.Tx(ctx, func(tx *gorm.DB) error {
		for _, one := range all {
			if err := s.take(tx, one); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, one := range all {
		one.tell(nil)
	}
	return nil
}
