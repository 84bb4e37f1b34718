//go:build verify

package main

import (
	"testing"

	"seckill/internal/fault"
	"seckill/internal/fault/point"
	"seckill/internal/ledger"
	"seckill/loadtest"
)

// The process of the holder is killed between its read and its write. Where the
// lock dies with it, or with its lease or session, the sale goes on; where
// nothing ever frees it the sale stands still, and the run says blocked although
// the books are right.
func TestSaleAfterTheHolderIsKilled(t *testing.T) {
	// The patience is 5 s: longer than a lease, and than a session of ZooKeeper.
	args := []string{"--lock-lease", "2s", "--lock-wait", "3s", "--zookeeper-session", "2s"}
	for _, test := range []struct {
		strategy string
		blocks   bool
		stock    int64 // more than is sold before the fault comes
	}{
		{"redis-setnx", true, 150}, {"redis-lua", false, 300}, {"get-lock", false, 600}, {"zk", false, 400},
	} {
		t.Run(test.strategy, func(t *testing.T) {
			run := loadRunOn(t, loadtest.Scenario{Strategy: test.strategy, Stock: test.stock, Buyers: int(2 * test.stock), Retry: 2},
				fault.KillHolder, 0, args...)
			e, r := run.effect, run.result
			if !e.Took || !e.Matters || e.Holder == nil || e.At != point.BeforeWrite {
				t.Fatalf("the fault came to %+v", e)
			}
			goesOn(t, run, test.blocks)
			if s := r.Audit.Served; test.blocks && s.Left == 0 {
				t.Errorf("blocked with nothing left: %+v", s)
			}
		})
	}
	// What reads and writes in one statement cannot be killed in between; a
	// process of it can, in mid-sale.
	t.Run("conditional", func(t *testing.T) {
		sale := loadtest.Scenario{Strategy: "conditional", Stock: 3000, Buyers: 6000, Retry: 2}
		run := loadRunOn(t, sale, fault.KillHolder, 0, args...)
		if run.effect.Took || run.effect.Why != fault.NoPoint {
			t.Errorf("the fault came to %+v, want none, because there is no such point", run.effect)
		}
		goesOn(t, run, false)
		run = loadRunOn(t, sale, fault.KillService, 0, args...)
		if !run.effect.Took || !run.effect.Matters {
			t.Errorf("the fault came to %+v", run.effect)
		}
		goesOn(t, run, false)
	})
}

// goesOn checks that the books are right, and whether the sale went on after
// the fault.
func goesOn(t *testing.T, run holderRun, blocked bool) {
	t.Helper()
	r := run.result
	clean(t, r)
	s, after := r.Audit.Served, r.Audit.Orders-run.then
	t.Logf("%s: %d orders then, %d after; stood still for %.0f ms of %.0f; %v", r.Verdict, run.then, after, s.LongestMs, s.PatienceMs, r.Counts)
	verdict, status := ledger.Held, loadtest.ExitHeld
	if blocked {
		verdict, status = loadtest.Blocked, loadtest.ExitBlocked
	}
	if r.Verdict != verdict || r.ExitStatus() != status {
		t.Errorf("the run says %s, exit status %d: %v; want %s, %d", r.Verdict, r.ExitStatus(), r.Problems, verdict, status)
	}
	if blocked != (after == 0) || blocked != (r.Audit.Remaining > 0) {
		t.Errorf("%d orders after the fault, %d units left", after, r.Audit.Remaining)
	}
}
