package reconcile

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-sql-driver/mysql"

	"seckill/internal/seckill"
)

// reservations finds those that no sweeper has given back. Each is given back by
// one conditional UPDATE of its state, like any that a sweeper finds.
func (p Place) reservations(ctx context.Context) (found []Finding, err error) {
	var rows []struct {
		Strategy string
		N        int
	}
	err = p.read(ctx, &rows, "SELECT r.strategy, COUNT(*) AS n FROM reservations r JOIN stock s ON s.id = r.sku_id AND s.run = r.run "+
		"WHERE r.state = 'reserved' AND r.ends_at <= UTC_TIMESTAMP(6) - INTERVAL ? MICROSECOND GROUP BY r.strategy ORDER BY r.strategy",
		p.Late.Microseconds())
	for _, row := range rows {
		f := Finding{Kind: Reservations, What: fmt.Sprintf("%d reservations of %s are past their deadline and hold units", row.N, row.Strategy),
			Advice: "no process that runs this strategy is up"}
		for _, s := range p.Sellers {
			if r, ok := s.Strategy.(seckill.Reserver); ok && s.Info.Name == row.Strategy {
				f.Would, f.Advice = "give them back, each once", ""
				f.fix = func(ctx context.Context) error { return expireAll(ctx, r) }
			}
		}
		found = append(found, f)
	}
	return found, err
}

// mostSweeps bounds the fix: new ones come due meanwhile.
const mostSweeps = 10_000

func expireAll(ctx context.Context, r seckill.Reserver) error {
	for range mostSweeps {
		if n, err := r.Expire(ctx); err != nil || n == 0 {
			return err
		}
	}
	return nil
}

// lockRows finds rows of distributed_lock that have ended, which the next buyer
// would take over, and those without an end whose holder has not touched them for
// longer than a purchase can take; they block for ever. A fix names all that it
// saw of a row, so a lock that was taken anew is not freed.
//
// Rows without an end are judged only where they are a SKU's: a command may hold
// another (seckill lock) for hours.
func (p Place) lockRows(ctx context.Context) (found []Finding, err error) {
	const columns = "SELECT id, name, owner, expire IS NULL AS endless FROM distributed_lock WHERE "
	const ended = "expire <= NOW(6)"
	const endless = "expire IS NULL AND name LIKE 'seckill:lock:stock:%' AND updated_at <= NOW(6) - INTERVAL ? MICROSECOND"
	var rows []struct {
		ID          int64
		Name, Owner string
		Endless     bool
	}
	late := p.Late.Microseconds()
	if err := p.read(ctx, &rows, columns+ended+" OR "+endless+" ORDER BY id LIMIT 1000", late); err != nil {
		return nil, err
	}
	for _, row := range rows {
		still, args := ended, []any{row.ID, row.Name, row.Owner}
		f := Finding{Kind: LockRows, What: "the row of the lock " + row.Name + " has ended and was not freed", Would: "remove it"}
		if row.Endless {
			still, args = endless, append(args, late)
			f.What = fmt.Sprintf("the row of the lock %s has no end, and is older than %s: its holder is gone or stands still", row.Name, p.Late)
		}
		f.fix = func(ctx context.Context) error {
			_, err := p.Store.Write(ctx, "DELETE FROM distributed_lock WHERE id = ? AND name = ? AND owner = ? AND "+still, args...)
			return err
		}
		found = append(found, f)
	}
	return found, nil
}

// leases counts slots whose process is gone.
func (p Place) leases(ctx context.Context) (found []Finding, err error) {
	var rows []struct{ Sku, Slots int64 }
	err = p.read(ctx, &rows, "SELECT l.sku_id AS sku, SUM(l.last_slot - l.first_slot + 1) AS slots FROM slot_lease l "+
		"JOIN stock s ON s.id = l.sku_id AND s.run = l.run WHERE l.ends_at <= UTC_TIMESTAMP(6) - INTERVAL ? MICROSECOND GROUP BY l.sku_id",
		p.Late.Microseconds())
	for _, row := range rows {
		found = append(found, Finding{Kind: Leases, SKU: row.Sku, What: fmt.Sprintf("leases of %d slots have ended", row.Slots),
			Advice: "nothing to do: the next buyer's process takes them over"})
	}
	return found, err
}

// oldOrders counts what a reset has left behind.
func (p Place) oldOrders(ctx context.Context) (found []Finding, err error) {
	var n int64
	err = p.Store.DB(ctx).Raw("SELECT COUNT(*) FROM orders o JOIN stock s ON s.id = o.sku_id WHERE o.run < s.run").Scan(&n).Error
	if err != nil || n == 0 {
		return nil, err
	}
	return []Finding{{Kind: OldOrders, What: fmt.Sprintf("%d orders are of runs that are over", n), Would: "remove them, in small pieces",
		fix: func(ctx context.Context) error {
			_, err := p.Store.Sweep(ctx)
			return err
		}}}, nil
}

const errNoSuchTable = 1146

// read leaves out tables that this database has not got, or cannot have.
func (p Place) read(ctx context.Context, into any, query string, args ...any) error {
	db := p.Store.DB(ctx)
	if db.Name() == "sqlite" {
		return nil
	}
	err := db.Raw(query, args...).Scan(into).Error
	var e *mysql.MySQLError
	if errors.As(err, &e) && e.Number == errNoSuchTable {
		return nil
	}
	return err
}
