package ledger

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"gorm.io/gorm"
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
// The id's default serves processes of versions that let the database number
// the orders, while they run beside this one.
//
// Two columns of stock are younger than the table (later): code is the id under
// another name, on purpose without an index: strategies that find their row by
// it show what a scan locks. Being generated, it is right in every row, also in
// one written by hand. starts_at is a Moment; without one the sale is on.
var mysqlSchema = []string{
	`CREATE TABLE IF NOT EXISTS stock (
	id         BIGINT       NOT NULL PRIMARY KEY,
	name       VARCHAR(255) NOT NULL,
	initial    BIGINT       NOT NULL,
	num        BIGINT       NOT NULL,
	version    BIGINT       NOT NULL DEFAULT 0,
	fence      BIGINT       NOT NULL DEFAULT 0,
	run        BIGINT       NOT NULL,
	updated_at TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4`,
	`CREATE TABLE IF NOT EXISTS orders (
	id         BIGINT       NOT NULL DEFAULT (UUID_SHORT()),
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
	updated_at DATETIME NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f', 'now'))
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
	`DROP INDEX IF EXISTS orders_request`,
	`DROP INDEX IF EXISTS orders_one_active`,
}

// Migrate creates the tables where they are missing, and brings older ones to
// today's form. Several processes may do so at once, and processes of the
// version before may go on selling meanwhile and afterwards.
func Migrate(ctx context.Context, db *gorm.DB) error {
	for attempt := 0; ; attempt++ {
		err := migrate(ctx, db)
		if !retriable(err) || attempt == deadlockRetries || ctx.Err() != nil {
			return err
		}
		// Another node of the database was first. Every step may be made again.
	}
}

func migrate(ctx context.Context, db *gorm.DB) error {
	db = db.WithContext(ctx)
	sqlite := db.Name() == "sqlite"
	schema := slices.Concat(mysqlSchema, splitSchema, reservationSchema, mysqlRefusals)
	if sqlite {
		schema = slices.Concat(sqliteSchema, sqliteRefusals)
	}
	for _, statement := range schema {
		if err := db.Exec(statement).Error; err != nil {
			return fmt.Errorf("create the ledger's tables: %w (may this database user create tables?)", err)
		}
	}
	for _, column := range later {
		if err := addColumn(db, column.name, column.definition); err != nil {
			return fmt.Errorf("add the column %s to the table stock: %w (may this database user alter tables?)", column.name, err)
		}
	}
	if !sqlite {
		if err := rekeyOrders(db); err != nil {
			return fmt.Errorf("change the keys of the table orders: %w (may this database user alter tables?)", err)
		}
	}
	return migrateIdentity(ctx, db)
}

// rekeyOrders gives a table of the version before today's keys. The names of
// the unique keys contain the old ones: a process of that version recognizes
// them in the error of a second order.
//
// The index of public_id goes once no order of that version is left: only such
// an order is found by it.
func rekeyOrders(db *gorm.DB) error {
	keys, err := keysOf(db, "orders")
	if err != nil {
		return err
	}
	if slices.Contains(keys, "orders_request") {
		err := db.Exec("ALTER TABLE orders " +
			"MODIFY id BIGINT NOT NULL DEFAULT (UUID_SHORT()), " +
			"DROP PRIMARY KEY, ADD PRIMARY KEY (sku_id, run, id), " +
			"DROP KEY orders_request, ADD UNIQUE KEY orders_request_in_run (request_id, user_id, sku_id, run), " +
			"DROP KEY orders_one_active, ADD UNIQUE KEY orders_one_active_in_run (user_id, sku_id, run, active)").Error
		if err != nil && mysqlNumber(err) != errNoSuchKey { // another process was faster
			return err
		}
	}
	if !slices.Contains(keys, "orders_public_id") {
		return nil
	}
	var old []string
	if err := db.Raw("SELECT public_id FROM orders WHERE public_id < ? LIMIT 1", publicPrefix).Scan(&old).Error; err != nil || len(old) > 0 {
		return err
	}
	if err := db.Exec("ALTER TABLE orders DROP KEY orders_public_id").Error; err != nil && mysqlNumber(err) != errNoSuchKey {
		return err
	}
	return nil
}

func keysOf(db *gorm.DB, table string) (names []string, err error) {
	err = db.Raw("SELECT DISTINCT index_name FROM information_schema.statistics "+
		"WHERE table_schema = DATABASE() AND table_name = ?", table).Scan(&names).Error
	return names, err
}

var later = []struct{ name, definition string }{
	{"code", "BIGINT GENERATED ALWAYS AS (id) VIRTUAL"},
	{"starts_at", "BIGINT NULL"},
}

// addColumn adds a column to stock tables of every age. It looks first: ALTER
// TABLE waits for every purchase under way, even when there is nothing to alter.
func addColumn(db *gorm.DB, name, definition string) error {
	look := "SELECT COUNT(*) FROM information_schema.columns " +
		"WHERE table_schema = DATABASE() AND table_name = 'stock' AND column_name = ?"
	if db.Name() == "sqlite" { // table_info hides generated columns
		look = "SELECT COUNT(*) FROM pragma_table_xinfo('stock') WHERE name = ?"
	}
	var there int
	if err := db.Raw(look, name).Scan(&there).Error; err != nil || there > 0 {
		return err
	}
	err := db.Exec("ALTER TABLE stock ADD COLUMN " + name + " " + definition).Error
	if err == nil || mysqlNumber(err) == errDuplicateColumn || strings.Contains(err.Error(), "duplicate column name") {
		return nil // another process was faster
	}
	return err
}
