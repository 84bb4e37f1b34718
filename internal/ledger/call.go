package ledger

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"

	"github.com/ncruces/go-sqlite3"
	"gorm.io/gorm"

	"seckill/internal/backend"
	"seckill/internal/seckill"
)

// SellBy sells by a stored procedure that begins and ends the transaction by
// itself, and returns its answer: what it says the outcome is, and the receipt of
// the order if that was a sale. call names it with eight placeholders: the
// order's id and public id, request, fence, user, SKU, quantity, strategy.
//
// One command takes and commits, so a CALL without an answer is ErrUnknown, as a
// COMMIT is. A deadlock inside undid everything and is tried again.
func (s *Store) SellBy(ctx context.Context, call string, p seckill.Purchase) (outcome string, r seckill.Receipt, err error) {
	err = retry(ctx, func() error {
		id := newOrderID()
		r = seckill.Receipt{OrderID: newPublicID(p.SKU, id), SKU: p.SKU, Quantity: p.Quantity, Strategy: s.strategy}
		return s.alone(ctx, func(conn *sql.Conn) error {
			answer := conn.QueryRowContext(ctx, call, id, r.OrderID, p.RequestID, p.Fence, p.User, p.SKU, p.Quantity, s.strategy)
			return notRecorded(answer.Scan(&outcome, &r.Remaining))
		})
	})
	return outcome, r, called(err)
}

// RecordAlone is Record for a strategy that writes nothing else: one command
// writes the order and commits it, where a transaction needs three. Without an
// answer it is ErrUnknown, as a COMMIT is.
func (s *Store) RecordAlone(ctx context.Context, p seckill.Purchase, run, remaining int64) (r seckill.Receipt, err error) {
	err = retry(ctx, func() error {
		return s.alone(ctx, func(conn *sql.Conn) error {
			tx := s.db.Session(&gorm.Session{Context: ctx, NewDB: true})
			tx.Statement.ConnPool = conn
			r, err = s.Record(tx, p, run, remaining)
			return err
		})
	})
	return r, called(err)
}

// errNotSent: the command was not sent, or refused before it ran.
var errNotSent = errors.New("the command was not sent")

// alone lends a connection for one command that commits by itself. After an error
// that it cannot have met with a ROLLBACK, the connection is closed: the next
// transaction on it would commit what a procedure left open.
func (s *Store) alone(ctx context.Context, command func(*sql.Conn) error) error {
	pool, err := s.db.DB()
	if err != nil {
		return fmt.Errorf("%w: %w", errNotSent, err)
	}
	conn, err := pool.Conn(ctx)
	if err != nil {
		return fmt.Errorf("%w: %w", errNotSent, err)
	}
	defer conn.Close()
	if err = command(conn); err != nil && !seckill.NothingTaken(err) && !undone(err) {
		_ = conn.Raw(func(any) error { return driver.ErrBadConn })
	}
	return err
}

// neverRan are errors of a CALL that come before anything ran.
var neverRan = []uint16{backend.MySQLNoProcedure, backend.MySQLMayNotCall, backend.MySQLWrongArguments}

// undone: everything was rolled back, by the server or by a procedure's handler.
func undone(err error) bool {
	return backend.TransactionUndone(err) || backend.RowHeld(err) || errors.Is(err, sqlite3.BUSY) || errors.Is(err, sqlite3.LOCKED)
}

// called classifies the error of a command that commits by itself.
func called(err error) error {
	switch {
	case err == nil, seckill.NothingTaken(err):
		return err
	case undone(err), slices.Contains(neverRan, backend.MySQLNumber(err)), errors.Is(err, errNotSent),
		errors.Is(err, driver.ErrBadConn): // the driver: it was never sent, or the server is read-only
		return before(err)
	}
	return fmt.Errorf("%w: the command got no answer: %w", seckill.ErrUnknown, err)
}
