package mysqllock

import (
	"errors"
	"testing"

	"gorm.io/gorm"

	"seckill/internal/lab/labtest"
	"seckill/internal/seckill"
)

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
