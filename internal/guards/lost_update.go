package guards

import (
	"context"

	"gorm.io/gorm"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

// A buyer reads the stock, computes what is left, and writes it.
var lostUpdate = []catalog.Info{
	variant("lost-update", func(d catalog.Deps) seckill.Strategy { return &updating{store: d.Ledger} }),
	variant("lost-update-read-again", func(d catalog.Deps) seckill.Strategy { return &readingAgain{updating{store: d.Ledger}} }),
	variant("lost-update-mutex", func(d catalog.Deps) seckill.Strategy {
		return &withMutex{updating{store: d.Ledger}, newTurn()}
	}),
	variant("lost-update-for-update", func(d catalog.Deps) seckill.Strategy { return &lockingRow{updating{store: d.Ledger}} }, backend.RowLocks),
	variant("lost-update-condition", func(d catalog.Deps) seckill.Strategy { return &conditional{updating{store: d.Ledger}} }),
}

type updating struct {
	final
	store *ledger.Store
}

func (s *updating) read(ctx context.Context, sku int64) (num int64, err error) {
	err = s.store.Read(ctx, &num,
		"SELECT num FROM stock WHERE id = ?", sku)
	return num, err
}

// Deduct reads, computes and writes.
func (s *updating) Deduct(
	ctx context.Context, p seckill.Purchase,
) (r seckill.Receipt, err error) {
	num, err := s.read(ctx, p.SKU)
	if err != nil {
		return r, err
	}
	if num < p.Quantity {
		return r, seckill.ErrSoldOut
	}
	err = s.store.Tx(ctx, func(tx *gorm.DB) error {
		err := tx.Exec("UPDATE stock SET num = ? WHERE id = ?",
			num-p.Quantity, p.SKU).Error
		if err != nil {
			return err
		}
		r, err = s.store.Record(tx, p, ledger.AnyRun, num-p.Quantity)
		return err
	})
	return r, err
}

// readingAgain looks once more before it writes.
type readingAgain struct{ updating }

func (s *readingAgain) Deduct(
	ctx context.Context, p seckill.Purchase,
) (r seckill.Receipt, err error) {
	num, err := s.read(ctx, p.SKU)
	if err != nil {
		return r, err
	}
	if num < p.Quantity {
		return r, seckill.ErrSoldOut
	}
	now, err := s.read(ctx, p.SKU)
	if err != nil {
		return r, err
	}
	if now != num {
		return r, seckill.ErrConflict
	}
	err = s.store.Tx(ctx, func(tx *gorm.DB) error {
		err := tx.Exec("UPDATE stock SET num = ? WHERE id = ?",
			num-p.Quantity, p.SKU).Error
		if err != nil {
			return err
		}
		r, err = s.store.Record(tx, p, ledger.AnyRun, num-p.Quantity)
		return err
	})
	return r, err
}

// withMutex lets one buyer of its process in at a time.
type withMutex struct {
	updating
	turn turn
}

func (s *withMutex) Deduct(
	ctx context.Context, p seckill.Purchase,
) (r seckill.Receipt, err error) {
	if err := s.turn.Lock(ctx); err != nil {
		return r, err
	}
	defer s.turn.Unlock()
	num, err := s.read(ctx, p.SKU)
	if err != nil {
		return r, err
	}
	if num < p.Quantity {
		return r, seckill.ErrSoldOut
	}
	err = s.store.Tx(ctx, func(tx *gorm.DB) error {
		err := tx.Exec("UPDATE stock SET num = ? WHERE id = ?",
			num-p.Quantity, p.SKU).Error
		if err != nil {
			return err
		}
		r, err = s.store.Record(tx, p, ledger.AnyRun, num-p.Quantity)
		return err
	})
	return r, err
}

// lockingRow reads the row under its lock.
type lockingRow struct{ updating }

func (s *lockingRow) Deduct(
	ctx context.Context, p seckill.Purchase,
) (r seckill.Receipt, err error) {
	err = s.store.Tx(ctx, func(tx *gorm.DB) error {
		var num int64
		err := s.store.ReadIn(tx, &num,
			"SELECT num FROM stock WHERE id = ? FOR UPDATE", p.SKU)
		if err != nil {
			return err
		}
		if num < p.Quantity {
			return seckill.ErrSoldOut
		}
		err = tx.Exec("UPDATE stock SET num = ? WHERE id = ?",
			num-p.Quantity, p.SKU).Error
		if err != nil {
			return err
		}
		r, err = s.store.Record(tx, p, ledger.AnyRun, num-p.Quantity)
		return err
	})
	return r, err
}

// conditional has the database compute, and asks whether it did.
type conditional struct{ updating }

func (s *conditional) Deduct(
	ctx context.Context, p seckill.Purchase,
) (r seckill.Receipt, err error) {
	num, err := s.read(ctx, p.SKU)
	if err != nil {
		return r, err
	}
	if num < p.Quantity {
		return r, seckill.ErrSoldOut
	}
	err = s.store.Tx(ctx, func(tx *gorm.DB) error {
		rows, left, err := s.store.Exec(tx,
			"UPDATE stock SET num = LAST_INSERT_ID(num - ?) "+
				"WHERE id = ? AND num >= ?",
			p.Quantity, p.SKU, p.Quantity)
		if err != nil {
			return err
		}
		if rows == 0 {
			return seckill.ErrSoldOut
		}
		r, err = s.store.Record(tx, p, ledger.AnyRun, left)
		return err
	})
	return r, err
}

// A turn is a mutex for which a buyer waits where the scheduler sees it.
type turn chan bool

func newTurn() turn {
	t := make(turn, 1)
	t <- true
	return t
}

func (t turn) Lock(ctx context.Context) error {
	mine, err := tap.Wait(ctx, "the mutex", t)
	if err != nil && mine {
		t.Unlock()
	}
	return err
}

func (t turn) Unlock() { t <- true }
