package hotsku

import (
	"context"
	"errors"
	"testing"
	"time"

	"gorm.io/gorm"

	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/internal/seckill"
)

var split = []catalog.Info{Bucketed, UnitRows}

// left is what the pieces have.
func (s *sale) left(t *testing.T) int64 {
	t.Helper()
	left, err := s.Processes[1].(seckill.Counter).Count(t.Context(), s.SKU)
	labtest.Must(t, err)
	return left
}

// Another holds all that is left. A buyer who comes then is told neither sold out nor
// sold before that is decided; if it is rolled back, they buy.
func TestWhoFindsAllHeldWaits(t *testing.T) {
	each(t, split, 4, func(t *testing.T, s *sale) {
		gives := errors.New("gives up")
		told := make(chan error, 1)
		err := s.Store.Tx(t.Context(), func(tx *gorm.DB) error {
			for _, table := range []string{"stock_buckets", "stock_units"} {
				if err := tx.Exec("SELECT * FROM "+table+" WHERE sku_id = ? FOR UPDATE", s.SKU).Error; err != nil {
					return err
				}
			}
			go func() {
				_, err := s.Buy(t.Context(), 1, 4)
				told <- err
			}()
			s.awaitStatement(t, "%stock_%FOR UPDATE")
			return gives
		})
		if !errors.Is(err, gives) {
			t.Error(err)
		}
		if err := <-told; err != nil {
			t.Errorf("who waited was told %v, want a sale", err)
		}
		s.Held(t)
	})
}

// A buyer who needs several units spreads what is in one bucket only over all.
func TestBucketsAreLevelled(t *testing.T) {
	s := open(t, Bucketed, 13)
	if _, err := s.Buy(t.Context(), 1, 6); err != nil {
		t.Fatal(err)
	}
	var nums []int64
	s.Store.DB(t.Context()).Raw("SELECT num FROM stock_buckets WHERE sku_id = ? ORDER BY bucket", s.SKU).Scan(&nums)
	if len(nums) != buckets || nums[0] != 2 || nums[3] != 1 || nums[0]+nums[1]+nums[2]+nums[3] != 7 {
		t.Errorf("the 7 that are left lie as %v", nums)
	}
	s.Held(t)
}

// The look for a free unit locks what it takes and nothing else, whatever index
// the server would choose by itself.
func TestAHeldUnitHindersNoOther(t *testing.T) {
	s := open(t, UnitRows, 50)
	err := s.Store.Tx(t.Context(), func(tx *gorm.DB) error {
		err := tx.Exec("SELECT id FROM stock_units WHERE sku_id = ? AND run = ? AND id = ? FOR UPDATE", s.SKU, s.Run, first(1, 50)).Error
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		_, err = s.Buy(ctx, 1, 3)
		return err
	})
	if err != nil {
		t.Errorf("the neighbours of a held unit: %v", err)
	}
	s.Held(t)
}

// A sale of more units than get a row is refused with what to do; a sale of as
// many as do is set at once.
func TestMostUnits(t *testing.T) {
	s := open(t, UnitRows, mostUnits)
	if left := s.left(t); left != mostUnits {
		t.Errorf("%d units are free, want %d", left, mostUnits)
	}
	r, err := s.Buy(t.Context(), 1, 3_000)
	if err != nil || r.Remaining != mostCounted {
		t.Errorf("%+v, %v: what remains is counted to %d", r, err, mostCounted)
	}
	s.Reset(t, mostUnits+1)
	if _, err := s.Buy(t.Context(), 2, 1); !errors.Is(err, seckill.ErrTooManyUnits) {
		t.Errorf("got %v, want %v", err, seckill.ErrTooManyUnits)
	}
	if n, err := s.Store.Sweep(t.Context()); err != nil || n < 1 {
		t.Errorf("the sweeper removed %d orders, %v", n, err)
	}
	var rows int64
	if s.Store.DB(t.Context()).Raw("SELECT COUNT(*) FROM stock_units WHERE sku_id = ?", s.SKU).Scan(&rows); rows > 0 {
		t.Errorf("%d units of earlier runs are left", rows)
	}
}
