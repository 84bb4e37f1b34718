package mysqllock

import (
	"cmp"
	"context"
	"time"

	"gorm.io/gorm"

	"seckill/internal/catalog"
	"seckill/internal/lock"
)

// LockTableCentral first locks a central row, which always exists, and then
// reads the lock's record. So only one transaction at a time can lock gaps.
// Records are never deleted. They have a status and a deadline, but no owner.
var LockTableCentral = family.Strategy(catalog.Info{
	Name:   "lock-table-central",
	Source: "B, version 2",
	Guarantees: catalog.Leased.
		Breaks(catalog.Clocks, catalog.Owner, catalog.OtherSKUs),
	Also:   []string{"tables.go", "central.go"},
	Stored: catalog.Stored{LockTable: "lock_record"},
	Locker: func(d catalog.Deps) (lock.Locker, error) {
		return newTableLock(d, func(string) string { return centralRow }),
			createCentralTables(d.LockDB)
	},
})

// defaultDeadline is a year, the lease if Options.Lease is 0 (see article B).
const defaultDeadline = 31_536_000 * time.Second

type tableLock struct {
	db        *gorm.DB
	central   func(key string) string // returns the name of the central row
	forUpdate bool                    // true if a client also locks the record
	poll      time.Duration
	now       func() time.Time
}

func newTableLock(
	d catalog.Deps, central func(key string) string,
) *tableLock {
	return &tableLock{d.LockDB, central, d.Settings.RecordLock,
		d.Settings.LockPoll, d.Now}
}

func (l *tableLock) Acquire(
	ctx context.Context, key string, o lock.Options,
) (lock.Lease, error) {
	ttl := cmp.Or(o.Lease, defaultDeadline)
	err := lock.Poll(ctx, o.Wait, lock.Every(l.poll),
		func() (bool, error) {
			ok, err := l.tryAcquire(ctx, key, ttl)
			if isUndone(err) || isRowHeld(err) {
				return false, nil
			}
			return ok, err
		})
	if err != nil {
		return nil, err
	}
	return newNameLease(ctx, l, key), nil
}

// tryAcquire is the function getLock of the published article B. It reads the
// record after it has locked the central row. So it sees the commits of all
// earlier holders of the central row.
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
			return nil // the lock is taken
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

// readRecord reads the record. If there is no record, it inserts a record
// whose deadline is long past.
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

func (l *tableLock) releaseName(
	ctx context.Context, key string,
) (rows int64, err error) {
	return repeatUndone(ctx, func() (rows int64, err error) {
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
	})
}

// Clear removes the lock of a dead holder.
func (l *tableLock) Clear(ctx context.Context, key string) error {
	_, err := l.releaseName(ctx, key)
	return err
}
