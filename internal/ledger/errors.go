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

// before translates an error that happened before COMMIT was sent. Either the Store rolls the transaction
// back, or the server does so when the connection ends. So nothing was taken.
func before(err error) error {
	if err == nil || seckill.NothingTaken(err) {
		return err
	}
	switch {
	case sqlerr.IsRowLocked(err), isFileLocked(err):
		return fmt.Errorf("%w: waited for a lock of the database: %w", seckill.ErrBusy, err)
	case sqlerr.IsRolledBack(err):
		return fmt.Errorf("%w: %w", seckill.ErrConflict, err)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%w: %w", seckill.ErrBusy, err)
	}
	return fmt.Errorf("%w: %w", seckill.ErrUnavailable, err)
}

// undone reports whether err means that the server, or a procedure's handler, has rolled the transaction back.
func undone(err error) bool {
	return sqlerr.IsRolledBack(err) || sqlerr.IsRowLocked(err) || isFileLocked(err)
}

func isFileLocked(err error) bool {
	return errors.Is(err, sqlite3.BUSY) || errors.Is(err, sqlite3.LOCKED)
}

// neverRan lists the errors with which a server refuses to begin a CALL.
var neverRan = []uint16{sqlerr.NoProcedure, sqlerr.ProcedureDenied, sqlerr.WrongArguments}

// after translates the error of a COMMIT, or of a command that commits by itself. If the command got no answer, after
// returns ErrUnknown.
func after(what string, err error) error {
	switch {
	case err == nil, seckill.NothingTaken(err):
		return err
	case undone(err), slices.Contains(neverRan, sqlerr.Number(err)), errors.Is(err, driver.ErrBadConn):
		// ErrBadConn has two causes. Either the driver did not send the command, or a server that became
		// read-only refused it and rolled back (see readOnlyError in package backend). So nothing was taken.
		return before(err)
	}
	return fmt.Errorf("%w: %s got no answer: %w", seckill.ErrUnknown, what, err)
}

var (
	// ErrNoRow means that a statement of Read or ReadIn found no row. It wraps ErrUnknownSKU, which is right
	// for statements that read the stock row. A caller that reads another table must translate ErrNoRow.
	ErrNoRow = fmt.Errorf("%w: the statement found no row", seckill.ErrUnknownSKU)

	// ErrReset means that the sale was reset after the caller had read its run.
	ErrReset = fmt.Errorf("%w: the sale was reset meanwhile", seckill.ErrConflict)
	// errSameID means that another process has used the id that newOrderID made for this order. retry
	// then tries again with a new id.
	errSameID = fmt.Errorf("%w: an order has this id", seckill.ErrConflict)
)

// notRecorded translates the error of an INSERT of orders. The error names a unique key or a column, which
// decides what notRecorded returns.
func notRecorded(err error) error {
	n := sqlerr.Number(err)
	if n != sqlerr.DuplicateEntry && n != sqlerr.NullColumn && !errors.Is(err, sqlite3.CONSTRAINT) {
		return err
	}
	for _, key := range []struct {
		in    string
		means error
	}{
		{"orders_one_active", seckill.ErrDuplicate}, {"orders.user_id, orders.sku_id", seckill.ErrDuplicate},
		{"orders_request", seckill.ErrDuplicate}, {"orders.request_id, orders.user_id", seckill.ErrDuplicate},
		{"'status' cannot be null", seckill.ErrNotStarted},
		{"NOT NULL constraint failed: orders.status", seckill.ErrNotStarted},
		{"PRIMARY'", errSameID}, {"orders.sku_id, orders.run, orders.id", errSameID},
	} {
		if strings.Contains(err.Error(), key.in) {
			return key.means
		}
	}
	return err
}
