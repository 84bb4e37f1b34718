package redislock

import (
	"context"

	"gorm.io/gorm"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/lock"
	"seckill/internal/seckill"
)

// RedisLockMySQL takes a lock in Redis first, so that waiters occupy no
// database connections, and then a lock on the row. The row's lock decides, so
// a failure of the lock in Redis cannot harm the stock.
var RedisLockMySQL = family.Strategy(catalog.Info{
	Name:       "redis-lock-mysql",
	Source:     "B, choice 4: a lock in Redis and a lock in MySQL",
	Guarantees: catalog.Robust.Holds(catalog.Owner, catalog.NodeLoss),
	Needs:      []backend.Capability{backend.RowLocks, backend.Redis},
	Redis:      []string{"SET"},
	Also: []string{
		"redis_lua.go", "compare_and_delete.lua", "answers.go"},
	Key: stockKey,
	New: func(d catalog.Deps) (seckill.Strategy, error) {
		return &lockMySQL{&lock.Guarded{
			Locker:      &luaLock{newKeyLock(d)},
			Key:         stockKey,
			Options:     RedisLua.LockOptions(d.Settings),
			MaxLifetime: d.Settings.LockLease,
			Ledger:      d.Ledger,
		}}, nil
	},
})

// lockMySQL takes its Redis lock through the embedded lock.Guarded. Before a
// new sale, Guarded.Reset waits until the lock is free.
type lockMySQL struct{ *lock.Guarded }

func (s *lockMySQL) Deduct(
	ctx context.Context, p seckill.Purchase,
) (r seckill.Receipt, err error) {
	err = s.RunLocked(ctx, p.SKU, func(
		ctx context.Context, store *ledger.Store,
	) error {
		return store.Tx(ctx, func(tx *gorm.DB) error {
			num, err := s.lockRow(store, tx, p.SKU)
			if err != nil {
				return err
			}
			left := num - p.Quantity
			if left < 0 {
				return seckill.ErrSoldOut
			}
			if err := s.writeStock(tx, p.SKU, left); err != nil {
				return err
			}
			r, err = store.Record(tx, p, ledger.AnyRun, left)
			return err
		})
	})
	return r, err
}

func (s *lockMySQL) Restore(ctx context.Context, orderID string) error {
	o, err := s.Ledger.Order(ctx, orderID)
	if err != nil {
		return err
	}
	return s.RunLocked(ctx, o.SKUID, func(
		ctx context.Context, store *ledger.Store,
	) error {
		return store.Tx(ctx, func(tx *gorm.DB) error {
			num, err := s.lockRow(store, tx, o.SKUID)
			if err != nil {
				return err
			}
			o, back, err := store.Cancel(tx, orderID)
			if err != nil || !back {
				return err
			}
			return s.writeStock(tx, o.SKUID, num+o.Quantity)
		})
	})
}

func (s *lockMySQL) lockRow(
	store *ledger.Store, tx *gorm.DB, sku int64,
) (num int64, err error) {
	err = store.ReadIn(tx, &num,
		"SELECT num FROM stock WHERE id = ? FOR UPDATE", sku)
	return num, err
}

func (s *lockMySQL) writeStock(tx *gorm.DB, sku, num int64) error {
	return tx.Exec("UPDATE stock SET num = ? WHERE id = ?",
		num, sku).Error
}
