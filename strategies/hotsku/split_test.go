package hotsku

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"

	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
	"seckill/internal/tap/taptest"
)

// A buyer who needs units of several buckets spreads the remaining units over all buckets.
func TestBucketsAreLevelled(t *testing.T) {
	s := open(t, Bucketed, 13)
	labtest.Value(s.Buy(t.Context(), 1, 6)).Must(t)
	var nums []int64
	s.Store.DB(t.Context()).Raw("SELECT num FROM stock_buckets WHERE sku_id = ? ORDER BY bucket", s.SKU).Scan(&nums)
	if len(nums) != bucketCount || nums[0] != 2 || nums[3] != 1 || nums[0]+nums[1]+nums[2]+nums[3] != 7 {
		t.Errorf("the 7 that are left lie as %v", nums)
	}
	s.Held(t)
}

// The search for a free unit locks the rows that it takes and no others, even if the server would prefer another index.
func TestAHeldUnitHindersNoOther(t *testing.T) {
	s := open(t, UnitRows, 50)
	labtest.Check(t, s.Store.Tx(t.Context(), func(tx *gorm.DB) error {
		err := tx.Exec("SELECT id FROM stock_units WHERE sku_id = ? AND run = ? AND id = ? FOR UPDATE", s.SKU, s.Run, startUnit(1, 50)).Error
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		_, err = s.Buy(ctx, 1, 3)
		return err
	}), nil, "the neighbours of a held unit")
	s.Held(t)
}

// A sale with more units than may have rows is refused, and the error says what to do. The largest
// allowed sale is set at once.
func TestMostUnits(t *testing.T) {
	s := open(t, UnitRows, maxUnits)
	labtest.Value(s.Processes[0].(seckill.Counter).Count(t.Context(), s.SKU)).Same(t, maxUnits, "units that are free")
	labtest.Same(t, labtest.Value(s.Buy(t.Context(), 1, 3_000)).Must(t).Remaining, maxCounted, "what is counted")
	s.Reset(t, maxUnits+1)
	labtest.Value(s.Buy(t.Context(), 2, 1)).Check(t, seckill.ErrTooManyUnits, "buying")
	labtest.Must(t, ledger.Sweep(t.Context(), s.Store.DB(t.Context())))
	var rows int64
	s.Store.DB(t.Context()).Raw("SELECT COUNT(*) FROM stock_units WHERE sku_id = ?", s.SKU).Scan(&rows)
	labtest.Same(t, rows, 0, "the units of earlier runs that are left")
}

// The lesson of order-first says that an order whose INSERT reads the run from the stock row makes two buyers deadlock.
func TestAnInsertThatReadsTheRowDeadlocks(t *testing.T) {
	s := open(t, OrderFirst, 10)
	told := make(chan error, 2)
	var buyers [2]*gorm.DB
	for i := range buyers {
		buyers[i] = s.Store.DB(t.Context()).Begin()
		defer buyers[i].Rollback()
		labtest.Value(s.Store.Record(buyers[i], s.Purchase(int64(i+1), 1), ledger.AnyRun, 0)).Must(t)
	}
	for _, tx := range buyers {
		go func() {
			err := tx.Exec("UPDATE stock SET num = num - 1 WHERE id = ? AND num >= 1", s.SKU).Error
			if err == nil {
				err = tx.Commit().Error
			}
			told <- err
		}()
	}
	if err := errors.Join(<-told, <-told); err == nil || strings.Count(err.Error(), "Deadlock found") != 1 {
		t.Errorf("one of the two should be the victim of a deadlock: %v", err)
	}
}

// The lesson of unit-rows says that a server which must sort locks every free unit. The next buyer then finds nothing.
func TestALookThatSortsLocksEveryUnit(t *testing.T) {
	s := open(t, UnitRows, 10)
	const free = "SELECT id FROM stock_units FORCE INDEX (stock_units_free) WHERE sku_id = ? AND run = ? AND order_id IS NULL "
	for order, want := range map[string]int{"ORDER BY id": 1, "ORDER BY id + 0": 0} {
		tx := s.Store.DB(t.Context()).Begin(&sql.TxOptions{Isolation: sql.LevelReadCommitted})
		var taken, next []int64
		err := errors.Join(tx.Raw(free+order+" LIMIT 1 FOR UPDATE SKIP LOCKED", s.SKU, s.Run).Scan(&taken).Error,
			s.Store.DB(t.Context()).Raw(free+"ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED", s.SKU, s.Run).Scan(&next).Error,
			tx.Rollback().Error)
		if err != nil || len(taken) != 1 || len(next) != want {
			t.Errorf("%s: took %v, and the next found %v, %v", order, taken, next, err)
		}
	}
}

