package lock

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"

	"seckill/internal/ledger"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

// Guarded is a Strategy. Under a lock it reads the stock, computes, and writes the result and the
// order in one transaction. Without the lock this would be the strategy `naive`, which loses
// updates. So every flaw of the lock shows in the ledger.
//
// The transaction runs under the lease's context. If the lock is known to be lost before COMMIT is
// sent, the transaction is rolled back. A holder that does not know of the loss yet overwrites the
// result of the next holder, unless Fenced is set.
type Guarded struct {
	Locker  Locker
	Key     func(sku int64) string
	Options Options
	// MaxLifetime is how long the lock of a dead holder may live. Reset removes an older lock by force (see Clearer).
	MaxLifetime time.Duration
	Ledger      *ledger.Store
	// Fenced makes every write of the stock row check the lease's fencing token: see fenced.go.
	Fenced bool
}

// releaseTimeout bounds a release, which must not hang on a dead backend. The
// release is sent even when the buyer has left.
const releaseTimeout = 2 * time.Second

func (g *Guarded) Deduct(ctx context.Context, p seckill.Purchase) (seckill.Receipt, error) {
	if g.Fenced {
		return g.deductFenced(ctx, p)
	}
	var r seckill.Receipt
	err := g.RunLocked(ctx, p.SKU, func(ctx context.Context, store *ledger.Store) error {
		var now struct{ Num, Run int64 }
		err := store.Read(ctx, &now, "SELECT num, run FROM stock WHERE id = ?", p.SKU)
		if err != nil {
			return err
		}
		left := now.Num - p.Quantity
		if left < 0 {
			return seckill.ErrSoldOut
		}
		return store.Tx(ctx, func(tx *gorm.DB) (err error) {
			if _, _, err = store.Exec(tx, "UPDATE stock SET num = ? WHERE id = ?", left, p.SKU); err != nil {
				return err
			}
			r, err = store.Record(tx, p, now.Run, left)
			return err
		})
	})
	return r, err
}

func (g *Guarded) Restore(ctx context.Context, orderID string) error {
	o, err := g.Ledger.Order(ctx, orderID)
	if err != nil {
		return err
	}
	if g.Fenced {
		return g.restoreFenced(ctx, o)
	}
	return g.RunLocked(ctx, o.SKUID, func(ctx context.Context, store *ledger.Store) error {
		num := int64(0)
		if err := store.Read(ctx, &num, "SELECT num FROM stock WHERE id = ?", o.SKUID); err != nil {
			return err
		}
		return store.Tx(ctx, func(tx *gorm.DB) error {
			o, back, err := store.Cancel(tx, orderID)
			if err != nil || !back {
				return err
			}
			return store.GiveBack(tx, "UPDATE stock SET num = ? WHERE id = ? AND run = ?",
				num+o.Quantity, o.SKUID, o.Run)
		})
	})
}

// A Clearer is a Locker that can remove a lock by force. A Locker without leases must be a Clearer,
// because nothing else removes the lock of a dead holder.
type Clearer interface {
	Clear(ctx context.Context, key string) error
}

// Reset waits until the SKU's lock is free. Afterwards no holder from before the reset is still at work. If Reset
// removed the lock at once, an old holder and a new one could both sell from the stock of the new sale. If the lock is
// still taken after the wait plus MaxLifetime and its Locker is a Clearer, Reset removes the lock by force.
func (g *Guarded) Reset(ctx context.Context, sku, stock int64) error {
	wait, asked := g.Options.Wait+g.MaxLifetime, time.Now()
	lease, err := g.Locker.Acquire(ctx, g.Key(sku), Options{Wait: wait, Lease: g.Options.Lease})
	// ErrBusy before the end of the wait does not mean that the lock is held,
	// because Acquire also returns it if this process has no free connection.
	timedOut := errors.Is(err, seckill.ErrBusy) && time.Since(asked) >= wait
	if c, ok := g.Locker.(Clearer); ok && timedOut {
		return c.Clear(ctx, g.Key(sku))
	}
	if err != nil {
		return fmt.Errorf("the lock %s is still held: %w", g.Key(sku), err)
	}
	return lease.Release(ctx)
}

// RunLocked runs f while it holds the SKU's lock. f must use the context and the ledger that RunLocked passes to it.
func (g *Guarded) RunLocked(ctx context.Context, sku int64, f func(context.Context, *ledger.Store) error) error {
	return g.runWithLease(ctx, sku, g.Options, func(lease Lease, store *ledger.Store) error {
		return f(lease.Context(), store)
	})
}

func (g *Guarded) runWithLease(ctx context.Context, sku int64, o Options, f func(Lease, *ledger.Store) error) error {
	lease, err := g.Locker.Acquire(ctx, g.Key(sku), o)
	if err != nil {
		return notAcquired(err)
	}
	defer func() {
		ctx, cancel := tap.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
		defer cancel()
		_ = lease.Release(ctx) // if this fails, the end of the lease or session releases the lock
	}()
	store := g.Ledger
	if s, ok := lease.(SessionLease); ok {
		store = store.On(s.Session())
	}
	err = f(lease, store)
	if err != nil && errors.Is(context.Cause(lease.Context()), ErrLost) && !errors.Is(err, seckill.ErrUnknown) {
		return fmt.Errorf("%w: %w", seckill.ErrConflict, ErrLost)
	}
	return err
}

// notAcquired returns the error of a purchase that did not get the lock. The error means that nothing was taken.
func notAcquired(err error) error {
	switch {
	case seckill.NothingTaken(err):
		return err
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%w: %w", seckill.ErrBusy, err)
	}
	return fmt.Errorf("%w: %w", seckill.ErrUnavailable, err)
}
