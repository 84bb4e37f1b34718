package ledger_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"seckill/internal/judge"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
)

// The order's own statement refuses what comes before the start by the database's
// clock, and takes what comes at it.
func TestNoOrderBeforeTheStart(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, s *ledger.Store) {
		buy := func(run int64) error {
			_, err := sell(t.Context(), s, seckill.Purchase{SKU: sku, User: 1, Quantity: 1, RequestID: "early"}, run)
			return err
		}
		clock := func() ledger.Start {
			st, err := s.Start(t.Context(), sku)
			labtest.Must(t, err)
			return st
		}
		old, err := s.Reset(t.Context(), sku, "thing", 10)
		labtest.Must(t, err)
		if off := time.Since(clock().Now.Time()).Abs(); off > time.Minute {
			t.Errorf("the database's clock is read %s off this machine's", off)
		}
		starts := clock().Now + 60_000
		st, err := s.Schedule(t.Context(), sku, "thing", 10, &starts)
		if err != nil || st.StartsAt == nil || *st.StartsAt != starts || clock().Wait() <= 0 {
			t.Fatalf("scheduling at %d gave %+v, %v", starts, st, err)
		}
		if err := buy(old.Run); !errors.Is(err, seckill.ErrConflict) {
			t.Errorf("a purchase of the run before: %v", err)
		}
		for _, run := range []int64{st.Run, ledger.AnyRun} {
			if err := buy(run); !errors.Is(err, seckill.ErrNotStarted) {
				t.Errorf("a purchase a minute early: %v", err)
			}
		}
		labtest.Must(t, s.DB(t.Context()).Exec("UPDATE stock SET starts_at = ? WHERE id = ?", clock().Now, sku).Error)
		if err := buy(st.Run); err != nil || clock().Wait() > 0 {
			t.Errorf("a purchase at the start: %v", err)
		}
		snap, err := s.Snapshot(t.Context(), sku)
		if err != nil || snap.Stock.Num != 9 || len(snap.Orders) != 1 {
			t.Errorf("%d units and %d orders after the early purchases and one in time (%v)", snap.Stock.Num, len(snap.Orders), err)
		}
	})
}

func TestMomentsRoundUp(t *testing.T) {
	for text, want := range map[string]string{
		`"2026-11-11T00:00:00Z"`:                `"2026-11-11T00:00:00.000Z"`,
		`"2026-11-11T08:00:00.000000001+08:00"`: `"2026-11-11T00:00:00.001Z"`,
		`"2026-11-11T08:00:00.999+08:00"`:       `"2026-11-11T00:00:00.999Z"`,
	} {
		var m judge.Moment
		labtest.Must(t, json.Unmarshal([]byte(text), &m))
		if got, err := json.Marshal(m); err != nil || string(got) != want {
			t.Errorf("%s is written as %s (%v), want %s", text, got, err, want)
		}
	}
}
