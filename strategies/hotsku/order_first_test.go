package hotsku

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	"gorm.io/gorm"

	"seckill/internal/catalog"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

// all are the strategies of the family. The command in which each comes to the
// stock row follows.
var all = []struct {
	info  catalog.Info
	takes string
}{{OrderFirst, "UPDATE ("}, {OneTrip, "CALL"}, {Queued, "CALL"}, {Merged, "CALL"}}

func each(t *testing.T, stock int64, test func(t *testing.T, s *sale, takes string)) {
	for _, c := range all {
		t.Run(c.info.Name, func(t *testing.T) { test(t, open(t, c.info, stock), c.takes) })
	}
}

// A buyer who comes when all is sold is told so while others hold the row.
func TestSoldOutWithoutAQueue(t *testing.T) {
	each(t, 1, func(t *testing.T, s *sale, _ string) {
		if _, err := s.buy(t.Context(), 1, 1, ""); err != nil {
			t.Fatal(err)
		}
		err := s.store.Tx(t.Context(), func(tx *gorm.DB) error {
			if err := tx.Exec("UPDATE stock SET name = 'held' WHERE id = ?", s.sku).Error; err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second) // a row is waited for longer
			defer cancel()
			_, err := s.buy(ctx, 2, 1, "")
			return err
		})
		if !errors.Is(err, seckill.ErrSoldOut) {
			t.Errorf("got %v, want %v", err, seckill.ErrSoldOut)
		}
	})
}

// Different users never deadlock, whether they buy or cancel: in order-first
// each transaction locks its own order first and the row last; in the others,
// which lock the row first, a cancellation locks no gap that a purchase inserts
// into.
func TestBuyersAndCancellationsOfDifferentUsersDoNotDeadlock(t *testing.T) {
	each(t, 1000, func(t *testing.T, s *sale, _ string) {
		deadlocks := &counting{of: "Deadlock found"}
		ctx := tap.With(t.Context(), deadlocks)
		var g errgroup.Group
		g.SetLimit(24)
		for i := range 120 {
			g.Go(func() error {
				r, err := s.processes[i%2].Deduct(ctx, s.purchase(int64(i+1), 1, ""))
				if err == nil && i%2 == 0 {
					err = s.processes[(i/2)%2].Restore(ctx, r.OrderID)
				}
				return err
			})
		}
		if err := g.Wait(); err != nil {
			t.Error(err)
		}
		if deadlocks.n != 0 {
			t.Errorf("%d deadlocks", deadlocks.n)
		}
		s.held(t)
	})
}

// counting counts the errors that contain a text.
type counting struct {
	retries
	of string
}

func (c *counting) Before(context.Context, *tap.Command) error { return nil }

func (c *counting) After(_ context.Context, _ *tap.Command, err error) error {
	if err != nil && strings.Contains(err.Error(), c.of) {
		c.Retried()
	}
	return err
}
