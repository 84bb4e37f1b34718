package prove_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"
	"gorm.io/gorm"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/lock"
	"seckill/internal/seckill"
	"seckill/strategies/counter"
	"seckill/strategies/hotsku"
)

// careless is conditional without its look at the affected rows.
type careless struct {
	seckill.Strategy
	store *ledger.Store
}

func (s *careless) Deduct(ctx context.Context, p seckill.Purchase) (r seckill.Receipt, err error) {
	err = s.store.Tx(ctx, func(tx *gorm.DB) error {
		_, left, err := s.store.Exec(tx, "UPDATE stock SET num = LAST_INSERT_ID(num - ?) WHERE id = ? AND num - ? >= 0",
			p.Quantity, p.SKU, p.Quantity)
		if err != nil {
			return err
		}
		r, err = s.store.Record(tx, p, ledger.AnyRun, left)
		return err
	})
	return r, err
}

// snapshot is for-update with a plain read before its lock, which it believes.
type snapshot struct {
	seckill.Strategy
	store *ledger.Store
}

func (s *snapshot) Deduct(ctx context.Context, p seckill.Purchase) (r seckill.Receipt, err error) {
	err = s.store.Tx(ctx, func(tx *gorm.DB) error {
		var num, locked int64
		err := s.store.ReadIn(tx, &num, "SELECT num FROM stock WHERE id = ?", p.SKU)
		if err != nil || num < p.Quantity {
			return cmp.Or(err, seckill.ErrSoldOut)
		}
		if err := s.store.ReadIn(tx, &locked, "SELECT num FROM stock WHERE id = ? FOR UPDATE", p.SKU); err != nil {
			return err
		}
		if err := tx.Exec("UPDATE stock SET num = ? WHERE id = ?", num-p.Quantity, p.SKU).Error; err != nil {
			return err
		}
		r, err = s.store.Record(tx, p, ledger.AnyRun, num-p.Quantity)
		return err
	})
	return r, err
}

// unwatching is redis-multi without WATCH.
func unwatching() catalog.Info {
	i := counter.RedisMulti
	i.New = func(d catalog.Deps) (seckill.Strategy, error) {
		inner, err := counter.RedisMulti.New(d)
		if err != nil {
			return nil, err
		}
		return &unwatched{inner, inner.(counting), d.Redis, d.Ledger}, nil
	}
	return i
}

// counting is what belongs to a number beside its purchases.
type counting interface {
	seckill.Resetter
	seckill.Counter
}

type unwatched struct {
	seckill.Strategy
	counting
	redis redis.UniversalClient
	store *ledger.Store
}

func (s *unwatched) Deduct(ctx context.Context, p seckill.Purchase) (r seckill.Receipt, err error) {
	number := fmt.Sprint("seckill:stock:", p.SKU)
	num, err := s.redis.Get(ctx, number).Int64()
	if err != nil || num < p.Quantity {
		return r, cmp.Or(err, seckill.ErrSoldOut)
	}
	if err := s.redis.Set(ctx, number, num-p.Quantity, 0).Err(); err != nil {
		return r, err
	}
	err = s.store.Tx(ctx, func(tx *gorm.DB) error {
		r, err = s.store.Record(tx, p, ledger.AnyRun, num-p.Quantity)
		return err
	})
	return r, err
}

// byDelete frees a key without a look at whose it is.
func byDelete(l lock.Locker, in *backend.Instance) lock.Locker { return deleting{l, in.Redis} }

type deleting struct {
	lock.Locker
	redis redis.UniversalClient
}

func (l deleting) Acquire(ctx context.Context, key string, o lock.Options) (lock.Lease, error) {
	lease, err := l.Locker.Acquire(ctx, key, o)
	if err != nil {
		return nil, err
	}
	return deletingLease{lease, l.redis, key}, nil
}

type deletingLease struct {
	lock.Lease
	redis redis.UniversalClient
	key   string
}

func (l deletingLease) Release(ctx context.Context) error {
	gone, err := l.redis.Del(ctx, l.key).Result()
	_ = l.Lease.Release(ctx) // ends the renewer
	if err == nil && gone == 0 {
		return lock.ErrNotHeld
	}
	return err
}

// deaf does not wait, and takes busy for yes.
func deaf(l lock.Locker, _ *backend.Instance) lock.Locker { return deafLock{l} }

type deafLock struct{ lock.Locker }

func (l deafLock) Acquire(ctx context.Context, key string, o lock.Options) (lock.Lease, error) {
	o.Wait = 0
	lease, err := l.Locker.Acquire(ctx, key, o)
	if errors.Is(err, seckill.ErrBusy) {
		return lock.NewHold(ctx, 0, func(context.Context) error { return nil }), nil
	}
	return lease, err
}

// byBuyer takes a lock of the buyer's own.
func byBuyer(g *lock.Guarded) seckill.Strategy { return &buyersOwn{g} }

type buyersOwn struct{ *lock.Guarded }

func (s *buyersOwn) Deduct(ctx context.Context, p seckill.Purchase) (seckill.Receipt, error) {
	own := *s.Guarded
	own.Key = func(sku int64) string { return fmt.Sprint(s.Key(sku), "-", p.User) }
	return own.Deduct(ctx, p)
}

// tooEarly frees the lock as the last thing before COMMIT.
func tooEarly(g *lock.Guarded) seckill.Strategy { return &hasty{g} }

type hasty struct{ *lock.Guarded }

