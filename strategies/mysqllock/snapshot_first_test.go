package mysqllock

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/catalog/saletest"
	"seckill/internal/lab/labtest"
	"seckill/internal/lock"
	"seckill/internal/lock/locktest"
	"seckill/internal/seckill"
	"seckill/internal/tap"
	"seckill/internal/tap/taptest"
)

// One buyer buys 3 of 5 while another, who wants 1, stands between the first read and
// GET_LOCK. MariaDB's innodb_snapshot_isolation (on from 11.6) refuses the other's number
// with error 1020. The ledger runs the transaction again, under the lock that
// ROLLBACK has not freed, and the second snapshot is new. The lock is not taken
// a second time: it would have to be freed twice.
func TestSnapshotFirstIsRefusedBySnapshotIsolation(t *testing.T) {
	config := labtest.Config(t, backend.SQL)
	var known int
	err := labtest.Open(t, config).DB.Raw("SELECT COUNT(*) FROM information_schema.SYSTEM_VARIABLES " +
		"WHERE VARIABLE_NAME = 'INNODB_SNAPSHOT_ISOLATION'").Scan(&known).Error
	if err != nil || known == 0 { // MySQL has no such table
		t.Log("this server does not know innodb_snapshot_isolation")
		return
	}
	dsn, err := mysql.ParseDSN(config.MySQLDSN)
	labtest.Must(t, err)
	dsn.Params = map[string]string{"innodb_snapshot_isolation": "ON"}
	config.MySQLDSN = dsn.FormatDSN()
	s := saletest.Open(t, SnapshotFirst, 5, catalog.Deps{Instance: labtest.Open(t, config), Settings: testSettings})
	begun := 0
	overtaken := &taptest.Tap{OnBefore: func(c *tap.Command) error {
		if c.Name == "BEGIN" {
			begun++
		}
		if strings.Contains(c.Text, "GET_LOCK") {
			if _, err := s.Buy(context.WithoutCancel(t.Context()), 1, 3); err != nil {
				t.Errorf("the buyer who overtakes: %v", err)
			}
		}
		return nil
	}}
	_, err = s.Buy(tap.With(t.Context(), overtaken), 2, 1)
	row, wrong := s.Store.SKU(t.Context(), s.SKU)
	if err != nil || wrong != nil || row.Num != 1 || begun != 2 {
		t.Errorf("3 and 1 of 5 were bought: %v, %d are left (%v) after %d transactions; want 1 after two", err, row.Num, wrong, begun)
	}
	b := newBench(t, GetLock)
	b.Key = stockKey(s.SKU)
	locktest.Free(t, b.Take(t, lock.Options{Lease: time.Minute}))
}

// A cancellation that has read the stock before a reset leaves the new sale alone.
func TestSnapshotFirstCancelsBesideAReset(t *testing.T) {
	s := saletest.Open(t, SnapshotFirst, 5, catalog.Deps{Settings: testSettings})
	r, err := s.Buy(t.Context(), 1, 2)
	labtest.Must(t, err)
	ctx := taptest.Before(t.Context(), "SELECT GET_LOCK", func() { s.Reset(t, 9) })
	err = s.Processes[0].Restore(ctx, r.OrderID)
	row, wrong := s.Store.SKU(t.Context(), s.SKU)
	if !errors.Is(err, seckill.ErrUnknownOrder) || wrong != nil || row.Num != 9 {
		t.Errorf("told %v, want %v; the new sale has %d of 9, %v", err, seckill.ErrUnknownOrder, row.Num, wrong)
	}
}
