package mysqllock

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"

	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

// SnapshotFirst takes the lock of get-lock too late, in a transaction that has
// already read something. That read fixes the snapshot, so the buyer sees the
// stock from before the wait.
var SnapshotFirst = family.Strategy(catalog.Info{
	Name: "snapshot-first",
	Source: "ours: a bug of many programs that lock inside a " +
		"transaction",
	Guarantees: catalog.Unsound.Holds(catalog.OtherSKUs),
	Repair:     "get-lock",
	Also:       []string{"get_lock.go", "session.go", "tables.go"},
	New: func(d catalog.Deps) (seckill.Strategy, error) {
		limit, err := maxRowWait(d.LockDB)
		return &snapshotFirst{userLock{db: d.LockDB, limit: limit},
			d.Settings.LockWait, d.Ledger}, err
	},
})

type snapshotFirst struct {
	lock  userLock
	wait  time.Duration
	store *ledger.Store
}

func (s *snapshotFirst) Deduct(
	ctx context.Context, p seckill.Purchase,
) (r seckill.Receipt, err error) {
	err = s.onSession(ctx, func(own *session) error {
		return own.store.Tx(ctx, func(tx *gorm.DB) error {
			// The flaw: this read fixes the snapshot before the wait.
			if _, err := own.readStock(tx, p.SKU); err != nil {
				return err
			}
			if err := own.getLock(ctx, p.SKU); err != nil {
				return err
			}
			now, err := own.readStock(tx, p.SKU) // reads the old stock
			if err != nil {
				return err
			}
			left := now.Num - p.Quantity
			if left < 0 {
				return seckill.ErrSoldOut
			}
			err = tx.Exec("UPDATE stock SET num = ? WHERE id = ?",
				left, p.SKU).Error
			if err != nil {
				return err
			}
			r, err = own.store.Record(tx, p, now.Run, left)
			return err
		})
	})
	return r, err
}

// Restore reads too early, like Deduct, so it also loses updates.
func (s *snapshotFirst) Restore(ctx context.Context, orderID string) error {
	o, err := s.store.Order(ctx, orderID)
	if err != nil {
		return err
	}
	return s.onSession(ctx, func(own *session) error {
		return own.store.Tx(ctx, func(tx *gorm.DB) error {
			if _, err := own.readStock(tx, o.SKUID); err != nil {
				return err
			}
			if err := own.getLock(ctx, o.SKUID); err != nil {
				return err
			}
			now, err := own.readStock(tx, o.SKUID)
			if err != nil {
				return err
			}
			o, back, err := own.store.Cancel(tx, orderID)
			if err != nil || !back {
				return err
			}
			return own.store.GiveBack(tx,
				"UPDATE stock SET num = ? WHERE id = ? AND run = ?",
				now.Num+o.Quantity, o.SKUID, o.Run)
		})
	})
}

// A session is one buyer's connection, with the transaction and the lock.
type session struct {
	*snapshotFirst
	conn    *sql.Conn
	store   *ledger.Store
	key     string // the lock's name; "" if we do not have the lock
	unclear bool   // true if GET_LOCK may have taken the lock
}

func (s *snapshotFirst) onSession(
	ctx context.Context, f func(*session) error,
) error {
	conn, err := takeConn(ctx, s.lock.db, s.wait)
	if err != nil {
		return err
	}
	own := &session{snapshotFirst: s, conn: conn,
		store: s.store.On(onConnection(ctx, s.lock.db, conn))}
	err = f(own)
	switch {
	case own.unclear: // closing the connection ends a lock
		closeConn(conn)
	case own.key == "":
		conn.Close()
	default:
		ctx, cancel := tap.WithTimeout(
			context.WithoutCancel(ctx), 2*time.Second)
		defer cancel()
		_ = releaseUserLock(ctx, conn, own.key) // closes conn after an error
	}
	return err
}

// readStock is a plain SELECT, which reads from the transaction's snapshot.
func (s *session) readStock(
	tx *gorm.DB, sku int64,
) (now struct{ Num, Run int64 }, err error) {
	err = s.store.ReadIn(tx, &now,
		"SELECT num, run FROM stock WHERE id = ?", sku)
	return now, err
}

// getLock waits for the lock of get-lock. A ROLLBACK does not release this
// lock. So a transaction that runs again, after a deadlock or error 1020,
// still has the lock, but gets a new snapshot.
func (s *session) getLock(ctx context.Context, sku int64) error {
	if s.key != "" {
		return nil
	}
	err := s.lock.waitForLock(ctx, s.conn, stockKey(sku), s.wait,
		time.Now().Add(s.wait))
	switch {
	case errors.Is(err, errUserLockHeld):
		return fmt.Errorf("%w: %w", seckill.ErrBusy, err)
	case err != nil:
		s.unclear = true
		return acquireError(ctx, err)
	}
	s.key = stockKey(sku)
	return nil
}
