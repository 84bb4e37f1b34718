package ledger_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"golang.org/x/sync/errgroup"
	"gorm.io/gorm"

	"seckill/internal/backend"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
)

// The version before: its tables and its statements, as they were.
const (
	oldStock = `CREATE TABLE stock (
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
	oldOrders = `CREATE TABLE orders (
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
	oldRecord = "INSERT INTO orders (public_id, request_id, user_id, sku_id, quantity, remaining, strategy, run, status) " +
		"VALUES (?, ?, ?, ?, ?, ?, ?, (SELECT run FROM stock WHERE id = ?), ?)"
	oldCancel = "UPDATE orders SET status = ? WHERE public_id = ? AND status = ?"
	oldAsk    = "SELECT * FROM orders WHERE user_id = ? AND request_id = ?"
	oldReset  = "DELETE FROM orders WHERE sku_id = ?"
)

func oldTables(t *testing.T) *ledger.Store {
	t.Helper()
	in := labtest.Instance(t, backend.SQL, backend.RowLocks)
	for _, statement := range []string{"DROP TABLE IF EXISTS stock, orders", oldStock, oldOrders} {
		if err := in.DB.Exec(statement).Error; err != nil {
			t.Fatal(err)
		}
	}
	return ledger.NewStore(in.DB).For("test", seckill.NopObserver{})
}

// oldSale is a purchase by a process of the version before.
func oldSale(db *gorm.DB, public, request string, user int64) error {
	return db.Transaction(func(tx *gorm.DB) error {
		if err := tx.Exec("UPDATE stock SET num = num - 1 WHERE id = ? AND num >= 1", sku).Error; err != nil {
			return err
		}
		return tx.Exec(oldRecord, public, request, user, sku, 1, 0, "conditional", sku, "active").Error
	})
}

func keys(t *testing.T, db *gorm.DB) (names []string) {
	t.Helper()
	err := db.Raw("SELECT DISTINCT index_name FROM information_schema.statistics " +
		"WHERE table_schema = DATABASE() AND table_name = 'orders'").Scan(&names).Error
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	return names
}

var (
	newKeys  = []string{"PRIMARY", "orders_one_active_in_run", "orders_request_in_run"}
	bothKeys = []string{"PRIMARY", "orders_one_active_in_run", "orders_public_id", "orders_request_in_run"}
)

// Tables of the version before, with a sale in progress, are brought to today's
// form by several processes at once; both versions go on selling the same run.
func TestTwoVersionsSideBySide(t *testing.T) {
	s := oldTables(t)
	ctx, db := t.Context(), s.DB(t.Context())
	if err := db.Exec("INSERT INTO stock (id, name, initial, num, run) VALUES (?, 'from before', 100, 100, 3)", sku).Error; err != nil {
		t.Fatal(err)
	}
	if err := oldSale(db, "OLDBEFORE", "r1", 1); err != nil {
		t.Fatal(err)
	}
	var g errgroup.Group
	for range 6 {
		g.Go(func() error { return ledger.Migrate(ctx, db) })
	}
	for i := range 20 { // while the other version sells
		g.Go(func() error {
			err := oldSale(db, fmt.Sprint("OLDDURING", i), fmt.Sprint("d", i), int64(100+i))
			return err
		})
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	if got := keys(t, db); !slices.Equal(got, bothKeys) {
		t.Errorf("with orders of the version before the keys are %v, want %v", got, bothKeys)
	}

	// Each version sells, and refuses what the other has sold.
	if _, err := sell(ctx, s, seckill.Purchase{SKU: sku, User: 1, Quantity: 1, RequestID: "r9"}, 3); !errors.Is(err, seckill.ErrDuplicate) {
		t.Errorf("a second order of a user, the first by the other version: %v, want %v", err, seckill.ErrDuplicate)
	}
	r, err := sell(ctx, s, seckill.Purchase{SKU: sku, User: 2, Quantity: 1, RequestID: "r2"}, 3)
	if err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		user int64
		key  string
		in   string
	}{
		"a second order of a user": {2, "r3", "orders_one_active"},
		"a key once more":          {2, "r2", "orders_"},
	} {
		if err := oldSale(db, "OLDTWICE", c.key, c.user); err == nil || !containsAll(err.Error(), "Duplicate", c.in) {
			t.Errorf("%s, by the version before: %v, want a duplicate of %s…", what, err, c.in)
		}
	}
	var found []ledger.Order
	if err := db.Raw(oldAsk, 2, "r2").Scan(&found).Error; err != nil || len(found) != 1 || found[0].Receipt() != r {
		t.Errorf("the version before finds %+v (%v), want %+v", found, err, r)
	}
	if o, err := s.Requested(ctx, 1, "r1"); err != nil || o.PublicID != "OLDBEFORE" {
		t.Errorf("an order of the version before is found as %+v, %v", o, err)
	}
	if err := s.Tx(ctx, func(tx *gorm.DB) error {
		o, back, err := s.Cancel(tx, "OLDBEFORE")
		if err == nil && (!back || o.UserID != 1) {
			t.Errorf("cancelling an order of the version before: %+v, %v", o, back)
		}
		return err
	}); err != nil {
		t.Error(err)
	}
	if res := db.Exec(oldCancel, "cancelled", r.OrderID, "active"); res.Error != nil || res.RowsAffected != 1 {
		t.Errorf("the version before cancels %d orders of this one (%v), want 1", res.RowsAffected, res.Error)
	}
	// It resets, sells, and this version reads it.
	if err := db.Exec(oldReset, sku).Error; err != nil {
		t.Fatal(err)
	}
	if err := db.Exec("UPDATE stock SET run = run + 1, num = 100 WHERE id = ?", sku).Error; err != nil {
		t.Fatal(err)
	}
	if err := oldSale(db, "OLDAFTER", "r1", 1); err != nil {
		t.Errorf("after its own reset, the version before sells: %v", err)
	}
	snap, err := s.Snapshot(ctx, sku)
	if err != nil || len(snap.Orders) != 1 || snap.Orders[0].PublicID != "OLDAFTER" || snap.Stock.Run != 4 {
		t.Errorf("its sale is read as %+v, %v", snap, err)
	}

	// When none of its orders are left, neither is their index.
	if _, err := s.Reset(ctx, sku, "", 10); err != nil {
		t.Fatal(err)
	}
	if n, err := s.Sweep(ctx); err != nil || n != 1 {
		t.Errorf("swept %d orders, %v, want 1", n, err)
	}
	if err := ledger.Migrate(ctx, db); err != nil {
		t.Fatal(err)
	}
	if got := keys(t, db); !slices.Equal(got, newKeys) {
		t.Errorf("without orders of the version before the keys are %v, want %v", got, newKeys)
	}
}

func containsAll(text string, parts ...string) bool {
	for _, p := range parts {
		if !contains(text, p) {
			return false
		}
	}
	return true
}

// Tables that are made and tables that are migrated are the same.
func TestMigratedTablesAreTheSame(t *testing.T) {
	old := oldTables(t)
	if err := ledger.Migrate(t.Context(), old.DB(t.Context())); err != nil {
		t.Fatal(err)
	}
	describe := func(s *ledger.Store) (columns []string) {
		err := s.DB(t.Context()).Raw("SELECT CONCAT_WS(' ', column_name, column_type, is_nullable, column_default, extra, column_key) " +
			"FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'orders' ORDER BY ordinal_position").Scan(&columns).Error
		if err != nil {
			t.Fatal(err)
		}
		return append(columns, keys(t, s.DB(t.Context()))...)
	}
	if got, want := describe(old), describe(onServer(t)); !slices.Equal(got, want) {
		t.Errorf("migrated:\n%v\nmade:\n%v", got, want)
	}
}
