package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"golang.org/x/sync/errgroup"
	"gorm.io/gorm"

	"seckill/internal/judge"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
	"seckill/internal/tap/taptest"
)

func soldOut(user, run int64) ledger.Refusal {
	return ledger.Refusal{Purchase: seckill.Purchase{SKU: sku, User: user, Quantity: 1, RequestID: "k"}, Run: run, Strategy: "test", Reason: "sold_out"}
}

// wantRefused checks that a row is the refusal of a user who was told sold out.
func wantRefused(t *testing.T, what string, o judge.Order, err error) {
	t.Helper()
	if err != nil || o.Status != judge.Refused || o.Reason != "sold_out" || o.Quantity != 1 {
		t.Errorf("%s: %+v, %v, want the refusal", what, o, err)
	}
}

// The answer to a request is its order or its refusal: the one that is written first.
func TestTheFirstAnswerCounts(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, s *ledger.Store) {
		ctx, refusals := t.Context(), &ledger.Refusals{Store: s}
		set := labtest.Value(s.Schedule(ctx, sku, "", 5, nil)).Must(t)
		first := soldOut(1, set.Run)
		o, err := refusals.Write(ctx, first)
		wantRefused(t, "the first answer", o, err)
		row, err := s.FindRequest(ctx, sku, 1, first.RequestID)
		wantRefused(t, "its row", row, err)
		if row.CreatedAt.IsZero() {
			t.Errorf("the row %+v does not say when the request was refused", row)
		}
		again, err := refusals.Write(ctx, ledger.Refusal{Purchase: first.Purchase, Run: set.Run, Reason: "duplicate"})
		wantRefused(t, "a second refusal", again, err)
		found, err := s.FindRequest(ctx, sku, 1, "k")
		wantRefused(t, "the look-up", found, err)

		labtest.Value(sell(ctx, s, first.Purchase, set.Run)).Check(t, seckill.ErrDuplicate,
			"an order after the refusal")
		labtest.Value(s.RecordAlone(ctx, first.Purchase, set.Run, 4)).Check(t, seckill.ErrDuplicate,
			"an order of one command after the refusal")
		labtest.Must(t, s.Tx(ctx, func(tx *gorm.DB) error {
			batch := []*ledger.Entry{{Purchase: first.Purchase}, {Purchase: soldOut(2, 0).Purchase}}
			if ok, err := s.PlaceAll(tx, set.Run, 5, batch); err != nil || ok || !batch[0].Refused || batch[1].Refused {
				t.Errorf("a batch with the refused request: %t, %v, %t and %t, want the first refused alone", ok, err, batch[0].Refused, batch[1].Refused)
			}
			return s.Refuse(tx, soldOut(3, set.Run))
		}))
		labtest.Check(t, s.Tx(ctx, func(tx *gorm.DB) error { return s.Refuse(tx, first) }), seckill.ErrDuplicate,
			"a refusal in a transaction, of an answered request")
		sold := labtest.Value(sell(ctx, s, soldOut(4, 0).Purchase, set.Run)).Must(t)
		if o, err = refusals.Write(ctx, soldOut(4, set.Run)); err != nil || o.PublicID != sold.OrderID || o.Status != judge.Active {
			t.Errorf("a refusal after the order: %+v, %v, want order %s", o, err, sold.OrderID)
		}

		snap := labtest.Value(s.Snapshot(ctx, sku)).Must(t)
		if list, err := s.Orders(ctx, ledger.Filter{SKU: sku}); err != nil || len(list) != 2 || len(snap.Orders) != 2 || len(snap.Refused) != 2 {
			t.Errorf("%d orders listed, %v; snapshot %+v; want the orders of users 2 and 4, and two refusals apart", len(list), err, snap)
		}
	})
}

// A refusal of an earlier run does not hold in the current run.
func TestARefusalBelongsToItsRun(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, s *ledger.Store) {
		ctx := t.Context()
		set := labtest.Value(s.Schedule(ctx, sku, "", 5, nil)).Must(t)
		labtest.Value((&ledger.Refusals{Store: s}).Write(ctx, soldOut(1, set.Run-1))).Check(t, ledger.ErrRunOver,
			"a refusal of the run before")
		labtest.Value(sell(ctx, s, soldOut(1, 0).Purchase, set.Run)).Check(t, nil, "the same request in the new run")
	})
}

