package hotsku

import (
	"context"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	"gorm.io/gorm"

	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/internal/seckill"
	"seckill/internal/tap"
	"seckill/internal/tap/taptest"
	"seckill/strategies/saletest"
)

func TestMain(m *testing.M) { os.Exit(labtest.Main(m)) }

// A sale is one SKU with its strategy in two processes.
type sale struct{ *saletest.Sale }

func open(t *testing.T, i catalog.Info, stock int64) *sale {
	t.Helper()
	s := &sale{}
	settings := catalog.DefaultSettings()
	settings.QueueAtOnce, settings.LockWait = 1, 30*time.Second // long enough even on a busy machine
	d := catalog.Deps{Settings: settings}
	s.Sale = saletest.Open(t, i, stock, d, d)
	return s
}

// another returns one more request of a user.
func (s *sale) another(user, quantity int64) seckill.Purchase {
	p := s.Purchase(user, quantity)
	p.RequestID += " again"
	return p
}

func each(t *testing.T, infos []catalog.Info, stock int64, test func(t *testing.T, s *sale)) {
	for _, i := range infos {
		t.Run(i.Name, func(t *testing.T) { test(t, open(t, i, stock)) })
	}
}

var lastAtTheRow = []catalog.Info{OrderFirst, OneTrip, Queued, Merged}

// After the last unit a buyer is told sold out even while others hold the row.
func TestSoldOutWithoutAQueue(t *testing.T) {
	each(t, lastAtTheRow, 1, func(t *testing.T, s *sale) {
		labtest.Value(s.Buy(t.Context(), 1, 1)).Must(t)
		err := s.Store.Tx(t.Context(), func(tx *gorm.DB) error {
			if err := tx.Exec("UPDATE stock SET name = 'held' WHERE id = ?", s.SKU).Error; err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second) // a wait for the row would take longer
			defer cancel()
			_, err := s.Buy(ctx, 2, 1)
			return err
		})
		labtest.Check(t, err, seckill.ErrSoldOut, "the first purchase")
	})
}

// Different users never deadlock, whether they buy or cancel. In order-first each transaction locks
// its own order first and the row last. The other strategies lock the row first, and a cancellation
// locks no gap into which a purchase inserts.
func TestBuyersAndCancellationsOfDifferentUsersDoNotDeadlock(t *testing.T) {
	each(t, lastAtTheRow, 1000, func(t *testing.T, s *sale) {
		var deadlocks atomic.Int64
		ctx := taptest.EachAfter(t.Context(), func(_ *tap.Command, err error) {
			if err != nil && strings.Contains(err.Error(), "Deadlock found") {
				deadlocks.Add(1)
			}
		})
		var g errgroup.Group
		g.SetLimit(24)
		for i := range 120 {
			g.Go(func() error {
				r, err := s.Processes[i%2].Deduct(ctx, s.Purchase(int64(i+1), 1))
				if err == nil && i%2 == 0 {
					err = s.Processes[(i/2)%2].Restore(ctx, r.OrderID)
				}
				return err
			})
		}
		labtest.Check(t, g.Wait(), nil, "purchases at once")
		labtest.Same(t, deadlocks.Load(), 0, "deadlocks")
		s.Held(t)
	})
}
