package mysqllock

import (
	"errors"
	"testing"

	"gorm.io/gorm"

	"seckill/internal/catalog"
	"seckill/internal/catalog/saletest"
	"seckill/internal/lab/labtest"
	"seckill/internal/seckill"
)

// Without its central rows a lock table says so, and sells nothing.
func TestCentralRowsAreGone(t *testing.T) {
	s := saletest.Open(t, MySQLCounter, 5, catalog.Deps{Settings: testSettings})
	db := s.Store.DB(t.Context())
	labtest.Must(t, db.Exec("DELETE FROM lock_central").Error)
	defer func() {
		if err := createCentral(db.Session(&gorm.Session{})); err != nil {
			t.Error(err)
		}
	}()
	if _, err := s.Buy(t.Context(), 1, 1); !errors.Is(err, seckill.ErrUnavailable) {
		t.Errorf("got %v, want unavailable", err)
	}
}
