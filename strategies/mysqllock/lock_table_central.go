package mysqllock

import (
	"context"
	"time"

	"gorm.io/gorm"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lock"
	"seckill/internal/seckill"
)

// LockTableCentral locks one row that is always there before it looks for the
// record, so only one transaction at a time locks gaps. Records are never
// deleted: they have a status and a deadline. They do not say whose lock it is.
var LockTableCentral = catalog.Info{
	Name:   "lock-table-central",
	Source: "B, version 2",
	Guarantees: catalog.Sound.
		Holds(catalog.DeadHolder, catalog.LostReply, catalog.TwoFaults).
		Breaks(catalog.LeaseEnd, catalog.Clocks, catalog.Owner,
			catalog.LateCommand, catalog.OtherSKUs),
	Needs: []backend.Capability{backend.SQL, backend.RowLocks},
	Stock: seckill.InRow,
	Also:  []string{"tables.go", "central.go"},
	Locker: func(d catalog.Deps) (lock.Locker, error) {
		return newTableLock(d, func(string) string { return centralRow }),
			createCentralTables(d.LockDB)
	},
	Key: stockKey,
}

// year is B's deadline where Options name no lease.
const defaultDeadline = 31_536_000 * time.Second

type tableLock struct {
	db        *gorm.DB
	central   func(key string) string // the row that is passed first
	forUpdate bool                    // the record is read so, too, as in B
	poll      time.Duration
	now       func() time.Time
	named
}

func newTableLock(
	d catalog.Deps, central func(key string) string,
) *tableLock {
	l := &tableLock{d.LockDB, central, d.Settings.RecordLock,
		d.Settings.LockPoll, d.Now, named{}}
	l.named = named{l.deleteOwner}
	return l
}

func (l *tableLock) Acquire(
	ctx context.Context, key string, o lock.Options,
) (lock.Lease, error) {
	ttl := o.Lease
	if ttl <= 0 {
		ttl = defaultDeadline
	}
	err := lock.Poll(ctx, o.Wait, lock.Every(l.poll),
		func() (bool, error) {
			ok, err := l.tryAcquire(ctx, key, ttl)
			switch {
			case isUndone(err), isRowHeld(err):
				return false, nil
			}
			return ok, err
		})
	if err != nil {
		return nil, err
	}
	return l.lease(ctx, key), nil
}

// try is B's getLock. The plain read comes after the central row, and so shows
// what the last one who had that row committed.
func (l *tableLock) tryAcquire(
	ctx context.Context, key string, ttl time.Duration,
) (ok bool, err error) {
	err = l.db.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
		if err := lockCentralRow(tx, l.central(key)); err != nil {
			return err
		}
		now := l.now().UTC()
		record, err := l.readRecord(tx, key)
		if err != nil {
			return err
		}
		if record.Status == 1 && record.Deadline.After(now) {
			return nil // it is taken
		}
		ok = true
		return tx.Exec("UPDATE lock_record SET deadline = ?, count = 0, "+
			"description = '', status = 1 WHERE name = ?",
			now.Add(ttl), key).Error
	})
	return ok && err == nil, err
}

type tableRecord struct {
	Status   int
	Deadline time.Time
}

// init reads the record, and makes one that is long past if there is none.
func (l *tableLock) readRecord(
	tx *gorm.DB, key string,
) (record tableRecord, err error) {
	query := "SELECT status, deadline FROM lock_record WHERE name = ?"
	if l.forUpdate {
		query += " FOR UPDATE"
	}
	res := tx.Raw(query, key).Scan(&record)
	if res.Error != nil || res.RowsAffected == 1 {
		return record, res.Error
	}
	record = tableRecord{Status: 1, Deadline: time.Unix(0, 0).UTC()}
	return record, tx.Exec("INSERT INTO lock_record "+
		"(name, count, deadline, description, status) "+
		"VALUES (?, 0, ?, '', ?)",
		key, record.Deadline, record.Status).Error
}

func (l *tableLock) deleteOwner(
	ctx context.Context, key string,
) (rows int64, err error) {
	err = l.db.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
		if err := lockCentralRow(tx, l.central(key)); err != nil {
			return err
		}
		res := tx.Exec("UPDATE lock_record SET status = 0 "+
			"WHERE name = ? AND status = 1", key)
		rows = res.RowsAffected
		return res.Error
	})
	return rows, err
}
