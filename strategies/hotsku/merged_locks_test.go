package hotsku

import (
	"errors"
	"testing"
	"time"

	"gorm.io/gorm"

	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
)

// A batch that corrects what remains holds the row. It must not wait for orders of
// another batch, which waits for the row: whatever plan the server makes.
func TestMergedCorrectsItsOwnOrdersOnly(t *testing.T) {
	s := open(t, Merged, 1000)
	config := labtest.Config(t, Merged.Needs...)
	config.RowLockWait = time.Second
	short := ledger.NewStore(labtest.Open(t, config).DB).For(Merged.Name)
	for _, n := range []int64{2, 20, 200} {
		rollBack := errors.New("taken back by the test")
		err := s.Store.Tx(t.Context(), func(other *gorm.DB) error {
			if _, err := s.Store.PlaceAll(other, s.Run, 1000, s.entries(1000*n, 5)); err != nil {
				return err
			}
			return errors.Join(rollBack, short.Tx(t.Context(), func(tx *gorm.DB) error {
				ours := s.entries(2000*n, n)
				if ok, err := short.PlaceAll(tx, s.Run, 1000, ours); err != nil || !ok {
					t.Errorf("%t, %v", ok, err)
				}
				if err := short.Shift(tx, s.Run, -5, ours); err != nil {
					t.Errorf("a batch of %d waits for another's orders: %v", n, err)
				}
				var wrong int64
				err := short.ReadIn(tx, &wrong, "SELECT COUNT(*) FROM orders WHERE sku_id = ? AND run = ? AND user_id > ? AND "+
					"remaining <> 1000 - 5 - (user_id - ?)", s.SKU, s.Run, 2000*n, 2000*n)
				if err != nil || wrong > 0 || ours[0].Receipt.Remaining != 994 {
					t.Errorf("%d orders of %d say the wrong number (%v)", wrong, n, err)
				}
				return rollBack
			}))
		})
		if !errors.Is(err, rollBack) {
			t.Error(err)
		}
	}
}

// entries are n purchases of one unit, of the users after first.
func (s *sale) entries(first, n int64) (list []*ledger.Entry) {
	for i := range n {
		list = append(list, &ledger.Entry{Purchase: s.Purchase(first+i+1, 1)})
	}
	return list
}
