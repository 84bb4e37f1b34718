package ledger

import (
	"context"
	"slices"
)

// A Filter selects orders of the current runs: of a SKU, of a user, or of both.
type Filter struct {
	SKU, User int64
	RequestID string
	Limit     int // at most so many; 0: no limit
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
	if f.Limit != 0 {
		q = q.Limit(f.Limit)
	}
	if err := q.Find(&orders).Error; err != nil {
		return nil, before(err)
	}
	for part := range slices.Chunk(orders, 1000) {
		keys := make([][]int64, len(part))
		for i, o := range part {
			keys[i] = []int64{o.SKUID, o.Run, o.ID}
		}
		if err := addReservations(s.db.WithContext(ctx), part, "(sku_id, run, id) IN ?", keys); err != nil {
			return nil, err
		}
	}
	return orders, nil
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
