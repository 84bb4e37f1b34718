package hotsku

import (
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
		buyers[i] = s.store.DB(t.Context()).Begin()
		defer buyers[i].Rollback()
		if _, err := s.store.Record(buyers[i], s.purchase(int64(i+1), 1, ""), ledger.AnyRun, 0); err != nil {
			t.Fatal(err)
		}
	}
	for _, tx := range buyers {
		go func() {
			err := tx.Exec("UPDATE stock SET num = num - 1 WHERE id = ? AND num >= 1", s.sku).Error
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

// The lesson says that one UPDATE of both tables with the number computed twice
// changed the stock first, so that the order was wrong by its own quantity.
func TestAnUpdateThatComputesTwiceWritesTheWrongNumber(t *testing.T) {
	s := open(t, OrderFirst, 10)
	tx := s.store.DB(t.Context()).Begin()
	defer tx.Rollback()
	id, _, err := s.store.Place(tx, s.purchase(1, 2, ""), s.run)
	if err != nil {
		t.Fatal(err)
	}
	err = tx.Exec("UPDATE stock JOIN orders ON orders.sku_id = stock.id AND orders.run = stock.run AND orders.id = ? "+
		"SET stock.num = stock.num - 2, orders.remaining = stock.num - 2 WHERE stock.id = ? AND stock.num >= 2", id, s.sku).Error
	if err != nil {
		t.Fatal(err)
	}
	var left struct{ Num, Remaining int64 }
	err = tx.Raw("SELECT num, remaining FROM stock JOIN orders ON orders.sku_id = stock.id AND orders.id = ? WHERE stock.id = ?", id, s.sku).Scan(&left).Error
	if err != nil || left.Num != 8 || left.Remaining != 6 {
		t.Errorf("%+v, %v; the lesson has 8 in the row and 6 in the order", left, err)
	}
}
