package ledger

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"gorm.io/gorm"

	"seckill/internal/seckill"
)

// An Entry is one purchase of a batch, and the receipt of its order, whose Strategy is
// set before if it is not the Store's.
type Entry struct {
	Purchase seckill.Purchase
	Receipt  seckill.Receipt
	Refused  bool // by PlaceAll
	id       int64
}

// PlaceAll is Place for a batch: purchases of one SKU, each by another user, in
// the order in which they came. Every order is written with what remains after it
// if num units are left before the first. Shift corrects that when it turns out
// otherwise.
//
// ok is false if an order is not written because a unique key is taken: its Entry is Refused. What remains after the
// others counts it in, so the caller rolls back and does without it. Refused is
// no answer to the buyer, since the key may be the order's id, which another process
// has made, too: whether they get an order is for a transaction of their own to say.
//
// Orders are written by user: two processes that have the same users in their
// batches then wait for each other's keys in one order, and do not deadlock.
func (s *Store) PlaceAll(tx *gorm.DB, run, num int64, batch []*Entry) (ok bool, err error) {
	for _, e := range batch {
		num -= e.Purchase.Quantity
		e.id = newOrderID()
		e.Receipt = seckill.Receipt{OrderID: newPublicID(e.Purchase.SKU, e.id), SKU: e.Purchase.SKU,
			Quantity: e.Purchase.Quantity, Remaining: num, Strategy: cmp.Or(e.Receipt.Strategy, s.strategy)}
	}
	statement, args := insertAll("INSERT", run, batch)
	_, _, err = s.Exec(tx, string(statement), args...)
	switch err = notRecorded(err); {
	case errors.Is(err, seckill.ErrDuplicate), errors.Is(err, errSameID):
		statement, args = insertAll(insertIgnore(s.db), run, batch)
		if _, _, err = s.Exec(tx, string(statement), args...); err == nil {
			err = s.markMissing(tx, run, batch)
		}
		return false, err
	}
	return true, err
}

// insertAll is one INSERT of all orders. Numbers and public ids, which are made
// here, are written into it: a placeholder costs more.
func insertAll(verb string, run int64, batch []*Entry) (statement []byte, args []any) {
	b := append(make([]byte, 0, 200+150*len(batch)), verb...)
	b = append(b, " INTO orders "+orderColumns("")+" VALUES "...)
	args = make([]any, 0, 3*len(batch)+1)
	byUser := slices.SortedFunc(slices.Values(batch), func(a, b *Entry) int { return cmp.Compare(a.Purchase.User, b.Purchase.User) })
	for i, e := range byUser {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = fmt.Appendf(b, "(%d, '%s', ?, %d, %d, %d, %d, ?, %d, '%s')", e.id, e.Receipt.OrderID,
			e.Purchase.User, e.Purchase.SKU, e.Purchase.Quantity, e.Receipt.Remaining, run, Active)
		args = append(args, e.Purchase.RequestID, e.Receipt.Strategy)
	}
	return b, args
}

// markMissing refuses the entries whose order is not there. Another process may
// have an order of the same id there: the public id tells.
func (s *Store) markMissing(tx *gorm.DB, run int64, batch []*Entry) error {
	ids := make([]int64, len(batch))
	for i, e := range batch {
		ids[i] = e.id
	}
	var there []string
	err := tx.Raw("SELECT public_id FROM orders WHERE sku_id = ? AND run = ? AND id IN ?", batch[0].Purchase.SKU, run, ids).Scan(&there).Error
	for _, e := range batch {
		e.Refused = !slices.Contains(there, e.Receipt.OrderID)
	}
	return err
}

// Shift corrects what remains after each order of a batch by so many units, in
// the transaction that has placed them.
//
// It inserts the orders again, and meets each by its primary key. An UPDATE with
// a list of ids may be run as a scan of the whole sale: it would wait for orders of
// other batches, which wait for the row that this one holds.
func (s *Store) Shift(tx *gorm.DB, run, by int64, batch []*Entry) error {
	statement, args := insertAll("INSERT", run, batch)
	statement = append(statement, " ON DUPLICATE KEY UPDATE remaining = orders.remaining + ?"...)
	_, _, err := s.Exec(tx, string(statement), append(args, by)...)
	for _, e := range batch {
		e.Receipt.Remaining += by
	}
	return err
}
