package ledger

import (
	"context"

	"seckill/internal/judge"
)

// MaxOrders bounds a list of orders.
const MaxOrders = 1000

// A Filter selects orders of the current runs: of a SKU, of a user, or of both.
type Filter struct {
	SKU, User int64
	RequestID string
}

// Orders lists orders by age, with their reservations. Every filter reads a range of a
// key: of the primary key for a SKU, of a unique one for a user and for a request.
func (s *Store) Orders(ctx context.Context, f Filter) ([]Order, error) {
	where, args := "o.run = (SELECT run FROM stock WHERE stock.id = o.sku_id)", []any{}
	if f.SKU != 0 { // known before the first order is read
		where, args = "o.sku_id = ? AND o.run = (SELECT run FROM stock WHERE id = ?)", []any{f.SKU, f.SKU}
	}
	if f.User != 0 {
		where, args = where+" AND o.user_id = ?", append(args, f.User)
	}
	if f.RequestID != "" {
		where, args = where+" AND o.request_id = ?", append(args, f.RequestID)
	}
	orders := []Order{}
	err := eachOrder(s.DB(ctx), func(o *Order) bool {
		orders = append(orders, *o)
		return true
	}, where+" ORDER BY o.id LIMIT ?", append(args, MaxOrders)...)
	return orders, before(err)
}

// SKUs lists stock rows by id, at most limit of them; 0: no limit.
func (s *Store) SKUs(ctx context.Context, limit int) ([]judge.Stock, error) {
	all := []judge.Stock{}
	q := s.db.WithContext(ctx).Order("id")
	if limit != 0 {
		q = q.Limit(limit)
	}
	err := q.Find(&all).Error
	return all, before(err)
}
