package mysqllock

import (
	"context"
	"errors"
	"fmt"

	"gorm.io/gorm"

	"seckill/internal/catalog"
	"seckill/internal/lock"
	"seckill/internal/seckill"
)

// LockTableV1 reads with FOR UPDATE before it inserts. If the row exists, the
// read locks the row. Otherwise it locks the gap where the row would be, and
// several buyers can lock one gap. Then each INSERT waits for the other
// buyers' gap locks, which is a deadlock.
var LockTableV1 = family.Strategy(catalog.Info{
	Name:   "lock-table-v1",
	Source: "B, version 1",
	Guarantees: catalog.Sound.
		Breaks(catalog.DeadHolder, catalog.LeaseEnd, catalog.Owner,
			catalog.LostReply, catalog.LateCommand, catalog.OtherSKUs),
	Repair: "get-lock",
	Also:   []string{"tables.go"},
	Stored: catalog.Stored{LockTable: "lock_record"},
	Locker: func(d catalog.Deps) (lock.Locker, error) {
		return &tableV1{newNamedRow(d, "lock_record")},
			createTables(d.LockDB, lockRecordTable)
	},
})

type tableV1 struct{ namedRow }

func (l *tableV1) Acquire(
	ctx context.Context, key string, o lock.Options,
) (lock.Lease, error) {
	var deadlock error
	err := lock.Poll(ctx, o.Wait, lock.Every(l.poll),
		func() (ok bool, err error) {
			deadlock = nil
			ok, err = l.tryAcquire(ctx, key)
			if isUndone(err) {
				deadlock, err = err, nil
			}
			if isRowHeld(err) {
				err = nil
			}
			return ok, err
		})
	if errors.Is(err, seckill.ErrBusy) && deadlock != nil {
		return nil, fmt.Errorf("%w: %w", seckill.ErrConflict, deadlock)
	}
	if err != nil {
		return nil, err
	}
	return newNameLease(ctx, l, key), nil
}

func (l *tableV1) tryAcquire(
	ctx context.Context, key string,
) (ok bool, err error) {
	err = l.db.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
		var status int
		res := tx.Raw("SELECT status FROM lock_record "+
			"WHERE name = ? FOR UPDATE", key).Scan(&status)
		switch {
		case res.Error != nil:
			return res.Error
		case res.RowsAffected == 0:
			ok = true
			return tx.Exec("INSERT INTO lock_record (name, status) "+
				"VALUES (?, 1)", key).Error
		case status == 0:
			ok = true
			return tx.Exec("UPDATE lock_record SET status = 1 "+
				"WHERE name = ?", key).Error
		}
		return nil // the lock is taken
	})
	return ok && err == nil, err
}
