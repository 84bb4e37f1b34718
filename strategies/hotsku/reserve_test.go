package hotsku

import (
	"errors"
	"testing"
	"time"

	"seckill/internal/lab/labtest"
	"seckill/internal/seckill"
	"seckill/internal/tap/taptest"
)

const longHold = time.Minute

func (s *sale) reserver(process int) seckill.Reserver {
	return s.Processes[process].(seckill.Reserver)
}

func (s *sale) hold(t *testing.T, user, quantity int64) string {
	t.Helper()
	r, err := s.reserver(0).Reserve(t.Context(), s.Purchase(user, quantity), longHold)
	labtest.Must(t, err)
	return r.OrderID
}

// pass has the deadlines of a sale pass.
func (s *sale) pass(t *testing.T) {
	t.Helper()
	if err := s.Store.DB(t.Context()).Exec("UPDATE reservations SET ends_at = UTC_TIMESTAMP(6) WHERE sku_id = ?", s.SKU).Error; err != nil {
		t.Error(err)
	}
}

func (s *sale) num(t *testing.T) int64 {
	t.Helper()
	row, err := s.Store.SKU(t.Context(), s.SKU)
	labtest.Must(t, err)
	return row.Num
}

// If a sale is reset after the sweeper has found an expired reservation, the sweeper leaves
// the reservation alone. It is removed with the orders of its run.
func TestASweepMeetsAReset(t *testing.T) {
	s := open(t, Reserve, 5)
	s.hold(t, 1, 2)
	s.pass(t)
	ctx := taptest.Before(t.Context(), "UPDATE reservations SET state = ?", func() { s.Reset(t, 9) })
	if n, err := s.reserver(0).Expire(ctx); n != 0 || err != nil || s.num(t) != 9 {
		t.Errorf("gave %d back, %v, with %d left", n, err, s.num(t))
	}
	if n, err := s.Store.Sweep(t.Context()); err != nil || n < 1 {
		t.Errorf("the sweeper of old runs removed %d orders, %v", n, err)
	}
	var rows int64
	if s.Store.DB(t.Context()).Raw("SELECT COUNT(*) FROM reservations WHERE sku_id = ?", s.SKU).Scan(&rows); rows > 0 {
		t.Errorf("%d reservations of the run before are left", rows)
	}
}

// A SKU whose row is held keeps no other SKU's units away, however many of its
// reservations are overdue.
func TestASweepPassesAHeldSKU(t *testing.T) {
	held, free := open(t, Reserve, maxSwept), open(t, Reserve, 5)
	for n := range maxSwept {
		held.hold(t, int64(n+2), 1)
	}
	held.pass(t)
	free.hold(t, 1, 2)
	free.pass(t)
	tx := held.Store.DB(t.Context()).Begin()
	defer tx.Rollback()
	labtest.Must(t, tx.Exec("UPDATE stock SET num = num WHERE id = ?", held.SKU).Error)
	if n, err := free.reserver(1).Expire(t.Context()); n != 1 || !errors.Is(err, seckill.ErrBusy) || free.num(t) != 5 {
		t.Errorf("gave %d back, %v; the free SKU has %d of 5", n, err, free.num(t))
	}
	tx.Rollback()
	if n, err := free.reserver(1).Expire(t.Context()); n != maxSwept || err != nil || held.num(t) != maxSwept {
		t.Errorf("when the row is free: gave %d back, %v, with %d of %d", n, err, held.num(t), maxSwept)
	}
}
