package mysqllock

import (
	"errors"
	"testing"

	"gorm.io/gorm"

	"seckill/internal/lab/labtest"
	"seckill/internal/seckill"
)

func TestCounterFollowsItsRun(t *testing.T) {
	const sku = 200
	s, store := sale(t, MySQLCounter, sku, 5)
	count := func(want int64, wantErr error) {
		t.Helper()
		got, err := s.(seckill.Counter).Count(t.Context(), sku)
		if got != want || !errors.Is(err, wantErr) || wantErr == nil && err != nil {
			t.Errorf("the lock table counts %d, %v; want %d, %v", got, err, want, wantErr)
		}
	}
	reset := s.(seckill.Resetter).Reset
	count(5, nil)
	first, err := s.Deduct(t.Context(), purchase(sku, 1, 2))
	labtest.Must(t, err)
	count(3, nil)
	// Another reset of the same run comes late: the sale goes on.
	labtest.Must(t, reset(t.Context(), sku, 5))
	count(3, nil)
	for range 2 {
		labtest.Must(t, s.Restore(t.Context(), first.OrderID))
		count(5, nil)
	}
	if row, err := store.SKU(t.Context(), sku); err != nil || row.Num != 5 {
		t.Errorf("the row has %d, %v", row.Num, err)
	}
	// The ledger is reset, and the counter is not yet.
	if _, err := store.Reset(t.Context(), sku, "test", 9); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Deduct(t.Context(), purchase(sku, 2, 1)); !errors.Is(err, seckill.ErrConflict) {
		t.Errorf("sold from the last sale's count: %v, want a conflict", err)
	}
	if _, err := s.(seckill.Counter).Count(t.Context(), sku); !errors.Is(err, seckill.ErrUnknownSKU) {
		t.Errorf("the last sale's count: %v", err)
	}
	if err := reset(t.Context(), sku, 4711); err != nil { // the ledger says what was set
		t.Fatal(err)
	}
	count(9, nil)
	if row, err := store.SKU(t.Context(), sku); err != nil || row.Num != 9 {
		t.Errorf("the row has %d, %v", row.Num, err)
	}
}

// Without its central rows a lock table says so, and sells nothing.
func TestCentralRowsAreGone(t *testing.T) {
	const sku = 202
	s, store := sale(t, MySQLCounter, sku, 5)
	db := store.DB(t.Context())
	labtest.Must(t, db.Exec("DELETE FROM lock_central").Error)
	defer func() {
		if err := createCentral(db.Session(&gorm.Session{})); err != nil {
			t.Error(err)
		}
	}()
	if _, err := s.Deduct(t.Context(), purchase(sku, 1, 1)); !errors.Is(err, seckill.ErrUnavailable) {
		t.Errorf("got %v, want unavailable", err)
	}
}
