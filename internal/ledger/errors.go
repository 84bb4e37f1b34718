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

var (
	errReset = fmt.Errorf("%w: the sale was reset meanwhile", seckill.ErrConflict)
	// Another copy may be at work.
	errClaimLost = fmt.Errorf("%w: the claim of its key was lost: %w", seckill.ErrConflict, ErrInProgress)
	// Another process made the same id (newOrderID): retry makes another one.
	errSameID = fmt.Errorf("%w: an order has this id", seckill.ErrConflict)
)

// notRecorded is what an order that could not be written means, by the unique key
// or the column that its INSERT ran into.
func notRecorded(err error) error {
	if n := backend.MySQLNumber(err); n != backend.MySQLDuplicateEntry && n != backend.MySQLNullColumn && !errors.Is(err, sqlite3.CONSTRAINT) {
		return err
	}
	for _, key := range []struct {
		in    string
		means error
	}{
		{"orders_one_active", seckill.ErrDuplicate}, {"orders.user_id, orders.sku_id", seckill.ErrDuplicate},
		{"orders_request", seckill.ErrDuplicate}, {"orders.request_id, orders.user_id", seckill.ErrDuplicate},
		{"'request_id' cannot be null", errClaimLost},
		{"'run' cannot be null", errReset}, {"NOT NULL constraint failed: orders.run", errReset},
		{"'status' cannot be null", seckill.ErrNotStarted}, {"NOT NULL constraint failed: orders.status", seckill.ErrNotStarted},
		{"PRIMARY'", errSameID}, {"orders.sku_id, orders.run, orders.id", errSameID},
	} {
		if strings.Contains(err.Error(), key.in) {
			return key.means
		}
	}
	return err
}
