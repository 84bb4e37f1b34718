package ledger

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"gorm.io/gorm"

	"seckill/internal/seckill"
	"seckill/internal/sqlerr"
	"seckill/internal/tap"
)

// schema creates the tables.
//
// The primary key of orders is (sku_id, run, id), so the orders of one run lie together, sorted by age.
// An audit, a list, and the removal of an old run each read one range of this key. The program makes an
// order's id (newOrderID), which is part of the public id, so public_id needs no index.
//
// Both unique keys contain the run, because a reset starts a new run and leaves the rows of the old run to Sweep.
//
//   - orders_request_in_run allows one final answer per request: an order or a refusal
//     (status 'refused', with its reason and the quantity asked for). The look-up of a
//     request uses a prefix of this key.
//   - orders_one_active_in_run allows one active order per user and SKU, through a
//     generated column that is 1 while the order is active and NULL afterwards. A unique
//     key ignores NULL on MySQL, MariaDB and SQLite. The list of a user's orders uses a
//     prefix of this key.
//
// The column code of stock repeats the id without an index, on purpose: strategies that find their row
// by code show which rows a scan locks. The database computes code, so that code is right even in a
// row written by hand. starts_at is a Moment; if it is NULL, the sale started at the reset.
var schema = []string{
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
	reason     VARCHAR(16)  CHARACTER SET ascii COLLATE ascii_bin NULL,
	active     TINYINT GENERATED ALWAYS AS (CASE WHEN status = 'active' THEN 1 END) VIRTUAL,
	PRIMARY KEY (sku_id, run, id),
	CONSTRAINT orders_request_in_run UNIQUE (request_id, user_id, sku_id, run),
	CONSTRAINT orders_one_active_in_run UNIQUE (user_id, sku_id, run, active)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4`,

	// The next two tables have stocks in pieces (StockStore.Split). On SQLite no strategy uses them, because SQLite
	// locks the whole database.
	//
	// A SKU keeps its few rows of stock_buckets for ever, and a reset writes the new run into them. Rows of
	// stock_units belong to one run. The index stock_units_free has all columns with which a buyer looks
	// for a free unit, in the same order, so the buyer locks no other row during the search.
	`CREATE TABLE IF NOT EXISTS stock_buckets (
	sku_id BIGINT NOT NULL,
	bucket BIGINT NOT NULL,
	run    BIGINT NOT NULL,
	num    BIGINT NOT NULL,
	PRIMARY KEY (sku_id, bucket)
) ENGINE=InnoDB`,
	`CREATE TABLE IF NOT EXISTS stock_units (
	sku_id   BIGINT NOT NULL,
	run      BIGINT NOT NULL,
	id       BIGINT NOT NULL,
	order_id BIGINT NULL,
	PRIMARY KEY (sku_id, run, id),
	KEY stock_units_free (sku_id, run, order_id, id)
) ENGINE=InnoDB`,

	// A reservation is an active order with a row in this table. As with every active order, its units are taken, and
	// its user can have no other order. The row has the state, the deadline by the database's clock, and the number of
	// units given back. If one call bought and paid, there is no deadline, and ends_at is the beginning of 1970.
	// Orders of strategies without reservations have no row in this table.
	`CREATE TABLE IF NOT EXISTS reservations (
	sku_id   BIGINT NOT NULL,
	run      BIGINT NOT NULL,
	id       BIGINT NOT NULL,
	strategy VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
	state    VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
	quantity BIGINT NOT NULL,
	released BIGINT NOT NULL DEFAULT 0,
	ends_at  DATETIME(6) NOT NULL,
	PRIMARY KEY (sku_id, run, id),
	KEY reservations_due (strategy, state, ends_at)
) ENGINE=InnoDB`,
}

// forSQLite translates a statement of schema for SQLite. It drops the keys that are not unique,
// because SQLite does not allow them in CREATE TABLE.
func forSQLite(statement string) string {
	const now = "DEFAULT (strftime('%Y-%m-%d %H:%M:%f', 'now'))"
	return regexp.MustCompile(`,\s+KEY .*`).ReplaceAllString(strings.NewReplacer(
		" CHARACTER SET ascii COLLATE ascii_bin", "",
		" ENGINE=InnoDB DEFAULT CHARSET=utf8mb4", "", " ENGINE=InnoDB", "",
		"TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6)", "DATETIME NOT NULL "+now,
		"TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6)", "DATETIME NOT NULL "+now).Replace(statement), "")
}

// Migrate creates the missing tables. Several processes may call it at once. It returns ErrOtherBuild if
// another build has made the tables.
func Migrate(ctx context.Context, db *gorm.DB) error {
	// Another process may create the tables on another database node at the same time, and the nodes then
	// report a conflict. Every step of migrate can be repeated, so retry runs it again.
	err := retry(ctx, func() error { return migrate(db.WithContext(ctx)) })
	switch {
	case err == nil, errors.Is(err, ErrOtherBuild):
		return err
	case sqlerr.IsDenied(err):
		return fmt.Errorf("create the ledger's tables: %w "+
			"(let an administrator GRANT the service's account the right)", err)
	}
	return fmt.Errorf("create the ledger's tables: %w", err)
}

func migrate(db *gorm.DB) error {
	all := slices.Clone(schema)
	if db.Name() == "sqlite" {
		for i := range all {
			all[i] = forSQLite(all[i])
		}
	}
	if err := writeIdentity(db, all); err != nil {
		return err
	}
	for _, statement := range all {
		if err := db.Exec(statement).Error; err != nil {
			return err
		}
	}
	return nil
}

// identityTable holds a random identity, which a database gets once. Data that strategies keep elsewhere,
// such as a number in Redis, carries this identity, because two databases may have runs of the same number. A
// copy of a database has the identity of the original.
//
// The table also has a hash of the schema of the other tables, so its row is written before these are created. If the
// table stock exists without such a hash, another program may have made the table, so Migrate refuses.
const identityTable = `CREATE TABLE IF NOT EXISTS seckill_identity (
	one      INTEGER     NOT NULL PRIMARY KEY,
	id       VARCHAR(64) NOT NULL,
	made_for VARCHAR(64) NOT NULL
)`

// ErrOtherBuild means that Migrate refuses to change a database whose tables another build has made.
var ErrOtherBuild = errors.New("this build of seckill cannot use the tables of this database")

// writeIdentity gives the database a random identity if it has none. If the tables have another
// schema, writeIdentity refuses them.
func writeIdentity(db *gorm.DB, schema []string) error {
	made := db.Migrator().HasTable("stock")
	if err := db.Exec(identityTable).Error; err != nil {
		return err
	}
	ours := fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(schema, ";"))))
	if !made {
		err := db.Exec(insertIgnore(db)+" INTO seckill_identity (one, id, made_for) VALUES (1, ?, ?)",
			rand.Text(), ours).Error
		if err != nil {
			return err
		}
	}
	var found string
	err := db.Raw("SELECT made_for FROM seckill_identity WHERE one = 1").Scan(&found).Error
	switch {
	case found == ours:
		return nil
	case err != nil:
		return fmt.Errorf("%w: which build made them cannot be read from seckill_identity: %w", ErrOtherBuild, err)
	case found == "":
		return fmt.Errorf("%w: nothing says which build made them; name another database", ErrOtherBuild)
	case db.Name() == "sqlite":
		return fmt.Errorf("%w: another build made them; remove the file, or name another", ErrOtherBuild)
	}
	name := db.Migrator().CurrentDatabase()
	return fmt.Errorf("%w: another build made them; drop it (DROP DATABASE `%s`; CREATE DATABASE `%[2]s`), "+
		"or name another", ErrOtherBuild, name)
}

// Identity returns the identity of the database, a word without spaces that never changes. A Store reads it only once.
// The tap.Tap that counts a purchase's commands does not see this statement.
func (s *Store) Identity(ctx context.Context) (string, error) {
	if id := s.identity.Load(); id != nil {
		return *id, nil
	}
	var id string
	err := s.Read(tap.With(ctx, nil), &id, "SELECT id FROM seckill_identity WHERE one = 1")
	if errors.Is(err, ErrNoRow) {
		return "", fmt.Errorf("%w: the table seckill_identity is empty: start the service again",
			seckill.ErrUnavailable)
	}
	if err != nil {
		return "", err
	}
	s.identity.Store(&id)
	return id, nil
}
