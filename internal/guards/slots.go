package guards

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"
	"gorm.io/gorm"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

// A process sells numbered slots that it has leased, after its lease has ended.
var slots = []catalog.Info{
	slotted("slots", func(l *leaser) seckill.Strategy { return &believing{l} }),
	slotted("slots-clock", func(l *leaser) seckill.Strategy { return &timing{l} }),
	slotted("slots-read-again", func(l *leaser) seckill.Strategy { return &looking{l} }),
	slotted("slots-for-update", func(l *leaser) seckill.Strategy { return &keeping{l} }),
	slotted("slots-key", func(l *leaser) seckill.Strategy { return &claiming{l} }),
}

func slotted(name string, use func(*leaser) seckill.Strategy) catalog.Info {
	i := variant(name, func(d catalog.Deps) seckill.Strategy {
		return use(&leaser{store: d.Ledger, holder: rand.Text(), lease: d.Settings.LockLease, poll: d.Settings.LockPoll, now: d.Now})
	}, backend.RowLocks)
	i.Stock = ledger.InSlots
	return i
}

// A leaser leases all slots that are left to one process at a time.
type leaser struct {
	final
	store  *ledger.Store
	holder string
	lease  time.Duration
	poll   time.Duration
	now    func() time.Time

	mu    sync.Mutex
	run   int64
	free  []int64
	until time.Time // by this process's clock
}

// lot are the slots of one purchase.
type lot struct {
	run, left int64
	slots     []int64
	until     time.Time
}

// pick takes slots of this process's lease, or leases some.
func (l *leaser) pick(ctx context.Context, p seckill.Purchase) (lot, error) {
	for {
		l.mu.Lock()
		if int64(len(l.free)) >= p.Quantity {
			got := lot{run: l.run, slots: l.free[:p.Quantity], left: int64(len(l.free)) - p.Quantity, until: l.until}
			l.free = l.free[p.Quantity:]
			l.mu.Unlock()
			return got, nil
		}
		l.mu.Unlock()
		wait, err := l.leaseAll(ctx, p)
		if err == nil && wait {
			err = tap.Sleep(ctx, l.poll)
		}
		if err != nil {
			return lot{}, err
		}
	}
}

