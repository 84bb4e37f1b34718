package hot

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"time"

	"seckill/loadtest/compare"
)

// Baselines without HTTP.
const (
	Update      = "bare hot-row UPDATE"
	Transaction = "bare transaction"
	MultiRow    = "multi-row INSERTs"
)

// multiRows are the orders of one transaction of MultiRow, by one client.
const multiRows = 500

// baselines are those without HTTP, by name and number of buyers.
type baselines struct {
	Options
	works   map[string]func(context.Context, time.Duration) (float64, error)
	closers []func(context.Context) error
	stock   string
	orders  string
	written int64
}

func (o Options) openBaselines(ctx context.Context) (*baselines, error) {
	b := &baselines{Options: o, works: map[string]func(context.Context, time.Duration) (float64, error){}}
	for _, n := range o.Buyers {
		all, stop := compare.ServerBaselines(ctx, o.In, n)
		b.closers = append(b.closers, stop)
		for _, one := range all {
			if one.Missing != "" && one.ID != compare.BaselineRedis {
				b.drop()
				return nil, fmt.Errorf("the baselines: %s", one.Missing)
			}
			b.works[key(one.ID, n)] = one.Measure
		}
	}
	return b, b.openMultiRow(ctx)
}

func key(id string, buyers int) string { return fmt.Sprint(id, " ", buyers) }

// of is a baseline with so many buyers. They share 256 connections at most.
func (b *baselines) of(name string, buyers int) work {
	id := map[string]string{Update: compare.BaselineUpdate, Transaction: compare.BaselineTransaction}[name]
	work := b.works[key(id, buyers)]
	return func(ctx context.Context, d time.Duration, before float64) (Pass, error) {
		if before == 0 { // connections are opened before anything is measured
			if _, err := work(ctx, Shortest); err != nil {
				return Pass{}, err
			}
		}
		used := b.processor()
		begun := time.Now()
		rate, err := work(ctx, d)
		n := rate * time.Since(begun).Seconds()
		return Pass{Orders: int(n), Rate: rate, Servers: used(n)}, err
	}
}

// processor measures what the servers use until the function is called with the
// number of orders; nil: not known.
func (b *baselines) processor() func(orders float64) *float64 {
	if b.Sale.ServersTime == nil {
		return func(float64) *float64 { return nil }
	}
	before, known := b.Sale.ServersTime()
	return func(orders float64) *float64 {
		after, still := b.Sale.ServersTime()
		if !known || !still || orders < 1 {
			return nil
		}
		us := 1e6 * (after - before).Seconds() / orders
		return &us
	}
}

func (b *baselines) openMultiRow(ctx context.Context) error {
	db, err := b.In.DB.DB()
	if err != nil {
		return err
	}
	b.stock, b.orders = "hot_many_stock_"+rand.Text(), "hot_many_orders_"+rand.Text()
	b.closers = append(b.closers, func(ctx context.Context) error {
		return execAll(ctx, db, "drop the tables of the baselines", "DROP TABLE IF EXISTS "+b.stock+", "+b.orders)
	})
	err = execAll(ctx, db, "the tables of the baselines", "CREATE TABLE "+b.stock+" LIKE stock", "CREATE TABLE "+b.orders+" LIKE orders",
		fmt.Sprintf("INSERT INTO %s (id, name, initial, num, run) VALUES (1, 'baseline', %d, %[2]d, 1)", b.stock, endless))
	if err != nil {
		b.drop()
	}
	return err
}

// multiRow has one client write orders, many with one statement, and take their
// units in the same transaction: what merging can come to without HTTP.
func (b *baselines) multiRow(ctx context.Context, d time.Duration, _ float64) (Pass, error) {
	used, begun, n := b.processor(), time.Now(), 0
	for time.Since(begun) < d {
		if err := b.writeMany(ctx); err != nil {
			return Pass{}, err
		}
		n += multiRows
	}
	return Pass{Orders: n, Rate: float64(n) / time.Since(begun).Seconds(), Servers: used(float64(n))}, nil
}

func (b *baselines) writeMany(ctx context.Context) error {
	db, err := b.In.DB.DB()
	if err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing
	var values []any
	for range multiRows {
		b.written++
		values = append(values, b.written, rand.Text(), rand.Text(), b.written, 1, 1, 1, bareStrategy, 1, "active")
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO "+b.orders+
		" (id, public_id, request_id, user_id, sku_id, quantity, remaining, strategy, run, status) VALUES "+
		strings.Repeat("(?,?,?,?,?,?,?,?,?,?),", multiRows-1)+"(?,?,?,?,?,?,?,?,?,?)", values...)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "UPDATE "+b.stock+" SET num = num - ? WHERE id = 1 AND num - ? >= 0", multiRows, multiRows)
	if err != nil {
		return err
	}
	return tx.Commit()
}

// drop removes the tables; the database may be gone.
func (b *baselines) drop() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	for _, f := range b.closers {
		_ = f(ctx)
	}
}
