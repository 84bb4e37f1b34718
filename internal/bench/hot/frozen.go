package hot

import (
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"sync/atomic"
)

// Frozen is the strategy conditional as it once was: four trips to the tables
// below. They stay as they are, whatever becomes of the ledger, so that "so many
// times as fast" means the same next year.
const Frozen = "conditional, frozen"

// The orders of then: a number by the database for the primary key, and three
// unique keys, whose entries come at random places.
const (
	frozenStock = `CREATE TABLE %s (
	id         BIGINT       NOT NULL PRIMARY KEY,
	name       VARCHAR(255) NOT NULL,
	initial    BIGINT       NOT NULL,
	num        BIGINT       NOT NULL,
	version    BIGINT       NOT NULL DEFAULT 0,
	fence      BIGINT       NOT NULL DEFAULT 0,
	run        BIGINT       NOT NULL,
	updated_at TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6),
	code       BIGINT GENERATED ALWAYS AS (id) VIRTUAL,
	starts_at  BIGINT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4`
	frozenOrders = `CREATE TABLE %s (
	id         BIGINT       NOT NULL AUTO_INCREMENT PRIMARY KEY,
	public_id  VARCHAR(64)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
	request_id VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
	run        BIGINT       NOT NULL,
	user_id    BIGINT       NOT NULL,
	sku_id     BIGINT       NOT NULL,
	quantity   BIGINT       NOT NULL,
	remaining  BIGINT       NOT NULL,
	status     VARCHAR(16)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
	strategy   VARCHAR(64)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
	created_at TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
	active     TINYINT GENERATED ALWAYS AS (CASE WHEN status = 'active' THEN 1 END) VIRTUAL,
	UNIQUE KEY orders_public_id (public_id),
	UNIQUE KEY orders_request (user_id, request_id),
	UNIQUE KEY orders_one_active (sku_id, user_id, active)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4`
)

// frozen are those tables under names of their own.
type frozen struct {
	db            *sql.DB
	stock, orders string
	users         atomic.Int64 // each buys once
}

// endless is a stock that no run sells out.
const endless = int64(1) << 52

func openFrozen(ctx context.Context, db *sql.DB) (*frozen, error) {
	f := &frozen{db: db, stock: "hot_stock_" + rand.Text(), orders: "hot_orders_" + rand.Text()}
	return f, execAll(ctx, db, "the frozen tables", fmt.Sprintf(frozenStock, f.stock), fmt.Sprintf(frozenOrders, f.orders),
		fmt.Sprintf("INSERT INTO %s (id, name, initial, num, run) VALUES (1, 'frozen', %d, %[2]d, 1)", f.stock, endless))
}

func execAll(ctx context.Context, db *sql.DB, what string, statements ...string) error {
	for _, s := range statements {
		if _, err := db.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("%s: %w (may this database user create tables?)", what, err)
		}
	}
	return nil
}

func (f *frozen) drop(ctx context.Context) error {
	return execAll(ctx, f.db, "drop the frozen tables", "DROP TABLE IF EXISTS "+f.stock+", "+f.orders)
}

// sell is one sale: BEGIN, UPDATE, INSERT, COMMIT. Statements go as text with
// their arguments in it, as the service sent them then: nothing is prepared.
func (f *frozen) sell(ctx context.Context, quantity int64) (left int64, err error) {
	tx, err := f.db.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing
	result, err := tx.ExecContext(ctx, fmt.Sprintf("UPDATE %s SET num = LAST_INSERT_ID(num - %d) WHERE id = 1 AND num - %[2]d >= 0",
		f.stock, quantity))
	if err != nil {
		return 0, err
	}
	if left, err = result.LastInsertId(); err != nil {
		return 0, err
	}
	_, err = tx.ExecContext(ctx, fmt.Sprintf("INSERT INTO %[1]s "+
		"(public_id, request_id, user_id, sku_id, quantity, remaining, strategy, run, status) "+
		"VALUES ('%[3]s', '%[4]s', %[5]d, 1, %[6]d, %[7]d, 'frozen', (SELECT run FROM %[2]s WHERE id = 1), "+
		"(SELECT CASE WHEN starts_at IS NULL OR starts_at <= (TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) DIV 1000) "+
		"THEN 'active' END FROM %[2]s WHERE id = 1))", f.orders, f.stock, rand.Text(), rand.Text(), f.users.Add(1), quantity, left))
	if err != nil {
		return 0, err
	}
	return left, tx.Commit()
}
