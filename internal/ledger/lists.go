package ledger

import "context"

// A Filter selects orders of the current runs: of a SKU, of a user, or of both.
type Filter struct {
	SKU, User int64
	RequestID string
	After     int64 // only orders with a higher ID
	Limit     int   // at most so many; 0: no limit
}

// Orders lists orders by age. Every filter reads a range of a key: of the primary
// key for a SKU, of a unique one for a user and for a request.
func (s *Store) Orders(ctx context.Context, f Filter) ([]Order, error) {
	orders := []Order{}
	q := s.db.WithContext(ctx).Order("id").Where("id > ?", f.After)
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
	if f.Limit != 0 {
		q = q.Limit(f.Limit)
	}
	err := q.Find(&orders).Error
	return orders, before(err)
}

// SKUs lists stock rows by id: those after a given one, so many at most.
func (s *Store) SKUs(ctx context.Context, after int64, limit int) ([]Stock, error) {
	all := []Stock{}
	err := s.db.WithContext(ctx).Where("id > ?", after).Order("id").Limit(limit).Find(&all).Error
	return all, before(err)
}