// leaseAll leases what is not sold, unless another process has a lease.
func (l *leaser) leaseAll(ctx context.Context, p seckill.Purchase) (wait bool, err error) {
	until, run, free := l.now().Add(l.lease), int64(0), []int64(nil)
	err = l.store.Tx(ctx, func(tx *gorm.DB) error {
		var row struct{ Run, Initial int64 }
		if err := l.store.ReadIn(tx, &row, "SELECT run, initial FROM stock WHERE id = ? FOR UPDATE", p.SKU); err != nil {
			return err
		}
		var held []string
		err := tx.Raw("SELECT holder FROM slot_lease WHERE sku_id = ? AND run = ? AND ends_at > UTC_TIMESTAMP(6) FOR UPDATE", p.SKU, row.Run).Scan(&held).Error
		if err != nil || len(held) > 0 && held[0] != l.holder {
			wait = true
			return err
		}
		if err := tx.Exec("DELETE FROM slot_lease WHERE sku_id = ? AND run = ?", p.SKU, row.Run).Error; err != nil {
			return err
		}
		var sold []int64
		if err := tx.Raw("SELECT DISTINCT slot FROM slot_sold WHERE sku_id = ? AND run = ?", p.SKU, row.Run).Scan(&sold).Error; err != nil {
			return err
		}
		run = row.Run
		for slot := int64(1); slot <= row.Initial; slot++ {
			if !has(sold, slot) {
				free = append(free, slot)
			}
		}
		if int64(len(free)) < p.Quantity {
			return seckill.ErrSoldOut
		}
		return tx.Exec("INSERT INTO slot_lease (sku_id, run, id, first_slot, last_slot, holder, ends_at) "+
			"VALUES (?, ?, 1, 1, ?, ?, UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND)", p.SKU, run, row.Initial, l.holder, l.lease.Microseconds()).Error
	})
	if err != nil || wait {
		return wait, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.run, l.free, l.until = run, free, until
	return false, nil
}

func has(list []int64, n int64) bool {
	for _, one := range list {
		if one == n {
			return true
		}
	}
	return false
}

// mark writes which slots are sold. claim is the last column of the key
// (sku_id, run, slot, claim).
func (l *leaser) mark(tx *gorm.DB, p seckill.Purchase, got lot, order, claim int64) error {
	for _, slot := range got.slots {
		_, _, err := l.store.Exec(tx, "INSERT INTO slot_sold (sku_id, run, slot, claim, order_id) VALUES (?, ?, ?, ?, ?)",
			p.SKU, got.run, slot, claim, order)
		var e *mysql.MySQLError
		if errors.As(err, &e) && e.Number == 1062 {
			return seckill.ErrConflict
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// believing sells what it has leased.
type believing struct{ *leaser }

func (s *believing) Deduct(
	ctx context.Context, p seckill.Purchase,
) (r seckill.Receipt, err error) {
	got, err := s.pick(ctx, p)
	if err != nil {
		return r, err
	}
	err = s.store.Tx(ctx, func(tx *gorm.DB) error {
		id, placed, err := s.store.PlaceLeaving(tx, p, got.run, got.left)
		if err != nil {
			return err
		}
		r = placed
		// the key: (sku_id, run, slot, claim); the claim is the order
		return s.mark(tx, p, got, id, id)
	})
	return r, err
}

// timing looks at its clock before it sells.
type timing struct{ *leaser }

func (s *timing) Deduct(
	ctx context.Context, p seckill.Purchase,
) (r seckill.Receipt, err error) {
	got, err := s.pick(ctx, p)
	if err != nil {
		return r, err
	}
	if !s.now().Before(got.until) {
		return r, seckill.ErrConflict
	}
	err = s.store.Tx(ctx, func(tx *gorm.DB) error {
		id, placed, err := s.store.PlaceLeaving(tx, p, got.run, got.left)
		if err != nil {
			return err
		}
		r = placed
		// the key: (sku_id, run, slot, claim); the claim is the order
		return s.mark(tx, p, got, id, id)
	})
	return r, err
}

// looking reads its lease in the transaction that sells.
type looking struct{ *leaser }

func (s *looking) Deduct(
	ctx context.Context, p seckill.Purchase,
) (r seckill.Receipt, err error) {
	got, err := s.pick(ctx, p)
	if err != nil {
		return r, err
	}
	err = s.store.Tx(ctx, func(tx *gorm.DB) error {
		var mine int64
		err := s.store.ReadIn(tx, &mine, "SELECT COUNT(*) "+
			"FROM slot_lease WHERE sku_id = ? AND run = ? "+
			"AND holder = ? AND ends_at > UTC_TIMESTAMP(6)",
			p.SKU, got.run, s.holder)
		if err != nil {
			return err
		}
		if mine == 0 {
			return seckill.ErrConflict
		}
		id, placed, err := s.store.PlaceLeaving(tx, p, got.run, got.left)
		if err != nil {
			return err
		}
		r = placed
		// the key: (sku_id, run, slot, claim); the claim is the order
		return s.mark(tx, p, got, id, id)
	})
	return r, err
}

// keeping locks its lease until it has sold.
type keeping struct{ *leaser }

func (s *keeping) Deduct(
	ctx context.Context, p seckill.Purchase,
) (r seckill.Receipt, err error) {
	got, err := s.pick(ctx, p)
	if err != nil {
		return r, err
	}
	err = s.store.Tx(ctx, func(tx *gorm.DB) error {
		var mine int64
		err := s.store.ReadIn(tx, &mine, "SELECT COUNT(*) "+
			"FROM slot_lease WHERE sku_id = ? AND run = ? "+
			"AND holder = ? AND ends_at > UTC_TIMESTAMP(6) FOR UPDATE",
			p.SKU, got.run, s.holder)
		if err != nil {
			return err
		}
		if mine == 0 {
			return seckill.ErrConflict
		}
		id, placed, err := s.store.PlaceLeaving(tx, p, got.run, got.left)
		if err != nil {
			return err
		}
		r = placed
		// the key: (sku_id, run, slot, claim); the claim is the order
		return s.mark(tx, p, got, id, id)
	})
	return r, err
}

// claiming leaves it to the unique key whether a slot is sold already.
type claiming struct{ *leaser }

func (s *claiming) Deduct(
	ctx context.Context, p seckill.Purchase,
) (r seckill.Receipt, err error) {
	got, err := s.pick(ctx, p)
	if err != nil {
		return r, err
	}
	err = s.store.Tx(ctx, func(tx *gorm.DB) error {
		id, placed, err := s.store.PlaceLeaving(tx, p, got.run, got.left)
		if err != nil {
			return err
		}
		r = placed
		// the key: (sku_id, run, slot, claim); the claim is 0
		return s.mark(tx, p, got, id, 0)
	})
	return r, err
}
