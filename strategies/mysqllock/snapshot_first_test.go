package mysqllock

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/internal/lock"
	"seckill/internal/lock/locktest"
	"seckill/internal/tap"
)

// overtaken lets one buyer buy 3 of 5 while another, who wants 1, stands
// between the first read and GET_LOCK. It returns what is left, how many
// transactions the other began, and what they were told.
func overtaken(t *testing.T, in *backend.Instance, sku int64) (left int64, begun int, told error) {
	t.Helper()
	labtest.Must(t, ledger.Migrate(t.Context(), in.DB))
	store := ledger.NewStore(in.DB)
	s, err := catalog.Build(SnapshotFirst, catalog.Deps{Instance: in, Ledger: store, Settings: testSettings})
	labtest.Must(t, err)
	if _, err := store.Reset(t.Context(), sku, "test", 5); err != nil {
		t.Fatal(err)
	}
	overtake := &locktest.Tap{OnBefore: func(c *tap.Command) error {
		if c.Name == "BEGIN" {
			begun++
		}
		if strings.Contains(c.Text, "GET_LOCK") {
			if _, err := s.Deduct(context.WithoutCancel(t.Context()), purchase(sku, 1, 3)); err != nil {
				t.Errorf("the buyer who overtakes: %v", err)
			}
		}
		return nil
	}}
	_, told = s.Deduct(tap.With(t.Context(), overtake), purchase(sku, 2, 1))
	row, err := store.SKU(t.Context(), sku)
	labtest.Must(t, err)
	return row.Num, begun, told
}

// with is the test's server as one that answers every session with a variable
// set; ok is false where the server does not know the variable.
func with(t *testing.T, variable, value string) (in *backend.Instance, ok bool) {
	t.Helper()
	var there int
	err := instance(t).DB.Raw("SELECT COUNT(*) FROM information_schema.SYSTEM_VARIABLES WHERE VARIABLE_NAME = ?",
		strings.ToUpper(variable)).Scan(&there).Error
	if err != nil || there == 0 { // MySQL has no such table
		return nil, false
	}
	config := labtest.Start(t, backend.SQL).Config()
	dsn, err := mysql.ParseDSN(config.MySQLDSN)
	labtest.Must(t, err)
	dsn.Params = map[string]string{variable: value}
	in, err = backend.Open(t.Context(), backend.Config{MySQLDSN: dsn.FormatDSN()})
	labtest.Must(t, err)
	t.Cleanup(func() { in.Close() })
	return in, true
}

// MariaDB's innodb_snapshot_isolation (on from 11.6) refuses that number with
// error 1020. The ledger runs the transaction again, under the lock that
// ROLLBACK has not freed, and the second snapshot is new. The lock is not taken
// a second time: it would have to be freed twice.
func TestSnapshotFirstIsRefusedBySnapshotIsolation(t *testing.T) {
	in, ok := with(t, "innodb_snapshot_isolation", "ON")
	if !ok {
		t.Log("this server does not know innodb_snapshot_isolation")
		return
	}
	left, begun, told := overtaken(t, in, 221)
	if told != nil || left != 1 || begun != 2 {
		t.Errorf("3 and 1 of 5 were bought: %v, %d are left after %d transactions; want 1 after two", told, left, begun)
	}
	lockIsFree(t, 221)
}

// lockIsFree looks from another connection.
func lockIsFree(t *testing.T, sku int64) {
	t.Helper()
	b := newBench(t, GetLock)
	b.key = stockKey(sku)
	locktest.Free(t, b.acquire(t, lock.Options{Lease: time.Minute}))
}
