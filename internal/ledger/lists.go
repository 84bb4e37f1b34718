package ledger

import (
	"context"
	"errors"
	"strconv"
	"strings"
)

// A Filter selects orders of the current runs; zero fields select all.
type Filter struct {
	SKU, User int64
	RequestID string
	After     Cursor // only orders behind it
	Limit     int    // at most so many; 0: no limit
}

// A Cursor is a place in a list of orders: behind the order ID of SKU. The zero
// Cursor is the beginning.
type Cursor struct{ SKU, ID int64 }

// CursorAt is the place behind o.
func CursorAt(o Order) Cursor { return Cursor{o.SKUID, o.ID} }

const cursorBase = 36

func (c Cursor) String() string {
	return strconv.FormatInt(c.SKU, cursorBase) + "." + strconv.FormatInt(c.ID, cursorBase)
}

// ParseCursor reads what String wrote.
func ParseCursor(text string) (c Cursor, err error) {
	sku, id, ok := strings.Cut(text, ".")
	if !ok {
		return c, errors.New("not a cursor")
	}
	if c.SKU, err = strconv.ParseInt(sku, cursorBase, 64); err != nil {
		return c, err
	}
	c.ID, err = strconv.ParseInt(id, cursorBase, 64)
	return c, err
}

// Orders lists orders by SKU and age. Every filter reads a range of a key: of
// the primary key for a SKU, and for all; of the unique keys for a user and for
// a request.
func (s *Store) Orders(ctx context.Context, f Filter) ([]Order, error) {
	orders := []Order{}
	if f.User != 0 || f.RequestID != "" {
		return orders, s.page(ctx, &orders, f)
	}
	for sku := max(f.SKU, f.After.SKU); ; {
		if f.SKU == 0 {
			next, err := s.nextSold(ctx, sku)
			if err != nil || next == 0 {
				return orders, err
			}
			sku = next
		}
		of := Filter{SKU: sku, Limit: f.Limit - len(orders)}
		if f.Limit == 0 {
			of.Limit = 0
		}
		if sku == f.After.SKU {
			of.After = f.After
		}
		if err := s.page(ctx, &orders, of); err != nil {
			return nil, err
		}
		if f.SKU != 0 || f.Limit != 0 && len(orders) >= f.Limit {
			return orders, nil
		}
		sku++
	}
}

// nextSold is the first SKU from this one on that has orders; 0: none has. (With
// EXISTS the database may read all orders to find out.)
func (s *Store) nextSold(ctx context.Context, from int64) (int64, error) {
	var found []int64
	err := s.db.WithContext(ctx).Raw("SELECT id FROM stock WHERE id >= ? AND "+
		"(SELECT 1 FROM orders WHERE orders.sku_id = stock.id AND orders.run = stock.run LIMIT 1) = 1 ORDER BY id LIMIT 1", from).Scan(&found).Error
	if err != nil || len(found) == 0 {
		return 0, before(err)
	}
	return found[0], nil
}

func (s *Store) page(ctx context.Context, into *[]Order, f Filter) error {
	q := s.db.WithContext(ctx)
	switch {
	case f.SKU != 0: // known before the first order is read: one range of the primary key
		q = q.Order("id").Where("sku_id = ? AND run = (SELECT run FROM stock WHERE id = ?) AND id > ?", f.SKU, f.SKU, f.After.ID)
	default:
		q = q.Where("run = (SELECT run FROM stock WHERE stock.id = orders.sku_id)").
			Where("(sku_id > ? OR sku_id = ? AND id > ?)", f.After.SKU, f.After.SKU, f.After.ID).Order("sku_id, id")
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
	var found []Order
	err := q.Find(&found).Error
	*into = append(*into, found...)
	return before(err)
}

// SKUs lists stock rows by id: those after a given one, so many at most.
func (s *Store) SKUs(ctx context.Context, after int64, limit int) ([]Stock, error) {
	all := []Stock{}
	err := s.db.WithContext(ctx).Where("id > ?", after).Order("id").Limit(limit).Find(&all).Error
	return all, before(err)
}

const mostStragglers = 100 // one is enough to make a run prove nothing

// Stragglers are orders of higher runs than the SKU's current one, up to 100: the
// stock row was put back to an older state beneath them, and nothing that it says
// can be trusted. Orders of earlier runs stay in the table for a while and are no
// concern of this run: Record refuses to write into them once the run has moved on.
func (s *Store) Stragglers(ctx context.Context, sku int64) (found []Order, err error) {
	err = s.db.WithContext(ctx).Where("sku_id = ? AND run > (SELECT run FROM stock WHERE id = ?)", sku, sku).
		Order("run, id").Limit(mostStragglers).Find(&found).Error
	return found, before(err)
}

// Sellers names the strategies that wrote orders of the SKU's current run.
func (s *Store) Sellers(ctx context.Context, sku int64) ([]string, error) {
	names := []string{}
	err := s.db.WithContext(ctx).Raw("SELECT DISTINCT strategy FROM orders WHERE sku_id = ? AND run = (SELECT run FROM stock WHERE id = ?)",
		sku, sku).Scan(&names).Error
	return names, before(err)
}
