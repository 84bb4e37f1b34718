package ledger

import (
	"context"
	"fmt"
	"strings"

	"gorm.io/gorm"
)

// An active order blocks a second one of the same user and SKU through a
// generated column: it is 1 while the order is active and NULL afterwards, and
// a unique key ignores NULL. That works on MySQL, MariaDB and SQLite.
//
// Two columns of stock are younger than the table (later): code is the id under
// another name, on purpose without an index: strategies that find their row by
// it show what a scan locks. Being generated, it is right in every row, whoever
// writes the row. starts_at is a Moment; without one the sale is on.
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
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4`,
}

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
	`CREATE UNIQUE INDEX IF NOT EXISTS orders_public_id ON orders (public_id)`,
	`CREATE UNIQUE INDEX IF NOT EXISTS orders_request ON orders (user_id, request_id)`,
	`CREATE UNIQUE INDEX IF NOT EXISTS orders_one_active ON orders (sku_id, user_id, active)`,
}

// Migrate creates the tables where they are missing. Several processes may
// do so at once.
func Migrate(ctx context.Context, db *gorm.DB) error {
	schema := mysqlSchema
	if db.Name() == "sqlite" {
		schema = sqliteSchema
	}
	for _, statement := range schema {
		if err := db.WithContext(ctx).Exec(statement).Error; err != nil {
			return fmt.Errorf("create the ledger's tables: %w (may this database user create tables?)", err)
		}
	}
	for _, column := range later {
		if err := addColumn(db.WithContext(ctx), column.name, column.definition); err != nil {
			return fmt.Errorf("add the column %s to the table stock: %w (may this database user alter tables?)", column.name, err)
		}
	}
	return migrateIdentity(ctx, db)
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
