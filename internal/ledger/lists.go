package ledger

import (
	"context"

	"seckill/internal/judge"
)

// MaxOrders bounds the length of a list of orders.
const MaxOrders = 1000

// A Filter selects orders of the current runs by SKU, user and request. An empty field does not restrict the orders.
type Filter struct {
	SKU, User int64
	RequestID string
}

// Orders lists orders from the oldest to the newest, with their reservations and without restocks. Every
// filter reads a range of one key: of the primary key for a SKU, and of a unique key for a user or a request.
func (s *Store) Orders(ctx context.Context, f Filter) ([]Order, error) {
	where, args := "o.user_id > 0 AND o.run = (SELECT run FROM stock WHERE stock.id = o.sku_id)", []any{}
	// The SKU is a constant in the inner SELECT, so the database runs it only once.
	if f.SKU != 0 {
		where = "o.user_id > 0 AND o.sku_id = ? AND o.run = (SELECT run FROM stock WHERE id = ?)"
		args = []any{f.SKU, f.SKU}
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

// SKUs lists stock rows by id. It returns at most limit rows; if limit is 0, it returns all rows.
func (s *Store) SKUs(ctx context.Context, limit int) ([]judge.Stock, error) {
	all := []judge.Stock{}
	q := s.db.WithContext(ctx).Order("id")
	if limit != 0 {
		q = q.Limit(limit)
	}
	err := q.Find(&all).Error
	return all, before(err)
}