func (s *hasty) Deduct(ctx context.Context, p seckill.Purchase) (r seckill.Receipt, err error) {
	key := s.Key(p.SKU)
	lease, err := s.Locker.Acquire(ctx, key, s.Options)
	if err != nil {
		return r, err
	}
	store, free := s.Ledger, func(*gorm.DB) error { return lease.Release(ctx) }
	if session, ok := lease.(lock.SessionLease); ok {
		store, free = store.On(session.Session()), func(tx *gorm.DB) error { return tx.Exec("DO RELEASE_LOCK(?)", key).Error }
	}
	defer func() { _ = lease.Release(context.WithoutCancel(ctx)) }()
	var now struct{ Num, Run int64 }
	err = store.Read(ctx, &now, "SELECT num, run FROM stock WHERE id = ?", p.SKU)
	if err != nil || now.Num < p.Quantity {
		return r, cmp.Or(err, seckill.ErrSoldOut)
	}
	err = store.Tx(ctx, func(tx *gorm.DB) error {
		if err := tx.Exec("UPDATE stock SET num = ? WHERE id = ?", now.Num-p.Quantity, p.SKU).Error; err != nil {
			return err
		}
		if r, err = store.Record(tx, p, now.Run, now.Num-p.Quantity); err != nil {
			return err
		}
		return free(tx)
	})
	return r, err
}

// A looseFence is the fenced purchase of package lock, with guards to remove.
type looseFence struct {
	*lock.Guarded
	unchecked bool // the write does not compare the fence
	afterRead bool // the fence is raised when the stock was read already
	equal     bool // it is also raised to the token that it has
}

// repeating gives every holder the same token, as a lock may that has forgotten.
type repeating struct{ lock.Locker }

func (l repeating) Acquire(ctx context.Context, key string, o lock.Options) (lock.Lease, error) {
	lease, err := l.Locker.Acquire(ctx, key, o)
	return &numbered{lease}, err
}

type numbered struct{ lock.Lease }

func (*numbered) Fence() uint64 { return 7 }

func (s *looseFence) Deduct(ctx context.Context, p seckill.Purchase) (r seckill.Receipt, err error) {
	lease, err := s.Locker.Acquire(ctx, s.Key(p.SKU), s.Options)
	if err != nil {
		return r, err
	}
	defer func() { _ = lease.Release(context.WithoutCancel(ctx)) }()
	ctx = lease.Context()
	raise := func() error {
		query := "UPDATE stock SET fence = ? WHERE id = ? AND fence < ?"
		if s.equal {
			query = "UPDATE stock SET fence = ? WHERE id = ? AND fence <= ?"
		}
		n, err := s.Ledger.Write(ctx, query, lease.Fence(), p.SKU, lease.Fence())
		if err == nil && n == 0 {
			err = seckill.ErrConflict
		}
		return err
	}
	if !s.afterRead {
		if err := raise(); err != nil {
			return r, err
		}
	}
	var now struct{ Num, Run int64 }
	if err := s.Ledger.Read(ctx, &now, "SELECT num, run FROM stock WHERE id = ?", p.SKU); err != nil {
		return r, err
	}
	if now.Num < p.Quantity {
		return r, seckill.ErrSoldOut
	}
	if s.afterRead {
		if err := raise(); err != nil {
			return r, err
		}
	}
	left := now.Num - p.Quantity
	query, args := "UPDATE stock SET num = ? WHERE id = ? AND fence = ?", []any{left, p.SKU, lease.Fence()}
	if s.unchecked {
		query, args = "UPDATE stock SET num = ? WHERE id = ?", []any{left, p.SKU}
	}
	err = s.Ledger.Tx(ctx, func(tx *gorm.DB) error {
		n, _, err := s.Ledger.Exec(tx, query, args...)
		if err == nil && n == 0 {
			err = seckill.ErrConflict
		}
		if err != nil {
			return err
		}
		r, err = s.Ledger.Record(tx, p, now.Run, left)
		return err
	})
	return r, err
}

// latePayer is reserve whose payments do not ask for the deadline.
func latePayer() catalog.Info {
	return strategy(hotsku.Reserve, func(s seckill.Strategy, l *ledger.Store) seckill.Strategy {
		return &paysReserved{s, s.(seckill.Reserver), l}
	})
}

type paysReserved struct {
	seckill.Strategy
	seckill.Reserver
	store *ledger.Store
}

func (s *paysReserved) Pay(ctx context.Context, id string) (r seckill.Reservation, err error) {
	o, err := s.store.Reservation(ctx, id)
	if err != nil {
		return r, err
	}
	return r, s.store.Tx(ctx, func(tx *gorm.DB) error {
		return tx.Exec("UPDATE reservations SET state = 'paid' WHERE sku_id = ? AND run = ? AND id = ? AND state = 'reserved'", o.SKUID, o.Run, o.ID).Error
	})
}

// strategy is i with another Deduct round its own.
func strategy(i catalog.Info, round func(seckill.Strategy, *ledger.Store) seckill.Strategy) catalog.Info {
	build := i.New
	i.New = func(d catalog.Deps) (seckill.Strategy, error) {
		inner, err := build(d)
		return round(inner, d.Ledger), err
	}
	return i
}

// locker is i with something round its lock.
func locker(i catalog.Info, round func(lock.Locker, *backend.Instance) lock.Locker) catalog.Info {
	inner := i.Locker
	i.Locker = func(d catalog.Deps) (lock.Locker, error) {
		l, err := inner(d)
		return round(l, d.Instance), err
	}
	return i
}

// guarded is i with another way of using its lock.
func guarded(i catalog.Info, use func(*lock.Guarded) seckill.Strategy) catalog.Info {
	inner := i.Locker
	i.Locker = nil
	i.New = func(d catalog.Deps) (seckill.Strategy, error) {
		l, err := inner(d)
		return use(&lock.Guarded{Locker: l, Key: i.Key, Options: i.LockOptions(d.Settings),
			Outlives: d.Settings.LockLease, Ledger: d.Ledger, Observe: d.Observe}), err
	}
	return i
}
