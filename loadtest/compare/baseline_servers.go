package compare

import (
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"sync/atomic"
	"time"

	"seckill/internal/backend"
)

// ServerBaselines are the baselines on the servers of an instance, which must
// have a connection per worker. A baseline without a configured server is
// Missing. stop removes their tables.
func ServerBaselines(ctx context.Context, in *backend.Instance, workers int) (
	baselines []Baseline, stop func(context.Context) error,
) {
	incr := Baseline{ID: BaselineRedis, Title: "bare Redis INCR", Missing: "no Redis is known"}
	if in.Redis != nil {
		key := "seckill:compare:" + rand.Text()
		incr.Missing, incr.Measure = "", func(ctx context.Context, d time.Duration) (float64, error) {
			defer in.Redis.Del(context.WithoutCancel(ctx), key)
			return perSecond(ctx, workers, d, func(ctx context.Context) error { return in.Redis.Incr(ctx, key).Err() })
		}
	}
	update := Baseline{ID: BaselineUpdate, Title: "bare hot-row UPDATE", Missing: "no MySQL is known"}
	tx := Baseline{ID: BaselineTransaction, Title: "the same transaction without HTTP", Missing: "no MySQL is known"}
	stop = func(context.Context) error { return nil }
	if in.DB == nil || in.Config.MySQLDSN == "" {
		return []Baseline{incr, update, tx}, stop
	}
	db, err := in.DB.DB()
	tables := bareTables{db: db, users: new(atomic.Int64),
		stock: "compare_stock_" + rand.Text(), orders: "compare_orders_" + rand.Text()}
	if err == nil {
		err = tables.create(ctx)
	}
	if err != nil {
		update.Missing, tx.Missing = err.Error(), err.Error()
		return []Baseline{incr, update, tx}, stop
	}
	update.Missing, update.Measure = "", func(ctx context.Context, d time.Duration) (float64, error) {
		return perSecond(ctx, workers, d, tables.update)
	}
	tx.Missing, tx.Measure = "", func(ctx context.Context, d time.Duration) (float64, error) {
		return perSecond(ctx, workers, d, tables.sell)
	}
	return []Baseline{incr, update, tx}, tables.drop
}

// bareTables are copies of the ledger's tables, so that its orders stay as they
// are.
type bareTables struct {
	db            *sql.DB
	stock, orders string
	users         *atomic.Int64 // each buys once
}

func (t bareTables) create(ctx context.Context) error {
	for _, statement := range []string{
		"CREATE TABLE " + t.stock + " LIKE stock",
		"CREATE TABLE " + t.orders + " LIKE orders",
		fmt.Sprintf("INSERT INTO %s (id, name, initial, num, run) VALUES (1, 'baseline', %d, %[2]d, 1)", t.stock, int64(1)<<52),
	} {
		if _, err := t.db.ExecContext(ctx, statement); err != nil {
			_ = t.drop(context.WithoutCancel(ctx))
			return fmt.Errorf("the tables of the baselines: %w", err)
		}
	}
	return nil
}

func (t bareTables) drop(ctx context.Context) error {
	_, err := t.db.ExecContext(ctx, "DROP TABLE IF EXISTS "+t.stock+", "+t.orders)
	return err
}

func (t bareTables) update(ctx context.Context) error {
	_, err := t.db.ExecContext(ctx, "UPDATE "+t.stock+" SET num = num - 1 WHERE id = 1 AND num - 1 >= 0")
	return err
}

// sell repeats the strategy conditional statement by statement.
func (t bareTables) sell(ctx context.Context) error {
	tx, err := t.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing
	result, err := tx.ExecContext(ctx,
		"UPDATE "+t.stock+" SET num = LAST_INSERT_ID(num - ?) WHERE id = ? AND num - ? >= 0", 1, 1, 1)
	if err != nil {
		return err
	}
	left, err := result.LastInsertId()
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO "+t.orders+
		" (public_id, request_id, user_id, sku_id, quantity, remaining, strategy, run, status) "+
		"VALUES (?, ?, ?, ?, ?, ?, ?, (SELECT run FROM "+t.stock+" WHERE id = ?), (SELECT CASE WHEN starts_at IS NULL OR "+
		"starts_at <= (TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) DIV 1000) THEN ? END "+
		"FROM "+t.stock+" WHERE id = ?))",
		rand.Text(), rand.Text(), t.users.Add(1), 1, 1, left, "bare", 1, "active", 1)
	if err != nil {
		return err
	}
	return tx.Commit()
}
