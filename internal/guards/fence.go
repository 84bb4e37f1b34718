package guards

import (
	"context"
	"crypto/rand"
	"fmt"

	"github.com/redis/go-redis/v9"
	"gorm.io/gorm"

	"seckill/internal/catalog"
	"seckill/internal/lock"
	"seckill/internal/seckill"
)

// A holder writes after the lease of their lock has ended.
var fence = []catalog.Info{
	using("fence", func(g *lock.Guarded) seckill.Strategy { return &unfenced{holding{g}} }),
	using("fence-lease", func(g *lock.Guarded) seckill.Strategy { return &checkingLease{holding{g}} }),
	using("fence-read-again", func(g *lock.Guarded) seckill.Strategy { return &checkingStock{holding{g}} }),
	using("fence-compare", func(g *lock.Guarded) seckill.Strategy { return &comparingStock{holding{g}} }),
	using("fence-token", func(g *lock.Guarded) seckill.Strategy { return &fenced{holding{g}} }),
}

// using describes a use of a lock that numbers its grants.
func using(name string, use func(*lock.Guarded) seckill.Strategy) catalog.Info {
	i := locking(name, func(l redisLock) lock.Locker { return &numbered{l} })
	i.Under = use
	return i
}

// numbered is a sound lock: its own token, an end, a script that frees it.
type numbered struct{ redisLock }

var takeAndCount = redis.NewScript(`
if not redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return 0 end
return redis.call('INCR', KEYS[2])`)

func (l *numbered) Acquire(ctx context.Context, key string, o lock.Options) (lock.Lease, error) {
	token, number := rand.Text(), uint64(0)
	err := lock.Poll(ctx, o.Wait, lock.Every(l.poll), func() (bool, error) {
		n, err := takeAndCount.Run(ctx, l.redis, []string{key, key + ":grants"}, token, l.ttl.Milliseconds()).Uint64()
		number = n
		return n > 0, err
	})
	if err != nil {
		return nil, err
	}
	return lock.NewHold(ctx, number, func(ctx context.Context) error { return l.remove(ctx, key, token) }), nil
}

type holding struct{ *lock.Guarded }

type row struct{ Num, Run int64 }

func (s *holding) read(ctx context.Context, sku int64) (now row, err error) {
	err = s.Ledger.Read(ctx, &now,
		"SELECT num, run FROM stock WHERE id = ?", sku)
	return now, err
}

// unfenced writes until it is told not to.
type unfenced struct{ holding }

func (s *unfenced) Deduct(
	ctx context.Context, p seckill.Purchase,
) (r seckill.Receipt, err error) {
	lease, err := s.Locker.Acquire(ctx, s.Key(p.SKU), s.Options)
	if err != nil {
		return r, err
	}
	defer lease.Release(context.WithoutCancel(ctx))
	now, err := s.read(ctx, p.SKU)
	if err != nil {
		return r, err
	}
	if now.Num < p.Quantity {
		return r, seckill.ErrSoldOut
	}
	left := now.Num - p.Quantity
	err = s.Ledger.Tx(ctx, func(tx *gorm.DB) error {
		_, _, err := s.Ledger.Exec(tx,
			"UPDATE stock SET num = ? WHERE id = ?",
			left, p.SKU)
		if err != nil {
			return err
		}
		r, err = s.Ledger.Record(tx, p, now.Run, left)
		return err
	})
	return r, err
}

// checkingLease asks before it writes whether the lease is over.
type checkingLease struct{ holding }

func (s *checkingLease) Deduct(
	ctx context.Context, p seckill.Purchase,
) (r seckill.Receipt, err error) {
	lease, err := s.Locker.Acquire(ctx, s.Key(p.SKU), s.Options)
	if err != nil {
		return r, err
	}
	defer lease.Release(context.WithoutCancel(ctx))
	now, err := s.read(ctx, p.SKU)
	if err != nil {
		return r, err
	}
	if now.Num < p.Quantity {
		return r, seckill.ErrSoldOut
	}
	left := now.Num - p.Quantity
	if lease.Context().Err() != nil {
		return r, seckill.ErrConflict
	}
	err = s.Ledger.Tx(ctx, func(tx *gorm.DB) error {
		_, _, err := s.Ledger.Exec(tx,
			"UPDATE stock SET num = ? WHERE id = ?",
			left, p.SKU)
		if err != nil {
			return err
		}
		r, err = s.Ledger.Record(tx, p, now.Run, left)
		return err
	})
	return r, err
}

