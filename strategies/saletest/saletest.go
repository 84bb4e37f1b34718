// Package saletest is for tests of strategies. It opens a sale of one SKU on the test's servers, in
// one service process or several, and audits it.
package saletest

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"seckill/internal/catalog"
	"seckill/internal/judge"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/internal/lock"
	"seckill/internal/seckill"
)

// A Sale is one SKU that one or more service processes sell. The processes share nothing in memory.
type Sale struct {
	Info            catalog.Info
	Processes       []seckill.Strategy
	Store           *ledger.Store // the ledger of the last process
	SKU, Run, Stock int64
	Start           *judge.Moment // when the next runs start; nil means at once
}

var lastSKU atomic.Int64 // the last SKU in use; every sale has its own

// Open starts a sale with one service process for each element of deps.
func Open(t testing.TB, info catalog.Info, stock int64, deps ...catalog.Deps) *Sale {
	t.Helper()
	s := &Sale{Info: info, SKU: lastSKU.Add(1)}
	for _, d := range deps {
		s.Join(t, d)
	}
	s.Reset(t, stock)
	return s
}

// Join adds a service process. If d is empty, the process gets an instance of its own.
func (s *Sale) Join(t testing.TB, d catalog.Deps) {
	t.Helper()
	if d.Instance == nil {
		config := labtest.Config(t, s.Info.Uses()...)
		config.RowLockWait = d.Settings.LockWait // as in seckill serve
		d.Instance = labtest.Open(t, config)
	}
	labtest.Must(t, ledger.Migrate(t.Context(), d.DB))
	s.Store = ledger.NewStore(d.DB)
	d.Ledger = s.Store
	built := labtest.Value(catalog.Build(s.Info, d)).Must(t)
	s.Processes = append(s.Processes, built)
}

// Reset starts the next run of the sale, with the given number of units.
func (s *Sale) Reset(t testing.TB, stock int64) {
	t.Helper()
	row := labtest.Value(s.Store.Schedule(t.Context(), s.SKU, s.Info.Name, stock, s.Start)).Must(t)
	s.Run, s.Stock = row.Run, stock
	if r, ok := s.Processes[0].(seckill.Resetter); ok {
		err := r.Reset(t.Context(), s.SKU, stock)
		for try := 0; try < 5 && errors.Is(err, seckill.ErrUnavailable); try++ {
			// Try again: in tests Redlock waits for a node only 0.1 s, which is too short on a busy machine.
			err = r.Reset(t.Context(), s.SKU, stock)
		}
		// With a broken lock, a purchase may have released the lock that Reset has taken.
		if !s.Info.Broken() || !errors.Is(err, lock.ErrNotHeld) {
			labtest.Must(t, err)
		}
	}
}

// Purchase returns a user's request. A second call for this user returns the same request id.
func (s *Sale) Purchase(user, quantity int64) seckill.Purchase {
	return seckill.Purchase{SKU: s.SKU, User: user, Quantity: quantity, RequestID: fmt.Sprintf("r%d-%d", s.SKU, user)}
}

// Buy buys in the first process.
func (s *Sale) Buy(ctx context.Context, user, quantity int64) (seckill.Receipt, error) {
	return s.Processes[0].Deduct(ctx, s.Purchase(user, quantity))
}

// Judge audits the run. If any answers of buyers are given, Judge checks them, too.
func (s *Sale) Judge(t testing.TB, answers ...judge.Call) judge.Report {
	t.Helper()
	// Read the stock in the last process, because a test may have killed the first.
	e, err := catalog.Evidence(t.Context(), s.Store, s.SKU, []catalog.Seller{{Info: s.Info, Strategy: s.Processes[len(s.Processes)-1]}})
	labtest.Must(t, err)
	e.Initial, e.Run, e.Calls = s.Stock, s.Run, answers
	return judge.Judge(e)
}

// Held calls Judge and checks that it finds no violation.
func (s *Sale) Held(t testing.TB, answers ...judge.Call) {
	t.Helper()
	if r := s.Judge(t, answers...); r.Verdict != judge.Held {
		t.Errorf("the audit says %s, want held: %+v", r.Verdict, r.Violations)
	}
}
