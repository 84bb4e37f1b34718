package ledger

import (
	"context"
	"fmt"
	"slices"

	"gorm.io/gorm"

	"seckill/internal/backend"
)

// The orders of one run lie together, by age: the primary key is
// (sku_id, run, id). An audit, a page of a list and the removal of an old run
// each read one range of it. An order's id is made by the program (newOrderID)
// and is part of its public id, so public_id needs no index.
//
// Both unique keys carry the run: a reset starts a new run and leaves the old
// run's rows to the sweeper (Store.Sweep).
//
//   - orders_request_in_run: one order per request. Its prefixes serve the
//     look-up of a request.
//   - orders_one_active_in_run: one active order per user and SKU, through a
//     generated column that is 1 while the order is active and NULL afterwards;
//     a unique key ignores NULL. That works on MySQL, MariaDB and SQLite. Its
//     prefix serves the list of a user's orders.
//
// In stock, code is the id under another name, on purpose without an index:
// strategies that find their row by it show what a scan locks. Being generated,
// it is right in every row, also in one written by hand. starts_at is a Moment;
// without one the sale is on.
var mysqlSchema = []string{
	`CREATE TABLE IF NOT EXISTS stock (
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
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4`,
	`CREATE TABLE IF NOT EXISTS orders (
	id         BIGINT       NOT NULL,
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
	PRIMARY KEY (sku_id, run, id),
	UNIQUE KEY orders_request_in_run (request_id, user_id, sku_id, run),
	UNIQUE KEY orders_one_active_in_run (user_id, sku_id, run, active)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4`,
}

// SQLite's id is its row id, whatever else is a key.
var sqliteSchema = []string{
	`CREATE TABLE IF NOT EXISTS stock (
	id         INTEGER NOT NULL PRIMARY KEY,
	name       TEXT    NOT NULL,
	initial    INTEGER NOT NULL,
	num        INTEGER NOT NULL,
	version    INTEGER NOT NULL DEFAULT 0,
	fence      INTEGER NOT NULL DEFAULT 0,
	run        INTEGER NOT NULL,
	updated_at DATETIME NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f', 'now')),
	code       INTEGER GENERATED ALWAYS AS (id) VIRTUAL,
	starts_at  INTEGER NULL
)`,
	`CREATE TABLE IF NOT EXISTS orders (
	id         INTEGER PRIMARY KEY AUTOINCREMENT,
	public_id  TEXT    NOT NULL,
	request_id TEXT    NOT NULL,
	run        INTEGER NOT NULL,
	user_id    INTEGER NOT NULL,
	sku_id     INTEGER NOT NULL,
	quantity   INTEGER NOT NULL,
	remaining  INTEGER NOT NULL,
	status     TEXT    NOT NULL,
	strategy   TEXT    NOT NULL,
	created_at DATETIME NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f', 'now')),
	active     INTEGER GENERATED ALWAYS AS (CASE WHEN status = 'active' THEN 1 END) VIRTUAL
)`,
	`CREATE INDEX IF NOT EXISTS orders_run ON orders (sku_id, run)`,
	`CREATE UNIQUE INDEX IF NOT EXISTS orders_request_in_run ON orders (request_id, user_id, sku_id, run)`,
	`CREATE UNIQUE INDEX IF NOT EXISTS orders_one_active_in_run ON orders (user_id, sku_id, run, active)`,
}

// Migrate creates the tables where they are missing. Several processes may do so
// at once. A database whose tables are those of another build is refused.
func Migrate(ctx context.Context, db *gorm.DB) error {
	for attempt := 0; ; attempt++ {
		err := migrate(ctx, db)
		if !backend.TransactionUndone(err) || attempt == deadlockRetries || ctx.Err() != nil {
			return err
		}
		// Another node of the database was first. Every step may be made again.
	}
}

func migrate(ctx context.Context, db *gorm.DB) error {
	db = db.WithContext(ctx)
	schema := slices.Concat(mysqlSchema, splitSchema, reservationSchema, mysqlRefusals)
	if db.Name() == "sqlite" {
		schema = slices.Concat(sqliteSchema, sqliteRefusals)
	}
	if err := writeIdentity(db, schema); err != nil {
		return err
	}
	for _, statement := range schema {
		if err := db.Exec(statement).Error; err != nil {
			return fmt.Errorf("create the ledger's tables: %w (may this database user create tables?)", err)
		}
	}
	return nil
}