// If a copy of a request has written its order and not committed, the refused copy waits for its answer.
func TestARefusalWaitsForACopy(t *testing.T) {
	s, _ := onServer(t)
	set := labtest.Value(s.Schedule(t.Context(), sku, "", 5, nil)).Must(t)
	for user, commits := range []bool{true, false} {
		r := soldOut(int64(user+10), set.Run)
		written, waits := make(chan struct{}), make(chan error)
		copied := make(chan error, 1)
		go func() {
			copied <- s.Tx(t.Context(), func(tx *gorm.DB) error {
				if _, err := s.Record(tx, r.Purchase, set.Run, 4); err != nil {
					return err
				}
				close(written)
				return <-waits
			})
		}()
		<-written
		got := make(chan judge.Order, 1)
		go func() {
			o, err := (&ledger.Refusals{Store: s}).Write(t.Context(), r)
			labtest.Check(t, err, nil, "beside an open transaction")
			got <- o
		}()
		labtest.Soon(t, "the refusal waits for the row", func() bool {
			var waiting struct{ Value int }
			s.DB(t.Context()).Raw("SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_current_waits'").Scan(&waiting)
			return waiting.Value > 0
		})
		if commits {
			close(waits)
		} else {
			waits <- seckill.ErrSoldOut
		}
		<-copied
		if o := <-got; (o.Status == judge.Active) != commits || (o.Status == judge.Refused) == commits {
			t.Errorf("the copy commits: %t; the refused copy is answered with %+v", commits, o)
		}
	}
}

// Buyers who are refused at once share an INSERT, and each hears of their own request. A
// copy that stands still keeps only its own request waiting.
func TestRefusalsShareAnInsert(t *testing.T) {
	s, _ := onServer(t)
	set := labtest.Value(s.Schedule(t.Context(), sku, "", 5, nil)).Must(t)
	stuck := s.DB(t.Context()).Begin()
	defer stuck.Rollback()
	labtest.Value(s.Record(stuck, soldOut(2, 0).Purchase, set.Run, 4)).Must(t)

	refusals := &ledger.Refusals{Store: s}
	var g errgroup.Group
	write := func(user int64) {
		g.Go(func() error {
			o, err := refusals.Write(t.Context(), soldOut(user, set.Run))
			switch {
			case user == 2 && !errors.Is(err, seckill.ErrBusy):
				return fmt.Errorf("a request whose copy stands still: %+v, %v, want %w", o, err, seckill.ErrBusy)
			case user != 2 && (err != nil || o.UserID != user || o.Status != judge.Refused):
				return fmt.Errorf("user %d: %+v, %w", user, o, err)
			}
			return nil
		})
	}
	ctx := taptest.Before(t.Context(), "INSERT", func() {
		for user := range int64(40) { // they come while the first INSERT is on its way
			write(user + 2)
		}
		labtest.Soon(t, "all others wait", func() bool { return refusals.Waiting() == 40 })
	})
	labtest.Value(refusals.Write(ctx, soldOut(1, set.Run))).Must(t)
	labtest.Must(t, g.Wait())
}

// If a buyer gets the lead while leaving the queue, the next buyer leads.
func TestARefusedBuyerLeavesTheQueue(t *testing.T) {
	s, _ := onServer(t)
	set := labtest.Value(s.Schedule(t.Context(), sku, "", 5, nil)).Must(t)
	refusals := &ledger.Refusals{Store: s}
	gone, leave := context.WithCancel(t.Context())
	left := make(chan error, 1)
	ctx := taptest.Before(t.Context(), "INSERT", func() {
		go func() {
			_, err := refusals.Write(gone, soldOut(2, set.Run))
			left <- err
		}()
		labtest.Soon(t, "the other waits", func() bool { return refusals.Waiting() == 1 })
		leave()
		labtest.Check(t, <-left, seckill.ErrUnavailable, "a buyer who left")
	})
	labtest.Value(refusals.Write(ctx, soldOut(1, set.Run))).Must(t)
	o, err := refusals.Write(t.Context(), soldOut(3, set.Run))
	wantRefused(t, "the next buyer", o, err)
}