// checkingStock reads the stock again before it writes.
type checkingStock struct{ holding }

func (s *checkingStock) Deduct(
	ctx context.Context, p seckill.Purchase,
) (r seckill.Receipt, err error) {
	lease, err := s.Locker.Acquire(ctx, s.Key(p.SKU), s.Options)
	if err != nil {
		return r, err
	}
	defer lease.Release(context.WithoutCancel(ctx))
	now, err := s.read(ctx, p.SKU)
	if err != nil {
		return r, err
	}
	if now.Num < p.Quantity {
		return r, seckill.ErrSoldOut
	}
	left := now.Num - p.Quantity
	again, err := s.read(ctx, p.SKU)
	if err != nil {
		return r, err
	}
	if again != now {
		return r, seckill.ErrConflict
	}
	err = s.Ledger.Tx(ctx, func(tx *gorm.DB) error {
		_, _, err := s.Ledger.Exec(tx,
			"UPDATE stock SET num = ? WHERE id = ?",
			left, p.SKU)
		if err != nil {
			return err
		}
		r, err = s.Ledger.Record(tx, p, now.Run, left)
		return err
	})
	return r, err
}

// comparingStock writes only over the number that it has read.
type comparingStock struct{ holding }

func (s *comparingStock) Deduct(
	ctx context.Context, p seckill.Purchase,
) (r seckill.Receipt, err error) {
	lease, err := s.Locker.Acquire(ctx, s.Key(p.SKU), s.Options)
	if err != nil {
		return r, err
	}
	defer lease.Release(context.WithoutCancel(ctx))
	now, err := s.read(ctx, p.SKU)
	if err != nil {
		return r, err
	}
	if now.Num < p.Quantity {
		return r, seckill.ErrSoldOut
	}
	left := now.Num - p.Quantity
	err = s.Ledger.Tx(ctx, func(tx *gorm.DB) error {
		rows, _, err := s.Ledger.Exec(tx,
			"UPDATE stock SET num = ? WHERE id = ? AND num = ?",
			left, p.SKU, now.Num)
		if err != nil {
			return err
		}
		if rows == 0 {
			return seckill.ErrConflict
		}
		r, err = s.Ledger.Record(tx, p, now.Run, left)
		return err
	})
	return r, err
}

// fenced has the row refuse a holder whose number is not the last.
type fenced struct{ holding }

func (s *fenced) Deduct(
	ctx context.Context, p seckill.Purchase,
) (r seckill.Receipt, err error) {
	lease, err := s.Locker.Acquire(ctx, s.Key(p.SKU), s.Options)
	if err != nil {
		return r, err
	}
	defer lease.Release(context.WithoutCancel(ctx))
	rows, err := s.Ledger.Write(ctx,
		"UPDATE stock SET fence = ? WHERE id = ? AND fence < ?",
		lease.Fence(), p.SKU, lease.Fence())
	if err != nil {
		return r, err
	}
	if rows == 0 {
		return r, seckill.ErrConflict
	}
	now, err := s.read(ctx, p.SKU)
	if err != nil {
		return r, err
	}
	if now.Num < p.Quantity {
		return r, seckill.ErrSoldOut
	}
	left := now.Num - p.Quantity
	err = s.Ledger.Tx(ctx, func(tx *gorm.DB) error {
		rows, _, err := s.Ledger.Exec(tx,
			"UPDATE stock SET num = ? WHERE id = ? AND fence = ?",
			left, p.SKU, lease.Fence())
		if err != nil {
			return err
		}
		if rows == 0 {
			return fmt.Errorf("%w: a later holder has come", seckill.ErrConflict)
		}
		r, err = s.Ledger.Record(tx, p, now.Run, left)
		return err
	})
	return r, err
}
