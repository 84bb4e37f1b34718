package hotsku

import (
	"errors"
	"testing"
	"time"

	"seckill/internal/seckill"
	"seckill/internal/tap/taptest"
)

const longHold = time.Minute

func (s *sale) reserver(process int) seckill.Reserver {
	return s.processes[process].(seckill.Reserver)
}

func (s *sale) hold(t *testing.T, user, quantity int64) string {
	t.Helper()
	r, err := s.reserver(0).Reserve(t.Context(), s.purchase(user, quantity, ""), longHold)
	if err != nil {
		t.Fatal(err)
	}
	return r.OrderID
}

// pass has the deadlines of a sale pass.
func (s *sale) pass(t *testing.T) {
	t.Helper()
	if err := s.store.DB(t.Context()).Exec("UPDATE reservations SET ends_at = UTC_TIMESTAMP(6) WHERE sku_id = ?", s.sku).Error; err != nil {
		t.Error(err)
	}
}

func (s *sale) num(t *testing.T) int64 {
	t.Helper()
	row, err := s.store.SKU(t.Context(), s.sku)
	if err != nil {
		t.Fatal(err)
	}
	return row.Num
}

// A reservation takes its units, is the user's only one, and ends in one way.
func TestEndsOfAReservation(t *testing.T) {
	s := open(t, Reserve, 10)
	r := s.reserver(1)
	state := func(what string, got seckill.Reservation, err error, want seckill.ReservationState, wantErr error, left int64) {
		t.Helper()
		if got.State != want || !errors.Is(err, wantErr) || s.num(t) != left {
			t.Errorf("%s: %+v, %v with %d left; want %s, %v with %d", what, got, err, s.num(t), want, wantErr, left)
		}
	}
	first, err := s.reserver(0).Reserve(t.Context(), s.purchase(1, 3, ""), longHold)
	state("reserving 3 of 10", first, err, seckill.Reserved, nil, 7)
	if _, err := r.Reserve(t.Context(), s.purchase(1, 1, "again"), longHold); !errors.Is(err, seckill.ErrDuplicate) {
		t.Errorf("a second reservation: %v", err)
	}
	if _, err := r.Reserve(t.Context(), s.purchase(2, 8, ""), longHold); !errors.Is(err, seckill.ErrSoldOut) {
		t.Errorf("8 of 7: %v", err)
	}
	now, err := r.Reservation(t.Context(), first.OrderID)
	state("looking", now, err, seckill.Reserved, nil, 7)
	if now.User != 1 || now.Remaining != 7 || now.Quantity != 3 || now.Left <= 0 || now.Left > longHold || time.Until(now.Ends) > longHold+time.Second {
		t.Errorf("it is %+v", now)
	}
	for range 2 {
		paid, err := r.Pay(t.Context(), first.OrderID)
		state("paying", paid, err, seckill.Paid, nil, 7)
	}
	kept, err := r.Release(t.Context(), first.OrderID)
	state("cancelling what is paid", kept, err, seckill.Paid, seckill.ErrPaid, 7)

	second := s.hold(t, 2, 2)
	for range 2 {
		back, err := r.Release(t.Context(), second)
		state("cancelling", back, err, seckill.ReservationReleased, nil, 7)
	}
	none, err := r.Pay(t.Context(), second)
	state("paying what is cancelled", none, err, seckill.ReservationReleased, seckill.ErrCancelled, 7)

	third := s.hold(t, 3, 2)
	s.pass(t)
	for range 2 {
		late, err := r.Pay(t.Context(), third)
		state("paying late", late, err, seckill.ReservationExpired, seckill.ErrExpired, 7)
	}
	gone, err := r.Release(t.Context(), third)
	state("cancelling what has expired", gone, err, seckill.ReservationExpired, nil, 7)
	if n, err := r.Expire(t.Context()); n != 0 || err != nil {
		t.Errorf("a sweep after it gave %d back, %v", n, err)
	}
	if err := s.processes[0].Restore(t.Context(), first.OrderID); err != nil || s.num(t) != 10 {
		t.Errorf("cancelling the paid order: %v, %d left", err, s.num(t))
	}
	s.held(t)
	s.reset(t, 5)
	if _, err := r.Pay(t.Context(), first.OrderID); !errors.Is(err, seckill.ErrUnknownOrder) {
		t.Errorf("paying a reservation of the run before: %v", err)
	}
	if n, err := s.store.SweepSKU(t.Context(), s.sku); err != nil || n != 3 {
		t.Errorf("the sweeper of old runs removed %d orders, %v", n, err)
	}
	var rows int64
	if s.store.DB(t.Context()).Raw("SELECT COUNT(*) FROM reservations WHERE sku_id = ?", s.sku).Scan(&rows); rows > 0 {
		t.Errorf("%d reservations of the run before are left", rows)
	}
}

// A sweeper leaves a reservation whose sale was set anew after it looked.
func TestASweepMeetsAReset(t *testing.T) {
	s := open(t, Reserve, 5)
	s.hold(t, 1, 2)
	s.pass(t)
	ctx := taptest.Before(t.Context(), "UPDATE reservations SET state = ?", func() { s.reset(t, 9) })
	if n, err := s.reserver(0).Expire(ctx); n != 0 || err != nil || s.num(t) != 9 {
		t.Errorf("gave %d back, %v, with %d left", n, err, s.num(t))
	}
}

// A SKU whose row is held keeps no other SKU's units away.
func TestASweepPassesAHeldSKU(t *testing.T) {
	held, free := open(t, Reserve, 5), open(t, Reserve, 5)
	for n, s := range []*sale{held, free} {
		s.hold(t, int64(n+1), 2)
		s.pass(t)
	}
	tx := held.store.DB(t.Context()).Begin()
	defer tx.Rollback()
	if err := tx.Exec("UPDATE stock SET num = num WHERE id = ?", held.sku).Error; err != nil {
		t.Fatal(err)
	}
	if n, err := free.reserver(1).Expire(t.Context()); n != 1 || !errors.Is(err, seckill.ErrBusy) || free.num(t) != 5 {
		t.Errorf("gave %d back, %v; the free SKU has %d of 5", n, err, free.num(t))
	}
	tx.Rollback()
	if n, err := free.reserver(1).Expire(t.Context()); n != 1 || err != nil || held.num(t) != 5 {
		t.Errorf("when the row is free: gave %d back, %v, with %d of 5", n, err, held.num(t))
	}
}
