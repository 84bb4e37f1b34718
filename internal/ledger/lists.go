package ledger

import "context"

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
	orders := []Order{}
	q := s.db.WithContext(ctx).Order("id")
	if f.SKU != 0 { // known before the first order is read
		q = q.Where("sku_id = ? AND run = (SELECT run FROM stock WHERE id = ?)", f.SKU, f.SKU)
	} else {
		q = q.Where("run = (SELECT run FROM stock WHERE stock.id = orders.sku_id)")
	}
	if f.User != 0 {
		q = q.Where("user_id = ?", f.User)
	}
	if f.RequestID != "" {
		q = q.Where("request_id = ?", f.RequestID)
	}
	if err := q.Limit(MaxOrders).Find(&orders).Error; err != nil || len(orders) == 0 {
		return orders, before(err)
	}
	keys := make([][]int64, len(orders))
	for i, o := range orders {
		keys[i] = []int64{o.SKUID, o.Run, o.ID}
	}
	return orders, addReservations(s.db.WithContext(ctx), orders, "(sku_id, run, id) IN ?", keys)
}

// SKUs lists stock rows by id, at most limit of them; 0: no limit.
func (s *Store) SKUs(ctx context.Context, limit int) ([]Stock, error) {
	all := []Stock{}
	q := s.db.WithContext(ctx).Order("id")
	if limit != 0 {
		q = q.Limit(limit)
	}
	err := q.Find(&all).Error
	return all, before(err)
}
