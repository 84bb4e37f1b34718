package ledger

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"

	"github.com/go-sql-driver/mysql"
	"github.com/ncruces/go-sqlite3"

	"seckill/internal/seckill"
)

// MySQL's and MariaDB's error numbers.
const (
	errDuplicateEntry   = 1062
	errNullColumn       = 1048
	errDuplicateColumn  = 1060
	errLockWaitTimeout  = 1205
	errDeadlock         = 1213
	errSnapshotConflict = 1020 // MariaDB 11.6 and later, where older ones lose an update
	errNowait           = 3572 // MySQL 8; MariaDB answers 1205
	errQueryKilled      = 1317
	errServerShutdown   = 1053
)

// retriable errors undid the whole transaction, which may be run again.
func retriable(err error) bool {
	n := mysqlNumber(err)
	return n == errDeadlock || n == errSnapshotConflict
}

// before classifies an error that came before COMMIT was sent: whatever it is,
// the transaction is rolled back, by us or by the server when the connection
// goes, so nothing was taken.
func before(err error) error {
	if err == nil || seckill.NothingTaken(err) {
		return err
	}
	switch mysqlNumber(err) {
	case errLockWaitTimeout, errNowait:
		return fmt.Errorf("%w: waited for a row: %w", seckill.ErrBusy, err)
	case errDeadlock, errSnapshotConflict:
		return fmt.Errorf("%w: %w", seckill.ErrConflict, err)
	}
	switch {
	case errors.Is(err, sqlite3.BUSY), errors.Is(err, sqlite3.LOCKED):
		return fmt.Errorf("%w: waited for the database: %w", seckill.ErrBusy, err)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%w: %w", seckill.ErrBusy, err)
	}
	return fmt.Errorf("%w: %w", seckill.ErrUnavailable, err)
}

// after classifies COMMIT's own error.
func after(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded),
		errors.Is(err, sql.ErrTxDone), errors.Is(err, driver.ErrBadConn):
		// database/sql and the driver: COMMIT was never sent, or the server is
		// read-only, refused it and rolled back (see backend, RejectReadOnly).
		return before(err)
	case retriable(err), errors.Is(err, sqlite3.BUSY):
		return before(err) // the server says that it rolled back
	}
	return fmt.Errorf("%w: COMMIT got no answer: %w", seckill.ErrUnknown, err)
}

// broken names the unique key or column that an INSERT ran into.
func brokenKey(err error) string {
	text := err.Error()
	if n := mysqlNumber(err); n != errDuplicateEntry && n != errNullColumn &&
		!errors.Is(err, sqlite3.CONSTRAINT) {
		return ""
	}
	for _, key := range []struct{ in, name string }{
		{"orders_one_active", "orders_one_active"}, {"orders.sku_id, orders.user_id", "orders_one_active"},
		{"orders_request", "orders_request"}, {"orders.user_id, orders.request_id", "orders_request"},
		{"'run' cannot be null", "run"}, {"NOT NULL constraint failed: orders.run", "run"},
		{"'status' cannot be null", "status"}, {"NOT NULL constraint failed: orders.status", "status"},
	} {
		if strings.Contains(text, key.in) {
			return key.name
		}
	}
	return ""
}

func mysqlNumber(err error) uint16 {
	var e *mysql.MySQLError
	if errors.As(err, &e) {
		return e.Number
	}
	return 0
}
