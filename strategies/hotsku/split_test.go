package hotsku

import (
	"context"
	"errors"
	"testing"
	"time"

	"gorm.io/gorm"

	"seckill/internal/seckill"
)

// A buyer who needs several units spreads the rest over all buckets.
func TestBucketsAreLevelled(t *testing.T) {
	s := open(t, Bucketed, 13)
	if _, err := s.Buy(t.Context(), 1, 6); err != nil {
		t.Fatal(err)
	}
	var nums []int64
	s.Store.DB(t.Context()).Raw("SELECT num FROM stock_buckets WHERE sku_id = ? ORDER BY bucket", s.SKU).Scan(&nums)
	if len(nums) != bucketCount || nums[0] != 2 || nums[3] != 1 || nums[0]+nums[1]+nums[2]+nums[3] != 7 {
		t.Errorf("the 7 that are left lie as %v", nums)
	}
	s.Held(t)
}

// The search for a free unit locks the rows that it takes and no others, even if the server
// would prefer another index.
func TestAHeldUnitHindersNoOther(t *testing.T) {
	s := open(t, UnitRows, 50)
	err := s.Store.Tx(t.Context(), func(tx *gorm.DB) error {
		err := tx.Exec("SELECT id FROM stock_units WHERE sku_id = ? AND run = ? AND id = ? FOR UPDATE", s.SKU, s.Run, startUnit(1, 50)).Error
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
	s := open(t, UnitRows, maxUnits)
	if left, err := s.Processes[0].(seckill.Counter).Count(t.Context(), s.SKU); err != nil || left != maxUnits {
		t.Errorf("%d units are free, %v, want %d", left, err, maxUnits)
	}
	r, err := s.Buy(t.Context(), 1, 3_000)
	if err != nil || r.Remaining != maxCounted {
		t.Errorf("%+v, %v: what remains is counted to %d", r, err, maxCounted)
	}
	s.Reset(t, maxUnits+1)
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