// The lesson says that at the default isolation a look to the end of the free units locks the gap
// into which others write the units that they have sold.
func TestALookToTheEndLocksTheGap(t *testing.T) {
	for _, c := range []struct {
		view  sql.IsolationLevel
		waits bool
	}{{sql.LevelReadCommitted, false}, {sql.LevelRepeatableRead, true}} {
		s := open(t, UnitRows, 3)
		buyer := s.Store.DB(t.Context()).Begin(&sql.TxOptions{Isolation: sql.LevelReadCommitted})
		defer buyer.Rollback()
		look := s.Store.DB(t.Context()).Begin(&sql.TxOptions{Isolation: c.view})
		defer look.Rollback()
		const free = "SELECT id FROM stock_units FORCE INDEX (stock_units_free) WHERE sku_id = ? AND run = ? AND order_id IS NULL " +
			"ORDER BY id LIMIT ? FOR UPDATE SKIP LOCKED"
		var one, rest []int64
		err := errors.Join(buyer.Exec("SET SESSION innodb_lock_wait_timeout = 1").Error,
			buyer.Raw(free, s.SKU, s.Run, 1).Scan(&one).Error, look.Raw(free, s.SKU, s.Run, 5).Scan(&rest).Error)
		if err != nil || len(one) != 1 || len(rest) != 2 {
			t.Fatalf("%v, %v, %v", one, rest, err)
		}
		err = buyer.Exec("UPDATE stock_units SET order_id = 1 WHERE sku_id = ? AND run = ? AND id = ?", s.SKU, s.Run, one[0]).Error
		if waited := err != nil && strings.Contains(err.Error(), "Lock wait timeout"); waited != c.waits || !waited && err != nil {
			t.Errorf("%v: marking a unit that the buyer holds: %v", c.view, err)
		}
		buyer.Exec("SET SESSION innodb_lock_wait_timeout = @@GLOBAL.innodb_lock_wait_timeout")
	}
}

const longHold = time.Minute

func (s *sale) reserver(process int) seckill.Reserver {
	return s.Processes[process].(seckill.Reserver)
}

func (s *sale) hold(t *testing.T, user, quantity int64) string {
	t.Helper()
	return labtest.Value(s.reserver(0).Reserve(t.Context(), s.Purchase(user, quantity), longHold)).Must(t).OrderID
}

// pass lets the deadlines of a sale pass.
func (s *sale) pass(t *testing.T) {
	t.Helper()
	labtest.Check(t, s.Store.DB(t.Context()).Exec("UPDATE reservations SET ends_at = UTC_TIMESTAMP(6) WHERE sku_id = ?",
		s.SKU).Error, nil, "end the reservations")
}

func (s *sale) num(t *testing.T) int64 {
	t.Helper()
	return labtest.Value(s.Store.SKU(t.Context(), s.SKU)).Must(t).Num
}

// If a sale is reset after the sweeper has found an expired reservation, the sweeper leaves
// the reservation alone. It is removed with the orders of its run.
func TestASweepMeetsAReset(t *testing.T) {
	s := open(t, Reserve, 5)
	s.hold(t, 1, 2)
	s.pass(t)
	ctx := taptest.Before(t.Context(), "UPDATE reservations SET state = ?", func() { s.Reset(t, 9) })
	if err := s.reserver(0).Expire(ctx); err != nil || s.num(t) != 9 {
		t.Errorf("the sweep: %v, with %d left", err, s.num(t))
	}
	labtest.Must(t, ledger.Sweep(t.Context(), s.Store.DB(t.Context())))
	var rows int64
	s.Store.DB(t.Context()).Raw("SELECT COUNT(*) FROM reservations WHERE sku_id = ?", s.SKU).Scan(&rows)
	labtest.Same(t, rows, 0, "the reservations of the run before that are left")
}

// If the stock row of one SKU is locked, the reservations of other SKUs still expire, however many
// of this SKU are overdue.
func TestASweepPassesAHeldSKU(t *testing.T) {
	held, free := open(t, Reserve, maxSwept), open(t, Reserve, 5)
	for n := range maxSwept {
		held.hold(t, int64(n+2), 1)
	}
	held.pass(t)
	free.hold(t, 1, 2)
	free.pass(t)
	settings := catalog.DefaultSettings()
	settings.LockWait = time.Second // how long the sweep waits for the locked row
	free.Join(t, catalog.Deps{Settings: settings})
	tx := held.Store.DB(t.Context()).Begin()
	defer tx.Rollback()
	labtest.Must(t, tx.Exec("UPDATE stock SET num = num WHERE id = ?", held.SKU).Error)
	if err := free.reserver(2).Expire(t.Context()); !errors.Is(err, seckill.ErrBusy) || free.num(t) != 5 {
		t.Errorf("the sweep: %v; the free SKU has %d of 5", err, free.num(t))
	}
	tx.Rollback()
	if err := free.reserver(2).Expire(t.Context()); err != nil || held.num(t) != maxSwept {
		t.Errorf("when the row is free: %v, with %d of %d", err, held.num(t), maxSwept)
	}
}
