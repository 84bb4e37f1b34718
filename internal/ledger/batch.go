package ledger

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"gorm.io/gorm"

	"seckill/internal/seckill"
)

// An Entry is one purchase of a batch, with the receipt of its order. If the caller does not set
// Receipt.Strategy, PlaceAll sets it to the Store's strategy.
type Entry struct {
	Purchase seckill.Purchase
	Receipt  seckill.Receipt
	Refused  bool // true if PlaceAll did not write the order
	id       int64
}

// PlaceAll does what Place does, for a batch of purchases. They are purchases of one SKU by different users, in the
// order of their arrival. The argument num is the number of units left before the first order. From num PlaceAll
// computes the units left after each order. If num turns out to be wrong, Shift corrects the orders.
//
// If a unique key forbids some of the orders, PlaceAll sets Refused in their Entries and returns false. The remaining
// units of the other orders are then wrong, so the caller must roll back and try without the refused purchases.
// Refused does not tell the reason. Perhaps another process has just made the same order id. So each refused purchase
// needs a transaction of its own.
//
// PlaceAll writes the orders sorted by user. Two processes with the same users in their batches then wait for each
// other's keys in the same sequence, so they do not deadlock.
func (s *Store) PlaceAll(tx *gorm.DB, run, num int64, batch []*Entry) (bool, error) {
	for _, e := range batch {
		num -= e.Purchase.Quantity
		e.id = newOrderID()
		e.Receipt = seckill.Receipt{OrderID: newPublicID(e.Purchase.SKU, e.id), SKU: e.Purchase.SKU,
			Quantity: e.Purchase.Quantity, Remaining: num, Strategy: cmp.Or(e.Receipt.Strategy, s.strategy)}
	}
	statement, args := insertAll("INSERT", run, batch)
	_, _, err := s.Exec(tx, statement, args...)
	if err = notRecorded(err); !errors.Is(err, seckill.ErrDuplicate) && !errors.Is(err, errSameID) {
		return true, err
	}
	statement, args = insertAll(insertIgnore(s.db), run, batch)
	if _, _, err = s.Exec(tx, statement, args...); err != nil {
		return false, err
	}
	return false, markMissing(tx, run, batch)
}

// insertAll returns one INSERT of all orders. It writes numbers and public ids into the statement, because
// placeholders take more time. This is safe, because the program makes these values itself.
func insertAll(verb string, run int64, batch []*Entry) (string, []any) {
	b := append(make([]byte, 0, 200+150*len(batch)), verb...)
	b = append(b, " INTO orders "+orderColumns("")+" VALUES "...)
	args := make([]any, 0, 3*len(batch)+1)
	byUser := func(a, b *Entry) int { return cmp.Compare(a.Purchase.User, b.Purchase.User) }
	for i, e := range slices.SortedFunc(slices.Values(batch), byUser) {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = fmt.Appendf(b, "(%d, '%s', ?, %d, %d, %d, %d, ?, %d, '%s')", e.id, e.Receipt.OrderID,
			e.Purchase.User, e.Purchase.SKU, e.Purchase.Quantity, e.Receipt.Remaining, run, Active)
		args = append(args, e.Purchase.RequestID, e.Receipt.Strategy)
	}
	return string(b), args
}

// markMissing sets Refused in the entries whose order was not written. It compares public ids, because a row
// with the same id may be the order of another process.
func markMissing(tx *gorm.DB, run int64, batch []*Entry) error {
	ids := make([]int64, len(batch))
	for i, e := range batch {
		ids[i] = e.id
	}
	var there []string
	err := tx.Raw("SELECT public_id FROM orders WHERE sku_id = ? AND run = ? AND id IN ?",
		batch[0].Purchase.SKU, run, ids).Scan(&there).Error
	for _, e := range batch {
		e.Refused = !slices.Contains(there, e.Receipt.OrderID)
	}
	return err
}

// Shift adds difference, which may be negative, to the remaining units of each order of a batch. It runs in the
// transaction that has placed the orders.
//
// Shift inserts the orders again, with ON DUPLICATE KEY UPDATE, so that the database finds each order by its primary
// key. The database may run an UPDATE with a list of ids as a scan of the whole sale. That scan would wait for the
// orders of other batches, whose transactions wait for the stock row that this transaction holds: a deadlock.
func (s *Store) Shift(tx *gorm.DB, run, difference int64, batch []*Entry) error {
	statement, args := insertAll("INSERT", run, batch)
	statement += " ON DUPLICATE KEY UPDATE remaining = orders.remaining + ?"
	_, _, err := s.Exec(tx, statement, append(args, difference)...)
	for _, e := range batch {
		e.Receipt.Remaining += difference
	}
	return err
}
