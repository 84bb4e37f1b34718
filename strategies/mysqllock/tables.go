package mysqllock

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"seckill/internal/lock"
	"seckill/internal/seckill"
	"seckill/internal/sqlerr"
)

// stockKey names a SKU's lock in every table, and for GET_LOCK.
func stockKey(sku int64) string {
	return fmt.Sprint("seckill:lock:stock:", sku)
}

// distributed_lock is C's and D's table: inserting the row takes the lock.
// A row without an expire never ends.
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

// lock_row has one row a lock, there for ever; it is the row that is locked.
const lockRowTable = `CREATE TABLE IF NOT EXISTS lock_row (
	name VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin
	     NOT NULL PRIMARY KEY
) ENGINE=InnoDB`

// lock_record is B's table, with B's columns: a lock or a counter, or both.
// B's deadline counts whole seconds; here it must tell shorter leases apart.
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

// lock_central has the rows that are locked before a lock_record is touched:
// center_lock, and center_lock_00 to center_lock_99. B has them in the same
// table; here none can be taken for a lock of that name.
const lockCentralTable = `CREATE TABLE IF NOT EXISTS lock_central (
	name VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin
	     NOT NULL PRIMARY KEY
) ENGINE=InnoDB`

// create makes tables that are missing, once, when a lock is built. Several
// processes may do so at once. A table that is there costs no wait: nothing of
// it is changed.
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

// taken: the row of this name is there.
func isDuplicate(err error) bool {
	return sqlerr.Number(err) == sqlerr.DuplicateEntry
}

// held: the statement waited as long as the server lets it.
func isRowHeld(err error) bool { return sqlerr.IsRowLocked(err) }

// undone: the server chose this transaction to end a deadlock.
func isUndone(err error) bool { return sqlerr.IsRolledBack(err) }

// refused says in the domain's words why Acquire has no lock.
func acquireError(ctx context.Context, err error) error {
	switch {
	case isRowHeld(err):
		return fmt.Errorf("%w: %w", seckill.ErrBusy, err)
	case isUndone(err):
		return fmt.Errorf("%w: %w", seckill.ErrConflict, err)
	}
	return lock.AcquireError(ctx, err)
}

// freed is what a release comes to: rows is how many locks are gone by it.
func checkReleased(rows int64, err error) error {
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", seckill.ErrUnavailable, err)
	case rows == 0:
		return lock.ErrNotHeld
	}
	return nil
}

// A named lock is freed by its name alone, also by a client that does not hold it.
type named struct {
	// free tries once, and says how many locks are gone by it.
	free func(ctx context.Context, key string) (rows int64, err error)
}

// again frees once more when a deadlock has undone it: the row of a holder that
// gave up here would stay.
func (n *named) again(
	ctx context.Context, key string,
) (rows int64, err error) {
	for {
		rows, err = n.free(ctx, key)
		if !isUndone(err) || ctx.Err() != nil {
			return rows, err
		}
	}
}

// Clear removes a lock that its holder will not free.
func (n *named) Clear(ctx context.Context, key string) error {
	_, err := n.again(ctx, key)
	return err
}

func (n *named) lease(ctx context.Context, key string) lock.Lease {
	held, end := context.WithCancel(ctx)
	return &namedLease{n, key, held, end}
}

type namedLease struct {
	lock *named
	key  string
	ctx  context.Context
	end  context.CancelFunc
}

func (l *namedLease) Context() context.Context { return l.ctx }
func (l *namedLease) Fence() uint64            { return 0 }

// Release frees the lock of any owner, a second time, too.
func (l *namedLease) Release(ctx context.Context) error {
	defer l.end()
	return checkReleased(l.lock.again(ctx, l.key))
}
