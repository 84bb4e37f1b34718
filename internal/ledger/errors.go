package ledger

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"

	"github.com/ncruces/go-sqlite3"

	"seckill/internal/backend"
	"seckill/internal/seckill"
)

// before classifies an error that came before COMMIT was sent: whatever it is,
// the transaction is rolled back, by us or by the server when the connection
// goes, so nothing was taken.
func before(err error) error {
	if err == nil || seckill.NothingTaken(err) {
		return err
	}
	switch {
	case backend.RowHeld(err):
		return fmt.Errorf("%w: waited for a row: %w", seckill.ErrBusy, err)
	case backend.TransactionUndone(err):
		return fmt.Errorf("%w: %w", seckill.ErrConflict, err)
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
	case backend.TransactionUndone(err), errors.Is(err, sqlite3.BUSY):
		return before(err) // the server says that it rolled back
	}
	return fmt.Errorf("%w: COMMIT got no answer: %w", seckill.ErrUnknown, err)
}

// The keys and columns that an INSERT into orders can run into.
const (
	keyID      = "id"
	keyActive  = "active"
	keyRequest = "request"
	keyClaim   = "claim"
	keyRun     = "run"
	keyStatus  = "status"
)

// brokenKey names the unique key or column that an INSERT ran into; "" for any
// other error.
func brokenKey(err error) string {
	if n := backend.MySQLNumber(err); n != backend.MySQLDuplicateEntry && n != backend.MySQLNullColumn && !errors.Is(err, sqlite3.CONSTRAINT) {
		return ""
	}
	text := err.Error()
	for _, key := range []struct{ in, name string }{
		{"orders_one_active", keyActive}, {"orders.user_id, orders.sku_id", keyActive},
		{"orders_request", keyRequest}, {"orders.request_id, orders.user_id", keyRequest},
		{"'request_id' cannot be null", keyClaim},
		{"'run' cannot be null", keyRun}, {"NOT NULL constraint failed: orders.run", keyRun},
		{"'status' cannot be null", keyStatus}, {"NOT NULL constraint failed: orders.status", keyStatus},
		{"PRIMARY'", keyID}, {"orders.sku_id, orders.run, orders.id", keyID},
	} {
		if strings.Contains(text, key.in) {
			return key.name
		}
	}
	return ""
}
