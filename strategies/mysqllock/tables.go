package mysqllock

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"seckill/internal/catalog"
	"seckill/internal/lock"
	"seckill/internal/seckill"
	"seckill/internal/sqlerr"
)

// stockKey returns the name of a SKU's lock, in all tables and for GET_LOCK.
func stockKey(sku int64) string {
	return fmt.Sprint("seckill:lock:stock:", sku)
}

// distributed_lock is the table of the published articles C and D. The buyer
// who inserts a row has the lock with the row's name. If expire is NULL, the
// lock never expires.
const distributedLockTable = `CREATE TABLE IF NOT EXISTS distributed_lock (
	id         BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
	name       VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
	owner      VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin
	           NOT NULL DEFAULT '',
	expire     TIMESTAMP(6) NULL DEFAULT NULL,
	updated_at TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6)
	           ON UPDATE CURRENT_TIMESTAMP(6),
	UNIQUE KEY distributed_lock_name (name)
) ENGINE=InnoDB`

// lock_row has a row for each lock. The rows are never deleted. A client that
// locks a row has the lock.
const lockRowTable = `CREATE TABLE IF NOT EXISTS lock_row (
	name VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin
	     NOT NULL PRIMARY KEY
) ENGINE=InnoDB`

// lock_record is the table of the published article B. Its rows are locks or
// counters. The article's deadline has whole seconds; ours has microseconds,
// because a lease may be shorter than a second.
const lockRecordTable = `CREATE TABLE IF NOT EXISTS lock_record (
	id          BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
	name        VARCHAR(128) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin
	            NOT NULL,
	count       BIGINT NOT NULL DEFAULT 0,
	deadline    DATETIME(6) NOT NULL DEFAULT '1970-01-01 00:00:00',
	description VARCHAR(255) NOT NULL DEFAULT '',
	create_time DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
	modify_time DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6)
	            ON UPDATE CURRENT_TIMESTAMP(6),
	status      TINYINT NOT NULL DEFAULT 1,
	UNIQUE KEY lock_record_name (name),
	KEY lock_record_modify_time (modify_time)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4`

// lock_central has the central rows: center_lock, and center_lock_00 to
// center_lock_99. A client locks one of them before it reads lock_record. In
// the published article B the central rows are in lock_record, where a lock
// could have the same name.
const lockCentralTable = `CREATE TABLE IF NOT EXISTS lock_central (
	name VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin
	     NOT NULL PRIMARY KEY
) ENGINE=InnoDB`

// createTables creates the tables that do not exist yet. Several processes may
// call it at the same time, also while purchases use the tables.
func createTables(db *gorm.DB, tables ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	for _, table := range tables {
		if err := db.WithContext(ctx).Exec(table).Error; err != nil {
			return fmt.Errorf("create the locks' tables: %w "+
				"(may this database user create tables?)", err)
		}
	}
	return nil
}

func isDuplicate(err error) bool {
	return sqlerr.Number(err) == sqlerr.DuplicateEntry
}

// isRowHeld reports whether the statement failed because a row is locked.
func isRowHeld(err error) bool { return sqlerr.IsRowLocked(err) }

// isUndone reports whether the server rolled the transaction back to end a
// deadlock.
func isUndone(err error) bool { return sqlerr.IsRolledBack(err) }

// repeatUndone calls the function exec until no deadlock undoes its statement.
// A release that a deadlock has undone would leave the lock in place.
func repeatUndone(
	ctx context.Context, exec func() (rows int64, err error),
) (rows int64, err error) {
	for {
		rows, err = exec()
		if !isUndone(err) || ctx.Err() != nil {
			return rows, err
		}
	}
}

func execUntilDone(
	ctx context.Context, db *gorm.DB, statement string, args ...any,
) (rows int64, err error) {
	return repeatUndone(ctx, func() (int64, error) {
		res := db.WithContext(ctx).Exec(statement, args...)
		return res.RowsAffected, res.Error
	})
}

func acquireError(ctx context.Context, err error) error {
	switch {
	case isRowHeld(err):
		return fmt.Errorf("%w: %w", seckill.ErrBusy, err)
	case isUndone(err):
		return fmt.Errorf("%w: %w", seckill.ErrConflict, err)
	}
	return lock.AcquireError(ctx, err)
}

// checkReleased returns the error of a release that changed the given number
// of rows. For 0 rows it returns ErrNotHeld.
func checkReleased(rows int64, err error) error {
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", seckill.ErrUnavailable, err)
	case rows == 0:
		return lock.ErrNotHeld
	}
	return nil
}

// A nameLocker is a lock whose release names only the lock and not its holder.
// So a client that does not hold the lock can release it.
type nameLocker interface {
	releaseName(ctx context.Context, key string) (rows int64, err error)
}

// A namedRow is a lock that is a row of a table. A release deletes the row of
// its name, even if another client has inserted it.
type namedRow struct {
	db    *gorm.DB
	table string
	ttl   time.Duration // the lease if Options.Lease is 0; not always used
	poll  time.Duration
}

func newNamedRow(d catalog.Deps, table string) namedRow {
	return namedRow{d.LockDB, table, d.Settings.LockLease, d.Settings.LockPoll}
}

func (l *namedRow) releaseName(
	ctx context.Context, key string,
) (rows int64, err error) {
	return execUntilDone(ctx, l.db,
		"DELETE FROM "+l.table+" WHERE name = ?", key)
}

// Clear removes the lock of a dead holder.
func (l *namedRow) Clear(ctx context.Context, key string) error {
	_, err := l.releaseName(ctx, key)
	return err
}

// A nameLease is the lease of a nameLocker. Each call of Release reaches the
// server, unlike with lock.Hold. So a second call may release the lock of the
// next holder.
type nameLease struct {
	lock nameLocker
	key  string
	ctx  context.Context
	end  context.CancelFunc
}

func newNameLease(ctx context.Context, l nameLocker, key string) lock.Lease {
	ctx, end := context.WithCancel(ctx)
	return &nameLease{l, key, ctx, end}
}

func (l *nameLease) Context() context.Context { return l.ctx }
func (l *nameLease) Fence() uint64            { return 0 }

func (l *nameLease) Release(ctx context.Context) error {
	defer l.end()
	return checkReleased(l.lock.releaseName(ctx, l.key))
}
