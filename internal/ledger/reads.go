package ledger

import (
	"context"
	"database/sql"
	"errors"
	"iter"
	"time"

	"gorm.io/gorm"

	"seckill/internal/judge"
	"seckill/internal/seckill"
)

// A Start says when the current run of a SKU's sale starts.
type Start struct {
	Run      int64
	StartsAt *judge.Moment // nil if the sale started at the reset
	Now      judge.Moment  // the time by the database's clock when the Start was read
}

// Wait returns the time from Now until the sale starts, at most 292 years. If the sale has started, Wait returns 0.
func (s Start) Wait() time.Duration {
	if s.StartsAt == nil {
		return 0
	}
	return max(0, s.StartsAt.Time().Sub(s.Now.Time()))
}

// Start reads when the sale of a SKU starts. It returns ErrUnknownSKU if there is no such SKU.
func (s *Store) Start(ctx context.Context, sku int64) (Start, error) {
	var st Start
	err := s.Read(ctx, &st, "SELECT run, starts_at, "+nowIn(s.db)+" AS now FROM stock WHERE id = ?", sku)
	return st, err
}

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

// Snapshot reads one SKU's stock and the orders of its run in one consistent view.
func (s *Store) Snapshot(ctx context.Context, sku int64) (judge.Snapshot, error) {
	var snap judge.Snapshot
	err := s.View(ctx, sku, func(e judge.Evidence) {
		snap = e.Snapshot
		snap.Orders = []Order{}
		for o := range e.ByAge {
			snap.Orders = append(snap.Orders, *o)
		}
	})
	if err == nil { // Refusals are final, so they may be read after the orders and outside View's transaction.
		err = before(s.DB(ctx).Raw("SELECT user_id, request_id FROM orders "+
			"WHERE sku_id = ? AND run = ? AND status = ?", sku, snap.Stock.Run, Refused).Scan(&snap.Refused).Error)
	}
	return snap, err
}

// View does what Snapshot does, for a large sale. The function look gets Evidence.ByAge and ByUnit, which
// read the orders one at a time. The orders include those of higher runs. Such orders prove that somebody put
// the stock row back to an older state, so that the row cannot be trusted.
func (s *Store) View(ctx context.Context, sku int64, look func(judge.Evidence)) error {
	var err error
	read := func(tx *gorm.DB) error {
		var snap judge.Snapshot
		if err := s.ReadIn(tx, &snap.Stock, "SELECT * FROM stock WHERE id = ?", sku); err != nil {
			return err
		}
		run := snap.Stock.Run
		orders := func(which string) iter.Seq[*Order] {
			return func(yield func(*Order) bool) {
				err = errors.Join(err, eachOrder(tx, yield, "o.sku_id = ? AND o.run >= ? "+which, sku, run))
			}
		}
		look(judge.Evidence{Snapshot: snap, Initial: snap.Stock.Initial,
			ByAge:  orders("ORDER BY o.run, o.id"),
			ByUnit: orders("AND o.status = 'active' ORDER BY o.remaining + o.quantity DESC, o.run, o.id")})
		return err
	}
	if s.atRest {
		err = read(s.DB(ctx))
	} else { // The default isolation is REPEATABLE READ, so every query sees the same state.
		err = s.DB(ctx).Transaction(read, &sql.TxOptions{ReadOnly: true})
	}
	return before(err)
}

// eachOrder reads orders with their reservations, one row at a time, and leaves refusals out.
func eachOrder(db *gorm.DB, yield func(*Order) bool, where string, args ...any) error {
	rows, err := db.Raw("SELECT o.id, o.public_id, o.request_id, o.run, o.user_id, o.sku_id, o.quantity, o.remaining, "+
		"o.status, o.strategy, o.created_at, "+reservationColumns(db)+"FROM orders AS o LEFT JOIN reservations AS r "+
		"ON r.sku_id = o.sku_id AND r.run = o.run AND r.id = o.id "+
		"WHERE o.status <> 'refused' AND "+where, args...).Rows()
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var o Order
		var state sql.Null[seckill.ReservationState]
		var released, ends, left sql.NullInt64
		if err := rows.Scan(&o.ID, &o.PublicID, &o.RequestID, &o.Run, &o.UserID, &o.SKUID, &o.Quantity, &o.Remaining,
			&o.Status, &o.Strategy, &o.CreatedAt, &state, &released, &ends, &left); err != nil {
			return err
		}
		if state.Valid {
			o.Reservation = &judge.Reservation{State: state.V, Ends: judge.Moment(ends.Int64),
				Released: released.Int64, Left: left.Int64}
		}
		if !yield(&o) {
			return nil
		}
	}
	return rows.Err()
}

// reservationColumns returns the SQL for the columns of a Reservation. SQLite gets the number 0 for times,
// because it has no reservations and lacks MySQL's functions of time.
func reservationColumns(db *gorm.DB) string {
	if db.Name() == "sqlite" {
		return "r.state, r.released, 0 AS ends, 0 AS `left` "
	}
	return "r.state, r.released, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', r.ends_at) DIV 1000 AS ends, " +
		"TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), NULLIF(r.ends_at, '1970-01-01')) AS `left` "
}

// Reservation reads an order of the current run with its reservation. It returns ErrUnknownOrder
// if there is no such order, or if the order did not begin as a reservation.
func (s *Store) Reservation(ctx context.Context, id string) (Order, error) {
	o, err := s.Order(ctx, id)
	if err != nil {
		return o, err
	}
	o.Reservation = &judge.Reservation{}
	err = s.Read(ctx, o.Reservation, "SELECT "+reservationColumns(s.db)+
		"FROM reservations AS r WHERE sku_id = ? AND run = ? AND id = ?", o.SKUID, o.Run, o.ID)
	return o, noOrder(err)
}
