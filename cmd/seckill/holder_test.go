package main

import (
	"context"
	"testing"
	"time"

	"seckill/internal/fault"
	"seckill/internal/fault/point"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/loadtest"
)

// A holderRun is a sale in which a fault befalls the holder.
type holderRun struct {
	result *loadtest.Result
	effect fault.Effect
	then   int // orders right after it took effect
}

const holderLease = time.Second

// loadRunWith injects a fault into the holder during a load run over two processes,
// for last or, if that is 0, to its end.
func loadRunWith(t *testing.T, strategy string, kind fault.Name, last time.Duration, stock int64, buyers int) holderRun {
	t.Helper()
	store := books(t)
	l, urls, _ := services(t, "--lock-lease", holderLease.String(), "--lock-wait", "1s")
	var run holderRun
	happened, over := make(chan struct{}), make(chan struct{})
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
	defer cancel()
	inject := func() {
		defer close(happened)
		i, err := fault.In(l).Inject(ctx, kind, fault.Aim{Strategy: strategy, SKU: 1, For: last})
		if err != nil {
			t.Errorf("%s: %v", kind, err)
			return
		}
		if snap, err := store.Snapshot(ctx, 1); err == nil {
			run.then = len(snap.Orders)
		}
		if last > 0 {
			time.Sleep(last) // as long as the fault is to last
		} else {
			<-over
		}
		if run.effect, err = i.Undo(ctx); err != nil {
			t.Errorf("end %s: %v", kind, err)
		}
	}
	run.result = loadRun(t, loadtest.Config{Targets: urls, Ledger: store, Scenario: loadtest.Scenario{Strategy: strategy, Stock: stock, Buyers: buyers, Concurrency: 32},
		Outage:     func() time.Duration { return last },
		OnProgress: midway(buyers/10, func() { go inject() })})
	close(over)
	<-happened
	return run
}

// A holder that stands still past the lease of a lock overwrites its
// successor, every time: a COMMIT that is about to be sent cannot be
// recalled. The same pause is nothing to a lock whose token the row checks, or that
// lives in the very session that writes; and a statement that reads and writes at
// once cannot be paused in between: those are in make verify.
func TestPausedHolder(t *testing.T) {
	// The next holder waits for the row, and gives up when its own lease ends: the first goes
	// on in the middle of that.
	const past = holderLease * 3 / 2
	t.Run("redis-lua", func(t *testing.T) {
		run := loadRunWith(t, "redis-lua", fault.PauseHolder, past, 300, 450)
		e := run.effect
		if !e.Took || !e.Matters || e.Holder == nil || e.At != point.BeforeCommit || e.Holder.LockKey != "seckill:lock:stock:1" {
			t.Errorf("the fault came to %+v with the holder %+v", e, e.Holder)
		}
		if e.Stood < int(holderLease.Milliseconds()) || e.Left == nil || *e.Left <= 0 {
			t.Errorf("it stood still for %d ms with %v units left, want past the lease of %v, with some", e.Stood, e.Left, holderLease)
		}
		if status := run.result.ExitStatus(); status != loadtest.ExitOversold && status != loadtest.ExitLost {
			t.Errorf("the run says %s: %v, want it oversold or lost", run.result.Verdict, run.result.Counts)
		}
	})
	if !labtest.Verify {
		return
	}
	for _, strategy := range []string{"redis-fenced", "get-lock", "conditional"} {
		t.Run(strategy, func(t *testing.T) {
			run := loadRunWith(t, strategy, fault.PauseHolder, past, 300, 450)
			if e := run.effect; strategy == "conditional" && (e.Took || e.Why != fault.NoPoint) {
				t.Errorf("the fault came to %+v, want none, because there is no such point", e)
			} else if strategy != "conditional" && (!e.Took || !e.Matters) {
				t.Errorf("the fault came to %+v", e)
			}
			if run.result.Verdict != ledger.Held {
				t.Errorf("the run says %s: %+v", run.result.Verdict, run.result.Audit.Violations)
			}
		})
	}
}

// A killed holder blocks a lock that nothing ends; one with a lease goes to the
// next when that is over.
func TestKilledHolder(t *testing.T) {
	for strategy, blocks := range map[string]bool{"redis-setnx": true, "redis-lua": false} {
		t.Run(strategy, func(t *testing.T) {
			run := loadRunWith(t, strategy, fault.KillHolder, 0, 150, 200)
			e := run.effect
			if !e.Took || !e.Matters || e.Holder == nil || e.At != point.BeforeWrite {
				t.Errorf("the fault came to %+v", e)
			}
			if run.result.Audit == nil {
				t.Fatalf("the books were not read: %v", run.result.Problems)
			}
			after := run.result.Audit.Orders - run.then
			switch {
			case blocks && (after != 0 || run.result.ExitStatus() != loadtest.ExitBlocked):
				t.Errorf("%d orders after the holder was killed, and the run says %s: want none, and blocked", after, run.result.Verdict)
			case !blocks && after == 0:
				t.Errorf("no order after the holder was killed, %d units left", run.result.Audit.Remaining)
			}
		})
	}
}
