package ledger

import (
	"context"
	"slices"

	"gorm.io/gorm"

	"seckill/internal/seckill"
)

// RecordAll writes the orders of purchases that were accepted earlier in one
// statement, in the transaction that has taken their units from the row of run, with
// Started in its condition. remaining is what was left after the last of them.
func (s *Store) RecordAll(tx *gorm.DB, run, remaining int64, batch []*Entry) error {
	num := remaining
	for _, e := range batch {
		num += e.Purchase.Quantity
	}
	s.number(num, batch)
	statement, args := insertAll("INSERT", run, batch, unfenced)
	_, _, err := s.Exec(tx, string(statement), args...)
	return notRecorded(err)
}

// RequestedIn finds the orders of a SKU that requests led to in a run, also one
// before the current.
func (s *Store) RequestedIn(ctx context.Context, sku, run int64, requests []string) (found []Order, err error) {
	for part := range slices.Chunk(requests, 1000) {
		var orders []Order
		if err := s.DB(ctx).Raw("SELECT * FROM orders WHERE request_id IN ? AND sku_id = ? AND run = ?", part, sku, run).Scan(&orders).Error; err != nil {
			return nil, before(err)
		}
		found = append(found, orders...)
	}
	return found, nil
}

func requestedIn(db *gorm.DB, run int64, p seckill.Purchase) (o Order, err error) {
	err = scan(db, &o, "SELECT * FROM orders WHERE request_id = ? AND user_id = ? AND sku_id = ? AND run = ?",
		p.RequestID, p.User, p.SKU, run)
	return o, unknownOrder(err)
}

// WhyNot says, in a transaction that has locked the row of run, what the
// database has against p: ErrDuplicate, ErrNotStarted, ErrSoldOut. It finds the
// order instead if another process has written it. Neither: it was another
// purchase that stood in the way.
func (s *Store) WhyNot(tx *gorm.DB, run int64, p seckill.Purchase) (*Order, error) {
	o, err := requestedIn(tx, run, p)
	if err == nil {
		return &o, nil
	}
	if err != seckill.ErrUnknownOrder {
		return nil, err
	}
	var now struct {
		Num            int64
		Started, Holds bool
	}
	err = scan(tx, &now, "SELECT num, "+s.Started()+" AS started, EXISTS (SELECT 1 FROM orders WHERE sku_id = stock.id AND "+
		"orders.run = stock.run AND user_id = ? AND status = ?) AS holds FROM stock WHERE id = ?", p.User, Active, p.SKU)
	switch {
	case err != nil:
		return nil, err
	case now.Holds:
		return nil, seckill.ErrDuplicate
	case !now.Started:
		return nil, seckill.ErrNotStarted
	case now.Num < p.Quantity:
		return nil, seckill.ErrSoldOut
	}
	return nil, nil
}

// A Refusal is what the database said of a purchase that had been accepted
// before. It stands as long as its run.
type Refusal struct {
	RequestID string `json:"request_id"`
	UserID    int64  `json:"user_id"`
	Reason    string `json:"code"` // as a problem's: sold_out, duplicate, not_started
}

// Refuse remembers, in the transaction that decides, that an accepted purchase is
// refused. A request that is accepted again and refused again has one refusal.
func (s *Store) Refuse(tx *gorm.DB, run int64, p seckill.Purchase, reason string) error {
	_, _, err := s.Exec(tx, "REPLACE INTO refusals (request_id, user_id, sku_id, run, reason, refused_at) "+
		"VALUES (?, ?, ?, ?, ?, "+nowIn(s.db)+")", p.RequestID, p.User, p.SKU, run, reason)
	return err
}

// Refused is the reason why a user's request was refused in the current run of a
// SKU, or of any SKU if sku is 0; ErrUnknownOrder if it was not.
func (s *Store) Refused(ctx context.Context, sku, user int64, requestID string) (reason string, err error) {
	var r Refusal
	query, args := "SELECT * FROM refusals WHERE user_id = ? AND request_id = ?", []any{user, requestID}
	if sku != 0 {
		query, args = query+" AND sku_id = ?", append(args, sku)
	}
	err = s.Read(ctx, &r, query+" AND run = (SELECT stock.run FROM stock WHERE stock.id = refusals.sku_id) ORDER BY refused_at DESC LIMIT 1", args...)
	return r.Reason, unknownOrder(err)
}
