package lock

import (
	"context"
	_ "embed"
	"fmt"

	"gorm.io/gorm"

	"seckill/internal/ledger"
	"seckill/internal/seckill"
)

// FencedSource is the text of this file. The page shows it with every fenced
// lock.
//
//go:embed fenced.go
var FencedSource string

// A lock with a lease cannot tell its holder whether the lease has ended: the
// holder may sleep past the end, and its write may arrive even later. So the
// database must check every write (Martin Kleppmann, "How to do distributed
// locking", 2016). Each grant of the lock has a number, the fencing token. A
// later grant has a greater token. A holder
//
//  1. raises stock.fence to its token before it reads the stock. If this
//     changes no row, a later holder has already raised the fence.
//  2. reads the stock, and computes.
//  3. writes the stock and the order only if stock.fence is still its token.
//     If this changes no row, a later holder has raised the fence meanwhile.
//
// The raise comes first because of the late write of an earlier holder.
// Without the raise, this late write could come between the read and the write
// of a later holder, and be lost.
//
// This is safe for every lock, even a faulty one. Only one holder can raise
// the fence to a given number, because the fence must be lower before. The row
// is written only while the fence is the writer's token. So between a holder's
// raise and its write no other holder has raised the fence or written the row.
// If a faulty lock grants one token twice, the second holder's raise fails,
// because the fence already equals the token. Tokens that fall or repeat cause
// refusals (ErrConflict), but never a wrong stock.
//
// The run is compared as well. A reset begins a new run with fence 0, because
// the next sale may use another lock with smaller tokens. The pair of run and
// fence never falls. A holder may write only in the run in which it asked for
// the lock. A late holder can neither write into the next sale nor raise its
// fence.
//
// Three costs remain. A refused holder has done its work for nothing, and its
// buyer must try again. A late holder that is about to COMMIT has locked the
// row, so the next holder waits when it raises the fence. If the holder hangs,
// or the lock's servers are down, the sale stops.
type fence struct {
	run   int64
	token uint64
}

func (g *Guarded) runFenced(
	ctx context.Context, sku int64,
	f func(
		ctx context.Context, store *ledger.Store, mine fence, num int64,
	) error,
) error {
	// Read the row before asking for the lock. The purchase belongs to the run
	// in this row, and its token must be greater than the fence in this row.
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

// raiseFence is step 1 of the protocol above: it raises stock.fence to the
// holder's token. It runs outside the transaction, because other holders must
// see the fence at once.
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

// writeStock is step 3 of the protocol: it writes the stock if stock.fence is
// still the holder's token.
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
