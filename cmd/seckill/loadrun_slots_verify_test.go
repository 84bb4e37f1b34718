//go:build verify

package main

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
	"seckill/loadtest"
	"seckill/strategies/hotsku"
)

// A service process is killed in mid-sale, fifty times, with slots that it had
// leased and purchases that it had begun. Nothing acknowledged is lost, nothing
// is sold twice, and what is left can be sold, to the last unit.
func TestSlotsOfKilledServices(t *testing.T) {
	const rounds, stock = 50, 300
	store := books(t)
	_, urls, processes := services(t)
	heir := heirOf(t, hotsku.SlotLease)
	left := int64(0)
	for round := range rounds {
		buyers, victim, cancelled := 400, processes[round%2], 0.5 // so many that units are left
		if round%4 > 1 {
			buyers, cancelled = 900, 0
		}
		r := loadRun(t, loadtest.Config{Targets: urls, Ledger: store,
			Scenario: loadtest.Scenario{Strategy: hotsku.SlotLease.Name, Stock: stock, Buyers: buyers, Cancellations: cancelled},
			OnProgress: midway(buyers, func() {
				if err := victim.Kill(context.Background()); err != nil {
					t.Error(err)
				}
			})})
		if victim.Alive() {
			t.Fatalf("round %d: the run ended before the service was killed", round)
		}
		inOrder(t, r)
		left += r.Audit.Remaining
		heir.sellTheRest(t, round, r.Audit.Remaining)
		heir.soldAll(t, store, stock)
		if t.Failed() {
			t.Fatalf("round %d: %v", round, r.Counts)
		}
		if err := victim.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d units were left and sold by another process", left)
	if left == 0 {
		t.Error("no round left any unit: that the rest can be sold was not tested")
	}
}

// An heir is one more process with a strategy.
type heir struct {
	seckill.Strategy
	info catalog.Info
}

func heirOf(t *testing.T, info catalog.Info) heir {
	t.Helper()
	in := labtest.Instance(t, append(info.Needs, backend.SQL)...)
	built, err := catalog.Build(info, catalog.Deps{Instance: in, Ledger: ledger.NewStore(in.DB), Settings: catalog.DefaultSettings()})
	if err != nil {
		t.Fatal(err)
	}
	return heir{built, info}
}

// sellTheRest buys so many units one by one; then no more are to be had.
func (h heir) sellTheRest(t *testing.T, round int, left int64) {
	t.Helper()
	for n := range left + 1 {
		p := seckill.Purchase{SKU: 1, User: 1_000_000 + n, Quantity: 1, RequestID: fmt.Sprint("rest-", round, "-", n)}
		_, err := h.Deduct(t.Context(), p)
		if sold := err == nil; sold != (n < left) || !sold && !errors.Is(err, seckill.ErrSoldOut) {
			t.Fatalf("round %d: unit %d of %d that are left: %v", round, n+1, left, err)
		}
	}
}

func (h heir) soldAll(t *testing.T, store *ledger.Store, stock int64) {
	t.Helper()
	r, err := catalog.Audit(t.Context(), store, 1, []catalog.Seller{{Info: h.info, Strategy: h.Strategy}})
	if err != nil || r.Verdict != ledger.Held && !onlyRow(r) || r.Sold != stock || r.Remaining != 0 {
		t.Errorf("in the end the audit says %s, %d sold of %d: %v %+v", r.Verdict, r.Sold, stock, err, r.Violations)
	}
}

// onlyRow: the sale was closed when the run ended, and was gone on with.
func onlyRow(r ledger.Report) bool {
	return len(r.Violations) == 1 && r.Violations[0].Rule == ledger.RuleCounterDisagrees
}
