package hotsku

import (
	"database/sql"
	"errors"
	"strings"
	"testing"

	"gorm.io/gorm"

	"seckill/internal/ledger"
)

// The lesson of order-first says that an order whose INSERT reads the run from
// the stock row makes two buyers deadlock.
func TestAnInsertThatReadsTheRowDeadlocks(t *testing.T) {
	s := open(t, OrderFirst, 10)
	told := make(chan error, 2)
	var buyers [2]*gorm.DB
	for i := range buyers {
		buyers[i] = s.Store.DB(t.Context()).Begin()
		defer buyers[i].Rollback()
		if _, err := s.Store.Record(buyers[i], s.Purchase(int64(i+1), 1), ledger.AnyRun, 0); err != nil {
			t.Fatal(err)
		}
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

// The lesson of unit-rows says that a server that has to sort locks every free
// unit, so that the next buyer finds nothing.
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

// The lesson says that at the usual isolation a look that reaches the end of the
// free units locks the gap into which others write what they have sold.
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
