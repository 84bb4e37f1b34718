package ledger

import (
	"context"
	"database/sql"
	"database/sql/driver"

	"gorm.io/gorm"

	"seckill/internal/seckill"
)

// SellBy sells by a stored procedure that begins and ends the transaction itself. The argument call is a CALL statement
// with seven placeholders: the order's id and public id, the request's id, the user, the SKU, the quantity and the
// strategy. The procedure answers with an outcome and, if it sold, the units left.
//
// The CALL takes the units and commits in one command. If the CALL gets no answer, SellBy returns ErrUnknown, as Tx
// does for a COMMIT. A deadlock rolls everything back, so SellBy tries again.
func (s *Store) SellBy(ctx context.Context, call string, p seckill.Purchase) (string, seckill.Receipt, error) {
	var outcome string
	var r seckill.Receipt
	err := runAlone(s.DB(ctx), func(tx *gorm.DB) error {
		id := newOrderID()
		r = seckill.Receipt{OrderID: newPublicID(p.SKU, id), SKU: p.SKU, Quantity: p.Quantity, Strategy: s.strategy}
		answer := tx.Statement.ConnPool.QueryRowContext(ctx, call,
			id, r.OrderID, p.RequestID, p.User, p.SKU, p.Quantity, s.strategy)
		return notRecorded(answer.Scan(&outcome, &r.Remaining))
	})
	return outcome, r, err
}

// RecordAlone does what Record does, for a strategy that writes nothing else. It writes and commits the order with
// one command; a transaction needs three commands. If the command gets no answer, RecordAlone returns ErrUnknown.
func (s *Store) RecordAlone(
	ctx context.Context, p seckill.Purchase, run, remaining int64,
) (seckill.Receipt, error) {
	var r seckill.Receipt
	err := runAlone(s.DB(ctx), func(tx *gorm.DB) (err error) {
		r, err = s.Record(tx, p, run, remaining)
		return err
	})
	return r, err
}

// runAlone runs one command that commits by itself, on a connection of its own. If the command fails and may
// have left a transaction open, runAlone closes the connection. Otherwise the next transaction on this
// connection would also commit what the procedure left open.
func runAlone(db *gorm.DB, command func(tx *gorm.DB) error) error {
	sent := false
	err := retry(db.Statement.Context, func() error {
		sent = false
		return db.Connection(func(tx *gorm.DB) error {
			sent = true
			err := command(tx)
			if err != nil && !seckill.NothingTaken(err) && !undone(err) {
				_ = tx.Statement.ConnPool.(*sql.Conn).Raw(func(any) error { return driver.ErrBadConn })
			}
			return err
		})
	})
	if !sent {
		return before(err)
	}
	return after("the command", err)
}
