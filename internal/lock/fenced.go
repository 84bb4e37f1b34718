package lock

import (
	"context"
	_ "embed"
	"fmt"

	"gorm.io/gorm"

	"seckill/internal/ledger"
	"seckill/internal/seckill"
)

// FencedSource is this file, for the page: what makes a fenced lock safe is
// the same for all of them.
//
//go:embed fenced.go
var FencedSource string

// A lock with a lease cannot say whether its holder still has it: the holder
// may sleep past the lease, and its write may be on the way for longer. So
// the thing that is written to has to check (Martin Kleppmann, "How to do
// distributed locking", 2016). Every grant has a number, the fencing token,
// and later grants have greater ones. A holder
//
//  1. raises stock.fence to its token, before it reads the stock. Not one
//     row: a later holder was here already.
//  2. reads the stock, and computes.
//  3. writes the stock, and with it the order, only if stock.fence is still
//     its token. Not one row: a later holder has come.
//
// Why the raise comes first: without it, the late write of an earlier holder
// could still come between the read of a later one and its write, and be lost.
//
// Why this is safe whatever the lock does: of all holders, only one can raise
// the fence to a given number, because the row must have a lower one before;
// and the row is only written while its fence is the writer's. So between a
// holder's raise and its write no other holder has raised, and none has
// written. That also holds when a faulty lock gives one token twice: the
// second raise finds no lower fence. Tokens that fall, or repeat, cost answers
// (ErrConflict), not stock. It is the lock's business that they grow.
//
// Why the run is compared as well: a reset begins a new run with fence 0,
// since the next sale may use another lock, whose tokens are smaller. The
// pair of run and fence never falls. A holder is bound to the run in which it
// asked for the lock: one that is late can neither write into the next sale
// nor raise its fence.
//
// What is still possible: a holder that was refused has worked in vain, and
// its buyer is told to try again. A late holder that is about to COMMIT has
// the row locked, so its successor's raise waits for it. And a lock that is
// held by a holder that hangs, or whose servers are down, stops the sale.
type fence struct {
	run   int64
	token uint64
}

// runFenced runs f under the SKU's lock, with the stock that it read after it
// raised the fence.
func (g *Guarded) runFenced(
	ctx context.Context, sku int64,
	f func(
		ctx context.Context, store *ledger.Store, mine fence, num int64,
	) error,
) error {
	// Before the lock: the run that we buy in, and the token to surpass.
	var row struct {
		Fence uint64
		Run   int64
	}
	err := g.Ledger.Read(ctx, &row,
		"SELECT fence, run FROM stock WHERE id = ?", sku)
	if err != nil {
		return err
	}
	o := g.Options
	o.Above = row.Fence
	return g.runWithLease(ctx, sku, o, func(
		lease Lease, store *ledger.Store,
	) error {
		ctx, mine := lease.Context(), fence{row.Run, lease.Fence()}
		if err := mine.raiseFence(ctx, store, sku); err != nil {
			return err
		}
		num := int64(0)
		err := store.Read(ctx, &num,
			"SELECT num FROM stock WHERE id = ?", sku)
		if err != nil {
			return err
		}
		return f(ctx, store, mine, num)
	})
}

// raiseFence is step 1. It runs outside the transaction, because other holders
// must see the fence at once.
func (f fence) raiseFence(
	ctx context.Context, store *ledger.Store, sku int64,
) error {
	if f.token == 0 {
		return fmt.Errorf("%w: this lock has no fencing token",
			seckill.ErrUnavailable)
	}
	rows, err := store.Write(ctx, "UPDATE stock SET fence = ? "+
		"WHERE id = ? AND run = ? AND fence < ?",
		f.token, sku, f.run, f.token)
	return f.checkPassed(rows, err)
}

// writeStock is step 3.
func (f fence) writeStock(
	tx *gorm.DB, store *ledger.Store, sku, num int64,
) error {
	rows, _, err := store.Exec(tx, "UPDATE stock SET num = ? "+
		"WHERE id = ? AND run = ? AND fence = ?",
		num, sku, f.run, f.token)
	return f.checkPassed(rows, err)
}

func (f fence) checkPassed(rows int64, err error) error {
	if err == nil && rows == 0 {
		return fmt.Errorf("%w: token %d is refused by the stock's fence: "+
			"a later holder has come, or the sale was reset",
			seckill.ErrConflict, f.token)
	}
	return err
}

func (g *Guarded) deductFenced(
	ctx context.Context, p seckill.Purchase,
) (r seckill.Receipt, err error) {
	err = g.runFenced(ctx, p.SKU, func(
		ctx context.Context, store *ledger.Store, mine fence, num int64,
	) error {
		left := num - p.Quantity
		if left < 0 {
			return seckill.ErrSoldOut
		}
		return store.Tx(ctx, func(tx *gorm.DB) (err error) {
			if err := mine.writeStock(tx, store, p.SKU, left); err != nil {
				return err
			}
			r, err = store.Record(tx, p, mine.run, left)
			return err
		})
	})
	return r, err
}

func (g *Guarded) restoreFenced(ctx context.Context, o ledger.Order) error {
	return g.runFenced(ctx, o.SKUID, func(
		ctx context.Context, store *ledger.Store, mine fence, num int64,
	) error {
		return store.Tx(ctx, func(tx *gorm.DB) error {
			o, back, err := store.Cancel(tx, o.PublicID)
			if err != nil || !back {
				return err
			}
			return mine.writeStock(tx, store, o.SKUID, num+o.Quantity)
		})
	})
}
