package main

import (
	"testing"
	"time"

	"seckill/internal/ledger"
	"seckill/loadtest"
)

// Buyers reserve at two service processes, whose sweepers both run: most pay, some
// cancel, some forget. What was not paid is sold to others.
func TestLoadRunWithReservations(t *testing.T) {
	store := books(t)
	_, urls := sharedServices(t)
	r := loadRun(t, loadtest.Config{Targets: urls, Ledger: store, Scenario: loadtest.Scenario{Strategy: "reserve",
		Stock: 60, Buyers: 240, Reserve: 2 * time.Second, Forget: .3, Cancellations: .2, Copies: .1, Retry: 1, Concurrency: 32}})
	c, a := r.Reservations, r.Audit
	t.Logf("%s: %+v, %+v, sold %d, reserved %d, expired %d, cancelled %d", r.Verdict, c, r.Cancellations, a.Sold, a.Reserved, a.Expired, a.Cancelled)
	if r.Verdict != ledger.Held {
		t.Errorf("the verdict is %s: %+v %v", r.Verdict, a.Violations, r.Problems)
	}
	if c.Paid == 0 || c.Forgotten == 0 || a.Expired == 0 || r.Cancellations.Done == 0 || c.Refused+c.Unknown > 0 {
		t.Errorf("not all of it happened: %+v, %+v", c, r.Cancellations)
	}
	// A buyer whose copies were told to wait may come to pay too late.
	if a.Sold != int64(c.Paid) || a.Reserved != 0 || a.Expired != c.Forgotten+c.Expired || a.Cancelled != r.Cancellations.Done ||
		a.Remaining != 60-a.Sold || r.Counts[ledger.OutcomeReserved] != c.Paid+c.Forgotten+c.Expired+r.Cancellations.Done {
		t.Errorf("the ledger and the buyers differ: %+v, %+v, %+v", c, r.Cancellations, a)
	}
}
