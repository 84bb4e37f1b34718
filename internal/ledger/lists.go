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

// nextSold is the first SKU from this one on that has orders; 0: none has.
func (s *Store) nextSold(ctx context.Context, from int64) (int64, error) {
	var found []int64
	err := s.db.WithContext(ctx).Raw("SELECT id FROM stock WHERE id >= ? AND EXISTS "+
		"(SELECT 1 FROM orders WHERE orders.sku_id = stock.id AND orders.run = stock.run) ORDER BY id LIMIT 1", from).Scan(&found).Error
	if err != nil || len(found) == 0 {
		return 0, before(err)
	}
	return found[0], nil
}

func (s *Store) page(ctx context.Context, into *[]Order, f Filter) error {
	var where []string
	var args []any
	and := func(condition string, values ...any) {
		where, args = append(where, condition), append(args, values...)
	}
	if f.SKU != 0 {
		and("stock.id = ?", f.SKU)
	}
	if f.User != 0 {
		and("orders.user_id = ?", f.User)
	}
	if f.RequestID != "" {
		and("orders.request_id = ?", f.RequestID)
	}
	switch {
	case f.After == Cursor{}:
	case f.SKU != 0:
		and("orders.id > ?", f.After.ID)
	default:
		and("(orders.sku_id > ? OR orders.sku_id = ? AND orders.id > ?)", f.After.SKU, f.After.SKU, f.After.ID)
	}
	query := ofThisRun + strings.Join(where, " AND ") + " ORDER BY "
	if f.SKU == 0 {
		query += "orders.sku_id, "
	}
	query += "orders.id"
	if f.Limit != 0 {
		query += " LIMIT ?"
		args = append(args, f.Limit)
	}
	found := []Order{}
	if err := s.db.WithContext(ctx).Raw(query, args...).Scan(&found).Error; err != nil {
		return before(err)
	}
	*into = append(*into, found...)
	return nil
}

// SKUs lists stock rows by id: those after a given one, so many at most.
func (s *Store) SKUs(ctx context.Context, after int64, limit int) ([]Stock, error) {
	all := []Stock{}
	err := s.db.WithContext(ctx).Where("id > ?", after).Order("id").Limit(limit).Find(&all).Error
	return all, before(err)
}
