package ledger

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ncruces/go-sqlite3"

	"seckill/internal/seckill"
	"seckill/internal/sqlerr"
)

// before classifies an error that came before COMMIT was sent: whatever it is,
// the transaction is rolled back, by us or by the server when the connection
// goes, so nothing was taken.
func before(err error) error {
	if err == nil || seckill.NothingTaken(err) {
		return err
	}
	switch {
	case sqlerr.IsRowLocked(err):
		return fmt.Errorf("%w: waited for a row: %w", seckill.ErrBusy, err)
	case sqlerr.IsRolledBack(err):
		return fmt.Errorf("%w: %w", seckill.ErrConflict, err)
	case errors.Is(err, sqlite3.BUSY), errors.Is(err, sqlite3.LOCKED):
		return fmt.Errorf("%w: waited for the database: %w", seckill.ErrBusy, err)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%w: %w", seckill.ErrBusy, err)
	}
	return fmt.Errorf("%w: %w", seckill.ErrUnavailable, err)
}

// undone: everything was rolled back, by the server or by a procedure's handler.
func undone(err error) bool {
	return sqlerr.IsRolledBack(err) || sqlerr.IsRowLocked(err) || errors.Is(err, sqlite3.BUSY) || errors.Is(err, sqlite3.LOCKED)
}

// neverRan are errors of a CALL that come before anything ran.
var neverRan = []uint16{sqlerr.NoProcedure, sqlerr.ProcedureDenied, sqlerr.WrongArguments}

// after classifies the error of what commits: COMMIT, or a command that commits by itself.
func after(what string, err error) error {
	switch {
	case err == nil, seckill.NothingTaken(err):
		return err
	case undone(err), slices.Contains(neverRan, sqlerr.Number(err)),
		errors.Is(err, driver.ErrBadConn): // the driver: it was never sent, or the server is read-only, refused it and rolled back (see backend, readOnlyError)
		return before(err)
	}
	return fmt.Errorf("%w: %s got no answer: %w", seckill.ErrUnknown, what, err)
}

var (
	errReset = fmt.Errorf("%w: the sale was reset meanwhile", seckill.ErrConflict)
	// Another process made the same id (newOrderID): retry makes another one.
	errSameID = fmt.Errorf("%w: an order has this id", seckill.ErrConflict)
)

// notRecorded is what an order that could not be written means, by the unique key
// or the column that its INSERT ran into.
func notRecorded(err error) error {
	if n := sqlerr.Number(err); n != sqlerr.DuplicateEntry && n != sqlerr.NullColumn && !errors.Is(err, sqlite3.CONSTRAINT) {
		return err
	}
	for _, key := range []struct {
		in    string
		means error
	}{
		{"orders_one_active", seckill.ErrDuplicate}, {"orders.user_id, orders.sku_id", seckill.ErrDuplicate},
		{"orders_request", seckill.ErrDuplicate}, {"orders.request_id, orders.user_id", seckill.ErrDuplicate},
		{"'status' cannot be null", seckill.ErrNotStarted}, {"NOT NULL constraint failed: orders.status", seckill.ErrNotStarted},
		{"PRIMARY'", errSameID}, {"orders.sku_id, orders.run, orders.id", errSameID},
	} {
		if strings.Contains(err.Error(), key.in) {
			return key.means
		}
	}
	return err
}
